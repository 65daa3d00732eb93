/* See converter.h. All on the converter's loop, but for vd_converter_ask() and the life cycle. */
#include "api/converter.h"

#include <assert.h>
#include <semaphore.h>
#include <stdlib.h>

#include "api/converter_call.h"
#include "base/alloc.h"
#include "base/container_of.h"
#include "base/hash_map.h"
#include "base/log.h"

struct waiter {
    struct vd_conversion *conversion;
    size_t at; /* the item of it */
};

/* One object in one version: on its way, or kept. */
struct entry {
    struct vd_body *converted;     /* a reference; NULL: it is on its way */
    VD_VEC(struct waiter) waiters; /* of one that is on its way */
    struct entry *prev, *next;     /* of those that are kept, the last used first */
    struct vd_slice key;           /* empty: it has no name */
    char bytes[];
};

struct call {
    struct vd_converter_call c; /* first */
    struct vd_converter *converter;
    struct hook *hook;
    struct vd_conversion *owner; /* whose objects these are; it waits for them */
    struct entry *entries[VD_CONVERSION_OBJECTS_MAX];
    size_t len; /* bytes of the objects */
    uint64_t queued_ns;
    struct call *prev, *next; /* in its hook's queue, or of those under way */
};

struct calls {
    struct call *first, *last;
};

/* The webhook of a definition. */
struct hook {
    struct calls queue;
    size_t running;
    struct vd_buf ca_bundle; /* for which `tls` was made */
    SSL_CTX *tls;            /* NULL: not made yet */
    bool failing;            /* its last call has failed */
    struct vd_slice key;     /* of the definition: plural.group */
    char bytes[];
};

struct vd_converter {
    struct vd_converter_options options;
    struct vd_hash_map hooks;   /* by definition */
    struct vd_hash_map entries; /* by name */
    struct entry *newest, *oldest;
    size_t kept_len;
    struct calls under_way;
    size_t running;
    bool stopped; /* nothing is asked any more */
    struct vd_task quit;
    sem_t done;
};

static struct vd_slice entry_key(const void *item)
{
    return ((const struct entry *)item)->key;
}

static struct vd_slice hook_key(const void *item)
{
    return ((const struct hook *)item)->key;
}

/* ---- lists ---- */

static void calls_push(struct calls *list, struct call *call)
{
    call->prev = list->last;
    call->next = NULL;
    *(list->last ? &list->last->next : &list->first) = call;
    list->last = call;
}

static void calls_remove(struct calls *list, struct call *call)
{
    *(call->prev ? &call->prev->next : &list->first) = call->next;
    *(call->next ? &call->next->prev : &list->last) = call->prev;
}

/* ---- entries ---- */

static size_t kept_len(const struct entry *e)
{
    return sizeof *e + e->key.n + sizeof *e->converted + e->converted->len;
}

static void unlink_kept(struct vd_converter *v, struct entry *e)
{
    *(e->prev ? &e->prev->next : &v->newest) = e->next;
    *(e->next ? &e->next->prev : &v->oldest) = e->prev;
    v->kept_len -= kept_len(e);
}

static void link_kept(struct vd_converter *v, struct entry *e)
{
    e->prev = NULL;
    e->next = v->newest;
    *(v->newest ? &v->newest->prev : &v->oldest) = e;
    v->newest = e;
    v->kept_len += kept_len(e);
}

static void entry_free(struct entry *e)
{
    vd_body_unref(e->converted);
    VD_VEC_RELEASE(&e->waiters);
    free(e);
}

static void make_room(struct vd_converter *v)
{
    while (v->kept_len > VD_CONVERSION_CACHE_LEN_MAX) {
        struct entry *e = v->oldest;
        unlink_kept(v, e);
        vd_hash_map_remove(&v->entries, e->key);
        entry_free(e);
    }
}

/* The name of what is wanted; of what nobody else wants, nothing. */
static void add_key(struct vd_buf *out, const struct vd_kind *to,
                    const struct vd_conversion_item *item)
{
    uint64_t generation = 0;
    const struct vd_json *number = vd_json_dig(to->document, "metadata", "generation", NULL);
    if (!item->revision)
        return;
    if (!number || !vd_json_to_u64(number, &generation))
        generation = 0;
    vd_buf_addf(out, "%.*s %llu %.*s %llu%s", VD_FMT(to->definition_uid),
                (unsigned long long)generation, VD_FMT(to->api_version),
                (unsigned long long)item->revision, item->leaves ? "-" : "");
}

