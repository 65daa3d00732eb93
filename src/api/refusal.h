/*
 * Why a write was refused, as data. A face makes of it what its clients know: a Status, a GraphQL
 * error, a line of a push.
 *
 * The reason says which of the other members count; the table below names them. Texts are in the
 * write's arena.
 */
#ifndef VD_API_REFUSAL_H
#define VD_API_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auth/access.h"
#include "base/slice.h"
#include "kinds/admission.h"
#include "kinds/object_apply.h"
#include "kinds/violation.h"

enum vd_refusal_reason {
    VD_REFUSED_NONE,      /* it was not refused */
    VD_REFUSED_BY_CALLER, /* the caller's `read` or `make` has refused, and knows why */

    /* What was sent cannot be: `text`, or `is` and `wanted`. */
    VD_REFUSED_BAD_REQUEST,         /* text */
    VD_REFUSED_NAME_DIFFERS,        /* the object has the name `is`, and `wanted` was meant */
    VD_REFUSED_NAMESPACE_DIFFERS,   /* the object says another namespace than the one meant */
    VD_REFUSED_API_VERSION_DIFFERS, /* the object has the version `is`, and `wanted` was meant */
    VD_REFUSED_INVALID,             /* violations, kind, name */
    VD_REFUSED_TOO_LARGE,           /* text */

    /* The user may not. */
    VD_REFUSED_FORBIDDEN,    /* text, name */
    VD_REFUSED_NOT_ALLOWED,  /* access, text */
    VD_REFUSED_OWNED_BY_GIT, /* claim */

    /* What has to be there is not, or is going. */
    VD_REFUSED_NOT_FOUND,             /* the object */
    VD_REFUSED_NAMESPACE_NOT_FOUND,   /* name */
    VD_REFUSED_KIND_NOT_FOUND,        /* the definition of the kind has gone */
    VD_REFUSED_ROLE_NOT_FOUND,        /* a binding's: text, name */
    VD_REFUSED_NAMESPACE_TERMINATING, /* name */
    VD_REFUSED_KIND_TERMINATING,

    /* What must not be there is. */
    VD_REFUSED_IN_USE,        /* the object owns others: text */
    VD_REFUSED_EXISTS,        /* deleting; text, of a replacement: what it waits for */
    VD_REFUSED_NAME_NOT_MADE, /* every name that was made from generateName was taken */

    /* The object is another one, or another version, than the one meant. */
    VD_REFUSED_CONFLICT,                /* current */
    VD_REFUSED_UID_DIFFERS,             /* is, wanted: those of an update */
    VD_REFUSED_UID_PRECONDITION,        /* is, wanted: those of a deletion */
    VD_REFUSED_VERSION_PRECONDITION,    /* is, wanted: those of a deletion */
    VD_REFUSED_NO_OBJECT_OF_UID,        /* wanted: an apply means an object that is not there */
    VD_REFUSED_VERSION_REQUIRED,        /* the update has to say which version it replaces */
    VD_REFUSED_STATUS_VERSION_REQUIRED, /* so has this write of status */
    VD_REFUSED_APPLY_CONFLICT,          /* conflicts, text */

    /* The server cannot: text. */
    VD_REFUSED_CONVERSION_FAILED, /* a webhook has failed */
    VD_REFUSED_EXPIRED,
    VD_REFUSED_FUTURE,
    VD_REFUSED_NO_SPACE,
    VD_REFUSED_READ_ONLY,
    VD_REFUSED_UNAVAILABLE, /* for the moment */
    VD_REFUSED_FAILED,      /* anything else */

    VD_REFUSAL_REASONS
};

struct vd_refusal {
    enum vd_refusal_reason reason;
    bool deleting;        /* the object that has the name waits for its finalizers */
    uint64_t current;     /* the revision that the object has; 0: it is not known */
    struct vd_slice text; /* for people */
    struct vd_slice kind; /* what is invalid: an object of this kind ... */
    struct vd_slice name; /* ... and name; without a kind, what a patch has made */
    struct vd_slice is, wanted;
    const struct vd_violation *violations; /* all of them */
    size_t violations_n;
    const struct vd_apply_conflict *conflicts;
    size_t conflicts_n;
    struct vd_git_claim claim;
    struct vd_access access; /* what the user is not allowed to do */
};

#endif
