/*
 * See namespaces.h. There is a state for each namespace, with one item that furnishes or empties
 * it.
 *
 * Emptying is a scan over the objects as of one revision, a few at a time: each is deleted, or
 * marked if it has finalizers, and counted. Changes behind that revision are counted against it, so
 * that a namespace that waits for ten thousand finalizers costs one scan now and one when the last
 * of them is gone, however many changes come in between. Only a scan that has found nothing lets
 * the namespace go. What a scan could not delete is written into the namespace's conditions; they
 * are as of that scan.
 */
#include "server/namespaces.h"

#include <stdlib.h>

#include "api/conditional_batch.h"
#include "base/alloc.h"
#include "base/container_of.h"
#include "base/hash_map.h"
#include "kinds/object_meta.h"
#include "server/bootstrap.h"
#include "server/namespace_content.h"
#include "json/compare.h"

#define NAMESPACES VD_SLICE("namespaces")
#define ACCOUNTS   VD_SLICE("serviceaccounts")
#define CONFIGS    VD_SLICE("configmaps")
#define SERVICES   VD_SLICE("services")
#define ROOT_CA    VD_SLICE("kube-root-ca.crt")

enum emptying { EMPTY_NOT, EMPTY_SCANNING, EMPTY_WAITING };

struct namespace
{
    struct vd_controller_item item;
    enum emptying emptying;
    struct vd_kind_set *kinds; /* of the scan */
    size_t kind_at;
    struct vd_snapshot snapshot;
    struct vd_namespace_content content; /* found by the scan, and not deleted */
    uint64_t revision;                   /* that the scan is as of */
    int64_t left; /* objects at `revision`, as far as scanned, less those deleted since */
    bool again;   /* the scan will have missed something */
    bool gone;    /* the store has no such namespace */
    size_t name_len;
    char name[];
};

struct vd_namespaces {
    struct vd_controller *controller;
    struct vd_informer_handler handler;
    struct vd_reconciler reconciler;
    struct vd_hash_map all; /* by name */
    struct vd_buf prefix;   /* scratch */
    struct vd_slice ca_pem;
    struct vd_arena arena; /* has ca_pem */
};

static struct vd_slice namespace_name(const void *item)
{
    const struct namespace *ns = item;
    return vd_slice(ns->name, ns->name_len);
}

/* ---- the two objects that every namespace has, and the one of default ---- */

static struct vd_json *new_object(struct vd_arena *a, struct vd_slice kind,
                                  struct vd_slice namespace, struct vd_slice name)
{
    struct vd_json *object = vd_json_object(a);
    vd_json_add_ref(object, VD_SLICE("apiVersion"), vd_json_string_ref(a, VD_SLICE("v1")));
    vd_json_add_ref(object, VD_SLICE("kind"), vd_json_string_ref(a, kind));
    vd_meta_set_name(a, object, name);
    vd_meta_set_namespace(a, object, namespace);
    return object;
}

static void want_account(struct vd_conditional_batch *batch, struct vd_controller *controller,
                         struct vd_slice namespace)
{
    struct vd_key key = {ACCOUNTS, namespace, VD_SLICE("default")};
    struct vd_event *event = NULL;
    int code = vd_controller_read(controller, &key, NULL, &event, NULL);
    vd_event_unref(event);
    if (code == VD_ERR_NOT_FOUND)
        vd_conditional_batch_create(batch, ACCOUNTS,
                                    new_object(vd_conditional_batch_arena(batch),
                                               VD_SLICE("ServiceAccount"), namespace, key.name));
}

/* The server's own Service, in default. */
static void want_service(struct vd_conditional_batch *batch, struct vd_controller *controller)
{
    struct vd_key key = {SERVICES, VD_SLICE("default"), VD_SLICE("kubernetes")};
    struct vd_event *event = NULL;
    int code = vd_controller_read(controller, &key, NULL, &event, NULL);
    vd_event_unref(event);
    if (code == VD_ERR_NOT_FOUND)
        vd_conditional_batch_create(batch, SERVICES,
                                    vd_bootstrap_service(vd_conditional_batch_arena(batch)));
}

static struct vd_json *root_ca_data(struct vd_arena *a, struct vd_slice ca_pem)
{
    struct vd_json *data = vd_json_object(a);
    vd_json_add_ref(data, VD_SLICE("ca.crt"), vd_json_string_ref(a, ca_pem));
    return data;
}

