/*
 * See namespaces.h. There is a *space* for each namespace, with one job that furnishes
 * or empties it.
 *
 * Emptying is a scan over the objects as of one revision, a few at a time: each is
 * deleted, or marked if it has finalizers, and counted. Changes behind that revision
 * are counted against it, so that a namespace that waits for ten thousand finalizers
 * costs one scan now and one when the last of them is gone, however many changes come
 * in between. Only a scan that has found nothing lets the namespace go. What a scan could not
 * delete is told in the namespace's conditions; they are as of that scan.
 */
#include "server/namespaces.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash_map.h"
#include "kinds/object_meta.h"
#include "server/bootstrap.h"
#include "json/compare.h"

#define ACCOUNTS VD_SLICE("serviceaccounts")
#define CONFIGS  VD_SLICE("configmaps")
#define SERVICES VD_SLICE("services")
#define ROOT_CA  VD_SLICE("kube-root-ca.crt")

enum emptying { EMPTY_NOT, EMPTY_SCANNING, EMPTY_WAITING };

struct space {
    struct vd_job job;
    enum emptying emptying;
    struct vd_kind_set *kinds; /* of the scan */
    size_t kind_at;
    struct vd_snapshot snapshot;
    struct vd_remains remains; /* found by the scan, and not deleted */
    uint64_t revision;         /* that the scan is as of */
    int64_t left; /* objects at `revision`, as far as scanned, less those deleted since */
    bool again;   /* the scan will have missed something */
    size_t name_len;
    char name[];
};

struct vd_namespaces {
    struct vd_agent agent;
    struct vd_hash_map spaces; /* by name */
    struct vd_buf prefix;      /* scratch */
    struct vd_slice ca_pem;
    struct vd_arena arena; /* has ca_pem */
};

static struct vd_slice space_name(const void *item)
{
    const struct space *s = item;
    return vd_slice(s->name, s->name_len);
}

/* ---- the two objects that every namespace has, and the one of default ---- */

static struct vd_json *new_object(struct vd_arena *a, struct vd_slice kind, struct vd_slice space,
                                  struct vd_slice name)
{
    struct vd_json *object = vd_json_object(a);
    vd_json_add_ref(object, VD_SLICE("apiVersion"), vd_json_string_ref(a, VD_SLICE("v1")));
    vd_json_add_ref(object, VD_SLICE("kind"), vd_json_string_ref(a, kind));
    vd_meta_set_name(a, object, name);
    vd_meta_set_namespace(a, object, space);
    return object;
}

static void want_account(struct vd_errand *errand, struct vd_agent *agent, struct vd_slice space)
{
    struct vd_key key = {ACCOUNTS, space, VD_SLICE("default")};
    struct vd_event *event = NULL;
    int code = vd_agent_read(agent, &key, NULL, &event, NULL);
    vd_event_unref(event);
    if (code == VD_ERR_NOT_FOUND)
        vd_errand_create(
            errand, ACCOUNTS,
            new_object(vd_errand_arena(errand), VD_SLICE("ServiceAccount"), space, key.name));
}

/* The server's own Service, in default. */
static void want_service(struct vd_errand *errand, struct vd_agent *agent)
{
    struct vd_key key = {SERVICES, VD_SLICE("default"), VD_SLICE("kubernetes")};
    struct vd_event *event = NULL;
    int code = vd_agent_read(agent, &key, NULL, &event, NULL);
    vd_event_unref(event);
    if (code == VD_ERR_NOT_FOUND)
        vd_errand_create(errand, SERVICES, vd_bootstrap_service(vd_errand_arena(errand)));
}

static struct vd_json *root_ca_data(struct vd_arena *a, struct vd_slice ca_pem)
{
    struct vd_json *data = vd_json_object(a);
    vd_json_add_ref(data, VD_SLICE("ca.crt"), vd_json_string_ref(a, ca_pem));
    return data;
}

static void want_root_ca(struct vd_errand *errand, struct vd_namespaces *n, struct vd_slice space)
{
    struct vd_key key = {CONFIGS, space, ROOT_CA};
    struct vd_arena *a = vd_errand_arena(errand);
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    int code = vd_agent_read(&n->agent, &key, a, &event, &object);
    if (code == VD_ERR_NOT_FOUND) {
        object = new_object(a, VD_SLICE("ConfigMap"), space, ROOT_CA);
        vd_meta_set_annotation(a, object, VD_SLICE("kubernetes.io/description"),
                               VD_SLICE("The certificate of the authority that signed this "
                                        "server's certificate."));
        vd_json_add_ref(object, VD_SLICE("data"), root_ca_data(a, n->ca_pem));
        vd_errand_create(errand, CONFIGS, object);
    } else if (!code) {
        struct vd_json *data = vd_json_get(object, VD_SLICE("data"));
        struct vd_slice is = vd_json_text(vd_json_get(data, VD_SLICE("ca.crt")));
        if (vd_json_count(data) != 1 || !vd_slice_eq(is, n->ca_pem)) {
            vd_json_set(a, object, VD_SLICE("data"), root_ca_data(a, n->ca_pem));
            vd_errand_replace(errand, event, object);
        }
    }
    vd_event_unref(event);
}

