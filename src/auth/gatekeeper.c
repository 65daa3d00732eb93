/*
 * See gatekeeper.h. The informer of the rules of access (access_rules.h) tells of every commit on
 * the writer's thread, before the proposer is answered: when an object is deleted that tokens may
 * be bound to, the loops' caches of tokens become invalid.
 */
#include "auth/gatekeeper.h"

#include <pthread.h>
#include <stdlib.h>
#include <strings.h>

#include "auth/access_rules.h"
#include "auth/certificate.h"
#include "auth/impersonation.h"
#include "auth/pki.h"
#include "auth/token.h"
#include "auth/user_cache.h"
#include "base/alloc.h"
#include "base/container_of.h"
#include "base/limits.h"
#include "base/log.h"
#include "kinds/uid.h"
#include "net/connection.h"
#include "store/commit.h"

enum { TOKEN_CHECK_MS = 1000 }; /* milliseconds between two looks at the file of tokens */

/* What a loop remembers of tokens. */
struct memory {
    struct vd_user_cache *users; /* by bearer token */
    uint64_t bound_version; /* the gatekeeper's bound_version when the cache was last emptied */
};

struct vd_gatekeeper {
    struct vd_gatekeeper_options options;
    char *folder;
    struct vd_access_rules *rules; /* NULL: `fixed` are in force */
    struct vd_service_accounts *accounts;
    struct vd_issuers *issuers;         /* NULL: none */
    struct vd_informer_handler handler; /* it is told of commits */
    pthread_mutex_t lock; /* guards the next three fields; held only while a reference is taken */
    struct vd_rbac *fixed;
    struct vd_token_set *tokens;
    int64_t tokens_checked_ms;
    _Atomic uint64_t version; /* grows after rules, tokens, issuers or accounts have changed */
    _Atomic uint64_t bound_version; /* grows when verified tokens may have become invalid: caches of
                                       tokens are then emptied */
    struct memory *memories;        /* one for each loop */
};

/* ---- changes ---- */

static void rules_changed(void *arg)
{
    struct vd_gatekeeper *g = arg;
    atomic_fetch_add(&g->version, 1);
}

/* Whether tokens can be bound to objects of this resource; see struct vd_bound_object. */
static bool is_bound_to(struct vd_slice resource)
{
    return vd_slice_is(resource, "serviceaccounts") || vd_slice_is(resource, "secrets") ||
           vd_slice_is(resource, "pods") || vd_slice_is(resource, "nodes");
}

/* Called by the writer. */
static void on_committed(struct vd_informer_handler *handler, const struct vd_commit *commit)
{
    struct vd_gatekeeper *g = VD_CONTAINER_OF(handler, struct vd_gatekeeper, handler);
    for (size_t i = 0; i < commit->n; i++) {
        const struct vd_event *now = commit->changes[i].now;
        if (!vd_event_is_live(now) && is_bound_to(vd_entry_resource(now->entry))) {
            atomic_fetch_add(&g->bound_version, 1);
            atomic_fetch_add(&g->version, 1);
        }
    }
}

/* ---- life cycle ---- */

/* Whether the account, or the object that its token is bound to, still exists with the same uid.
 * The uid is the one that the store keeps beside the body, which no client can change. */
static bool exists(void *arg, const struct vd_bound_object *object)
{
    struct vd_gatekeeper *g = arg;
    struct vd_key key = {object->resource, object->namespace, object->name};
    struct vd_event *event = NULL;
    struct vd_uid uid;
    if (!g->options.store || !vd_uid_parse(object->uid, &uid) ||
        vd_store_get(g->options.store, &key, 0, &event, NULL))
        return false;
    bool same = vd_uid_eq(event->uid, uid);
    vd_event_unref(event);
    return same;
}

static int open_credentials(struct vd_gatekeeper *g, struct vd_error *error)
{
    struct vd_signing_key *key = NULL;
    if (!g->folder)
        return VD_OK;
    int code = vd_token_set_load(&g->tokens, g->folder, error);
    if (!code)
        code = vd_pki_load_key(&key, g->folder, "sa.key", error);
    if (!code)
        code = vd_service_accounts_new(&g->accounts,
                                       &(struct vd_service_accounts_options){
                                           .keys = &key, .keys_n = 1, .exists = exists, .arg = g},
                                       error);
    vd_signing_key_unref(key);
    return code;
}

/* Keys or issuers were changed. */
static void issuers_changed(void *arg)
{
    struct vd_gatekeeper *g = arg;
    atomic_fetch_add(&g->bound_version, 1);
    atomic_fetch_add(&g->version, 1);
}

