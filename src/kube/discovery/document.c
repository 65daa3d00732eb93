/*
 * Requests for documents: discovery, OpenAPI and /version, which are made once for a
 * set of kinds and then only sent, and pages, which are made anew: see the table.
 */
#include "auth/issuer_document.h"
#include "kube/call.h"
#include "kube/discovery/documents.h"
#include "kube/discovery/root_paths.h"
#include "kube/version.h"
#include "net/connection.h"

static void reply_version(struct vd_call *call)
{
    struct vd_buf json = {0};
    struct vd_error error;
    struct vd_version_info info = {.kubernetes = vd_buf_slice(&call->kube->git_version)};
    int code = vd_version_write(&json, &info, &error);
    if (code) {
        vd_call_reply_error(call, code, &error);
    } else {
        struct vd_slice text = vd_arena_copy(&call->arena, vd_buf_slice(&json));
        vd_call_reply_json(call, 200, text);
    }
    vd_buf_release(&json);
}

static void release_bytes(void *bytes)
{
    vd_bytes_unref(bytes);
}

/* All loops send the same document; what is queued is a loop's own. */
static struct vd_bytes *view_of(struct vd_bytes *bytes)
{
    return vd_bytes_view(vd_slice(bytes->data, bytes->len), release_bytes, vd_bytes_ref(bytes));
}

/* The client's own copy is still good, or its address is an old one, or here it is. */
static void reply_document(struct vd_call *call, const struct vd_document *d)
{
    struct vd_slice known = VD_SLICE(""), hash = VD_SLICE("");
    bool fresh = vd_http_head_find(call->x->head, VD_SLICE("if-none-match"), &known) &&
                 vd_document_matches_etag(d, known);
    bool moved = vd_url_query_find(&call->query, VD_SLICE("hash"), &hash) &&
                 !vd_slice_eq(hash, d->hash);
    struct vd_buf place = {0};
    if (moved)
        vd_buf_addf(&place, "%.*s?hash=%.*s", VD_FMT(call->target.path), VD_FMT(d->hash));
    struct vd_http_field fields[] = {
        {VD_SLICE("ETag"), d->etag},
        {VD_SLICE("Vary"), VD_SLICE("Accept")},
        {VD_SLICE("Cache-Control"), VD_SLICE("no-cache, private")},
        {VD_SLICE("Location"), vd_buf_slice(&place)},
    };
    vd_exchange_respond(call->x,
                        &(struct vd_response){
                            .status = moved   ? 301
                                      : fresh ? 304
                                              : 200,
                            .content_type = moved || fresh ? VD_SLICE("") : d->content_type,
                            .fields = fields,
                            .fields_n = moved ? 4 : 3,
                            .shared = moved || fresh ? NULL : view_of(d->body),
                        });
    vd_buf_release(&place);
    vd_call_free(call);
}

/* Good for an hour: keys change when the server starts with another one. Not for a cache that
 * others share, since it names the host that was asked for. */
static void reply_issuer(struct vd_call *call, struct vd_slice content_type, struct vd_buf *json)
{
    static const struct vd_http_field age = {{"Cache-Control", 13}, {"private, max-age=3600", 21}};
    vd_exchange_respond(call->x, &(struct vd_response){.status = 200,
                                                       .content_type = content_type,
                                                       .fields = &age,
                                                       .fields_n = 1,
                                                       .body = vd_buf_slice(json)});
    vd_buf_release(json);
    vd_call_free(call);
}

/* The keys are where the client has found this. */
static void reply_issuer_configuration(struct vd_call *call)
{
    struct vd_buf json = {0}, url = {0};
    struct vd_slice host;
    if (vd_http_head_find(call->x->head, VD_SLICE("host"), &host) && host.n)
        vd_buf_addf(&url, "%s://%.*s", call->x->connection->transport.ssl ? "https" : "http",
                    VD_FMT(host));
    else
        vd_buf_add_slice(&url, vd_service_accounts_issuer(call->kube->accounts));
    vd_buf_add_text(&url, VD_ISSUER_KEYS_PATH);
    vd_issuer_configuration_write(&json, call->kube->accounts, vd_buf_slice(&url));
    vd_buf_release(&url);
    reply_issuer(call, VD_SLICE("application/json"), &json);
}

static void reply_issuer_keys(struct vd_call *call)
{
    struct vd_buf json = {0};
    vd_issuer_keys_write(&json, call->kube->accounts);
    reply_issuer(call, VD_SLICE("application/jwk-set+json"), &json);
}

static void reply_root(struct vd_call *call);

static bool has_accounts(const struct vd_kube *kube)
{
    return kube->accounts;
}

/* Roles go by the path as it was sent; here a slash at its end makes no difference. */
static const struct page {
    const char *path;
    bool (*is_there)(const struct vd_kube *kube); /* NULL: always */
    void (*reply)(struct vd_call *call);
} pages[] = {
    {"/", NULL, reply_root},
    {VD_ISSUER_CONFIGURATION_PATH, has_accounts, reply_issuer_configuration},
    {VD_ISSUER_KEYS_PATH, has_accounts, reply_issuer_keys},
    {"/version", NULL, reply_version},
};

enum { PAGES = sizeof pages / sizeof *pages };

static bool is_there(const struct page *page, const struct vd_kube *kube)
{
    return !page->is_there || page->is_there(kube);
}

static void reply_root(struct vd_call *call)
{
    struct vd_buf others = {0}, json = {0};
    for (size_t i = 1; i < PAGES; i++)
        if (is_there(&pages[i], call->kube))
            vd_buf_addf(&others, "%s\n", pages[i].path);
    vd_route_table_list(call->x->connection->service->routes, &others);
    vd_root_paths_write(&json, call->kinds, vd_buf_slice(&others));
    vd_buf_release(&others);
    vd_call_reply_json(call, 200, vd_buf_slice(&json));
    vd_buf_release(&json);
}

static bool reply_page(struct vd_call *call)
{
    struct vd_slice path = call->target.path;
    if (path.n > 1 && vd_slice_ends_with(path, VD_SLICE("/")))
        path.n--;
    for (size_t i = 0; i < PAGES; i++) {
        if (!vd_slice_is(path, pages[i].path) || !is_there(&pages[i], call->kube))
            continue;
        pages[i].reply(call);
        return true;
    }
    return false;
}

bool vd_call_document(struct vd_call *call)
{
    struct vd_accept accept;
    struct vd_slice value, path = call->target.path;
    enum vd_document_form form;
    size_t at = 0;
    if (reply_page(call))
        return true;
    if (!vd_document_is_path(path))
        return false;
    vd_accept_init(&accept);
    while (vd_http_head_next(call->x->head, VD_SLICE("accept"), &at, &value))
        if (vd_accept_add(&accept, value, NULL))
            break;
    if (!vd_document_form_of(path, &accept, &call->arena, &form)) {
        struct vd_status status = vd_status_not_acceptable(
            &call->arena,
            vd_slice_starts_with(path, VD_SLICE("/openapi/"))
                ? VD_SLICE("application/json")
                : VD_SLICE(
                      "application/json, application/yaml, application/vnd.kubernetes.protobuf"));
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
