/* See api.h. */
#include "server/api.h"

#include <stdlib.h>
#include <strings.h>

#include "auth/impersonation.h"
#include "base/alloc.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "kinds/builtin.h"
#include "kube/audit/audit.h"
#include "kube/converter.h"
#include "net/connection.h"
#include "server/bootstrap.h"
#include "server/definition_kind.h"
#include "server/health.h"
#include "server/release.h"

static int open_audit(struct vd_api *api, const struct vd_config *config, struct vd_error *error)
{
    if (!config->audit_log)
        return VD_OK;
    return vd_audit_open(&api->kube.audit,
                         &(struct vd_audit_options){.log = config->audit_log,
                                                    .policy = config->audit_policy,
                                                    .mode = (enum vd_audit_mode)config->audit_mode,
                                                    .clock = api->kube.clock},
                         error);
}

static void init_accounts(struct vd_api *api, const struct vd_config *config, size_t loops_n)
{
    vd_accounts_init(
        &api->accounts,
        &(struct vd_account_limits){.user_requests = config->limits_user_requests,
                                    .user_watches = config->limits_user_watches,
                                    .user_queued_bytes = config->limits_user_queued_bytes,
                                    .requests = config->limits_requests,
                                    .watches = config->limits_watches,
                                    .queued_bytes = config->limits_queued_bytes,
                                    .user_body_bytes = config->limits_user_body_bytes,
                                    .body_bytes = config->limits_body_bytes},
        loops_n);
}

int vd_api_open(struct vd_api *api, struct vd_store *store, const struct vd_config *config,
                size_t loops_n, struct vd_loop *first, struct vd_error *error)
{
    const struct vd_clock *clock = vd_clock_system();
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    *api = (struct vd_api){
        .kube = {.store = store,
                 .kinds = kinds,
                 .clock = clock,
                 .options = {.bookmark_ms = config->watch_bookmark_period_ms,
                             .watch_min_s = config->watch_timeout_min_ms / 1000,
                             .watch_max_s = config->watch_timeout_max_ms / 1000,
                             .access_log = vd_config_logs_access(config)},
                 .converter = vd_converter_new(&(struct vd_converter_options){
                     .loop = first, .store = store, .kinds = kinds, .clock = clock}),
                 .tables = vd_tables_new(),
                 .documents = vd_documents_new(vd_slice_of(config->kubernetes_version)),
                 .allowed = vd_gatekeeper_allows,
                 .rights_version = vd_gatekeeper_version,
                 .stands = vd_gatekeeper_stands,
                 .rbac = vd_gatekeeper_rbac,
                 .identify = vd_gatekeeper_identify_token},
        .env = {store, kinds, clock, VD_VERSION_WAIT_MS},
        .api_loops = vd_calloc(loops_n, sizeof *api->api_loops),
        .loops = vd_calloc(loops_n, sizeof *api->loops),
        .n = loops_n,
    };
    init_accounts(api, config, loops_n);
    vd_buf_addf(&api->git_version, "%s+vedette.%s", config->kubernetes_version, VD_RELEASE);
    api->kube.options.git_version = vd_buf_text(&api->git_version);
    vd_welcome_init(&api->welcome, config);
    vd_metrics_desk_init(&api->metrics);
    api->metrics.store = store;
    api->metrics.folder = config->store == VD_CONFIG_STORE_MEMORY ? NULL : config->data;
    api->metrics.loops_n = loops_n;
    api->metrics.accounts = &api->accounts;
    api->kube.usage = vd_metrics_desk_usage;
    api->kube.metrics = vd_metrics_desk_write;
    api->kube.metrics_arg = &api->metrics;
    api->kube.other_paths = vd_health_paths;
    int code = vd_bootstrap(store, kinds, clock, error);
    if (!code)
        code = vd_definition_register_all(kinds, store, error);
    if (!code)
        code = vd_gatekeeper_new(
            &api->gatekeeper,
            &(struct vd_gatekeeper_options){.store = store,
                                            .folder = config->data,
                                            .loop = first,
                                            .loops_n = loops_n,
                                            .clock = clock,
                                            .issuers = config->authentication_config},
            error);
    if (!code)
        code = vd_gatekeeper_start(api->gatekeeper, error);
    if (!code)
        code = open_audit(api, config, error);
    if (!code) {
        api->kube.arg = api->gatekeeper;
        api->kube.accounts = vd_gatekeeper_accounts(api->gatekeeper);
    }
    return code;
}

