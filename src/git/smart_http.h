/*
 * Git's smart HTTP protocol: what a request wants, and how an answer begins.
 *
 *     GET  /shop/catalog.git/info/refs?service=git-upload-pack    what there is to fetch
 *     POST /shop/catalog.git/git-upload-pack                      a fetch, or a part of one
 *     GET  /shop/catalog.git/info/refs?service=git-receive-pack   what a push would change
 *     POST /shop/catalog.git/git-receive-pack                     a push
 *
 * All other paths of a repository belong to the old "dumb" protocol, or to nobody, and are refused
 * with a sentence. Pure functions; any thread.
 */
#ifndef VD_GIT_SMART_HTTP_H
#define VD_GIT_SMART_HTTP_H

#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"
#include "net/http_head.h"

enum vd_git_service { VD_GIT_UPLOAD_PACK, VD_GIT_RECEIVE_PACK };

/* "upload-pack": git's command, and what metrics call it. */
const char *vd_git_service_name(enum vd_git_service service);

/* Texts are borrowed from the head. */
struct vd_git_request {
    struct vd_slice namespace, name; /* of the Repository */
    enum vd_git_service service;
    bool advertises;   /* the refs are asked for; else it is a fetch or a push */
    unsigned version;  /* of git's protocol that the client speaks: 0, 1 or 2 */
    bool is_gzip;      /* the body is compressed */
    bool lacks_suffix; /* the path names no repository, since its ".git" is missing */
};

/* Whether a path is one of a repository: "/namespace/name.git", and what is below. Paths that begin
 * like the server's own are not. */
bool vd_smart_http_has_path(struct vd_slice path);

/* Whether git asks for a repository by a path without ".git": "/namespace/name/info/refs" with a
 * service of git's in the query. */
bool vd_smart_http_lacks_suffix(struct vd_slice path, struct vd_slice query);

/* Whether the path is that of a repository's webhook, and whose. */
bool vd_smart_http_webhook(struct vd_slice path, struct vd_slice *namespace, struct vd_slice *name);

/* A refusal: the status of HTTP is its value. */
enum vd_smart_http_status {
    VD_SMART_HTTP_OK = 0,
    VD_SMART_HTTP_FORBIDDEN = 403, /* the dumb protocol */
    VD_SMART_HTTP_NOT_FOUND = 404,
    VD_SMART_HTTP_METHOD = 405,
    VD_SMART_HTTP_TYPE = 415, /* of the body */
};

/* Reads a request. namespace and name are set whatever is returned, if the path has them; *error
 * has the sentence of a refusal. */
enum vd_smart_http_status vd_smart_http_read(struct vd_git_request *out,
                                             const struct vd_http_head *head,
                                             struct vd_error *error) VD_MUST_USE;

/* The content type of the answer. */
struct vd_slice vd_smart_http_type(const struct vd_git_request *request);

/* Adds what comes before git's own output: the name of the service, where the protocol has that. */
void vd_smart_http_begin(struct vd_buf *out, const struct vd_git_request *request);

#endif
