/*
 * ConversionReview: what a conversion webhook is sent, and what is taken from its answer.
 *
 *   {"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{
 *     "uid":"...","desiredAPIVersion":"example.com/v2","objects":[{...},...]}}
 *
 *   {"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{
 *     "uid":"...","result":{"status":"Success"},"convertedObjects":[{...},...]}}
 *
 * The answer comes from a stranger. It must have the request's uid and as many objects, in their
 * order, of the wanted apiVersion and of the same kind, name, namespace and uid. Of their metadata
 * only labels and annotations are taken; the rest stays as it was sent. Fields that the wanted
 * version's schema does not know are pruned. An object that has become longer than an object may
 * be is refused. Objects are parsed one after the other, so that an answer costs the memory of
 * one.
 *
 * Pure; any thread. Errors are in Kubernetes' words.
 */
#ifndef VD_KINDS_CONVERSION_REVIEW_H
#define VD_KINDS_CONVERSION_REVIEW_H

#include "base/buf.h"
#include "kinds/kind.h"

/* One object on its way. */
struct vd_review_object {
    struct vd_slice body;       /* as it is stored, in another version than the wanted one */
    const struct vd_kind *from; /* of that version; NULL: the definition does not have it */
};

struct vd_conversion_review {
    struct vd_slice version; /* "v1" or "v1beta1" */
    struct vd_slice uid;     /* of this request */
    const struct vd_kind *to;
    const struct vd_review_object *objects;
    size_t n;
};

/* How a conversion can fail, by the names that Kubernetes' metrics have for it. */
/* clang-format off */
#define VD_CONVERSION_FAILURES(X)                                                        \
    X(NONE,      "")                                                                     \
    X(CALL,      "conversion_webhook_call_failure")                                      \
    X(MALFORMED, "conversion_webhook_malformed_response_failure")                        \
    X(PARTIAL,   "conversion_webhook_partial_response_failure")                          \
    X(INVALID,   "conversion_webhook_invalid_converted_object_failure")
/* clang-format on */

enum vd_conversion_failure {
#define VD_CONVERSION_FAILURE_ENUM(name, text) VD_CONVERSION_FAILED_##name,
    VD_CONVERSION_FAILURES(VD_CONVERSION_FAILURE_ENUM)
#undef VD_CONVERSION_FAILURE_ENUM
        VD_CONVERSION_FAILURE_COUNT
};

const char *vd_conversion_failure_name(enum vd_conversion_failure failure);

/* Adds the request. Objects are sent as the schema of their own version has them: pruned, and with
 * its defaults; one to which these would add too much is sent as it is stored. */
void vd_conversion_review_write(struct vd_buf *out, const struct vd_conversion_review *review);

/* Adds the i-th converted object to converted[i], of which there are as many as objects. What is
 * in them after a failure is of no use. *error is without the words of the next function. */
enum vd_conversion_failure vd_conversion_review_read(const struct vd_conversion_review *review,
                                                     struct vd_slice answer,
                                                     struct vd_buf *converted,
                                                     struct vd_error *error) VD_MUST_USE;

/* Puts "conversion webhook for example.com/v1, Kind=Widget " in front of what went wrong; for a
 * failure of the call or of the whole answer, also "failed: ". */
void vd_conversion_failure_tell(struct vd_error *error, enum vd_conversion_failure failure,
                                const struct vd_conversion_review *review);

#endif
