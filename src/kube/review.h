/* Reviews and token requests: answered, never stored. */
#ifndef VD_KUBE_REVIEW_H
#define VD_KUBE_REVIEW_H

#include "kube/call.h"

/* Answers a review that was posted. */
void vd_call_review(struct vd_call *call);

/* POST serviceaccounts/NAME/token */
void vd_call_token_request(struct vd_call *call);

#endif
