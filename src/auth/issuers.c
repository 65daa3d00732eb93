/*
 * See issuers.h.
 *
 * The loop has a `source` for each issuer: a timer, and the fetch that is under way - of the
 * discovery document, then of the keys; or a read of their file, on one of libuv's threads. A
 * reload hands the loop a new configuration; an old source whose file libuv still reads is freed
 * when that read is done.
 */
#include "auth/issuers.h"

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "auth/oidc.h"
#include "auth/private_file.h"
#include "base/alloc.h"
#include "base/container_of.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "net/http_client.h"
#include "net/tls.h"

static struct vd_metric_family refreshes = VD_COUNTER_FAMILY(
    "vedette_oidc_refreshes_total", "Times that an issuer's keys were fetched, or could not be.",
    "issuer", "result");
static struct vd_metric_family keys_now = VD_GAUGE_FAMILY(
    "vedette_oidc_keys", "Keys of an issuer that are in use.", "issuer");

/* What tokens are verified with: a snapshot that is immutable but for `wanted`. */
struct trust {
    struct vd_refcount count;
    struct vd_oidc_config *config;
    struct vd_key_set *keys[VD_ISSUERS_MAX]; /* of the issuer of this index; NULL: none yet */
    atomic_bool wanted[VD_ISSUERS_MAX];      /* a token has named a key that is not there */
};

struct source {
    struct vd_issuers *issuers;
    struct vd_oidc_config *config; /* a reference */
    const struct vd_oidc_issuer *issuer;
    size_t index;
    SSL_CTX *tls;
    struct vd_timer timer;
    struct vd_http_client *fetch; /* the fetch that is under way, or NULL */
    bool discovering;             /* the fetch is for the discovery document */
    struct vd_work work;
    bool working; /* a read of the file is under way */
    bool dropped; /* the source is not used any more; it is freed when the work is done */
    struct vd_buf file;
    struct vd_error file_error;
    int file_code;
    uint64_t begun_ns; /* when the last fetch began; 0: there was none */
    bool failing;
};

struct vd_issuers {
    struct vd_issuers_options options;
    pthread_mutex_t lock; /* guards the next two fields; held only to copy a pointer */
    struct trust *trust;
    struct vd_oidc_config *fresh; /* a new configuration for the loop to take over, or NULL */
    struct vd_task take_over, ask, quit;
    atomic_bool asked;
    sem_t done; /* posted when the loop has run `quit` */
    bool started, quitting;
    struct source *sources[VD_ISSUERS_MAX]; /* used by the loop only */
    size_t n;
};

/* ---- trust ---- */

static struct trust *trust_new(struct vd_oidc_config *config)
{
    struct trust *t = VD_NEW(struct trust);
    vd_refcount_init(&t->count);
    t->config = vd_oidc_config_ref(config);
    return t;
}

static void trust_unref(struct trust *t)
{
    if (!t || !vd_unref(&t->count))
        return;
    for (size_t i = 0; i < t->config->n; i++)
        vd_key_set_unref(t->keys[i]);
    vd_oidc_config_unref(t->config);
    free(t);
}

static struct trust *trust_now(struct vd_issuers *s)
{
    pthread_mutex_lock(&s->lock);
    struct trust *t = s->trust;
    vd_ref(&t->count);
    pthread_mutex_unlock(&s->lock);
    return t;
}

/* Takes the reference. */
static void publish(struct vd_issuers *s, struct trust *fresh)
{
    pthread_mutex_lock(&s->lock);
    struct trust *old = s->trust;
    s->trust = fresh;
    pthread_mutex_unlock(&s->lock);
    trust_unref(old);
    s->options.changed(s->options.arg);
}

/* Any thread: asks the loop to fetch the keys of the issuer soon. */
static void want_keys(struct vd_issuers *s, struct trust *t, size_t index)
{
    atomic_store(&t->wanted[index], true);
    if (!atomic_exchange(&s->asked, true))
        vd_loop_post(s->options.loop, &s->ask);
}

