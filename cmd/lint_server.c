/*
 * See lint_server.h.
 *
 * An object is sent as a server-side apply with dryRun: that is a create or an update, whichever it
 * needs. The spec of some objects belongs to Git, and the server refuses them last, when nothing
 * else is wrong with them; here that means that they are right. Of what the tree itself would bring
 * first, a definition or a namespace, the server knows nothing yet: then its 404 says nothing.
 */
#include "lint_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "json/parse.h"
#include "json/write.h"

enum { PAGE = 50 }; /* definitions in one answer */

/* ---- credentials ---- */

static int read_file(const char *path, struct vd_buf *out, struct vd_error *error)
{
    char room[4096];
    size_t n;
    FILE *file = fopen(path, "re");
    if (!file)
        return vd_error_set(error, VD_ERR_INVALID, "%s: %s", path, strerror(errno));
    while ((n = fread(room, 1, sizeof room, file)) > 0 && out->n <= VD_PEM_LEN_MAX)
        vd_buf_add(out, room, n);
    fclose(file);
    return VD_OK;
}

int vd_lint_server_set(struct vd_http_peer *peer, const char *url, const char *token_file,
                       const char *ca_file, struct vd_error *error)
{
    struct vd_buf token = {0}, ca = {0};
    const char *variable = getenv("VEDETTE_TOKEN");
    int code = ca_file ? read_file(ca_file, &ca, error) : VD_OK;
    if (!code)
        code = vd_http_peer_set(peer, vd_slice_of(url), vd_buf_slice(&ca), error);
    if (!code && token_file)
        code = read_file(token_file, &token, error);
    else if (!code && variable)
        vd_buf_add_text(&token, variable);
    if (!code)
        code = vd_http_peer_set_token(peer, vd_buf_slice(&token), error);
    vd_buf_release(&token);
    vd_buf_release(&ca);
    return code;
}

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

/* What is wrong when the server does not know the user. */
static int refuse_stranger(struct vd_error *error)
{
    return vd_error_set(error, VD_ERR_FORBIDDEN,
                        "the server does not know who asks: give a token with --token-file or "
                        "VEDETTE_TOKEN");
}

/* One page; *next becomes the token of the following one, or empty. */
static int learn_page(const struct vd_http_peer *peer, struct vd_git_lint *l, struct vd_buf *next,
                      struct vd_git_report *report, struct vd_error *error)
{
    struct vd_http_answer answer = {0};
    struct vd_arena arena = {0};
    struct vd_json *list = NULL;
    struct vd_buf path = {0};
    vd_buf_addf(&path,
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?limit=%d&continue=", PAGE);
    vd_http_add_encoded(&path, vd_buf_slice(next));
    vd_buf_reset(next);
    int code = vd_http_ask(peer,
                           &(struct vd_http_question){.method = "GET", .path = vd_buf_text(&path)},
                           &answer, error);
    if (!code && answer.status == 401)
        code = refuse_stranger(error);
    else if (!code && answer.status != 200)
        vd_git_report_add(report, VD_GIT_WARNING, VD_SLICE(""), (struct vd_yaml_position){0},
                          VD_SLICE(""),
                          "the server does not show its definitions (%u): kinds that are neither "
                          "built in nor in the tree are unknown",
                          answer.status);
    else if (!code)
        code = vd_json_parse(&arena, answer.body, NULL, &list, error);
    VD_JSON_EACH (item, vd_json_get(list, VD_SLICE("items")))
        vd_git_lint_know(l, item);
    vd_buf_add_slice(next, vd_json_text(vd_json_dig(list, "metadata", "continue", NULL)));
    vd_http_answer_release(&answer);
    vd_arena_release(&arena);
    vd_buf_release(&path);
    return code;
}

int vd_lint_server_learn(const struct vd_http_peer *peer, struct vd_git_lint *l,
                         struct vd_git_report *report, struct vd_error *error)
{
    struct vd_buf next = {0};
    int code;
    do
        code = learn_page(peer, l, &next, report, error);
    while (!code && next.n);
    vd_buf_release(&next);
    return code;
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

static int check_object(const struct vd_http_peer *peer, const struct vd_git_lint *l,
                        const struct vd_git_lint_object *o, struct vd_git_report *report,
                        struct vd_error *error)
{
    struct vd_http_answer answer = {0};
    struct vd_arena arena = {0};
    struct vd_json *document = NULL;
    struct vd_buf path = {0}, body = {0};
    add_object_path(&path, o);
    vd_buf_add_text(&path, "?dryRun=All&fieldManager=vedette-lint&force=true"
                           "&fieldValidation=Strict");
    vd_json_write(&body, o->manifest->document);
    int code = vd_http_ask(
        peer,
        &(struct vd_http_question){.method = "PATCH",
                                   .path = vd_buf_text(&path),
                                   .content_type = "application/apply-patch+yaml",
                                   .body = vd_buf_slice(&body)},
        &answer, error);
    if (!code && answer.status == 401)
        code = refuse_stranger(error);
    if (!code) {
        if (vd_json_parse(&arena, answer.body, NULL, &document, NULL))
            document = NULL; /* then its status says enough */
        if (!is_fine(l, o, document, answer.status))
            report_status(o->manifest, document, answer.status, report);
    }
    vd_http_answer_release(&answer);
    vd_arena_release(&arena);
    vd_buf_release(&path);
    vd_buf_release(&body);
    return code;
}

int vd_lint_server_check(const struct vd_http_peer *peer, const struct vd_git_lint *l,
                         struct vd_git_report *report, struct vd_error *error)
{
    const struct vd_git_lint_object *o;
    int code = VD_OK;
    for (size_t i = 0; !code && (o = vd_git_lint_object(l, i)); i++)
        if (!report->takes || report->takes(report->takes_arg, o->manifest->source.path))
            code = check_object(peer, l, o, report, error);
    return code;
}
