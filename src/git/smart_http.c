/* See smart_http.h. */
#include "git/smart_http.h"

#include <strings.h>

#include "base/limits.h"
#include "git/repository.h"
#include "net/url.h"

static const char *const names[] = {"upload-pack", "receive-pack"};

const char *vd_git_service_name(enum vd_git_service service)
{
    return names[service];
}

/* ---- paths ---- */

/* "/namespace/name.git" and the rest, which is empty or begins with a slash. */
static bool split_path(struct vd_slice path, struct vd_slice *namespace, struct vd_slice *name,
                       struct vd_slice *rest)
{
    static const struct vd_slice suffix = VD_SLICE(".git");
    struct vd_slice behind = vd_slice_from(path, 1);
    if (!path.n || path.p[0] != '/')
        return false;
    const char *slash = behind.n ? memchr(behind.p, '/', behind.n) : NULL;
    if (!slash || slash == behind.p)
        return false;
    *namespace = vd_slice(behind.p, (size_t)(slash - behind.p));
    behind = vd_slice_from(behind, namespace->n + 1);
    slash = behind.n ? memchr(behind.p, '/', behind.n) : NULL;
    *name = vd_slice(behind.p, slash ? (size_t)(slash - behind.p) : behind.n);
    *rest = vd_slice_from(behind, name->n);
    if (name->n <= suffix.n || !vd_slice_ends_with(*name, suffix))
        return false;
    name->n -= suffix.n;
    return true;
}

bool vd_smart_http_has_path(struct vd_slice path)
{
    struct vd_slice namespace, name, rest;
    return split_path(path, &namespace, &name, &rest) &&
           !vd_repository_namespace_is_reserved(namespace);
}

bool vd_smart_http_lacks_suffix(struct vd_slice path, struct vd_slice query)
{
    struct vd_slice namespace = VD_SLICE(""), name = VD_SLICE(""), rest = VD_SLICE("");
    return !split_path(path, &namespace, &name, &rest) && name.n &&
           vd_slice_is(rest, "/info/refs") &&
           vd_slice_starts_with(query, VD_SLICE("service=git-")) &&
           !vd_repository_namespace_is_reserved(namespace);
}

bool vd_smart_http_webhook(struct vd_slice path, struct vd_slice *namespace, struct vd_slice *name)
{
    struct vd_slice rest;
    return split_path(path, namespace, name, &rest) && vd_slice_is(rest, "/webhook") &&
           !vd_repository_namespace_is_reserved(*namespace);
}

static bool service_of(struct vd_slice text, enum vd_git_service *out)
{
    static const struct vd_slice prefix = VD_SLICE("git-");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (vd_slice_starts_with(text, prefix) &&
            vd_slice_is(vd_slice_from(text, prefix.n), names[i])) {
            *out = (enum vd_git_service)i;
            return true;
        }
    return false;
}

/* The value of `service` in a query. Git writes it without escapes and alone. */
static struct vd_slice query_service(struct vd_slice query)
{
    static const struct vd_slice key = VD_SLICE("service=");
    struct vd_slice rest = query, part;
    while (vd_slice_cut(&rest, '&', &part))
        if (vd_slice_starts_with(part, key))
            return vd_slice_from(part, key.n);
    return VD_SLICE("");
}

/* ---- headers ---- */

/* The highest of "version=1:version=2", as git itself reads it; 0 if there is none. */
static unsigned protocol_version(const struct vd_http_head *head)
{
    static const struct vd_slice key = VD_SLICE("version=");
    struct vd_slice value, part;
    unsigned version = 0;
    if (!vd_http_head_find(head, VD_SLICE("git-protocol"), &value))
        return 0;
    while (vd_slice_cut(&value, ':', &part)) {
        struct vd_slice digit = vd_slice_from(part, key.n);
        if (vd_slice_starts_with(part, key) && digit.n == 1 && digit.p[0] >= '0' &&
            digit.p[0] <= '2' && (unsigned)(digit.p[0] - '0') > version)
            version = (unsigned)(digit.p[0] - '0');
    }
    return version;
}

static bool is_word(struct vd_slice text, const char *word)
{
    return text.n == strlen(word) && strncasecmp(text.p, word, text.n) == 0;
}

static enum vd_smart_http_status read_encoding(struct vd_git_request *out,
                                               const struct vd_http_head *head,
                                               struct vd_error *error)
{
    struct vd_slice value = VD_SLICE("identity");
    (void)!vd_http_head_find(head, VD_SLICE("content-encoding"), &value);
    out->is_gzip = is_word(value, "gzip") || is_word(value, "x-gzip");
    if (out->is_gzip || is_word(value, "identity"))
        return VD_SMART_HTTP_OK;
    vd_error_set(error, VD_ERR_INVALID,
                 "the body's Content-Encoding is not known: send it as it is, or with gzip");
    return VD_SMART_HTTP_TYPE;
}