int vd_issuers_authenticate(struct vd_issuers *s, struct vd_slice token, int64_t now_ms,
                            struct vd_user **out, struct vd_error *error)
{
    struct vd_arena arena = {0};
    struct vd_jwt jwt;
    struct trust *t = trust_now(s);
    int code = vd_jwt_parse(&jwt, &arena, token, error);
    const struct vd_oidc_issuer *issuer = code ? NULL
                                               : vd_oidc_config_find(
                                                     t->config, vd_jwt_issuer_unverified(&jwt));
    if (!code && !issuer) {
        code = vd_error_set(error, VD_ERR_NOT_FOUND, "the token comes from an unknown issuer");
    } else if (!code) {
        size_t index = (size_t)(issuer - t->config->issuers);
        const struct vd_key_set *keys = t->keys[index];
        struct vd_slice kid = vd_jwt_kid_unverified(&jwt);
        if (!keys || (kid.n && !vd_key_set_has_id(keys, kid))) {
            want_keys(s, t, index);
            code = vd_error_set(error, VD_ERR_INVALID, "the token's key is not known yet");
        } else {
            code = vd_oidc_authenticate(issuer, keys, &jwt, now_ms, out, error);
        }
    }
    trust_unref(t);
    vd_arena_release(&arena);
    return code;
}

bool vd_issuers_is_valid(struct vd_issuers *s, const struct vd_user *user)
{
    struct trust *t = trust_now(s);
    bool valid = false;
    for (size_t i = 0; !valid && i < t->config->n; i++)
        valid = t->keys[i] && vd_oidc_user_is_valid(&t->config->issuers[i], t->keys[i], user);
    trust_unref(t);
    return valid;
}

/* ---- what has come ---- */

static void settle(struct source *src, uint64_t again_ms)
{
    vd_timer_set(src->issuers->options.loop, &src->timer, again_ms);
}

static void count(const struct source *src, const char *result)
{
    vd_counter_add(VD_METRIC(&refreshes, src->issuer->url.p, result), 1);
}

static void failed(struct source *src, const struct vd_error *error)
{
    count(src, "error");
    vd_log_warn("an issuer's keys could not be fetched; those that there are stay",
                VD_F_SLICE("issuer", src->issuer->url), VD_F_ERROR(error));
    src->failing = true;
    settle(src, VD_JWKS_RETRY_MS);
}

static void have_keys(struct source *src, struct vd_slice text)
{
    struct vd_issuers *s = src->issuers;
    struct vd_key_set *keys = NULL;
    struct vd_error error;
    if (vd_key_set_parse(&keys, text, &error)) {
        failed(src, &error);
        return;
    }
    struct trust *old = s->trust; /* read without the lock: only this thread replaces it */
    struct vd_key_set *before = old->keys[src->index];
    bool same = before && vd_key_set_eq(before, keys);
    count(src, "ok");
    if (!same || src->failing)
        vd_log_info("an issuer's keys were fetched", VD_F_SLICE("issuer", src->issuer->url),
                    VD_F_U64("keys", keys->n), VD_F_U64("unused", keys->skipped),
                    VD_F_BOOL("changed", !same));
    src->failing = false;
    vd_gauge_set(VD_METRIC(&keys_now, src->issuer->url.p), (int64_t)keys->n);
    if (!same) {
        struct trust *fresh = trust_new(old->config);
        for (size_t i = 0; i < fresh->config->n; i++)
            if (i == src->index)
                fresh->keys[i] = vd_key_set_ref(keys);
            else if (old->keys[i])
                fresh->keys[i] = vd_key_set_ref(old->keys[i]);
        publish(s, fresh);
    }
    vd_key_set_unref(keys);
    settle(src, VD_JWKS_REFRESH_MS);
}

/* ---- fetching ---- */

static void begin_fetch(struct source *src, struct vd_slice url, bool discovering);

static void on_answer(void *arg, const struct vd_http_client_answer *answer,
                      const struct vd_error *problem)
{
    struct source *src = arg;
    struct vd_arena arena = {0};
    struct vd_slice url;
    struct vd_error error;
    src->fetch = NULL;
    if (!answer) {
        failed(src, problem);
    } else if (answer->status != 200) {
        vd_error_set(&error, VD_ERR_IO, "the issuer answered with status %u", answer->status);
        failed(src, &error);
    } else if (!src->discovering) {
        have_keys(src, answer->body);
    } else if (vd_oidc_discover(src->issuer, answer->body, &arena, &url, &error)) {
        failed(src, &error);
    } else {
        begin_fetch(src, url, false);
    }
    vd_arena_release(&arena);
}