void vd_api_reload(struct vd_api *api)
{
    struct vd_issuers *issuers = vd_gatekeeper_issuers(api->gatekeeper);
    struct vd_error error;
    if (issuers && vd_issuers_reload(issuers, &error))
        vd_log_error("could not load the issuers again; the old ones stay", VD_F_ERROR(&error));
    vd_audit_reload(api->kube.audit);
}

static void await_definition(void *arg, struct vd_slice name, uint64_t revision,
                             struct vd_loop *loop, struct vd_task *task)
{
    vd_definitions_await(arg, name, revision, loop, task);
}

void vd_api_follow_definitions(struct vd_api *api, struct vd_definitions *definitions)
{
    api->kube.await_definition = await_definition;
    api->kube.definitions = definitions;
}

void vd_api_join(struct vd_api *api, size_t i, struct vd_loop *loop)
{
    vd_api_loop_init(&api->api_loops[i], &api->env, loop);
    vd_workshop_init(&api->api_loops[i].workshop, api->n);
    vd_kube_loop_init(&api->loops[i], &api->kube, &api->api_loops[i]);
}

struct vd_turnstile *vd_api_turnstile(struct vd_api *api, size_t i)
{
    return &api->api_loops[i].turnstile;
}

void vd_api_follow(struct vd_api *api, size_t i)
{
    vd_kube_loop_follow(&api->loops[i]);
    vd_api_loop_follow(&api->api_loops[i]);
}

void vd_api_finished(struct vd_api *api, size_t i, struct vd_exchange *x, bool log)
{
    vd_kube_finished(&api->loops[i], x, log);
    vd_exchange_discharge(x);
}

static void reply_status(struct vd_exchange *x, const struct vd_status *status)
{
    static const struct vd_http_field challenge = {{"WWW-Authenticate", 16}, {"Bearer", 6}};
    static const struct vd_http_field later = {{"Retry-After", 11}, {"1", 1}};
    struct vd_buf body = {0};
    vd_status_write(&body, status);
    vd_buf_add_char(&body, '\n');
    vd_exchange_respond(
        x, &(struct vd_response){.status = (unsigned)status->code,
                                 .content_type = VD_SLICE("application/json"),
                                 .fields = status->code == 429 ? &later : &challenge,
                                 .fields_n = status->code == 401 || status->code == 429,
                                 .body = vd_buf_slice(&body)});
    vd_buf_release(&body);
}

/* Kubernetes' reasons; those that it has no word for are bad requests to it. */
static const char *reason_of(unsigned code)
{
    return code == 408   ? "Timeout"
           : code == 413 ? "RequestEntityTooLarge"
           : code < 500  ? "BadRequest"
                         : "";
}

void vd_api_refuse(struct vd_exchange *x, unsigned code, const char *why)
{
    struct vd_status status = {
        .code = (int)code, .reason = vd_slice_of(reason_of(code)), .message = vd_slice_of(why)};
    reply_status(x, &status);
}

bool vd_api_knows(struct vd_api *api, struct vd_exchange *x)
{
    struct vd_user *user = NULL;
    int code = vd_gatekeeper_identify(api->gatekeeper, x, &user, NULL);
    vd_user_unref(user);
    return !code;
}

/* Before a request becomes a call. `user` NULL: nobody who is known, and who may want to know how
 * to become so. */
static void refuse_user(struct vd_api *api, struct vd_exchange *x, struct vd_user *user,
                        const struct vd_status *status)
{
    struct vd_audit_stamp stamp;
    vd_audit_refused(api->kube.audit, x, user, status, &stamp);
    if (user || !vd_welcome_answer(&api->welcome, x))
        reply_status(x, status); /* the end of either answer takes the stamp off */
}

/* The user in whose name the request is made: the one who sent it, or whom that one speaks
 * for. NULL: it has been answered. Takes the user's reference. */
static struct vd_user *speaks_for(struct vd_api *api, struct vd_exchange *x, struct vd_user *user)
{
    struct vd_arena arena = {0};
    struct vd_identity who;
    struct vd_error error;
    struct vd_access refused;
    struct vd_buf reason = {0};
    struct vd_rbac *rbac = NULL;
    struct vd_user *as = NULL;
    if (vd_impersonation_read(&who, &arena, x->head, &error)) {
        struct vd_status status = vd_status_bad_request(&arena, vd_slice_of(error.text));
        refuse_user(api, x, user, &status);
        goto out;
    }
    if (!who.name.n) {
        as = vd_user_ref(user);
        goto out;
    }
    rbac = vd_gatekeeper_rbac(api->gatekeeper);
    if (vd_impersonation_allowed(rbac, user, &who, &refused, &reason)) {
        as = vd_impersonation_user(user, &who, &arena);
    } else {
        struct vd_status status = vd_access_status(&arena, &refused, vd_buf_slice(&reason));
        refuse_user(api, x, user, &status);
    }
out:
    vd_rbac_unref(rbac);
    vd_buf_release(&reason);
    vd_arena_release(&arena);
    vd_user_unref(user);
    return as;
}