static void furnish(struct vd_namespaces *n, struct space *s, const struct vd_event *event)
{
    struct vd_errand *errand = vd_errand_new(&n->agent, &s->job);
    vd_errand_require(errand, event); /* nothing new comes into one that is being emptied */
    want_account(errand, &n->agent, space_name(s));
    if (vd_slice_is(space_name(s), "default"))
        want_service(errand, &n->agent);
    if (n->ca_pem.n)
        want_root_ca(errand, n, space_name(s));
    vd_errand_send(errand);
}

/* ---- emptying ---- */

static void end_scan(struct space *s)
{
    vd_snapshot_release(&s->snapshot);
    s->snapshot = (struct vd_snapshot){.done = true};
    vd_kind_set_unref(s->kinds);
    s->kinds = NULL;
}

static void begin_scan(struct vd_namespaces *n, struct space *s)
{
    end_scan(s);
    s->emptying = EMPTY_SCANNING;
    s->kinds = vd_kinds_snapshot(n->agent.options.kinds);
    s->kind_at = 0;
    s->revision = vd_store_revision(n->agent.options.store);
    s->left = 0;
    s->again = false;
    vd_remains_release(&s->remains);
}

/* Goes on to the next namespaced kind. False in *any: that was the last. */
static int open_next(struct vd_namespaces *n, struct space *s, bool *any)
{
    const struct vd_kind *kind;
    do
        kind = vd_agent_next_kind(s->kinds, &s->kind_at);
    while (kind && !kind->namespaced);
    *any = kind != NULL;
    if (!kind)
        return VD_OK;
    vd_snapshot_release(&s->snapshot);
    vd_buf_reset(&n->prefix);
    vd_buf_addf(&n->prefix, "%.*s/", VD_FMT(space_name(s)));
    return vd_snapshot_open(&s->snapshot, n->agent.options.store, kind->storage_key,
                            vd_buf_slice(&n->prefix), s->revision, VD_SLICE(""), NULL);
}

/* A piece of the scan into the errand. True in *done when there are no more. */
static int scan(struct vd_namespaces *n, struct space *s, struct vd_errand *errand, bool *done)
{
    size_t count = 0;
    bool any = true;
    int code = VD_OK;
    while (!code && s->snapshot.done && any)
        if ((code = open_next(n, s, &any)) == VD_OK && any)
            break;
    *done = !any;
    if (code || !any)
        return code;
    code = vd_errand_delete_next(errand, &s->snapshot, &count, &s->remains);
    s->left += (int64_t)count;
    return code;
}

/* Says what keeps the namespace, if that is not what it says already. */
static void report(struct vd_namespaces *n, struct space *s, const struct vd_event *event,
                   struct vd_json *object)
{
    struct vd_errand *errand = vd_errand_new(&n->agent, &s->job);
    struct vd_arena *a = vd_errand_arena(errand);
    struct vd_json *told = vd_json_clone(a, object);
    vd_remains_tell(&s->remains, a, told, vd_clock_wall_ms(n->agent.options.clock));
    if (!vd_json_eq(told, object))
        vd_errand_replace(errand, event, told);
    vd_errand_send(errand);
}

/* Nothing is left: the finalizer goes, and the namespace with its last one. */
static void finish(struct vd_namespaces *n, struct space *s, const struct vd_event *event,
                   struct vd_json *object)
{
    struct vd_errand *errand = vd_errand_new(&n->agent, &s->job);
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
        vd_remains_tell(&(struct vd_remains){0}, vd_errand_arena(errand), object,
                        vd_clock_wall_ms(n->agent.options.clock));
    s->emptying = EMPTY_WAITING;
    s->left = 1; /* itself: other finalizers may keep it */
    if (vd_json_count(list) < had || !vd_json_count(vd_meta_finalizers(object)))
        vd_errand_replace(errand, event, object);
    vd_errand_send(errand);
}

static void empty(struct vd_namespaces *n, struct space *s, const struct vd_event *event,
                  struct vd_json *object)
{
    bool done = false;
    s->again |= s->job.code != VD_OK;
    s->job.code = VD_OK;
    if (s->emptying == EMPTY_WAITING && s->left > 0 && !s->again)
        return;
    if (s->emptying != EMPTY_SCANNING)
        begin_scan(n, s);
    struct vd_errand *errand = vd_errand_new(&n->agent, &s->job);
    int code = scan(n, s, errand, &done);
    if (code == VD_ERR_CORRUPT) {
        s->left++; /* somebody has to look at it; it keeps the namespace until then */
    } else if (code) {
        s->again = true; /* the window has passed the scan */
        s->emptying = EMPTY_WAITING;
    }
    bool sent = vd_errand_count(errand) > 0;
    vd_errand_send(errand);
    if (sent)
        return;
    if (done && s->left == 0 && !s->again) {
        finish(n, s, event, object);
        return;
    }
    if (done)
        s->emptying = EMPTY_WAITING;
    if (!done || s->left <= 0 || s->again)
        vd_agent_queue(&n->agent, &s->job);
    else if (s->remains.kinds.n)
        report(n, s, event, object);
}

