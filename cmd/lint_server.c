/*
 * See lint_server.h.
 *
 * An object is sent as a server-side apply with dryRun: that is a create or an update, whichever it
 * needs. The spec of some objects belongs to Git, and the server refuses them last, when nothing
 * else is wrong with them; here that means that they are right. Of what the tree itself would bring
 * first, a definition or a namespace, the server knows nothing yet: then its 404 says nothing.
 */
#include "lint_server.h"

#include "json/parse.h"
#include "json/write.h"

/* ---- paths ---- */

static void add_object_path(struct vd_buf *out, const struct vd_git_lint_object *o)
{
    const struct vd_git_manifest *m = o->manifest;
    vd_buf_add_text(out, m->group.n ? "/apis/" : "/api/");
    vd_buf_add_slice(out, m->api_version);
    if (o->kind->namespaced) {
        vd_buf_add_text(out, "/namespaces/");
        vd_http_add_encoded(out, m->namespace);
    }
    vd_buf_addf(out, "/%.*s/", VD_FMT(o->kind->plural));
    vd_http_add_encoded(out, m->name);
}

/* ---- definitions ---- */

static int know(void *arg, struct vd_json *definition, struct vd_error *error)
{
    (void)error;
    vd_git_lint_know(arg, definition);
    return VD_OK;
}

int vd_lint_server_learn(struct vd_client *client, struct vd_git_lint *l,
                         struct vd_git_report *report, struct vd_error *error)
{
    struct vd_error own;
    int code = vd_client_list(client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "",
                              know, l, &own);
    if (code && (!client->status || client->status == 401))
        return vd_error_set(error, code, "%s", own.text);
    if (code)
        vd_git_report_add(report, VD_GIT_WARNING, VD_SLICE(""), (struct vd_yaml_position){0},
                          VD_SLICE(""),
                          "the server does not show its definitions (%u): kinds that are neither "
                          "built in nor in the tree are unknown",
                          client->status);
    return VD_OK;
}

/* ---- objects ---- */

/* Adds what the Status says: its causes, each with its field, or else its message. */
static void report_status(const struct vd_git_manifest *m, const struct vd_json *status,
                          unsigned code, struct vd_git_report *report)
{
    struct vd_slice message = vd_json_text(vd_json_get(status, VD_SLICE("message")));
    const struct vd_json *causes = vd_json_dig(status, "details", "causes", NULL);
    bool any = false;
    VD_JSON_EACH (cause, causes) {
        struct vd_slice field = vd_json_text(vd_json_get(cause, VD_SLICE("field")));
        struct vd_slice text = vd_json_text(vd_json_get(cause, VD_SLICE("message")));
        if (!text.n)
            continue;
        vd_git_manifest_refuse(m, vd_slice_is(field, "<nil>") ? VD_SLICE("") : field, report,
                               "the server: %.*s", VD_FMT(text));
        any = true;
    }
    if (!any && message.n)
        vd_git_manifest_refuse(m, VD_SLICE(""), report, "the server: %.*s", VD_FMT(message));
    else if (!any)
        vd_git_manifest_refuse(m, VD_SLICE(""), report, "the server answered with %u", code);
}

/* Whether the answer says that the object is right, or nothing. */
static bool is_fine(const struct vd_git_lint *l, const struct vd_git_lint_object *o,
                    const struct vd_json *answer, unsigned status)
{
    struct vd_slice reason = vd_json_text(vd_json_get(answer, VD_SLICE("reason")));
    if (status == 403 && vd_slice_is(reason, "SpecOwnedByGit"))
        return true;
    if (status == 404 &&
        (!o->is_kind_known || vd_git_lint_has_namespace(l, o->manifest->namespace)))
        return true;
    return status / 100 == 2;
}

static int check_object(struct vd_client *client, const struct vd_git_lint *l,
                        const struct vd_git_lint_object *o, struct vd_git_report *report,
                        struct vd_error *error)
{
    struct vd_json *document = NULL;
    struct vd_buf path = {0}, body = {0};
    add_object_path(&path, o);
    vd_buf_add_text(&path, "?dryRun=All&fieldManager=vedette-lint&force=true"
                           "&fieldValidation=Strict");
    vd_json_write(&body, o->manifest->document);
    vd_arena_reset(&client->arena); /* the answer about the object before this one */
    int code = vd_client_ask(
        client,
        &(struct vd_http_question){.method = "PATCH",
                                   .path = vd_buf_text(&path),
                                   .content_type = "application/apply-patch+yaml",
                                   .body = vd_buf_slice(&body)},
        &document, error);
    if (client->status && client->status != 401) {
        if (!is_fine(l, o, document, client->status))
            report_status(o->manifest, document, client->status, report);
        code = VD_OK;
    }
    vd_buf_release(&path);
    vd_buf_release(&body);
    return code;
}

int vd_lint_server_check(struct vd_client *client, const struct vd_git_lint *l,
                         struct vd_git_report *report, struct vd_error *error)
{
    const struct vd_git_lint_object *o;
    int code = VD_OK;
    for (size_t i = 0; !code && (o = vd_git_lint_object(l, i)); i++)
        if (!report->takes || report->takes(report->takes_arg, o->manifest->source.path))
            code = check_object(client, l, o, report, error);
    return code;
}