static bool impersonates(const struct vd_exchange *x)
{
    static const char prefix[] = "impersonate-";
    for (size_t i = 0; i < x->head->headers_n; i++) {
        struct vd_slice name = vd_http_head_name(x->head, i);
        if (name.n >= sizeof prefix - 1 && strncasecmp(name.p, prefix, sizeof prefix - 1) == 0)
            return true;
    }
    return false;
}

/* ---- turns and limits ---- */

/* What holds a server together comes out of what is reserved: its administrators, its
 * nodes and controllers, those who look after it, ... */
static enum vd_rank rank_of_user(const struct vd_user *user)
{
    static const struct vd_slice groups[] = {VD_SLICE("system:nodes"),
                                             VD_SLICE("system:monitoring"),
                                             VD_SLICE("system:serviceaccounts:kube-system")};
    if (vd_user_is_master(user))
        return VD_RANK_ADMIN;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (vd_user_in_group(user, groups[i]))
            return VD_RANK_SYSTEM;
    return VD_RANK_ORDINARY;
}

/* ... and the leases by which replicas agree who leads. */
static enum vd_rank rank_of(enum vd_rank user, const struct vd_exchange *x)
{
    struct vd_slice target = vd_http_head_target(x->head);
    bool lease = vd_slice_starts_with(target, VD_SLICE("/apis/coordination.k8s.io/"));
    return lease && user == VD_RANK_ORDINARY ? VD_RANK_SYSTEM : user;
}

static void reply_too_many(struct vd_api *api, struct vd_exchange *x, struct vd_user *user)
{
    struct vd_arena arena = {0};
    struct vd_status status = vd_status_over_limit(&arena);
    refuse_user(api, x, user, &status);
    vd_arena_release(&arena);
}

/* The account of whoever sent the request, with a reference; its connection belongs to it now. */
static struct vd_account *account_of(struct vd_api *api, struct vd_exchange *x,
                                     const struct vd_user *user, enum vd_rank rank)
{
    struct vd_connection *c = x->connection;
    struct vd_account *account = c->account && vd_slice_eq(c->account->name, user->is.name)
                                     ? vd_account_ref(c->account)
                                     : vd_accounts_get(&api->accounts, user->is.name);
    vd_connection_belongs_to(c, account, rank);
    return account;
}

/* The request is the account's of whoever sent it, in whose name it may be made. `over`: that
 * of which it was one too many already, or NULL. False: it is too many, and has been answered. */
static bool charge(struct vd_api *api, struct vd_exchange *x, struct vd_user *user,
                   const struct vd_account *over)
{
    enum vd_rank rank = rank_of_user(user);
    struct vd_account *account = account_of(api, x, user, rank);
    bool good = account != over && !vd_exchange_charge(x, account, rank_of(rank, x));
    vd_account_unref(account);
    if (!good)
        reply_too_many(api, x, user);
    return good;
}

/* Who sends the request; it may have been found out before its body came. NULL: nobody who is
 * known, and it has been answered. Why a credential is no good is for the log, not for whoever
 * tries some. */
static struct vd_user *identify(struct vd_api *api, struct vd_exchange *x)
{
    struct vd_user *user = NULL;
    struct vd_error error;
    if (x->upload && x->upload->client.what) {
        user = x->upload->client.what;
        x->upload->client.what = NULL;
        return user;
    }
    int code = vd_gatekeeper_identify(api->gatekeeper, x, &user, &error);
    vd_counter_add(code ? api->metrics.failed_logins : api->metrics.logins, 1);
    if (!code)
        return user;
    struct vd_arena arena = {0};
    struct vd_status status = vd_status_unauthorized(&arena, VD_SLICE(""));
    vd_exchange_discharge(x);
    vd_connection_belongs_to(x->connection, NULL, VD_RANK_ORDINARY);
    refuse_user(api, x, NULL, &status);
    vd_arena_release(&arena);
    return NULL;
}

static void forget_user(void *user)
{
    vd_user_unref(user);
}