static int open_issuers(struct vd_gatekeeper *g, struct vd_error *error)
{
    if (!g->options.issuers)
        return VD_OK;
    return vd_issuers_new(&g->issuers,
                          &(struct vd_issuers_options){.file = g->options.issuers,
                                                       .loop = g->options.loop,
                                                       .clock = g->options.clock,
                                                       .changed = issuers_changed,
                                                       .arg = g},
                          error);
}

int vd_gatekeeper_new(struct vd_gatekeeper **out, const struct vd_gatekeeper_options *options,
                      struct vd_error *error)
{
    static const struct vd_informer_ops ops = {.committed = on_committed};
    struct vd_gatekeeper *g = VD_NEW(struct vd_gatekeeper);
    g->options = *options;
    g->folder = options->folder ? vd_strdup(options->folder) : NULL;
    g->rules = vd_access_rules_new(&(struct vd_access_rules_options){
        .store = options->store, .loop = options->loop, .changed = rules_changed, .arg = g});
    g->handler.ops = &ops;
    vd_access_rules_add_handler(g->rules, &g->handler);
    atomic_init(&g->version, 1);
    g->memories = vd_calloc(options->loops_n, sizeof *g->memories);
    for (size_t i = 0; i < options->loops_n; i++)
        g->memories[i].users = vd_user_cache_new(VD_USER_CACHE_MAX, VD_USER_CACHE_MS);
    pthread_mutex_init(&g->lock, NULL);
    int code = open_credentials(g, error);
    if (!code)
        code = open_issuers(g, error);
    if (code) {
        vd_gatekeeper_free(g);
        return code;
    }
    *out = g;
    return VD_OK;
}

struct vd_gatekeeper *vd_gatekeeper_new_fixed(struct vd_rbac *rules, const struct vd_clock *clock)
{
    struct vd_gatekeeper *g = VD_NEW(struct vd_gatekeeper);
    g->options.clock = clock;
    g->fixed = vd_rbac_ref(rules);
    atomic_init(&g->version, 1);
    pthread_mutex_init(&g->lock, NULL);
    return g;
}

void vd_gatekeeper_fix(struct vd_gatekeeper *g, struct vd_rbac *rules)
{
    pthread_mutex_lock(&g->lock);
    struct vd_rbac *old = g->fixed;
    g->fixed = vd_rbac_ref(rules);
    pthread_mutex_unlock(&g->lock);
    vd_rbac_unref(old);
    atomic_fetch_add(&g->version, 1);
}

int vd_gatekeeper_start(struct vd_gatekeeper *g, struct vd_error *error)
{
    return vd_access_rules_load(g->rules, error);
}

void vd_gatekeeper_free(struct vd_gatekeeper *g)
{
    if (!g)
        return;
    vd_access_rules_free(g->rules);
    vd_rbac_unref(g->fixed);
    vd_token_set_unref(g->tokens);
    vd_service_accounts_free(g->accounts);
    vd_issuers_free(g->issuers);
    for (size_t i = 0; i < g->options.loops_n; i++)
        vd_user_cache_free(g->memories[i].users);
    free(g->memories);
    pthread_mutex_destroy(&g->lock);
    free(g->folder);
    free(g);
}

struct vd_issuers *vd_gatekeeper_issuers(const struct vd_gatekeeper *g)
{
    return g->issuers;
}

const struct vd_service_accounts *vd_gatekeeper_accounts(const struct vd_gatekeeper *g)
{
    return g->accounts;
}

/* ---- who ---- */

/* The present tokens, with a reference. The file is checked for changes about once a second, or at
 * once if `now` is set. If it cannot be read, the tokens that were read before stay. */
static struct vd_token_set *tokens(struct vd_gatekeeper *g, int64_t now_ms, bool now)
{
    struct vd_error error;
    pthread_mutex_lock(&g->lock);
    struct vd_token_set *set = g->tokens ? vd_token_set_ref(g->tokens) : NULL;
    bool look = set && (now || now_ms - g->tokens_checked_ms >= TOKEN_CHECK_MS);
    if (look)
        g->tokens_checked_ms = now_ms;
    pthread_mutex_unlock(&g->lock);
    struct vd_token_set *fresh = NULL;
    if (!look || vd_token_set_is_current(set, g->folder))
        return set;
    if (vd_token_set_load(&fresh, g->folder, &error)) {
        vd_log_warn("the tokens could not be read again; the old ones stay",
                    VD_F_STR("error", error.text));
        return set;
    }
    pthread_mutex_lock(&g->lock);
    struct vd_token_set *old = g->tokens;
    g->tokens = vd_token_set_ref(fresh);
    pthread_mutex_unlock(&g->lock);
    atomic_fetch_add(&g->bound_version, 1);
    atomic_fetch_add(&g->version, 1);
    vd_token_set_unref(old);
    vd_token_set_unref(set);
    return fresh;
}

