/*
 * The webhook that converts the objects of a definition: spec.conversion.webhook, as
 * rules_conversion.c lets it pass. Read when it is needed; nothing is copied.
 */
#ifndef VD_KINDS_WEBHOOK_H
#define VD_KINDS_WEBHOOK_H

#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"
#include "kinds/kind.h"

/* All borrowed from the kind. */
struct vd_webhook {
    struct vd_slice url;             /* empty: the Service is meant */
    struct vd_slice namespace, name; /* the Service's */
    struct vd_slice path;            /* at the Service; may be empty */
    uint16_t port;                   /* of the Service */
    struct vd_slice ca_bundle;       /* base64 of PEM; empty: the system's authorities */
    struct vd_slice review_version;  /* of the ConversionReview: "v1" or "v1beta1" */
};

/* VD_ERR_INVALID: the definition names no webhook that can be called. */
int vd_webhook_read(struct vd_webhook *out, const struct vd_kind *kind,
                    struct vd_error *error) VD_MUST_USE;

#endif