/* The body of the request is wanted if it is known who sends it and there is room for it. */
static void judge_head(struct vd_api *api, struct vd_exchange *x)
{
    struct vd_upload *upload = x->upload;
    struct vd_user *user = identify(api, x);
    if (!user)
        return;
    enum vd_rank rank = rank_of_user(user);
    struct vd_account *account = account_of(api, x, user, rank);
    size_t len = vd_upload_len(x->head, x->connection->service->body_len_max);
    bool good = !vd_upload_reserve(upload, account, rank_of(rank, x), len);
    vd_account_unref(account);
    if (good) {
        upload->client = (struct vd_memo){user, forget_user};
        vd_exchange_receive(x);
    } else {
        reply_too_many(api, x, user);
        vd_user_unref(user);
    }
}

static void admit(struct vd_api *api, size_t i, struct vd_exchange *x,
                  const struct vd_account *over)
{
    struct vd_user *user = identify(api, x);
    if (!user)
        return;
    if (!charge(api, x, user, over)) {
        vd_user_unref(user);
        return;
    }
    if (impersonates(x))
        user = speaks_for(api, x, user);
    if (user)
        vd_kube_handle(&api->loops[i], x, user);
    vd_user_unref(user);
}

/* A request whose turn has not come. */
struct waiting {
    struct vd_chore chore;
    struct vd_api *api;
    struct vd_exchange *x;
    struct vd_account *account; /* whose lane it is in; others of the connection may change that */
    bool over;    /* it is one too many of it, and will be told so when its turn comes */
    bool is_head; /* only its head has come */
};

static void on_turn(struct vd_chore *chore)
{
    struct waiting w = *(struct waiting *)chore;
    free(chore);
    w.x->ops = NULL;
    if (w.is_head)
        judge_head(w.api, w.x);
    else
        admit(w.api, w.x->loop->index, w.x, w.over ? w.account : NULL);
    vd_account_unref(w.account);
}

static void left_waiting(struct vd_exchange *x)
{
    struct waiting *w = x->arg;
    vd_chore_cancel(&w->chore);
    vd_account_unref(w->account);
    free(w);
}

/* Whose turn it is goes by the user of the connection's last request; strangers share a
 * lane, so that trying out credentials costs others nothing. */
static void take_turn(struct vd_api *api, size_t i, struct vd_exchange *x, bool is_head)
{
    static const struct vd_exchange_ops waiting_ops = {.gone = left_waiting};
    struct vd_connection *c = x->connection;
    struct vd_turnstile *turnstile = &api->api_loops[i].turnstile;
    struct vd_account *account = c->account ? c->account : api->accounts.strangers;
    struct vd_lane *lane = vd_account_lane(account, i);
    bool over = c->account && !is_head &&
                vd_exchange_charge(x, account, rank_of((enum vd_rank)c->rank, x));
    if (vd_turnstile_enter(turnstile, lane)) {
        if (is_head)
            judge_head(api, x);
        else
            admit(api, i, x, over ? account : NULL);
        vd_turnstile_leave(turnstile, lane);
        if (c->account && c->account != account)
            vd_turnstile_meet(turnstile, lane, vd_account_lane(c->account, i));
        return;
    }
    struct waiting *w = VD_NEW(struct waiting);
    *w = (struct waiting){.chore.run = on_turn,
                          .api = api,
                          .x = x,
                          .account = vd_account_ref(account),
                          .over = over,
                          .is_head = is_head};
    x->ops = &waiting_ops;
    x->arg = w;
    vd_turnstile_wait(turnstile, lane, &w->chore);
}

void vd_api_admit(struct vd_api *api, size_t i, struct vd_exchange *x)
{
    take_turn(api, i, x, true);
}

void vd_api_handle(struct vd_api *api, size_t i, struct vd_exchange *x)
{
    take_turn(api, i, x, false);
}

void vd_api_drain(struct vd_api *api, size_t i, uint64_t spread_ms)
{
    vd_kube_loop_drain(&api->loops[i], spread_ms);
}

void vd_api_settle(struct vd_api *api)
{
    if (api->kube.store)
        vd_store_settle(api->kube.store);
}

void vd_api_close(struct vd_api *api)
{
    for (size_t i = 0; api->loops && i < api->n; i++)
        if (api->api_loops[i].registry) {
            vd_kube_loop_release(&api->loops[i]);
            vd_api_loop_release(&api->api_loops[i]);
        }
    free(api->loops);
    free(api->api_loops);
    vd_gatekeeper_free(api->gatekeeper);
    vd_audit_close(api->kube.audit);
    if (api->kube.metrics)
        vd_metrics_desk_release(&api->metrics);
    vd_converter_free(api->kube.converter);
    vd_tables_free(api->kube.tables);
    vd_documents_free(api->kube.documents);
    vd_kinds_free(api->kube.kinds);
    vd_accounts_release(&api->accounts);
    vd_buf_release(&api->git_version);
    *api = (struct vd_api){0};
}