static void want_root_ca(struct vd_conditional_batch *batch, struct vd_namespaces *n,
                         struct vd_slice namespace)
{
    struct vd_key key = {CONFIGS, namespace, ROOT_CA};
    struct vd_arena *a = vd_conditional_batch_arena(batch);
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    int code = vd_controller_read(n->controller, &key, a, &event, &object);
    if (code == VD_ERR_NOT_FOUND) {
        object = new_object(a, VD_SLICE("ConfigMap"), namespace, ROOT_CA);
        vd_meta_set_annotation(a, object, VD_SLICE("kubernetes.io/description"),
                               VD_SLICE("The certificate of the authority that signed this "
                                        "server's certificate."));
        vd_json_add_ref(object, VD_SLICE("data"), root_ca_data(a, n->ca_pem));
        vd_conditional_batch_create(batch, CONFIGS, object);
    } else if (!code) {
        struct vd_json *data = vd_json_get(object, VD_SLICE("data"));
        struct vd_slice is = vd_json_text(vd_json_get(data, VD_SLICE("ca.crt")));
        if (vd_json_count(data) != 1 || !vd_slice_eq(is, n->ca_pem)) {
            vd_json_set(a, object, VD_SLICE("data"), root_ca_data(a, n->ca_pem));
            vd_conditional_batch_replace(batch, event, object);
        }
    }
    vd_event_unref(event);
}

static void furnish(struct vd_namespaces *n, struct namespace *ns, const struct vd_event *event)
{
    struct vd_conditional_batch *batch = vd_conditional_batch_new(n->controller, &ns->item);
    vd_conditional_batch_require(batch,
                                 event); /* nothing new comes into one that is being emptied */
    want_account(batch, n->controller, namespace_name(ns));
    if (vd_slice_is(namespace_name(ns), "default"))
        want_service(batch, n->controller);
    if (n->ca_pem.n)
        want_root_ca(batch, n, namespace_name(ns));
    vd_conditional_batch_send(batch);
}

/* ---- emptying ---- */

static void end_scan(struct namespace *ns)
{
    vd_snapshot_release(&ns->snapshot);
    ns->snapshot = (struct vd_snapshot){.done = true};
    vd_kind_set_unref(ns->kinds);
    ns->kinds = NULL;
}

static void begin_scan(struct vd_namespaces *n, struct namespace *ns)
{
    end_scan(ns);
    ns->emptying = EMPTY_SCANNING;
    ns->kinds = vd_kinds_snapshot(n->controller->env.kinds);
    ns->kind_at = 0;
    ns->revision = 0; /* that of the first kind is chosen for all */
    ns->left = 0;
    ns->again = false;
    vd_namespace_content_release(&ns->content);
}

/* The stored kinds, one by one: a kind in several groups or versions comes once. */
static const struct vd_kind *next_kind(const struct vd_kind_set *set, size_t *at)
{
    size_t n;
    struct vd_kind *const *all = vd_kind_set_all(set, &n);
    while (*at < n) {
        const struct vd_kind *kind = all[(*at)++];
        if (kind->stored && !kind->subresource.n && vd_kind_set_stored(set, kind->resource) == kind)
            return kind;
    }
    return NULL;
}

/* Goes on to the next namespaced kind. False in *any: that was the last. */
static int open_next(struct vd_namespaces *n, struct namespace *ns, bool *any)
{
    const struct vd_kind *kind;
    do
        kind = next_kind(ns->kinds, &ns->kind_at);
    while (kind && !kind->namespaced);
    *any = kind != NULL;
    if (!kind)
        return VD_OK;
    vd_snapshot_release(&ns->snapshot);
    vd_buf_reset(&n->prefix);
    vd_buf_addf(&n->prefix, "%.*s/", VD_FMT(namespace_name(ns)));
    int code = vd_snapshot_open(&ns->snapshot, n->controller->env.store, kind->resource,
                                vd_buf_slice(&n->prefix), ns->revision, VD_SLICE(""), NULL);
    if (!code)
        ns->revision = ns->snapshot.revision;
    return code;
}

static void count_staying(void *arg, struct vd_slice resource, const struct vd_json *object)
{
    struct namespace *ns = arg;
    vd_namespace_content_count(&ns->content, resource, object);
}