static void begin_fetch(struct source *src, struct vd_slice url, bool discovering)
{
    static const struct vd_http_field accept = {{"Accept", 6}, {"application/json", 16}};
    struct vd_error error;
    if (!src->tls && vd_tls_load_client(&src->tls, src->issuer->ca_pem, &error)) {
        failed(src, &error);
        return;
    }
    src->discovering = discovering;
    src->fetch = vd_http_client_start(
        src->issuers->options.loop,
        &(struct vd_http_client_request){.url = url,
                                         .fields = &accept,
                                         .fields_n = 1,
                                         .tls = src->tls,
                                         .timeout_ms = VD_JWKS_TIMEOUT_MS,
                                         .len_max = VD_JWKS_LEN_MAX,
                                         .done = on_answer,
                                         .arg = src});
}

static void source_free(struct source *src)
{
    SSL_CTX_free(src->tls);
    vd_buf_release(&src->file);
    vd_oidc_config_unref(src->config);
    free(src);
}

/* On one of libuv's threads. */
static void read_file(struct vd_work *work)
{
    struct source *src = VD_CONTAINER_OF(work, struct source, work);
    vd_buf_reset(&src->file);
    src->file_code = vd_private_file_read(&src->file, src->issuer->jwks_file.p, VD_JWKS_LEN_MAX,
                                          &src->file_error);
}

static void on_file(struct vd_work *work)
{
    struct source *src = VD_CONTAINER_OF(work, struct source, work);
    src->working = false;
    if (src->dropped)
        source_free(src);
    else if (src->file_code)
        failed(src, &src->file_error);
    else
        have_keys(src, vd_buf_slice(&src->file));
}

static void refresh(struct source *src)
{
    if (src->fetch || src->working)
        return;
    src->begun_ns = vd_clock_mono_ns(src->issuers->options.clock);
    if (src->issuer->jwks_file.n) {
        src->work = (struct vd_work){.run = read_file, .done = on_file};
        src->working = true;
        vd_loop_work(src->issuers->options.loop, &src->work);
    } else if (src->issuer->jwks_url.n) {
        begin_fetch(src, src->issuer->jwks_url, false);
    } else {
        begin_fetch(src, src->issuer->discovery_url, true);
    }
}

static void on_timer(struct vd_timer *timer)
{
    refresh(VD_CONTAINER_OF(timer, struct source, timer));
}

/* Fetches the keys now, or once VD_JWKS_ASK_MS have passed since the last fetch. */
static void refresh_soon(struct source *src)
{
    uint64_t age_ms = (vd_clock_mono_ns(src->issuers->options.clock) - src->begun_ns) / 1000000;
    if (src->fetch || src->working)
        return;
    if (!src->begun_ns || age_ms >= VD_JWKS_ASK_MS)
        refresh(src);
    else
        settle(src, VD_JWKS_ASK_MS - age_ms);
}

static void on_ask(struct vd_task *task)
{
    struct vd_issuers *s = VD_CONTAINER_OF(task, struct vd_issuers, ask);
    atomic_store(&s->asked, false);
    for (size_t i = 0; i < s->n; i++)
        if (atomic_exchange(&s->trust->wanted[i], false))
            refresh_soon(s->sources[i]);
}

/* ---- configurations ---- */

static void drop_sources(struct vd_issuers *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct source *src = s->sources[i];
        vd_timer_stop(s->options.loop, &src->timer);
        if (src->fetch)
            vd_http_client_stop(src->fetch);
        src->dropped = true;
        vd_gauge_set(VD_METRIC(&keys_now, src->issuer->url.p), 0);
        if (!src->working)
            source_free(src);
    }
    s->n = 0;
}