static struct entry *entry_new(struct vd_slice key)
{
    struct entry *e = vd_calloc(1, sizeof *e + key.n);
    if (key.n)
        memcpy(e->bytes, key.p, key.n);
    e->key = vd_slice(e->bytes, key.n);
    return e;
}

static void wait_for(struct entry *e, struct vd_conversion *c, size_t at)
{
    *VD_VEC_PUSH(&e->waiters) = (struct waiter){c, at};
    c->missing++;
}

/* ---- hooks ---- */

static struct hook *hook_of(struct vd_converter *v, const struct vd_kind *kind)
{
    struct vd_slice key = kind->resource;
    struct hook *h = vd_hash_map_get(&v->hooks, key);
    if (h)
        return h;
    h = vd_calloc(1, sizeof *h + key.n);
    memcpy(h->bytes, key.p, key.n);
    h->key = vd_slice(h->bytes, key.n);
    vd_hash_map_put(&v->hooks, h);
    return h;
}

static void hook_free(struct hook *h)
{
    SSL_CTX_free(h->tls);
    vd_buf_release(&h->ca_bundle);
    free(h);
}

/* Forgets those that nobody waits for, when there are many. */
static void forget_idle(struct vd_converter *v)
{
    VD_VEC(struct hook *) idle = {0};
    size_t at = 0;
    if (vd_hash_map_count(&v->hooks) <= VD_CONVERSION_HOOKS_MAX)
        return;
    for (struct hook *h; (h = vd_hash_map_next(&v->hooks, &at));)
        if (!h->running && !h->queue.first)
            *VD_VEC_PUSH(&idle) = h;
    for (size_t i = 0; i < idle.n; i++) {
        vd_hash_map_remove(&v->hooks, idle.p[i]->key);
        hook_free(idle.p[i]);
    }
    VD_VEC_RELEASE(&idle);
}

/* The authorities that a call has made ready serve the next ones. */
static void keep_authorities(struct hook *h, const struct vd_converter_call *c)
{
    if (!c->tls || c->tls == h->tls)
        return;
    SSL_CTX_free(h->tls);
    h->tls = SSL_CTX_up_ref(c->tls) == 1 ? c->tls : NULL;
    vd_buf_reset(&h->ca_bundle);
    vd_buf_add_slice(&h->ca_bundle, c->webhook.ca_bundle);
}

static void lend_authorities(struct hook *h, struct vd_converter_call *c)
{
    struct vd_webhook webhook;
    if (h->tls && !vd_webhook_read(&webhook, c->to, NULL) &&
        vd_slice_eq(webhook.ca_bundle, vd_buf_slice(&h->ca_bundle)) && SSL_CTX_up_ref(h->tls) == 1)
        c->tls = h->tls;
}

/* The log hears of the first failure, and of the end of it. */
static void tell(struct hook *h, const struct vd_converter_call *c)
{
    bool failing = c->failure != VD_CONVERSION_FAILED_NONE;
    if (failing && !h->failing)
        vd_log_warn("a conversion webhook fails", VD_F_SLICE("definition", h->key),
                    VD_F_ERROR(&c->error));
    else if (!failing && h->failing)
        vd_log_info("a conversion webhook works again", VD_F_SLICE("definition", h->key));
    h->failing = failing;
}

/* ---- conversions and their calls ---- */

static void on_called(struct vd_converter_call *c);

static struct call *call_new(struct vd_converter *v, struct vd_conversion *owner)
{
    struct call *call = VD_NEW(struct call);
    call->c = (struct vd_converter_call){
        .loop = v->options.loop,
        .store = v->options.store,
        .clock = v->options.clock,
        .kinds = vd_kinds_snapshot(v->options.kinds),
        .to = vd_kind_ref(owner->to),
        .done = on_called,
    };
    call->converter = v;
    call->owner = owner;
    call->hook = hook_of(v, owner->to);
    call->queued_ns = vd_clock_mono_ns(v->options.clock);
    return call;
}

static void call_free(struct call *call)
{
    vd_converter_call_release(&call->c);
    free(call);
}

static void finish(struct vd_conversion *c)
{
    vd_loop_post(c->loop, &c->task);
}

