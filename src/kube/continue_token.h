/*
 * Continue tokens: where the next page of a list starts.
 *
 * base64url without padding of {"v":"meta.k8s.io/v1","rv":205,"start":"ns/p1"}, as
 * Kubernetes has it; opaque to clients. rv -1 (0 here) goes on at the newest
 * revision, though that is another state than the pages before.
 */
#ifndef VD_KUBE_CONTINUE_TOKEN_H
#define VD_KUBE_CONTINUE_TOKEN_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

void vd_continue_token_write(struct vd_buf *out, uint64_t revision, struct vd_slice after);

/* Of what a list is: where its tokens can start. */
struct vd_continue_scope {
    bool namespaced;
    struct vd_slice namespace; /* empty: all namespaces */
};

/* *after is in the arena. VD_ERR_INVALID: not one of ours, or no object that the list could have
 * shown is where it starts. */
int vd_continue_token_read(struct vd_arena *arena, struct vd_slice token,
                           struct vd_continue_scope scope, uint64_t *revision,
                           struct vd_slice *after, struct vd_error *error) VD_MUST_USE;

#endif