/* A piece of the scan into the batch. True in *done when there are no more. */
static int scan(struct vd_namespaces *n, struct namespace *ns, struct vd_conditional_batch *batch,
                bool *done)
{
    size_t count = 0;
    bool any = true;
    int code = VD_OK;
    while (!code && ns->snapshot.done && any)
        if ((code = open_next(n, ns, &any)) == VD_OK && any)
            break;
    *done = !any;
    if (code || !any)
        return code;
    code = vd_conditional_batch_delete_next(batch, &ns->snapshot, &count,
                                            &(struct vd_stays){count_staying, ns});
    ns->left += (int64_t)count;
    return code;
}

/* Says what keeps the namespace, if that is not what it says already. */
static void report(struct vd_namespaces *n, struct namespace *ns, const struct vd_event *event,
                   struct vd_json *object)
{
    struct vd_conditional_batch *batch = vd_conditional_batch_new(n->controller, &ns->item);
    struct vd_arena *a = vd_conditional_batch_arena(batch);
    struct vd_json *told = vd_json_clone(a, object);
    vd_namespace_content_write(&ns->content, a, told, vd_clock_wall_ms(n->controller->env.clock));
    if (!vd_json_eq(told, object))
        vd_conditional_batch_replace(batch, event, told);
    vd_conditional_batch_send(batch);
}

/* Nothing is left: the finalizer goes, and the namespace with its last one. */
static void finish(struct vd_namespaces *n, struct namespace *ns, const struct vd_event *event,
                   struct vd_json *object)
{
    struct vd_conditional_batch *batch = vd_conditional_batch_new(n->controller, &ns->item);
    struct vd_json *list = vd_json_dig(object, "spec", "finalizers", NULL), *before = NULL;
    size_t had = vd_json_count(list);
    for (struct vd_json *item = vd_json_first(list), *next; item; item = next) {
        next = vd_json_next(item);
        if (vd_slice_is(vd_json_text(item), "kubernetes"))
            vd_json_remove_after(list, before);
        else
            before = item;
    }
    if (vd_json_dig(object, "status", "conditions", NULL))
        vd_namespace_content_write(&(struct vd_namespace_content){0},
                                   vd_conditional_batch_arena(batch), object,
                                   vd_clock_wall_ms(n->controller->env.clock));
    ns->emptying = EMPTY_WAITING;
    ns->left = 1; /* itself: other finalizers may keep it */
    if (vd_json_count(list) < had || !vd_json_count(vd_meta_finalizers(object)))
        vd_conditional_batch_replace(batch, event, object);
    vd_conditional_batch_send(batch);
}

static void empty(struct vd_namespaces *n, struct namespace *ns, const struct vd_event *event,
                  struct vd_json *object)
{
    bool done = false;
    ns->again |= ns->item.code != VD_OK;
    ns->item.code = VD_OK;
    if (ns->emptying == EMPTY_WAITING && ns->left > 0 && !ns->again)
        return;
    if (ns->emptying != EMPTY_SCANNING)
        begin_scan(n, ns);
    struct vd_conditional_batch *batch = vd_conditional_batch_new(n->controller, &ns->item);
    int code = scan(n, ns, batch, &done);
    if (code == VD_ERR_CORRUPT) {
        ns->left++; /* somebody has to look at it; it keeps the namespace until then */
    } else if (code) {
        ns->again = true; /* the window has passed the scan */
        ns->emptying = EMPTY_WAITING;
    }
    bool sent = vd_conditional_batch_count(batch) > 0;
    vd_conditional_batch_send(batch);
    if (sent)
        return;
    if (done && ns->left == 0 && !ns->again) {
        finish(n, ns, event, object);
        return;
    }
    if (done)
        ns->emptying = EMPTY_WAITING;
    if (!done || ns->left <= 0 || ns->again)
        vd_controller_add(n->controller, &ns->item);
    else if (ns->content.kinds.n)
        report(n, ns, event, object);
}

/* ---- the item ---- */

static void namespace_free(struct namespace *ns)
{
    end_scan(ns);
    vd_namespace_content_release(&ns->content);
    free(ns);
}

static struct vd_namespaces *namespaces_of(const struct vd_controller_item *item)
{
    return VD_CONTAINER_OF(item->reconciler, struct vd_namespaces, reconciler);
}

