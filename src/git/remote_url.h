/*
 * The URL of a repository that is followed: which ones the server may be sent to.
 *
 *     https://host[:port]/path      http://...      ssh://[user@]host[:port]/path
 *
 * Nothing else is a URL here: no file://, no ext::, no path, no credentials of http. Which schemes
 * are allowed is a setting of the server. Pure; any thread.
 */
#ifndef VD_GIT_REMOTE_URL_H
#define VD_GIT_REMOTE_URL_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"

enum vd_remote_scheme { VD_REMOTE_HTTPS, VD_REMOTE_HTTP, VD_REMOTE_SSH, VD_REMOTE_SCHEMES };

/* "https", as in URLs and in git's settings. */
const char *vd_remote_scheme_name(enum vd_remote_scheme scheme);

struct vd_remote_policy {
    bool allows[VD_REMOTE_SCHEMES];
    bool allows_http_loopback; /* http to this machine alone */
};

/* The words of the setting, "https", "http", "ssh" and "http-loopback". VD_ERR_INVALID: another. */
int vd_remote_policy_add(struct vd_remote_policy *policy, struct vd_slice word,
                         struct vd_error *error) VD_MUST_USE;

struct vd_remote_url {
    enum vd_remote_scheme scheme;
    struct vd_slice user, host, port; /* user and port may be empty; host without brackets */
    struct vd_slice path;             /* begins with a slash */
};

/* VD_ERR_INVALID: it is none of the forms above. Slices are of the text. */
int vd_remote_url_read(struct vd_remote_url *out, struct vd_slice text,
                       struct vd_error *error) VD_MUST_USE;

/* VD_ERR_FORBIDDEN: the server's setting does not allow it. */
int vd_remote_url_check(const struct vd_remote_url *url, const struct vd_remote_policy *policy,
                        struct vd_error *error) VD_MUST_USE;

#endif
