/* A token that a command makes for a user, as `token create` and `kubeconfig` do. */
#ifndef VD_CMD_NEW_TOKEN_H
#define VD_CMD_NEW_TOKEN_H

#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"

struct vd_new_token {
    const char *user;
    const char *groups;      /* with commas between them; NULL: none */
    const char *description; /* NULL: none */
    int64_t lifetime_ms;     /* 0: it does not expire */
};

/* Makes it in the server's data folder, and adds the token and its id to the buffers. */
int vd_new_token(const char *folder, const struct vd_new_token *about, struct vd_buf *token,
                 struct vd_buf *id, struct vd_error *error) VD_MUST_USE;

#endif