static enum vd_smart_http_status read_type(const struct vd_git_request *request,
                                           const struct vd_http_head *head, struct vd_error *error)
{
    struct vd_slice value = VD_SLICE("");
    struct vd_buf want = {0};
    (void)!vd_http_head_find(head, VD_SLICE("content-type"), &value);
    vd_buf_addf(&want, "application/x-git-%s-request", vd_git_service_name(request->service));
    bool good = is_word(value, vd_buf_text(&want));
    if (!good)
        vd_error_set(error, VD_ERR_INVALID, "the body's Content-Type must be %s",
                     vd_buf_text(&want));
    vd_buf_release(&want);
    return good ? VD_SMART_HTTP_OK : VD_SMART_HTTP_TYPE;
}

/* ---- requests ---- */

static enum vd_smart_http_status refuse_method(struct vd_error *error, const char *method)
{
    vd_error_set(error, VD_ERR_INVALID, "this path of a Git repository takes %s only", method);
    return VD_SMART_HTTP_METHOD;
}

static enum vd_smart_http_status read_advertisement(struct vd_git_request *out,
                                                    const struct vd_http_head *head,
                                                    struct vd_slice query, struct vd_error *error)
{
    struct vd_slice service = query_service(query);
    out->advertises = true;
    if (head->method != VD_HTTP_GET)
        return refuse_method(error, "GET");
    if (service_of(service, &out->service))
        return VD_SMART_HTTP_OK;
    if (service.n)
        vd_error_set(error, VD_ERR_INVALID,
                     "there is no service \"%.*s\": it is git-upload-pack or git-receive-pack",
                     (int)(service.n < 64 ? service.n : 64), service.p);
    else
        vd_error_set(error, VD_ERR_INVALID,
                     "the server does not speak Git's dumb HTTP protocol: use git 1.6.6 or later, "
                     "without GIT_SMART_HTTP=0");
    return VD_SMART_HTTP_FORBIDDEN;
}

static enum vd_smart_http_status read_call(struct vd_git_request *out,
                                           const struct vd_http_head *head, struct vd_error *error)
{
    if (head->method != VD_HTTP_POST)
        return refuse_method(error, "POST");
    enum vd_smart_http_status status = read_type(out, head, error);
    return status ? status : read_encoding(out, head, error);
}

/* What the dumb protocol would read, or what nobody does. */
static enum vd_smart_http_status refuse_path(const struct vd_git_request *request,
                                             struct vd_slice rest, struct vd_error *error)
{
    if (rest.n <= 1)
        vd_error_set(error, VD_ERR_NOT_FOUND,
                     "this is a Git repository: git clone it by this URL. What it is, is told by "
                     "kubectl get repositories -n %.*s %.*s",
                     VD_FMT(request->namespace), VD_FMT(request->name));
    else if (vd_slice_is(rest, "/HEAD") || vd_slice_starts_with(rest, VD_SLICE("/objects/")))
        vd_error_set(error, VD_ERR_NOT_FOUND,
                     "the server does not speak Git's dumb HTTP protocol: use git 1.6.6 or later, "
                     "without GIT_SMART_HTTP=0");
    else
        vd_error_set(error, VD_ERR_NOT_FOUND, "there is nothing at this path of the repository");
    return VD_SMART_HTTP_NOT_FOUND;
}

enum vd_smart_http_status vd_smart_http_read(struct vd_git_request *out,
                                             const struct vd_http_head *head,
                                             struct vd_error *error)
{
    struct vd_slice path, query, rest = VD_SLICE("");
    *out = (struct vd_git_request){.namespace = VD_SLICE(""), .name = VD_SLICE("")};
    vd_url_split(vd_http_head_target(head), &path, &query);
    if (!split_path(path, &out->namespace, &out->name, &rest)) {
        out->lacks_suffix = true;
        vd_error_set(error, VD_ERR_NOT_FOUND,
                     "the path of a repository ends with .git: /%.*s/%.*s.git",
                     VD_FMT(out->namespace), VD_FMT(out->name));
        return VD_SMART_HTTP_NOT_FOUND;
    }
    out->version = protocol_version(head);
    enum vd_smart_http_status status;
    if (vd_slice_is(rest, "/info/refs"))
        status = read_advertisement(out, head, query, error);
    else if (service_of(vd_slice_from(rest, 1), &out->service))
        status = read_call(out, head, error);
    else
        status = refuse_path(out, rest, error);
    if (out->service == VD_GIT_RECEIVE_PACK && out->version == 2)
        out->version = 0; /* as git does: pushes have no version 2 */
    return status;
}

/* ---- answers ---- */

struct vd_slice vd_smart_http_type(const struct vd_git_request *request)
{
    static const struct vd_slice types[][2] = {
        {VD_SLICE("application/x-git-upload-pack-result"),
         VD_SLICE("application/x-git-upload-pack-advertisement")},
        {VD_SLICE("application/x-git-receive-pack-result"),
         VD_SLICE("application/x-git-receive-pack-advertisement")},
    };
    return types[request->service][request->advertises];
}

void vd_smart_http_begin(struct vd_buf *out, const struct vd_git_request *request)
{
    static const struct vd_slice lines[] = {VD_SLICE("001e# service=git-upload-pack\n0000"),
                                            VD_SLICE("001f# service=git-receive-pack\n0000")};
    if (request->advertises && request->version != 2)
        vd_buf_add_slice(out, lines[request->service]);
}
