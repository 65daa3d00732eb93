/*
 * See filter.h. How a change is delivered through a filter:
 *
 *     before   now        delivered
 *     -        matches    ADDED with the new bytes
 *     matches  matches    MODIFIED with the new bytes
 *     matches  -          DELETED with the last bytes that matched, at the new revision
 *     -        -          nothing
 *
 * A deletion is "now: nothing matches". Whether a damaged version matched cannot
 * be known; it counts as if it had, so that nobody keeps an object that is gone.
 */
#include "watch/filter.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"

/* Each part is written after its length, so that two identities are equal only if all their parts
 * are, whatever bytes the parts hold. */
static void add_identity(struct vd_buf *out, const struct vd_filter_spec *spec)
{
    vd_buf_addf(out, "%u", spec->format);
    struct vd_slice parts[] = {
        spec->resource,
        spec->namespace,
        spec->name,
        spec->labels ? vd_selector_text(spec->labels) : VD_SLICE(""),
        spec->fields ? vd_field_selector_text(spec->fields) : VD_SLICE(""),
        spec->fields ? vd_slice((const char *)&spec->field, sizeof spec->field) : VD_SLICE(""),
        spec->dialect,
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        vd_buf_addf(out, " %zu:", parts[i].n);
        vd_buf_add_slice(out, parts[i]);
    }
}

/* The same filter without the selectors that select everything. */
static struct vd_filter_spec simplified(struct vd_filter_spec spec)
{
    if (spec.labels && vd_selector_is_everything(spec.labels))
        spec.labels = NULL;
    if (spec.fields && vd_field_selector_is_everything(spec.fields))
        spec.fields = NULL;
    if (!spec.field)
        spec.field = vd_attributes_field;
    return spec;
}

static struct vd_slice keep(char **at, struct vd_slice bytes)
{
    if (bytes.n)
        memcpy(*at, bytes.p, bytes.n);
    struct vd_slice kept = vd_slice(*at, bytes.n);
    *at += bytes.n;
    return kept;
}

struct vd_filter *vd_filter_new(const struct vd_filter_spec *given)
{
    struct vd_filter_spec spec = simplified(*given);
    struct vd_buf identity = {0};
    add_identity(&identity, &spec);
    size_t room = spec.resource.n + spec.namespace.n + spec.name.n + identity.n;
    struct vd_filter *filter = vd_malloc(sizeof *filter + room);
    vd_refcount_init(&filter->refs);
    filter->spec = spec;
    char *at = filter->bytes;
    filter->spec.resource = keep(&at, spec.resource);
    filter->spec.namespace = keep(&at, spec.namespace);
    filter->spec.name = keep(&at, spec.name);
    filter->identity = keep(&at, vd_buf_slice(&identity));
    filter->spec.dialect = VD_SLICE("");
    if (spec.labels)
        vd_selector_ref(spec.labels);
    if (spec.fields)
        vd_field_selector_ref(spec.fields);
    vd_buf_release(&identity);
    return filter;
}

struct vd_filter *vd_filter_ref(struct vd_filter *filter)
{
    vd_ref(&filter->refs);
    return filter;
}

void vd_filter_unref(struct vd_filter *filter)
{
    if (!filter || !vd_unref(&filter->refs))
        return;
    vd_selector_unref(filter->spec.labels);
    vd_field_selector_unref(filter->spec.fields);
    free(filter);
}

const char *vd_delivery_name(enum vd_delivery_type type)
{
    static const char *const names[] = {"ADDED", "MODIFIED", "DELETED"};
    return names[type];
}

void vd_deliveries_reset(struct vd_deliveries *deliveries)
{
    for (size_t i = 0; i < deliveries->list.n; i++) {
        vd_event_unref(deliveries->list.p[i].event);
        vd_body_unref(deliveries->list.p[i].body);
    }
    deliveries->list.n = 0;
    deliveries->snapshot_end = false;
}

void vd_deliveries_release(struct vd_deliveries *deliveries)
{
    vd_deliveries_reset(deliveries);
    VD_VEC_RELEASE(&deliveries->list);
}

static bool key_matches(const struct vd_filter_spec *spec, const struct vd_entry *entry)
{
    return (!spec->name.n || vd_slice_eq(spec->name, vd_entry_name(entry))) &&
           (!spec->namespace.n || vd_slice_eq(spec->namespace, vd_entry_namespace(entry))) &&
           (!spec->resource.n || vd_slice_eq(spec->resource, vd_entry_resource(entry)));
}

static bool selectors_match(const struct vd_filter_spec *spec, struct vd_attributes *attributes)
{
    if (spec->labels) {
        size_t n;
        vd_attributes_labels(attributes, &n);
        if (!vd_selector_matches(spec->labels, vd_attributes_label, attributes))
            return false;
    }
    return !spec->fields || vd_field_selector_matches(spec->fields, spec->field, attributes);
}

bool vd_filter_matches(const struct vd_filter *filter, struct vd_attributes *attributes)
{
    return key_matches(&filter->spec, attributes->event->entry) &&
           selectors_match(&filter->spec, attributes);
}

/* The last body of an object that was deleted or has ceased to match, with the revision at which
 * that happened. */
static struct vd_body *last_body(const struct vd_change *change)
{
    const struct vd_event *now = change->now, *before = change->before;
    if (now->type == VD_EVENT_DELETED)
        return now->body ? vd_body_ref(now->body) : NULL;
    return before->body ? vd_body_restamp(before->body, now->revision) : NULL;
}

bool vd_filter_judge(const struct vd_filter *filter, const struct vd_change *change,
                     struct vd_attributes *now, struct vd_attributes *before,
                     struct vd_deliveries *deliveries)
{
    const struct vd_filter_spec *spec = &filter->spec;
    if (!key_matches(spec, change->now->entry))
        return false;
    bool is = vd_event_is_live(change->now) && selectors_match(spec, now);
    bool was = vd_event_is_live(change->before) &&
               (change->before->damaged || selectors_match(spec, before));
    if (!is && !was)
        return false;
    *VD_VEC_PUSH(&deliveries->list) = (struct vd_delivery){
        .type = !was ? VD_ADDED
                : is ? VD_MODIFIED
                     : VD_DELETED,
        .event = vd_event_ref(change->now),
        .body = is ? vd_body_ref(change->now->body) : last_body(change),
    };
    return true;
}
