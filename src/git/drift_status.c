/* See drift_status.h. */
#include "git/drift_status.h"

#include <stdlib.h>

#include "base/limits.h"
#include "kinds/condition.h"
#include "kinds/time_format.h"
#include "json/compare.h"

static int compare(const void *a, const void *b)
{
    const struct vd_overridden *const *x = a, *const *y = b;
    return vd_slice_cmp(vd_overridden_key(*x), vd_overridden_key(*y));
}

/* What the status has said of the object before: who has done it may be known from there alone. */
static const struct vd_json *find_told(const struct vd_json *told, const struct vd_overridden *o)
{
    struct vd_slice name = o->path, namespace = VD_SLICE("");
    vd_slice_cut(&name, '/', &namespace);
    VD_JSON_EACH (item, told)
        if (vd_slice_eq(vd_json_text(vd_json_get(item, VD_SLICE("resource"))), o->resource) &&
            vd_slice_eq(vd_json_text(vd_json_get(item, VD_SLICE("namespace"))), namespace) &&
            vd_slice_eq(vd_json_text(vd_json_get(item, VD_SLICE("name"))), name))
            return item;
    return NULL;
}

static void add_text(struct vd_arena *a, struct vd_json *object, const char *key,
                     struct vd_slice text)
{
    if (text.n)
        vd_json_set(a, object, vd_slice_of(key), vd_json_string(a, text));
}

static struct vd_json *entry_of(struct vd_arena *a, const struct vd_overridden *o,
                                const struct vd_json *told)
{
    struct vd_json *entry = vd_json_object(a);
    const struct vd_json *known = find_told(told, o);
    struct vd_slice name = o->path, namespace = VD_SLICE("");
    char time[VD_TIME_TEXT_MAX];
    bool is_known = known && !o->user;
    vd_slice_cut(&name, '/', &namespace);
    add_text(a, entry, "resource", o->resource);
    add_text(a, entry, "namespace", namespace);
    add_text(a, entry, "name", name);
    add_text(a, entry, "user",
             is_known ? vd_json_text(vd_json_get(known, VD_SLICE("user")))
                      : vd_slice_of(o->user ? o->user : ""));
    add_text(a, entry, "time",
             is_known ? vd_json_text(vd_json_get(known, VD_SLICE("time")))
                      : vd_time_format(o->time_ms, time));
    return entry;
}

static void set_condition(struct vd_arena *a, struct vd_json *object, size_t n, int64_t now_ms)
{
    struct vd_buf text = {0};
    if (n)
        vd_buf_addf(&text,
                    "%zu object%s not what Git has: push %s manifests again with a change, or "
                    "reset the repository by the annotation vedette.dev/reset",
                    n, n == 1 ? " is" : "s are", n == 1 ? "its" : "their");
    vd_condition_set(
        a, object,
        &(struct vd_condition){.type = VD_SLICE("Drifted"),
                               .status = n ? VD_SLICE("True") : VD_SLICE("False"),
                               .reason = n ? VD_SLICE("Overridden") : VD_SLICE("AsInGit"),
                               .message = vd_buf_slice(&text)},
        now_ms);
    vd_buf_release(&text);
}

static void set_drift(struct vd_arena *a, struct vd_json *object, struct vd_overridden_list *list)
{
    struct vd_json *status = vd_json_get(object, VD_SLICE("status"));
    struct vd_json *drift = vd_json_array(a);
    const struct vd_json *told = vd_json_get(status, VD_SLICE("drift"));
    if (list->n)
        qsort(list->p, list->n, sizeof *list->p, compare);
    for (size_t i = 0; i < list->n && i < VD_GIT_DRIFT_MAX; i++)
        vd_json_append(drift, entry_of(a, list->p[i], told));
    if (list->n)
        vd_json_set(a, status, VD_SLICE("drift"), drift);
    else
        vd_json_remove(status, VD_SLICE("drift"));
}

void vd_drift_write_status(struct vd_controller *c, struct vd_repository_item *item,
                           const struct vd_event *event, const struct vd_json *object,
                           struct vd_overridden_list *list)
{
    struct vd_conditional_batch *batch = vd_conditional_batch_new(c, &item->item);
    struct vd_arena *a = vd_conditional_batch_arena(batch);
    struct vd_json *told = vd_json_clone(a, object);
    set_condition(a, told, list->n, vd_clock_wall_ms(c->env.clock));
    set_drift(a, told, list);
    if (!vd_json_eq(told, object))
        vd_conditional_batch_replace(batch, event, told);
    vd_conditional_batch_send(batch);
}
