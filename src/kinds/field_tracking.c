/* See field_tracking.h. */
#include "kinds/field_tracking.h"

#include <string.h>

#include "base/human_time.h"
#include "json/parse.h"
#include "json/span.h"
#include "json/write.h"

#define KEY "\"managedFields\":"

/* ---- bytes and documents ---- */

/* The stored bytes without the list at `value`, which our writer put there. False: it
 * was somebody else. */
static bool cut_out(struct vd_arena *a, struct vd_slice body, struct vd_slice value,
                    struct vd_slice *out)
{
    size_t n = sizeof KEY - 1, from = (size_t)(value.p - body.p), to = from + value.n;
    if (from <= n || memcmp(value.p - n, KEY, n) != 0)
        return false;
    from -= n;
    if (body.p[from - 1] == ',')
        from--;
    else if (to < body.n && body.p[to] == ',')
        to++;
    char *copy = vd_arena_alloc(a, body.n - (to - from));
    memcpy(copy, body.p, from);
    memcpy(copy + from, body.p + to, body.n - to);
    *out = vd_slice(copy, body.n - (to - from));
    return true;
}

int vd_body_parse(struct vd_arena *a, struct vd_slice body, struct vd_json **out,
                  struct vd_slice *managed, struct vd_error *error)
{
    static const struct vd_slice path[] = {{"metadata", 8}, {"managedFields", 13}};
    struct vd_slice value, rest;
    *managed = VD_SLICE("");
    if (!vd_span_find(body, path, 2, &value))
        return vd_json_parse_copy(a, body, NULL, out, error);
    *managed = vd_arena_copy(a, value);
    if (cut_out(a, body, value, &rest))
        return vd_json_parse(a, rest, NULL, out, error);
    int code = vd_json_parse_copy(a, body, NULL, out, error);
    if (!code)
        vd_json_remove(vd_json_get(*out, VD_SLICE("metadata")), VD_SLICE("managedFields"));
    return code;
}

void vd_managed_put_back(struct vd_arena *a, struct vd_json *object, struct vd_slice managed)
{
    struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    if (!managed.n || !vd_json_is(metadata, VD_JSON_OBJECT))
        return;
    /* The version's place is looked for: it had better be in front of all that. */
    if (!vd_json_get(metadata, VD_SLICE("resourceVersion")))
        vd_json_add_ref(metadata, VD_SLICE("resourceVersion"), vd_json_string_ref(a, VD_SLICE("")));
    vd_json_add_ref(metadata, VD_SLICE("managedFields"), vd_json_raw(a, managed));
}

/* ---- one write ---- */

/*
 * What a new object is compared with. Objects of built-in kinds have some parts even when
 * they are empty, so that nobody owns those as such; a namespace's spec and status are the
 * server's.
 */
static struct vd_json *empty_object(struct vd_arena *a, const struct vd_kind *kind,
                                    const struct vd_json *object)
{
    static const char *const parts[] = {"spec", "status", "source"};
    bool is_namespace = vd_slice_is(kind->resource, "namespaces");
    struct vd_json *empty = vd_json_object(a);
    vd_json_add_ref(empty, VD_SLICE("metadata"), vd_json_object(a));
    for (size_t i = 0; kind->native && i < sizeof parts / sizeof *parts; i++) {
        const struct vd_json *part = vd_json_get(object, vd_slice_of(parts[i]));
        if (vd_json_is(part, VD_JSON_OBJECT))
            vd_json_add_ref(empty, vd_slice_of(parts[i]),
                            is_namespace ? vd_json_clone(a, part) : vd_json_object(a));
    }
    return empty;
}

/* Reads what the client has sent, if that is another list than the one that is stored. */
static void read_record(struct vd_managed *m, struct vd_arena *a, struct vd_slice stored,
                        const struct vd_json *given)
{
    struct vd_buf sent = {0};
    bool same = !given;
    *m = (struct vd_managed){.arena = a};
    if (vd_managed_is_reset(given)) {
        m->changed = true;
        return;
    }
    if (given) {
        vd_json_write(&sent, given);
        same = vd_slice_eq(vd_buf_slice(&sent), stored);
        vd_buf_release(&sent);
    }
    if (same || !vd_managed_take(m, a, given))
        vd_managed_read(m, a, stored);
}

static struct vd_slice write_record(const struct vd_managed *m)
{
    struct vd_buf out = {0};
    vd_managed_write(&out, m);
    struct vd_slice text = vd_arena_copy(m->arena, vd_buf_slice(&out));
    vd_buf_release(&out);
    return text;
}

void vd_field_tracking_begin(struct vd_field_tracking *t, struct vd_arena *a,
                             const struct vd_kind *kind, const struct vd_json *old,
                             const struct vd_json *object, struct vd_slice stored,
                             const struct vd_json *given)
{
    const struct vd_json *before = old ? old : empty_object(a, kind, object);
    t->is_new = !old;
    read_record(&t->record, a, old ? stored : VD_SLICE(""), old ? given : NULL);
    t->changes = vd_object_compare(a, vd_schema_root(kind->schema), before, object);
}

bool vd_field_tracking_end(struct vd_field_tracking *t, struct vd_slice *managed)
{
    if (t->record.changed || t->is_new)
        *managed = write_record(&t->record);
    return !vd_field_changes_none(&t->changes);
}

void vd_field_tracking_server(struct vd_arena *a, const struct vd_kind *kind,
                              const struct vd_json *old, struct vd_json *object, int64_t now_ms)
{
    struct vd_managed m;
    struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    struct vd_json *list = vd_json_remove(metadata, VD_SLICE("managedFields"));
    const struct vd_json *before = old ? old : empty_object(a, kind, object);
    char time[VD_RFC3339_MAX];
    struct vd_managed_who who = {.manager = VD_SLICE(VD_MANAGER_SERVER),
                                 .api_version = kind->api_version,
                                 .time = vd_arena_copy(a, vd_rfc3339_format(now_ms, time))};
    struct vd_field_changes changes = vd_object_compare(a, vd_schema_root(kind->schema), before,
                                                        object);
    read_record(&m, a, VD_SLICE(""), list);
    if (m.n || !old)
        vd_managed_update(&m, &who, &changes);
    vd_managed_put_back(a, object, write_record(&m));
}
