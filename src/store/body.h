/*
 * A body: the wire bytes of one version of an object, shared and immutable.
 *
 * A revision is known only once the engine has committed, but the bytes that
 * clients read carry it as metadata.resourceVersion. So bodies are proposed
 * and stored as a *template* - the bytes without the digits - and a *hole*, the
 * offset at which the digits belong. The digits are put in once, at commit or
 * when the row is read back; afterwards the same bytes go to every reader.
 *
 *     template  {"metadata":{"name":"a","resourceVersion":""}}   hole 44
 *     body      {"metadata":{"name":"a","resourceVersion":"17"}}
 *
 * hole 0 means that the bytes carry no revision.
 */
#ifndef VD_STORE_BODY_H
#define VD_STORE_BODY_H

#include <stdint.h>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/refcount.h"
#include "base/slice.h"

struct vd_body {
    struct vd_refcount refs;
    uint32_t len;
    uint32_t hole;   /* where the digits of the revision start */
    uint32_t digits; /* how many they are */
    char bytes[];
};

/* A template: borrowed bytes and the place of the revision in them. */
struct vd_template {
    struct vd_slice bytes;
    uint32_t hole;
};

/* A body with the revision's digits put into the template. */
struct vd_body *vd_body_new(struct vd_template from, uint64_t revision) VD_MUST_USE;

/* The same bytes with another revision in the hole: what a watcher is sent
 * when an object is deleted or leaves its filter. */
struct vd_body *vd_body_restamp(const struct vd_body *body, uint64_t revision) VD_MUST_USE;

/* Whether the body is what the template would become, whatever the revision. */
bool vd_body_is_made_from(const struct vd_body *body, struct vd_template from);

struct vd_body *vd_body_ref(struct vd_body *body);
void vd_body_unref(struct vd_body *body); /* NULL allowed */

/* The body as bytes that can be sent: a view, with a reference to the body. */
struct vd_bytes *vd_body_bytes(struct vd_body *body) VD_MUST_USE;

static inline struct vd_slice vd_body_slice(const struct vd_body *body)
{
    return vd_slice(body->bytes, body->len);
}

#endif
