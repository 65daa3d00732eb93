/* See faces.h. */
#include "server/faces.h"

#include <stdlib.h>

#include "api/converter.h"
#include "api/definition_kind.h"
#include "base/alloc.h"
#include "base/limits.h"
#include "base/log.h"
#include "git/git.h"
#include "kinds/builtin.h"
#include "kube/kube.h"
#include "net/connection.h"
#include "request/page.h"
#include "request/request.h"
#include "server/bootstrap.h"
#include "server/release.h"

static int open_audit(struct vd_faces *faces, const struct vd_config *config,
                      struct vd_error *error)
{
    if (!config->audit_log)
        return VD_OK;
    return vd_audit_open(&faces->audit,
                         &(struct vd_audit_options){.log = config->audit_log,
                                                    .policy = config->audit_policy,
                                                    .mode = (enum vd_audit_mode)config->audit_mode,
                                                    .clock = faces->env.clock},
                         error);
}

static void init_accounts(struct vd_faces *faces, const struct vd_config *config, size_t loops_n)
{
    vd_accounts_init(
        &faces->accounts,
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

static struct vd_faces *faces_of(const struct vd_exchange *x)
{
    return x->route->arg;
}

static struct vd_request_loop *requests_of(const struct vd_exchange *x)
{
    return &faces_of(x)->request_loops[x->loop->index];
}

/* "/" is answered by the face that has all paths; but a browser that comes there without a
 * credential is told how to get one. */
static void handle_root(struct vd_http_service *service, struct vd_exchange *x)
{
    (void)service;
    vd_route_pass_handle(x);
}

static void refuse_at_root(struct vd_http_service *service, struct vd_exchange *x,
                           const struct vd_route_refusal *refusal)
{
    const struct vd_audit_answer answer = {.reason = VD_SLICE("Unauthorized"),
                                           .message = VD_SLICE("Unauthorized")};
    struct vd_faces *faces = faces_of(x);
    struct vd_audit_stamp stamp;
    bool is_stranger = refusal->is_of_user && refusal->status == 401 && !x->user;
    (void)service;
    if (!is_stranger || !vd_welcome_is_for(x)) {
        vd_route_pass_refusal(x, refusal);
        return;
    }
    struct vd_request request = vd_request_of_path(x);
    vd_audit_refused(faces->audit, &request, refusal->status, &answer, &stamp);
    vd_welcome_answer(&faces->welcome, x);
}

/* Health needs no user where anybody may ask for it, no turn, and no body. What it does not know
 * is the face's. */
static void handle_health(struct vd_http_service *service, struct vd_exchange *x)
{
    struct vd_faces *faces = faces_of(x);
    (void)service;
    if (vd_http_head_upgrades_to(x->head, VD_SLICE("websocket"))) {
        vd_authenticator_refuse_websocket(x);
        return;
    }
    bool may_ask = faces->anonymous_health || vd_authenticator_knows(&faces->authenticator, x);
    if (!may_ask || !vd_health_answer(&faces->health, x))
        vd_route_pass_handle(x);
}

static void admit_health(struct vd_http_service *service, struct vd_exchange *x)
{
    struct vd_faces *faces = faces_of(x);
    (void)service;
    if (!faces->anonymous_health || !vd_health_answer(&faces->health, x))
        vd_route_pass_admit(x);
}

static void list_health(const struct vd_route *route, struct vd_buf *out)
{
    vd_health_paths(route->prefix, out);
}

static void handle_metrics(struct vd_http_service *service, struct vd_exchange *x)
{
    struct vd_faces *faces = faces_of(x);
    struct vd_buf text = {0};
    (void)service;
    if (!vd_page_begin(requests_of(x), x))
        return;
    vd_server_metrics_write(&faces->metrics, &text);
    vd_page_end(requests_of(x), x, VD_SLICE("text/plain; version=0.0.4; charset=utf-8"),
                vd_buf_slice(&text));
    vd_buf_release(&text);
}

static void handle_usage(struct vd_http_service *service, struct vd_exchange *x)
{
    struct vd_faces *faces = faces_of(x);
    struct vd_buf json = {0};
    (void)service;
    if (!vd_page_begin(requests_of(x), x))
        return;
    vd_server_metrics_usage(&faces->metrics, &json);
    vd_page_end(requests_of(x), x, VD_SLICE("application/json"), vd_buf_slice(&json));
    vd_buf_release(&json);
}

/* Those without `refuse` are refused in the words of the face that has all paths. */
static const struct vd_route routes[VD_FACES_ROUTES] = {
    {.prefix = VD_SLICE("/"), .handle = handle_root, .refuse = refuse_at_root},
    {.prefix = VD_SLICE("/livez"),
     .is_open = true,
     .admit = admit_health,
     .handle = handle_health,
     .list = list_health},
    {.prefix = VD_SLICE("/readyz"),
     .is_open = true,
     .admit = admit_health,
     .handle = handle_health,
     .list = list_health},
    {.prefix = VD_SLICE("/healthz"),
     .is_open = true,
     .admit = admit_health,
     .handle = handle_health,
     .list = list_health},
    {.prefix = VD_SLICE("/metrics"), .handle = handle_metrics},
    {.prefix = VD_SLICE("/debug/usage"), .handle = handle_usage},
};

static void add_routes(struct vd_faces *faces)
{
    for (size_t i = 0; i < VD_FACES_ROUTES; i++) {
        faces->own_routes[i] = routes[i];
        faces->own_routes[i].body_len_max = VD_BODY_LEN_MAX;
        faces->own_routes[i].arg = faces;
        vd_route_table_add(&faces->routes, &faces->own_routes[i]);
    }
}

/* ---- opening ---- */

static void open_kube(struct vd_faces *faces, const struct vd_config *config)
{
    faces->kube = vd_kube_open(
        &(struct vd_kube_options){.bookmark_ms = config->watch_bookmark_period_ms,
                                  .watch_min_s = config->watch_timeout_min_ms / 1000,
                                  .watch_max_s = config->watch_timeout_max_ms / 1000,
                                  .kubernetes_version = config->kubernetes_version,
                                  .release = VD_RELEASE},
        &faces->env, faces->n);
    vd_kube_add_routes(faces->kube, &faces->routes);
}

static int open_git(struct vd_faces *faces, const struct vd_config *config, struct vd_error *error)
{
    int code = vd_git_open(
        &faces->git,
        &(struct vd_git_options){.env = &faces->env,
                                 .data = config->data,
                                 .search_path = getenv("PATH"),
                                 .remote_schemes = config->git_remote_schemes.items,
                                 .remote_schemes_n = config->git_remote_schemes.n,
                                 .loops_n = faces->n},
        error);
    if (!code)
        vd_git_add_routes(faces->git, &faces->routes);
    return code;
}

static int open_gatekeeper(struct vd_faces *faces, const struct vd_config *config,
                           struct vd_loop *first, struct vd_error *error)
{
    int code = vd_gatekeeper_new(
        &faces->gatekeeper,
        &(struct vd_gatekeeper_options){.store = faces->env.store,
                                        .folder = config->data,
                                        .loop = first,
                                        .loops_n = faces->n,
                                        .clock = faces->env.clock,
                                        .issuers = config->authentication_config},
        error);
    if (!code)
        code = vd_gatekeeper_start(faces->gatekeeper, error);
    return code;
}

int vd_faces_open(struct vd_faces *faces, struct vd_store *store, const struct vd_config *config,
                  size_t loops_n, struct vd_loop *first, struct vd_error *error)
{
    const struct vd_clock *clock = vd_clock_system();
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    *faces = (struct vd_faces){
        .env = {.store = store,
                .kinds = kinds,
                .clock = clock,
                .converter = vd_converter_new(&(struct vd_converter_options){
                    .loop = first, .store = store, .kinds = kinds, .clock = clock}),
                .version_wait_ms = VD_VERSION_WAIT_MS},
        .api_loops = vd_calloc(loops_n, sizeof *faces->api_loops),
        .request_loops = vd_calloc(loops_n, sizeof *faces->request_loops),
        .access_log = vd_config_logs_access(config),
        .n = loops_n,
    };
    init_accounts(faces, config, loops_n);
    vd_welcome_init(&faces->welcome, config);
    vd_server_metrics_init(&faces->metrics, VD_RELEASE);
    vd_meters_register();
    faces->metrics.store = store;
    faces->metrics.folder = config->store == VD_CONFIG_STORE_MEMORY ? NULL : config->data;
    faces->metrics.loops_n = loops_n;
    faces->metrics.accounts = &faces->accounts;
    faces->health.store = store;
    faces->anonymous_health = config->anonymous_health;
    add_routes(faces);
    int code = vd_bootstrap(store, kinds, clock, error);
    if (!code)
        code = vd_definition_register_all(kinds, store, error);
    if (!code)
        code = open_gatekeeper(faces, config, first, error);
    if (!code)
        code = open_audit(faces, config, error);
    if (!code) {
        faces->env.gatekeeper = faces->gatekeeper;
        faces->health.gatekeeper = faces->gatekeeper;
        faces->authenticator = (struct vd_authenticator){
            .gatekeeper = faces->gatekeeper,
            .accounts = &faces->accounts,
            .logins = faces->metrics.logins,
            .failed_logins = faces->metrics.failed_logins};
        open_kube(faces, config);
        code = open_git(faces, config, error);
    }
    return code;
}

void vd_faces_reload(struct vd_faces *faces)
{
    struct vd_issuers *issuers = vd_gatekeeper_issuers(faces->gatekeeper);
    struct vd_error error;
    if (issuers && vd_issuers_reload(issuers, &error))
        vd_log_error("could not load the issuers again; the old ones stay", VD_F_ERROR(&error));
    vd_audit_reload(faces->audit);
}

void vd_faces_follow_definitions(struct vd_faces *faces, struct vd_definitions *definitions)
{
    faces->env.definitions = definitions;
}

void vd_faces_follow_controller(struct vd_faces *faces, struct vd_controller *controller)
{
    vd_git_follow(faces->git, controller);
}

void vd_faces_join(struct vd_faces *faces, size_t i, struct vd_loop *loop)
{
    vd_api_loop_init(&faces->api_loops[i], &faces->env, loop);
    vd_worker_pool_init(&faces->api_loops[i].worker_pool, faces->n);
    faces->request_loops[i] = (struct vd_request_loop){.loop = loop,
                                                       .clock = faces->env.clock,
                                                       .gatekeeper = faces->gatekeeper,
                                                       .audit = faces->audit,
                                                       .access_log = faces->access_log};
    vd_request_loop_init(&faces->request_loops[i]);
    vd_kube_join(faces->kube, &faces->api_loops[i], &faces->request_loops[i]);
    vd_git_join(faces->git, &faces->api_loops[i], &faces->request_loops[i]);
}

void vd_faces_serve(struct vd_faces *faces, struct vd_http_service *service)
{
    service->routes = &faces->routes;
    service->authenticate = vd_authenticate;
    service->authenticator = &faces->authenticator;
    service->turn_queue = &faces->api_loops[service->loop->index].turn_queue;
}

void vd_faces_follow(struct vd_faces *faces, size_t i)
{
    vd_request_loop_follow(&faces->request_loops[i]);
    vd_api_loop_follow(&faces->api_loops[i]);
}

void vd_faces_finished(struct vd_faces *faces, struct vd_exchange *x)
{
    vd_request_finished(&faces->request_loops[x->loop->index], x);
    vd_authenticator_finished(x);
}

void vd_faces_settle(struct vd_faces *faces)
{
    vd_git_stop(faces->git);
    if (faces->env.store)
        vd_store_settle(faces->env.store);
}

void vd_faces_close(struct vd_faces *faces)
{
    vd_git_close(faces->git);
    vd_kube_close(faces->kube);
    for (size_t i = 0; faces->api_loops && i < faces->n; i++)
        if (faces->api_loops[i].registry) {
            vd_request_loop_release(&faces->request_loops[i]);
            vd_api_loop_release(&faces->api_loops[i]);
        }
    free(faces->request_loops);
    free(faces->api_loops);
    vd_gatekeeper_free(faces->gatekeeper);
    vd_audit_close(faces->audit);
    if (faces->n)
        vd_server_metrics_release(&faces->metrics);
    vd_converter_free(faces->env.converter);
    vd_kinds_free(faces->env.kinds);
    vd_accounts_release(&faces->accounts);
    vd_route_table_release(&faces->routes);
    *faces = (struct vd_faces){0};
}