/* Puts an item into the call that is being filled, or, when that is full, into a new one. */
static struct call *add_to_call(struct call *call, struct vd_converter *v, struct vd_conversion *c,
                                const struct vd_conversion_item *item, struct entry *e)
{
    size_t len = item->body->len;
    bool full = call && (call->c.n == VD_CONVERSION_OBJECTS_MAX ||
                         call->len + len > VD_CONVERSION_REQUEST_LEN_MAX);
    if (full)
        calls_push(&call->hook->queue, call);
    if (full || !call)
        call = call_new(v, c);
    call->c.bodies[call->c.n] = vd_body_ref(item->body);
    call->entries[call->c.n++] = e;
    call->len += len;
    return call;
}

/* Finds the item, waits for it, or has it called for: then the call is given back. */
static struct call *want(struct vd_converter *v, struct vd_conversion *c, size_t at,
                         struct call *call)
{
    struct vd_conversion_item *item = &c->items.p[at];
    struct vd_buf key = {0};
    if (item->converted)
        return call;
    add_key(&key, c->to, item);
    struct entry *e = key.n ? vd_hash_map_get(&v->entries, vd_buf_slice(&key)) : NULL;
    if (e && e->converted) {
        item->converted = vd_body_ref(e->converted);
        unlink_kept(v, e);
        link_kept(v, e);
    } else if (e) {
        wait_for(e, c, at);
    } else {
        e = entry_new(vd_buf_slice(&key));
        if (e->key.n)
            vd_hash_map_put(&v->entries, e);
        wait_for(e, c, at);
        call = add_to_call(call, v, c, item, e);
    }
    vd_buf_release(&key);
    return call;
}

/* ---- the end of a call ---- */

static void fail_waiter(struct vd_conversion *c, const struct vd_error *error)
{
    if (c->code)
        return;
    c->code = (int)error->code;
    c->error = *error;
}

/* Tells those who wait for the i-th object. Of a failure that may be another object's, whose owner
 * is another conversion, they make sure themselves. */
static void settle_entry(struct call *call, size_t i)
{
    struct vd_converter *v = call->converter;
    struct entry *e = call->entries[i];
    bool failed = call->c.failure != VD_CONVERSION_FAILED_NONE;
    if (failed && e->key.n)
        vd_hash_map_remove(&v->entries, e->key);
    e->converted = failed ? NULL : vd_body_ref(call->c.converted[i]);
    for (size_t k = 0; k < e->waiters.n; k++) {
        struct vd_conversion *c = e->waiters.p[k].conversion;
        size_t at = e->waiters.p[k].at;
        bool again = failed && !v->stopped && c != call->owner && call->c.n > 1;
        c->missing--;
        struct call *own = again ? want(v, c, at, NULL) : NULL;
        if (own)
            calls_push(&own->hook->queue, own);
        if (failed && !again)
            fail_waiter(c, &call->c.error);
        if (!failed)
            c->items.p[at].converted = vd_body_ref(e->converted);
        if (!c->missing)
            finish(c);
    }
    VD_VEC_RELEASE(&e->waiters);
    if (failed || !e->key.n)
        entry_free(e);
    else
        link_kept(v, e);
}

static void settle(struct call *call)
{
    for (size_t i = 0; i < call->c.n; i++)
        settle_entry(call, i);
    make_room(call->converter);
    call_free(call);
}

static void fail(struct call *call, enum vd_code code, const char *why)
{
    call->c.failure = VD_CONVERSION_FAILED_CALL;
    vd_error_set(&call->c.error, code, "conversion webhook for %.*s failed: %s",
                 VD_FMT(call->c.to->resource), why);
    settle(call);
}

/* ---- the queues ---- */

/* Whether the call at the front of the queue is of no use any more: it was settled then. */
static bool drop_stale(struct vd_converter *v, struct hook *h)
{
    struct call *call = h->queue.first;
    uint64_t waited_ns = vd_clock_mono_ns(v->options.clock) - call->queued_ns;
    bool late = waited_ns > VD_CONVERSION_TIMEOUT_MS * UINT64_C(1000000);
    if (!late && !call->owner->code)
        return false;
    calls_remove(&h->queue, call);
    fail(call, VD_ERR_IO, "earlier calls of it have taken too long");
    return true;
}