static void open_sources(struct vd_issuers *s, struct vd_oidc_config *config)
{
    for (size_t i = 0; i < config->n; i++) {
        struct source *src = VD_NEW(struct source);
        src->issuers = s;
        src->config = vd_oidc_config_ref(config);
        src->issuer = &config->issuers[i];
        src->index = i;
        src->timer.fire = on_timer;
        s->sources[s->n++] = src;
        if (s->trust->keys[i])
            vd_gauge_set(VD_METRIC(&keys_now, src->issuer->url.p), (int64_t)s->trust->keys[i]->n);
        refresh(src);
    }
}

/* Takes over the keys of issuers whose configuration has not changed. */
static void carry_over(struct trust *to, const struct trust *from)
{
    for (size_t i = 0; i < to->config->n; i++) {
        const struct vd_oidc_issuer *is = &to->config->issuers[i];
        const struct vd_oidc_issuer *was = vd_oidc_config_find(from->config, is->url);
        struct vd_key_set *keys = was ? from->keys[was - from->config->issuers] : NULL;
        if (keys && vd_slice_eq(is->fingerprint, was->fingerprint))
            to->keys[i] = vd_key_set_ref(keys);
    }
}

static void on_take_over(struct vd_task *task)
{
    struct vd_issuers *s = VD_CONTAINER_OF(task, struct vd_issuers, take_over);
    pthread_mutex_lock(&s->lock);
    struct vd_oidc_config *config = s->fresh;
    s->fresh = NULL;
    pthread_mutex_unlock(&s->lock);
    if (!config || s->quitting) {
        vd_oidc_config_unref(config);
        return;
    }
    drop_sources(s);
    if (config != s->trust->config) {
        struct trust *fresh = trust_new(config);
        carry_over(fresh, s->trust);
        publish(s, fresh);
    }
    open_sources(s, config);
    vd_oidc_config_unref(config);
}

/* Takes the reference. */
static void hand_over(struct vd_issuers *s, struct vd_oidc_config *config)
{
    pthread_mutex_lock(&s->lock);
    bool waiting = s->fresh;
    vd_oidc_config_unref(s->fresh);
    s->fresh = config;
    pthread_mutex_unlock(&s->lock);
    if (!waiting)
        vd_loop_post(s->options.loop, &s->take_over);
}

int vd_issuers_reload(struct vd_issuers *s, struct vd_error *error)
{
    struct vd_oidc_config *config = NULL;
    int code = vd_oidc_config_load(&config, s->options.file, error);
    if (!code)
        hand_over(s, config);
    return code;
}

/* ---- life cycle ---- */

int vd_issuers_new(struct vd_issuers **out, const struct vd_issuers_options *options,
                   struct vd_error *error)
{
    struct vd_oidc_config *config = NULL;
    int code = vd_oidc_config_load(&config, options->file, error);
    if (code)
        return code;
    struct vd_issuers *s = VD_NEW(struct vd_issuers);
    s->options = *options;
    s->trust = trust_new(config);
    s->take_over.run = on_take_over;
    s->ask.run = on_ask;
    pthread_mutex_init(&s->lock, NULL);
    sem_init(&s->done, 0, 0);
    vd_metric_register(&refreshes);
    vd_metric_register(&keys_now);
    vd_oidc_config_unref(config);
    *out = s;
    return VD_OK;
}

void vd_issuers_start(struct vd_issuers *s)
{
    if (!s)
        return;
    s->started = true;
    hand_over(s, vd_oidc_config_ref(s->trust->config));
}

static void on_quit(struct vd_task *task)
{
    struct vd_issuers *s = VD_CONTAINER_OF(task, struct vd_issuers, quit);
    s->quitting = true;
    drop_sources(s);
    sem_post(&s->done);
}

void vd_issuers_stop(struct vd_issuers *s)
{
    if (!s || !s->started)
        return;
    s->quit.run = on_quit;
    vd_loop_post(s->options.loop, &s->quit);
    while (sem_wait(&s->done))
        ;
    s->started = false;
}

void vd_issuers_free(struct vd_issuers *s)
{
    if (!s)
        return;
    assert(!s->started && s->n == 0);
    trust_unref(s->trust);
    vd_oidc_config_unref(s->fresh);
    pthread_mutex_destroy(&s->lock);
    sem_destroy(&s->done);
    free(s);
}
