/* See api.h. */
#include "server/api.h"

#include <stdlib.h>
#include <strings.h>

#include "base/alloc.h"
#include "kinds/builtin.h"
#include "server/bootstrap.h"
#include "server/definition_kind.h"

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
                             .git_version = config->kubernetes_version},
                 .tables = vd_tables_new(),
                 .documents = vd_documents_new(vd_slice_of(config->kubernetes_version)),
                 .allowed = vd_gatekeeper_allows,
                 .rights_version = vd_gatekeeper_version,
                 .stands = vd_gatekeeper_stands,
                 .rbac = vd_gatekeeper_rbac,
                 .identify = vd_gatekeeper_identify_token},
        .loops = vd_calloc(loops_n, sizeof *api->loops),
        .n = loops_n,
    };
    vd_metrics_desk_init(&api->metrics);
    api->metrics.store = store;
    api->metrics.folder = config->store == VD_CONFIG_STORE_MEMORY ? NULL : config->data;
    api->metrics.loops_n = loops_n;
    api->kube.metrics = vd_metrics_desk_write;
    api->kube.metrics_arg = &api->metrics;
    int code = vd_bootstrap(store, kinds, clock, error);
    if (!code)
        code = vd_definition_register_all(kinds, store, error);
    if (!code)
        code = vd_gatekeeper_new(
            &api->gatekeeper,
            &(struct vd_gatekeeper_options){
                .store = store, .folder = config->data, .loop = first, .clock = clock},
            error);
    if (!code)
        code = vd_gatekeeper_start(api->gatekeeper, error);
    if (!code) {
        api->kube.arg = api->gatekeeper;
        api->kube.accounts = vd_gatekeeper_accounts(api->gatekeeper);
    }
    return code;
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
    vd_kube_loop_init(&api->loops[i], &api->kube, loop);
}

void vd_api_follow(struct vd_api *api, size_t i)
{
    vd_kube_loop_follow(&api->loops[i]);
}

void vd_api_finished(struct vd_api *api, size_t i, struct vd_exchange *x, bool log)
{
    vd_kube_finished(&api->loops[i], x, log);
}

static void reply_unauthorized(struct vd_exchange *x, const char *why)
{
    struct vd_arena arena = {0};
    struct vd_buf body = {0};
    struct vd_status status = vd_status_unauthorized(&arena, vd_slice_of(why));
    struct vd_http_field field = {VD_SLICE("WWW-Authenticate"), VD_SLICE("Bearer")};
    vd_status_write(&body, &status);
    vd_buf_add_char(&body, '\n');
    vd_exchange_respond(x, &(struct vd_response){.status = 401,
                                                 .content_type = VD_SLICE("application/json"),
                                                 .fields = &field,
                                                 .fields_n = 1,
                                                 .body = vd_buf_slice(&body)});
    vd_buf_release(&body);
    vd_arena_release(&arena);
}

bool vd_api_knows(struct vd_api *api, struct vd_exchange *x)
{
    struct vd_user *user = NULL;
    int code = vd_gatekeeper_identify(api->gatekeeper, x, &user, NULL);
    vd_user_unref(user);
    return !code;
}

/* Speaking for somebody else is not supported. To ignore the wish would be to answer
 * with rights that were not meant. */
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

static void reply_no_impersonation(struct vd_exchange *x)
{
    struct vd_arena arena = {0};
    struct vd_buf body = {0};
    struct vd_status_target about = {.plural = VD_SLICE("users")};
    struct vd_status status = vd_status_forbidden(
        &arena, &about,
        VD_SLICE("this server does not support impersonation: use the user's own credential"));
    vd_status_write(&body, &status);
    vd_buf_add_char(&body, '\n');
    vd_exchange_respond(x, &(struct vd_response){.status = 403,
                                                 .content_type = VD_SLICE("application/json"),
                                                 .body = vd_buf_slice(&body)});
    vd_buf_release(&body);
    vd_arena_release(&arena);
}

/* Why a credential is no good is for the log, not for whoever tries some. */
void vd_api_handle(struct vd_api *api, size_t i, struct vd_exchange *x)
{
    struct vd_user *user = NULL;
    struct vd_error error;
    int code = vd_gatekeeper_identify(api->gatekeeper, x, &user, &error);
    if (code) {
        reply_unauthorized(x, "");
        return;
    }
    if (impersonates(x)) {
        reply_no_impersonation(x);
        vd_user_unref(user);
        return;
    }
    vd_kube_handle(&api->loops[i], x, user);
    vd_user_unref(user);
}

void vd_api_drain(struct vd_api *api, size_t i, uint64_t spread_ms)
{
    vd_kube_loop_drain(&api->loops[i], spread_ms);
}

/* The store answers in order: when this one, which asks for what is not there, has
 * been refused, all before it have been answered. */
void vd_api_settle(struct vd_api *api)
{
    struct vd_outcome outcome;
    struct vd_wish nothing = {
        .action = VD_DELETE,
        .key = {VD_SLICE("namespaces"), VD_SLICE(""), VD_SLICE("no such namespace")}};
    if (api->kube.store && vd_store_commit(api->kube.store, &nothing, 1, &outcome))
        return;
}

void vd_api_close(struct vd_api *api)
{
    for (size_t i = 0; api->loops && i < api->n; i++)
        if (api->loops[i].registry)
            vd_kube_loop_release(&api->loops[i]);
    free(api->loops);
    vd_gatekeeper_free(api->gatekeeper);
    if (api->kube.metrics)
        vd_metrics_desk_release(&api->metrics);
    vd_tables_free(api->kube.tables);
    vd_documents_free(api->kube.documents);
    vd_kinds_free(api->kube.kinds);
    *api = (struct vd_api){0};
}