static void start_calls(struct vd_converter *v, struct hook *h)
{
    while (h->queue.first && h->running < VD_CONVERSION_HOOK_CALLS_MAX &&
           v->running < VD_CONVERSION_CALLS_MAX) {
        if (drop_stale(v, h))
            continue;
        struct call *call = h->queue.first;
        calls_remove(&h->queue, call);
        calls_push(&v->under_way, call);
        h->running++;
        v->running++;
        lend_authorities(h, &call->c);
        vd_converter_call_start(&call->c);
    }
}

static void start_all(struct vd_converter *v)
{
    size_t at = 0;
    for (struct hook *h; (h = vd_hash_map_next(&v->hooks, &at));)
        start_calls(v, h);
}

static void on_called(struct vd_converter_call *c)
{
    struct call *call = VD_CONTAINER_OF(c, struct call, c);
    struct vd_converter *v = call->converter;
    struct hook *h = call->hook;
    calls_remove(&v->under_way, call);
    h->running--;
    v->running--;
    if (v->stopped) { /* nobody waits for it */
        call_free(call);
        return;
    }
    keep_authorities(h, c);
    tell(h, c);
    settle(call);
    start_all(v);
    forget_idle(v);
}

static void on_ask(struct vd_task *task)
{
    struct vd_conversion *c = VD_CONTAINER_OF(task, struct vd_conversion, asked);
    struct vd_converter *v = c->converter;
    struct call *call = NULL;
    if (v->stopped) {
        c->code = vd_error_set(&c->error, VD_ERR_CLOSED, "the server is shutting down");
        finish(c);
        return;
    }
    for (size_t i = 0; i < c->items.n; i++)
        call = want(v, c, i, call);
    if (call) {
        calls_push(&call->hook->queue, call);
        start_calls(v, call->hook);
    }
    if (!c->missing)
        finish(c);
}

void vd_converter_ask(struct vd_converter *v, struct vd_conversion *conversion)
{
    conversion->converter = v;
    conversion->asked.run = on_ask;
    vd_loop_post(v->options.loop, &conversion->asked);
}

/* ---- life cycle ---- */

struct vd_converter *vd_converter_new(const struct vd_converter_options *options)
{
    struct vd_converter *v = VD_NEW(struct vd_converter);
    v->options = *options;
    vd_hash_map_init(&v->hooks, hook_key);
    vd_hash_map_init(&v->entries, entry_key);
    sem_init(&v->done, 0, 0);
    return v;
}

/* Settles the waiters of a call that a worker still has: it is freed when that is done. */
static void desert(struct call *call)
{
    for (size_t i = 0; i < call->c.n; i++) {
        struct entry *e = call->entries[i];
        for (size_t k = 0; k < e->waiters.n; k++) {
            struct vd_conversion *c = e->waiters.p[k].conversion;
            c->code = vd_error_set(&c->error, VD_ERR_CLOSED, "the server is shutting down");
            if (--c->missing == 0)
                finish(c);
        }
        if (e->key.n)
            vd_hash_map_remove(&call->converter->entries, e->key);
        entry_free(e);
    }
}

static void on_quit(struct vd_task *task)
{
    struct vd_converter *v = VD_CONTAINER_OF(task, struct vd_converter, quit);
    size_t at = 0;
    v->stopped = true;
    for (struct hook *h; (h = vd_hash_map_next(&v->hooks, &at));)
        for (struct call *call; (call = h->queue.first);) {
            calls_remove(&h->queue, call);
            desert(call);
            call_free(call);
        }
    for (struct call *call = v->under_way.first, *next; call; call = next) {
        next = call->next;
        desert(call);
        if (vd_converter_call_cancel(&call->c))
            on_called(&call->c);
    }
    sem_post(&v->done);
}

void vd_converter_stop(struct vd_converter *v)
{
    if (!v)
        return;
    v->quit.run = on_quit;
    vd_loop_post(v->options.loop, &v->quit);
    while (sem_wait(&v->done))
        ;
}

void vd_converter_free(struct vd_converter *v)
{
    size_t at = 0;
    if (!v)
        return;
    assert(!v->under_way.first);
    for (struct hook *h; (h = vd_hash_map_next(&v->hooks, &at));)
        hook_free(h);
    while (v->newest) {
        struct entry *e = v->newest;
        unlink_kept(v, e);
        entry_free(e);
    }
    vd_hash_map_release(&v->hooks);
    vd_hash_map_release(&v->entries);
    sem_destroy(&v->done);
    free(v);
}