static void reconcile(struct vd_controller_item *item)
{
    struct vd_namespaces *n = namespaces_of(item);
    struct namespace *ns = VD_CONTAINER_OF(item, struct namespace, item);
    struct vd_key key = {NAMESPACES, VD_SLICE(""), namespace_name(ns)};
    struct vd_arena arena = {0};
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    int code = vd_controller_read(n->controller, &key, &arena, &event, &object);
    ns->gone = code == VD_ERR_NOT_FOUND;
    if (!code && vd_meta_is_deleting(object)) {
        empty(n, ns, event, object);
    } else if (!code) {
        ns->emptying = EMPTY_NOT;
        furnish(n, ns, event);
    }
    vd_event_unref(event);
    vd_arena_release(&arena);
}

static void settled(struct vd_controller_item *item)
{
    struct namespace *ns = VD_CONTAINER_OF(item, struct namespace, item);
    if (!ns->gone)
        return;
    vd_hash_map_remove(&namespaces_of(item)->all, namespace_name(ns));
    namespace_free(ns);
}

static struct namespace *open_namespace(struct vd_namespaces *n, struct vd_slice name)
{
    struct namespace *ns = vd_hash_map_get(&n->all, name);
    if (ns)
        return ns;
    ns = vd_calloc(1, sizeof *ns + name.n);
    ns->item.reconciler = &n->reconciler;
    ns->snapshot.done = true;
    ns->name_len = name.n;
    memcpy(ns->name, name.p, name.n);
    vd_hash_map_put(&n->all, ns);
    return ns;
}

/* ---- what the informer tells ---- */

/* A namespace that has gone unseen finds that out when it is reconciled. */
static void on_synced(struct vd_informer_handler *handler)
{
    struct vd_namespaces *n = VD_CONTAINER_OF(handler, struct vd_namespaces, handler);
    size_t at = 0;
    for (struct namespace *ns; (ns = vd_hash_map_next(&n->all, &at));) {
        ns->again = true; /* what was counted may have been missed */
        vd_controller_add(n->controller, &ns->item);
    }
}

static bool is_furniture(struct vd_slice kind, struct vd_slice name)
{
    return (vd_slice_eq(kind, ACCOUNTS) && vd_slice_is(name, "default")) ||
           (vd_slice_eq(kind, CONFIGS) && vd_slice_eq(name, ROOT_CA)) ||
           (vd_slice_eq(kind, SERVICES) && vd_slice_is(name, "kubernetes"));
}

static void on_changed(struct vd_informer_handler *handler, const struct vd_change *change)
{
    struct vd_namespaces *n = VD_CONTAINER_OF(handler, struct vd_namespaces, handler);
    const struct vd_event *now = change->now;
    struct vd_slice resource = vd_entry_resource(now->entry),
                    namespace = vd_entry_namespace(now->entry);
    if (vd_slice_eq(resource, NAMESPACES)) {
        vd_controller_add(n->controller, &open_namespace(n, vd_entry_name(now->entry))->item);
        return;
    }
    struct namespace *ns = namespace.n ? vd_hash_map_get(&n->all, namespace) : NULL;
    if (!ns)
        return;
    if (ns->emptying == EMPTY_NOT) {
        if (is_furniture(resource, vd_entry_name(now->entry)))
            vd_controller_add(n->controller, &ns->item);
        return;
    }
    if (now->revision <= ns->revision)
        return;
    ns->left -= now->type == VD_EVENT_DELETED;
    ns->again |= now->type == VD_EVENT_CREATED;
    if (ns->emptying == EMPTY_WAITING && (ns->left <= 0 || ns->again))
        vd_controller_add(n->controller, &ns->item);
}

/* ---- life cycle ---- */

struct vd_namespaces *vd_namespaces_new(struct vd_controller *controller, struct vd_slice ca_pem)
{
    static const struct vd_informer_ops ops = {.changed = on_changed, .synced = on_synced};
    struct vd_namespaces *n = VD_NEW(struct vd_namespaces);
    n->controller = controller;
    n->ca_pem = vd_arena_copy(&n->arena, ca_pem);
    n->handler.ops = &ops;
    n->reconciler = (struct vd_reconciler){reconcile, settled};
    vd_hash_map_init(&n->all, namespace_name);
    vd_informer_add_handler(&controller->informer, &n->handler);
    return n;
}

void vd_namespaces_free(struct vd_namespaces *n)
{
    size_t at = 0;
    if (!n)
        return;
    for (struct namespace *ns; (ns = vd_hash_map_next(&n->all, &at));)
        namespace_free(ns);
    vd_hash_map_release(&n->all);
    vd_buf_release(&n->prefix);
    vd_arena_release(&n->arena);
    free(n);
}
