/*
 * One call of a conversion webhook: objects of one definition in, the same in another version out.
 *
 *   write the request (a worker) -> POST (the loop) -> read the answer (a worker) -> done
 *
 * What takes long is done by the loop's workers, so that the loop never waits. All is bounded: the
 * objects by whoever makes the call, the answer in bytes while it is read, the whole in time. The
 * URL is that of the definition, https only; redirects and proxies are not followed.
 */
#ifndef VD_API_CONVERTER_CALL_H
#define VD_API_CONVERTER_CALL_H

#include <openssl/ssl.h>

#include "base/buf.h"
#include "base/limits.h"
#include "kinds/conversion_review.h"
#include "kinds/kinds.h"
#include "kinds/uid.h"
#include "kinds/webhook.h"
#include "net/http_client.h"
#include "store/store.h"

/* Embedded in its owner. */
struct vd_converter_call {
    /* The owner's, before it is started: */
    struct vd_loop *loop;
    struct vd_store *store; /* has the Services */
    const struct vd_clock *clock;
    struct vd_kind_set *kinds; /* a reference */
    struct vd_kind *to;        /* a reference */
    SSL_CTX *tls;              /* a reference, for the webhook's authorities; NULL: is made */
    struct vd_body *bodies[VD_CONVERSION_OBJECTS_MAX]; /* references */
    size_t n;
    void (*done)(struct vd_converter_call *call); /* on the loop, once; the owner frees it then */
    /* When it is done: */
    enum vd_conversion_failure failure;
    struct vd_error error;                                /* of a failure */
    struct vd_body *converted[VD_CONVERSION_OBJECTS_MAX]; /* references; without a failure */
    /* Its own: */
    struct vd_webhook webhook;
    struct vd_review_object objects[VD_CONVERSION_OBJECTS_MAX];
    struct vd_conversion_review review;
    char uid[VD_UID_TEXT_MAX];
    struct vd_buf url, via, request, answer;
    struct vd_http_client *http;
    struct vd_work work;
    uint64_t start_ns;
};

void vd_converter_call_start(struct vd_converter_call *call);

/* Breaks it off if the webhook is being waited for: it is over then, without `done`. False: a
 * worker has it, and `done` will come. */
bool vd_converter_call_cancel(struct vd_converter_call *call) VD_MUST_USE;

/* Drops all references. */
void vd_converter_call_release(struct vd_converter_call *call);

#endif
