/* See faces.h. */
#include "server/faces.h"

#include <stdlib.h>

#include "api/converter.h"
#include "api/definition_kind.h"
#include "base/alloc.h"
#include "base/limits.h"
#include "base/log.h"
#include "kinds/builtin.h"
#include "kube/audit/audit.h"
#include "kube/refusal.h"
#include "net/connection.h"
#include "net/url.h"
#include "server/bootstrap.h"
#include "server/release.h"

static int open_audit(struct vd_faces *api, const struct vd_config *config, struct vd_error *error)
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

static void init_accounts(struct vd_faces *api, const struct vd_config *config, size_t loops_n)
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

/* ---- routes ---- */

static struct vd_faces *api_of(const struct vd_exchange *x)
{
    return x->route->arg;
}

/* Kubernetes' face has all paths that nobody else has. */
static void handle(struct vd_http_service *service, struct vd_exchange *x)
{
    (void)service;
    vd_kube_handle(&api_of(x)->loops[x->loop->index], x, x->user);
}

static void refuse(struct vd_http_service *service, struct vd_exchange *x,
                   const struct vd_route_refusal *refusal)
{
    (void)service;
    struct vd_kube_refusal answer;
    vd_kube_refusal_open(&answer, &api_of(x)->kube, x, refusal);
    vd_kube_refusal_answer(&answer);
    vd_kube_refusal_close(&answer);
}

static void drain(struct vd_http_service *service, const struct vd_route *route, uint64_t spread_ms)
{
    struct vd_faces *api = route->arg;
    vd_api_streams_drain(&api->api_loops[service->loop->index], spread_ms);
}

/* "/" is the face's too; but who comes there without a credential is told how to get one. */
static void refuse_at_root(struct vd_http_service *service, struct vd_exchange *x,
                           const struct vd_route_refusal *refusal)
{
    struct vd_faces *api = api_of(x);
    struct vd_kube_refusal answer;
    bool is_stranger = refusal->is_of_user && !x->user;
    (void)service;
    vd_kube_refusal_open(&answer, &api->kube, x, refusal);
    if (!is_stranger || !vd_welcome_answer(&api->welcome, x))
        vd_kube_refusal_answer(&answer);
    vd_kube_refusal_close(&answer);
}

/* Health needs no user where anybody may ask for it, no turn, and no body. What it does not know
 * is the face's. */
static void handle_health(struct vd_http_service *service, struct vd_exchange *x)
{
    struct vd_faces *api = api_of(x);
    (void)service;
    if (vd_http_head_upgrades_to(x->head, VD_SLICE("websocket"))) {
        vd_authenticator_refuse_websocket(x);
        return;
    }
    bool may_ask = api->anonymous_health || vd_authenticator_knows(&api->authenticator, x);
    if (!may_ask || !vd_health_answer(&api->health, x))
        vd_route_pass_handle(x);
}

static void admit_health(struct vd_http_service *service, struct vd_exchange *x)
{
    struct vd_faces *api = api_of(x);
    (void)service;
    if (!api->anonymous_health || !vd_health_answer(&api->health, x))
        vd_route_pass_admit(x);
}

static void list_health(const struct vd_route *route, struct vd_buf *out)
{
    vd_health_paths(route->prefix, out);
}

/* A page at the route's prefix alone, if the user may see it; what is below it is the face's. NULL:
 * it has been answered, or passed on. */
static struct vd_call *begin_page(struct vd_exchange *x)
{
    struct vd_slice path, query;
    vd_url_split(vd_http_head_target(x->head), &path, &query);
    if (path.n <= x->route->prefix.n + 1)
        return vd_kube_begin_page(&api_of(x)->loops[x->loop->index], x, x->user);
    vd_route_pass_handle(x);
    return NULL;
}

static void handle_metrics(struct vd_http_service *service, struct vd_exchange *x)
{
    struct vd_faces *api = api_of(x);
    struct vd_call *page = begin_page(x);
    struct vd_buf text = {0};
    (void)service;
    if (!page)
        return;
    vd_server_metrics_write(&api->metrics, &text);
    vd_kube_end_page(page, VD_SLICE("text/plain; version=0.0.4; charset=utf-8"),
                     vd_buf_slice(&text));
    vd_buf_release(&text);
}

static void handle_usage(struct vd_http_service *service, struct vd_exchange *x)
{
    struct vd_faces *api = api_of(x);
    struct vd_call *page = begin_page(x);
    struct vd_buf json = {0};
    (void)service;
    if (!page)
        return;
    vd_server_metrics_usage(&api->metrics, &json);
    vd_kube_end_page(page, VD_SLICE("application/json"), vd_buf_slice(&json));
    vd_buf_release(&json);
}

static const struct vd_route routes[VD_FACES_ROUTES] = {
    {.prefix = VD_SLICE(""), .handle = handle, .refuse = refuse, .drain = drain},
    {.prefix = VD_SLICE("/"), .handle = handle, .refuse = refuse_at_root},
    {.prefix = VD_SLICE("/livez"),
     .is_open = true,
     .admit = admit_health,
     .handle = handle_health,
     .refuse = refuse,
     .list = list_health},
    {.prefix = VD_SLICE("/readyz"),
     .is_open = true,
     .admit = admit_health,
     .handle = handle_health,
     .refuse = refuse,
     .list = list_health},
    {.prefix = VD_SLICE("/healthz"),
     .is_open = true,
     .admit = admit_health,
     .handle = handle_health,
     .refuse = refuse,
     .list = list_health},
    {.prefix = VD_SLICE("/metrics"), .handle = handle_metrics, .refuse = refuse},
    {.prefix = VD_SLICE("/debug/usage"), .handle = handle_usage, .refuse = refuse},
};