static bool bearer(const struct vd_exchange *x, struct vd_slice *token)
{
    struct vd_slice value, scheme;
    if (!vd_http_head_find(x->head, VD_SLICE("authorization"), &value))
        return false;
    *token = value;
    return vd_slice_cut(token, ' ', &scheme) && scheme.n == 6 &&
           strncasecmp(scheme.p, "bearer", 6) == 0;
}

/* ServiceAccount tokens come first: no other issuer may issue tokens in the server's own name. */
static int verify_jwt(struct vd_gatekeeper *g, struct vd_slice token, int64_t now_ms,
                      struct vd_user **out, struct vd_error *error)
{
    int code = VD_ERR_NOT_FOUND;
    if (g->accounts)
        code = vd_service_account_authenticate(g->accounts, token, NULL, 0, now_ms, out, error);
    if (code == VD_ERR_NOT_FOUND && g->issuers)
        code = vd_issuers_authenticate(g->issuers, token, now_ms, out, error);
    return code;
}

static int find_token(struct vd_token_set *set, struct vd_slice token, int64_t now_ms,
                      struct vd_user **out, struct vd_error *error)
{
    int code = set ? vd_token_set_authenticate(set, token, now_ms, out, error) : VD_ERR_NOT_FOUND;
    vd_token_set_unref(set);
    return code;
}

/* Before a token is refused as unknown, the file is checked again, as the token may have been made
 * a moment ago. That costs one stat for each wrong guess. */
static int verify(struct vd_gatekeeper *g, struct vd_slice token, int64_t now_ms,
                  struct vd_user **out, struct vd_error *error)
{
    if (!vd_slice_starts_with(token, VD_SLICE(VD_TOKEN_PREFIX)))
        return verify_jwt(g, token, now_ms, out, error);
    int code = find_token(tokens(g, now_ms, false), token, now_ms, out, error);
    if (code == VD_ERR_NOT_FOUND)
        code = find_token(tokens(g, now_ms, true), token, now_ms, out, error);
    return code;
}

/* Verifies a token by the loop's cache. The version is read before the token is verified: if an
 * object that the token is bound to is deleted meanwhile, the cache is emptied at the next
 * request. */
static int recall(struct vd_gatekeeper *g, struct memory *m, struct vd_slice token, int64_t now_ms,
                  struct vd_user **out, struct vd_error *error)
{
    /* Checks the file of tokens for changes: a token in the cache may have been revoked. */
    vd_token_set_unref(tokens(g, now_ms, false));
    uint64_t version = atomic_load(&g->bound_version);
    if (m->bound_version != version)
        vd_user_cache_clear(m->users);
    m->bound_version = version;
    *out = vd_user_cache_get(m->users, token, now_ms);
    if (*out)
        return VD_OK;
    int code = verify(g, token, now_ms, out, error);
    if (!code)
        vd_user_cache_put(m->users, token, *out, now_ms);
    return code;
}

static int identify_token(struct vd_gatekeeper *g, struct memory *m, struct vd_slice token,
                          struct vd_user **out, struct vd_error *error)
{
    int64_t now_ms = vd_clock_wall_ms(g->options.clock);
    int code = m ? recall(g, m, token, now_ms, out, error) : verify(g, token, now_ms, out, error);
    return code == VD_ERR_NOT_FOUND ? vd_error_set(error, VD_ERR_INVALID, "the token is not known")
                                    : code;
}

int vd_gatekeeper_identify_token(struct vd_gatekeeper *g, struct vd_slice token,
                                 struct vd_user **out, struct vd_error *error)
{
    return identify_token(g, NULL, token, out, error);
}

static void forget_user(void *user)
{
    vd_user_unref(user);
}

/* The TLS handshake has verified the certificate; the user whom it names is kept with the
 * connection. */
