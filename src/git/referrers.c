/* See referrers.h. */
#include "git/referrers.h"

#include "api/read.h"
#include "base/container_of.h"
#include "kinds/object_meta.h"
#include "kinds/references.h"
#include "json/parse.h"

static void next_kind(struct vd_referrers *r);

/* ---- one object ---- */

static void look_at(struct vd_referrers *r, struct vd_slice body)
{
    struct vd_json *object = NULL;
    struct vd_references references = {0};
    struct vd_buf name = {0};
    const struct vd_plan_manifest *source;
    if (vd_json_parse_copy(&r->scratch, body, NULL, &object, NULL))
        return;
    struct vd_plan_identity self = {r->kind->group, r->kind->kind, vd_meta_namespace(object),
                                    vd_meta_name(object)};
    vd_references_of(r->kind, object, self.namespace, &r->scratch, &references);
    for (size_t i = 0; i < references.list.n && !vd_plan_has(r->plan, &self); i++) {
        const struct vd_reference *reference = &references.list.p[i];
        struct vd_plan_identity other = {reference->field->group, reference->field->kind,
                                         reference->namespace, reference->name};
        if (!reference->field->blocks_deletion || !vd_plan_deletes(r->plan, &other, &source))
            continue;
        vd_buf_reset(&name);
        vd_buf_addf(&name, "%.*s %.*s", VD_FMT(self.kind), VD_FMT(self.name));
        vd_plan_refuse_deletion(r->plan, source, vd_buf_slice(&name), r->report);
    }
    vd_references_release(&references);
    vd_buf_release(&name);
    vd_arena_reset(&r->scratch);
}

static int on_add(struct vd_listing *listing, struct vd_buf *out, const struct vd_event *event,
                  struct vd_effort *effort, struct vd_error *error)
{
    struct vd_referrers *r = VD_CONTAINER_OF(listing, struct vd_referrers, listing);
    (void)out, (void)effort, (void)error;
    if (event->body) {
        struct vd_slice body = vd_body_slice(event->body);
        listing->worked += body.n;
        look_at(r, body);
    }
    return VD_OK;
}

static void on_add_served(struct vd_listing *listing, struct vd_buf *out, struct vd_slice body)
{
    (void)out;
    look_at(VD_CONTAINER_OF(listing, struct vd_referrers, listing), body);
}

/* ---- all objects of a kind ---- */

static void step(struct vd_referrers *r)
{
    enum { PIECE_LEN = 1 << 20 };
    enum vd_listing_state state = vd_listing_next(&r->listing, &r->unused, PIECE_LEN, &r->error);
    if (state == VD_LISTING_MORE) {
        vd_listing_yield(&r->listing);
        return;
    }
    if (state == VD_LISTING_WAITS)
        return;
    if (state == VD_LISTING_DONE)
        r->error.code = VD_OK;
    else if (!r->error.code)
        (void)vd_error_set(&r->error, VD_ERR_LIMIT, "the objects of kind %.*s cannot be read now",
                           VD_FMT(r->kind->kind));
    vd_listing_close(&r->listing);
}

static void on_ready(struct vd_listing *listing)
{
    step(VD_CONTAINER_OF(listing, struct vd_referrers, listing));
}

static void on_closed(struct vd_listing *listing)
{
    next_kind(VD_CONTAINER_OF(listing, struct vd_referrers, listing));
}

static const struct vd_listing_ops listing_ops = {
    .add = on_add,
    .add_served = on_add_served,
    .ready = on_ready,
    .closed = on_closed,
};

static void list_kind(struct vd_referrers *r, const struct vd_kind *kind)
{
    struct vd_filter *filter = NULL;
    struct vd_selection selection = {.kind = kind};
    r->kind = kind;
    r->kind_at++;
    int rc = vd_api_filter(&filter, &selection, &r->scratch, &r->error);
    struct vd_listing_options options = {.ops = &listing_ops, .kind = kind, .filter = filter};
    if (!rc)
        rc = vd_listing_open(&r->listing, r->l, &options, &r->error);
    vd_filter_unref(filter);
    if (rc) {
        next_kind(r); /* which ends, as there is an error */
        return;
    }
    *VD_VEC_PUSH(&r->seen) = (struct vd_batch_condition){
        .resource = kind->resource, .revision = vd_listing_revision(&r->listing)};
    step(r);
}

/* ---- which kinds ---- */

static bool is_deleted_kind(const struct vd_plan *plan, const struct vd_reference_field *field)
{
    for (size_t i = 0; i < plan->operations.n; i++) {
        const struct vd_plan_operation *o = &plan->operations.p[i];
        if (o->action == VD_PLAN_DELETE && vd_slice_eq(o->source->kind->kind, field->kind) &&
            vd_slice_eq(o->source->kind->group, field->group))
            return true;
    }
    return false;
}

static bool can_block(const struct vd_plan *plan, const struct vd_kind *kind)
{
    if (!kind->stored || !kind->storage_version || kind->subresource.n)
        return false;
    for (size_t i = 0; i < kind->reference_count; i++)
        if (kind->references[i].blocks_deletion && is_deleted_kind(plan, &kind->references[i]))
            return true;
    return false;
}

static void next_kind(struct vd_referrers *r)
{
    size_t n;
    struct vd_kind *const *all = vd_kind_set_all(r->kinds, &n);
    while (!r->error.code && r->kind_at < n && !can_block(r->plan, all[r->kind_at]))
        r->kind_at++;
    if (!r->error.code && r->kind_at < n) {
        list_kind(r, all[r->kind_at]);
        return;
    }
    vd_arena_release(&r->scratch);
    vd_buf_release(&r->unused);
    r->done(r);
}

void vd_referrers_start(struct vd_referrers *r)
{
    next_kind(r);
}