static void add_routes(struct vd_faces *api)
{
    for (size_t i = 0; i < VD_FACES_ROUTES; i++) {
        api->own_routes[i] = routes[i];
        api->own_routes[i].body_len_max = VD_BODY_LEN_MAX;
        api->own_routes[i].arg = api;
        vd_route_table_add(&api->routes, &api->own_routes[i]);
    }
}

/* ---- opening ---- */

int vd_faces_open(struct vd_faces *api, struct vd_store *store, const struct vd_config *config,
                  size_t loops_n, struct vd_loop *first, struct vd_error *error)
{
    const struct vd_clock *clock = vd_clock_system();
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    *api = (struct vd_faces){
        .kube = {.kinds = kinds,
                 .clock = clock,
                 .options = {.bookmark_ms = config->watch_bookmark_period_ms,
                             .watch_min_s = config->watch_timeout_min_ms / 1000,
                             .watch_max_s = config->watch_timeout_max_ms / 1000,
                             .access_log = vd_config_logs_access(config)},
                 .tables = vd_tables_new(),
                 .documents = vd_documents_new(vd_slice_of(config->kubernetes_version))},
        .env = {.store = store,
                .kinds = kinds,
                .clock = clock,
                .converter = vd_converter_new(&(struct vd_converter_options){
                    .loop = first, .store = store, .kinds = kinds, .clock = clock}),
                .version_wait_ms = VD_VERSION_WAIT_MS},
        .api_loops = vd_calloc(loops_n, sizeof *api->api_loops),
        .loops = vd_calloc(loops_n, sizeof *api->loops),
        .n = loops_n,
    };
    init_accounts(api, config, loops_n);
    vd_buf_addf(&api->git_version, "%s+vedette.%s", config->kubernetes_version, VD_RELEASE);
    api->kube.options.git_version = vd_buf_text(&api->git_version);
    vd_welcome_init(&api->welcome, config);
    vd_server_metrics_init(&api->metrics, VD_RELEASE);
    vd_meters_register();
    api->metrics.store = store;
    api->metrics.folder = config->store == VD_CONFIG_STORE_MEMORY ? NULL : config->data;
    api->metrics.loops_n = loops_n;
    api->metrics.accounts = &api->accounts;
    api->health.store = store;
    api->anonymous_health = config->anonymous_health;
    add_routes(api);
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
        api->kube.gatekeeper = api->env.gatekeeper = api->gatekeeper;
        api->kube.accounts = vd_gatekeeper_accounts(api->gatekeeper);
        api->health.gatekeeper = api->gatekeeper;
        api->authenticator = (struct vd_authenticator){.gatekeeper = api->gatekeeper,
                                                       .accounts = &api->accounts,
                                                       .logins = api->metrics.logins,
                                                       .failed_logins = api->metrics.failed_logins};
    }
    return code;
}

void vd_faces_reload(struct vd_faces *api)
{
    struct vd_issuers *issuers = vd_gatekeeper_issuers(api->gatekeeper);
    struct vd_error error;
    if (issuers && vd_issuers_reload(issuers, &error))
        vd_log_error("could not load the issuers again; the old ones stay", VD_F_ERROR(&error));
    vd_audit_reload(api->kube.audit);
}

void vd_faces_follow_definitions(struct vd_faces *api, struct vd_definitions *definitions)
{
    api->env.definitions = definitions;
}

void vd_faces_join(struct vd_faces *api, size_t i, struct vd_loop *loop)
{
    vd_api_loop_init(&api->api_loops[i], &api->env, loop);
    vd_worker_pool_init(&api->api_loops[i].worker_pool, api->n);
    vd_kube_loop_init(&api->loops[i], &api->kube, &api->api_loops[i]);
}

void vd_faces_serve(struct vd_faces *api, struct vd_http_service *service)
{
    service->routes = &api->routes;
    service->authenticate = vd_authenticate;
    service->authenticator = &api->authenticator;
    service->turn_queue = &api->api_loops[service->loop->index].turn_queue;
}

void vd_faces_follow(struct vd_faces *api, size_t i)
{
    vd_kube_loop_follow(&api->loops[i]);
    vd_api_loop_follow(&api->api_loops[i]);
}

void vd_faces_finished(struct vd_faces *api, struct vd_exchange *x, bool log)
{
    vd_kube_finished(&api->loops[x->loop->index], x, log);
    vd_authenticator_finished(x);
}

void vd_faces_settle(struct vd_faces *api)
{
    if (api->env.store)
        vd_store_settle(api->env.store);
}

void vd_faces_close(struct vd_faces *api)
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
    if (api->n)
        vd_server_metrics_release(&api->metrics);
    vd_converter_free(api->env.converter);
    vd_tables_free(api->kube.tables);
    vd_documents_free(api->kube.documents);
    vd_kinds_free(api->kube.kinds);
    vd_accounts_release(&api->accounts);
    vd_route_table_release(&api->routes);
    vd_buf_release(&api->git_version);
    *api = (struct vd_faces){0};
}