static int identify_certificate(struct vd_gatekeeper *g, struct vd_connection *c,
                                struct vd_user **out, struct vd_error *error)
{
    if (!c->memo.what) {
        struct vd_user *user = NULL;
        X509 *certificate = vd_connection_certificate(c);
        if (!certificate)
            return vd_error_set(error, VD_ERR_NOT_FOUND, "there is no credential");
        int code = vd_certificate_user(certificate, &user, error);
        X509_free(certificate);
        if (code)
            return code;
        c->memo = (struct vd_memo){user, forget_user};
    }
    struct vd_user *user = c->memo.what;
    if (vd_user_has_expired(user, vd_clock_wall_ms(g->options.clock)))
        return vd_error_set(error, VD_ERR_EXPIRED, "the client certificate has expired");
    *out = vd_user_ref(user);
    return VD_OK;
}

int vd_gatekeeper_identify(struct vd_gatekeeper *g, struct vd_exchange *x, struct vd_user **out,
                           struct vd_error *error)
{
    struct vd_slice token;
    if (bearer(x, &token))
        return identify_token(g, g->memories ? &g->memories[x->loop->index] : NULL,
                              vd_slice_trim(token), out, error);
    return identify_certificate(g, x->connection, out, error);
}

/* ---- may they ---- */

struct vd_rbac *vd_gatekeeper_rbac(struct vd_gatekeeper *g)
{
    if (g->rules)
        return vd_access_rules_now(g->rules);
    pthread_mutex_lock(&g->lock);
    struct vd_rbac *rbac = vd_rbac_ref(g->fixed);
    pthread_mutex_unlock(&g->lock);
    return rbac;
}

bool vd_gatekeeper_is_current(const struct vd_gatekeeper *g)
{
    return !g->rules || vd_access_rules_are_current(g->rules);
}

bool vd_gatekeeper_allows(struct vd_gatekeeper *g, const struct vd_access *access,
                          struct vd_buf *reason)
{
    struct vd_rbac *rbac = vd_gatekeeper_rbac(g);
    bool allowed = vd_rbac_decide(rbac, access, reason);
    vd_rbac_unref(rbac);
    return allowed;
}

/* ---- whether that is still so ---- */

uint64_t vd_gatekeeper_version(struct vd_gatekeeper *g)
{
    vd_token_set_unref(tokens(g, vd_clock_wall_ms(g->options.clock), false));
    return atomic_load(&g->version);
}

/* Whether the account of "system:serviceaccount:NAMESPACE:NAME" still exists, and so does the
 * object that its token is bound to. */
static bool account_is_valid(struct vd_gatekeeper *g, const struct vd_user *user)
{
    struct vd_slice name = vd_slice_from(user->is.name, sizeof "system:serviceaccount:" - 1),
                    namespace;
    return vd_slice_cut(&name, ':', &namespace) &&
           exists(g, &(struct vd_bound_object){.resource = VD_SLICE("serviceaccounts"),
                                               .namespace = namespace,
                                               .name = name,
                                               .uid = user->is.uid}) &&
           (!user->is.bound.resource.n || exists(g, &user->is.bound));
}

static bool token_is_valid(struct vd_gatekeeper *g, const struct vd_user *user, int64_t now_ms)
{
    struct vd_token_set *set = tokens(g, now_ms, false);
    struct vd_slice id = vd_slice_from(user->is.credential_id, sizeof "TOKEN=" - 1);
    bool valid = set && vd_token_set_find(set, id);
    vd_token_set_unref(set);
    return valid;
}

/* The impersonator must still have a valid credential, and the right to impersonate this user. */
static bool impersonator_is_valid(struct vd_gatekeeper *g, const struct vd_user *user)
{
    struct vd_rbac *rbac = vd_gatekeeper_rbac(g);
    bool valid = vd_gatekeeper_is_valid(g, user->is.impersonator) &&
                 vd_impersonation_is_valid(rbac, user);
    vd_rbac_unref(rbac);
    return valid;
}

bool vd_gatekeeper_is_valid(struct vd_gatekeeper *g, const struct vd_user *user)
{
    int64_t now_ms = vd_clock_wall_ms(g->options.clock);
    if (vd_user_has_expired(user, now_ms))
        return false;
    if (user->is.impersonator)
        return impersonator_is_valid(g, user);
    if (user->is.method == VD_AUTH_TOKEN)
        return token_is_valid(g, user, now_ms);
    if (user->is.method == VD_AUTH_OIDC)
        return g->issuers && vd_issuers_is_valid(g->issuers, user);
    return user->is.method != VD_AUTH_SERVICE_ACCOUNT || account_is_valid(g, user);
}