/* ---- the job ---- */

static void space_free(struct space *s)
{
    end_scan(s);
    vd_remains_release(&s->remains);
    free(s);
}

static void run_space(struct vd_agent *agent, struct vd_job *job)
{
    struct vd_namespaces *n = (struct vd_namespaces *)((char *)agent -
                                                       offsetof(struct vd_namespaces, agent));
    struct space *s = (struct space *)((char *)job - offsetof(struct space, job));
    struct vd_key key = {VD_SLICE("namespaces"), VD_SLICE(""), space_name(s)};
    struct vd_arena arena = {0};
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    int code = vd_agent_read(agent, &key, &arena, &event, &object);
    if (code == VD_ERR_NOT_FOUND) {
        vd_hash_map_remove(&n->spaces, space_name(s));
        space_free(s);
    } else if (!code && vd_meta_is_deleting(object)) {
        empty(n, s, event, object);
    } else if (!code) {
        s->emptying = EMPTY_NOT;
        furnish(n, s, event);
    }
    vd_event_unref(event);
    vd_arena_release(&arena);
}

static struct space *open_space(struct vd_namespaces *n, struct vd_slice name)
{
    struct space *s = vd_hash_map_get(&n->spaces, name);
    if (s)
        return s;
    s = vd_calloc(1, sizeof *s + name.n);
    s->job.run = run_space;
    s->snapshot.done = true;
    s->name_len = name.n;
    memcpy(s->name, name.p, name.n);
    vd_hash_map_put(&n->spaces, s);
    return s;
}

/* ---- what the agent is told ---- */

static void loading(struct vd_agent *agent)
{
    (void)agent; /* a space whose namespace is gone finds that out when it is run */
}

static void loaded(struct vd_agent *agent)
{
    struct vd_namespaces *n = (struct vd_namespaces *)((char *)agent -
                                                       offsetof(struct vd_namespaces, agent));
    size_t at = 0;
    for (struct space *s; (s = vd_hash_map_next(&n->spaces, &at));) {
        s->again = true; /* what was counted may have been missed */
        vd_agent_queue(agent, &s->job);
    }
}

static bool is_furniture(struct vd_slice kind, struct vd_slice name)
{
    return (vd_slice_eq(kind, ACCOUNTS) && vd_slice_is(name, "default")) ||
           (vd_slice_eq(kind, CONFIGS) && vd_slice_eq(name, ROOT_CA)) ||
           (vd_slice_eq(kind, SERVICES) && vd_slice_is(name, "kubernetes"));
}

static void take(struct vd_agent *agent, const struct vd_change *change)
{
    struct vd_namespaces *n = (struct vd_namespaces *)((char *)agent -
                                                       offsetof(struct vd_namespaces, agent));
    const struct vd_event *now = change->now;
    struct vd_slice kind = vd_entry_kind(now->entry), space = vd_entry_space(now->entry);
    if (vd_slice_is(kind, "namespaces")) {
        vd_agent_queue(agent, &open_space(n, vd_entry_name(now->entry))->job);
        return;
    }
    struct space *s = space.n ? vd_hash_map_get(&n->spaces, space) : NULL;
    if (!s)
        return;
    if (s->emptying == EMPTY_NOT) {
        if (is_furniture(kind, vd_entry_name(now->entry)))
            vd_agent_queue(agent, &s->job);
        return;
    }
    if (now->revision <= s->revision)
        return;
    s->left -= now->type == VD_EVENT_DELETED;
    s->again |= now->type == VD_EVENT_CREATED;
    if (s->emptying == EMPTY_WAITING && (s->left <= 0 || s->again))
        vd_agent_queue(agent, &s->job);
}

/* ---- life cycle ---- */

struct vd_namespaces *vd_namespaces_start(const struct vd_agent_options *options,
                                          struct vd_slice ca_pem)
{
    static const struct vd_agent_ops ops = {loading, take, loaded};
    struct vd_namespaces *n = VD_NEW(struct vd_namespaces);
    n->ca_pem = vd_arena_copy(&n->arena, ca_pem);
    vd_hash_map_init(&n->spaces, space_name);
    vd_agent_start(&n->agent, options, &ops);
    return n;
}

void vd_namespaces_stop(struct vd_namespaces *n)
{
    size_t at = 0;
    if (!n)
        return;
    vd_agent_stop(&n->agent);
    for (struct space *s; (s = vd_hash_map_next(&n->spaces, &at));)
        space_free(s);
    vd_hash_map_release(&n->spaces);
    vd_buf_release(&n->prefix);
    vd_arena_release(&n->arena);
    free(n);
}
