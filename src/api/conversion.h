/*
 * A conversion: bodies that somebody wants to show in a version that only the definition's webhook
 * can make of them.
 *
 *     c = vd_conversion_new(l, kind, converted, me);
 *     vd_conversion_add(c, body, event->revision, false, event->revision); ...
 *     vd_conversion_start(c);                       converted(c) is called later, on the same loop
 *
 * It belongs to whoever made it, who frees it in `done` or later, or abandons it when he cannot
 * wait any more. While it is under way only the converter (converter.h) touches it.
 */
#ifndef VD_API_CONVERSION_H
#define VD_API_CONVERSION_H

#include "base/vec.h"
#include "kinds/kind.h"
#include "net/loop.h"
#include "store/body.h"

struct vd_converter;
struct vd_api_loop;

struct vd_conversion_item {
    struct vd_body *body; /* what is stored: a reference */
    uint64_t revision;    /* that it has, or 0: nobody else will want it */
    bool leaves;          /* it is the version before that revision, as of an object that leaves a
                             filter */
    struct vd_body *converted; /* the result: a reference; NULL until then */
};

struct vd_conversion {
    struct vd_loop *loop; /* of whoever waits */
    struct vd_converter *converter;
    struct vd_kind *to; /* the version that is wanted: a reference */
    VD_VEC(struct vd_conversion_item) items;
    size_t len;            /* bytes of what is stored */
    int code;              /* when it is done: VD_OK, and every item is shown, or ... */
    struct vd_error error; /* ... why not, in Kubernetes' words */
    void (*done)(struct vd_conversion *conversion); /* NULL: it was abandoned */
    void *arg;
    /* The converter's: */
    struct vd_task asked; /* to the converter's loop, ... */
    struct vd_task task;  /* ... and back */
    size_t missing;       /* items that are on their way */
};

/* Whether only a webhook can show this body in the kind's version. */
bool vd_conversion_is_needed(const struct vd_kind *kind, struct vd_slice body);

/* On the loop. A reference to the kind is taken. */
struct vd_conversion *vd_conversion_new(struct vd_api_loop *l, const struct vd_kind *to,
                                        void (*done)(struct vd_conversion *conversion),
                                        void *arg) VD_MUST_USE;

/* Adds a body, of which a reference is taken; see struct vd_conversion_item. One that needs no
 * webhook is shown at once: it was written at `written`. If its defaults would make it too large,
 * that is the error of the conversion. */
void vd_conversion_add(struct vd_conversion *c, struct vd_body *body, uint64_t revision,
                       bool leaves, uint64_t written);

/* `done` is called once, in a later turn. */
void vd_conversion_start(struct vd_conversion *c);

/* On the loop, of one that was started: `done` is not called, and it is freed by itself. */
void vd_conversion_abandon(struct vd_conversion *c);

/* Of one that was never started, or is done. NULL is harmless. */
void vd_conversion_free(struct vd_conversion *c);

#endif
