/*
 * Requests for documents: discovery, OpenAPI and /version, which are made once for a
 * set of kinds and then only sent, and /metrics and /debug/usage, which are made anew.
 */
#include "kube/call.h"
#include "kube/documents.h"
#include "kube/version.h"

static void reply_version(struct vd_call *call)
{
    struct vd_buf json = {0};
    struct vd_error error;
    struct vd_version_info info = {.kubernetes = vd_slice_of(call->kube->options.git_version)};
    int code = vd_version_write(&json, &info, &error);
    if (code) {
        vd_call_reply_error(call, code, &error);
    } else {
        struct vd_slice text = vd_arena_copy(&call->arena, vd_buf_slice(&json));
        vd_call_reply_json(call, 200, text);
    }
    vd_buf_release(&json);
}

/* The client's own copy is still good, or its address is an old one, or here it is. */
static void reply_document(struct vd_call *call, const struct vd_document *d)
{
    struct vd_slice known = VD_SLICE(""), hash = VD_SLICE("");
    bool fresh = vd_http_head_find(call->x->head, VD_SLICE("if-none-match"), &known) &&
                 vd_document_is_known(d, known);
    bool moved = vd_url_query_find(&call->query, VD_SLICE("hash"), &hash) &&
                 !vd_slice_eq(hash, d->hash);
    struct vd_buf place = {0};
    if (moved)
        vd_buf_addf(&place, "%.*s?hash=%.*s", VD_FMT(call->target.path), VD_FMT(d->hash));
    struct vd_http_field fields[] = {
        {VD_SLICE("ETag"), d->etag},
        {VD_SLICE("Vary"), VD_SLICE("Accept")},
        {VD_SLICE("Location"), vd_buf_slice(&place)},
    };
    vd_exchange_respond(
        call->x, &(struct vd_response){
                     .status = moved   ? 301
                               : fresh ? 304
                                       : 200,
                     .content_type = moved || fresh ? VD_SLICE("") : d->content_type,
                     .fields = fields,
                     .fields_n = moved ? 3 : 2,
                     .body = moved || fresh ? VD_SLICE("") : vd_slice(d->body->data, d->body->len),
                 });
    vd_buf_release(&place);
    vd_call_free(call);
}

static void reply_metrics(struct vd_call *call)
{
    struct vd_buf text = {0};
    call->kube->metrics(call->kube->metrics_arg, &text);
    vd_call_reply(call, 200, VD_SLICE("text/plain; version=0.0.4; charset=utf-8"),
                  vd_buf_slice(&text));
    vd_buf_release(&text);
}

static void reply_usage(struct vd_call *call)
{
    struct vd_buf json = {0};
    call->kube->usage(call->kube->metrics_arg, &json);
    vd_call_reply(call, 200, VD_SLICE("application/json"), vd_buf_slice(&json));
    vd_buf_release(&json);
}

bool vd_call_document(struct vd_call *call)
{
    struct vd_accept accept;
    struct vd_slice value, path = call->target.path;
    enum vd_document_form form;
    size_t at = 0;
    if (vd_slice_is(path, "/version") || vd_slice_is(path, "/version/")) {
        reply_version(call);
        return true;
    }
    if (vd_slice_is(path, "/metrics") && call->kube->metrics) {
        reply_metrics(call);
        return true;
    }
    if (vd_slice_is(path, "/debug/usage") && call->kube->usage) {
        reply_usage(call);
        return true;
    }
    if (!vd_document_is_path(path))
        return false;
    vd_accept_init(&accept);
    while (vd_http_head_next(call->x->head, VD_SLICE("accept"), &at, &value))
        if (vd_accept_add(&accept, value, NULL))
            break;
    if (!vd_document_form_of(path, &accept, &call->arena, &form)) {
        struct vd_status status = vd_status_not_acceptable(&call->arena,
                                                           VD_SLICE("application/json"));
        vd_call_reply_status(call, &status);
        return true;
    }
    struct vd_document *d = vd_documents_get(call->kube->documents, call->kinds, path, form);
    if (!d)
        return false;
    reply_document(call, d);
    vd_document_unref(d);
    return true;
}
