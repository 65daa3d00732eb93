/* Request bodies: JSON, YAML and Kubernetes' protobuf, as documents. */
#ifndef VD_KUBE_DECODE_H
#define VD_KUBE_DECODE_H

#include "kube/call.h"
#include "json/document.h"
#include "json/parse.h"

enum vd_body_format {
    VD_BODY_JSON,
    VD_BODY_YAML,
    VD_BODY_PROTOBUF,
    VD_BODY_JSON_PATCH,
    VD_BODY_MERGE_PATCH,
    VD_BODY_STRATEGIC_PATCH,
    VD_BODY_APPLY_PATCH,
    VD_BODY_OTHER,
};

/* By the Content-Type; none at all, or an empty one, is JSON. */
enum vd_body_format vd_body_format(struct vd_slice content_type);

/* How to parse JSON of the request so that keys that come twice are warned of, as fieldValidation
 * says. */
struct vd_json_options vd_call_json_options(struct vd_call *call);

/*
 * The request's body as a document in the call's arena; texts may be borrowed from
 * the request. `none` allows an empty body, which gives NULL. False: call->refused says
 * why not.
 */
bool vd_call_decode(struct vd_call *call, bool none, struct vd_json **out);

/* The same for a body that is YAML or JSON, whatever the request says it is. */
bool vd_call_decode_config(struct vd_call *call, struct vd_json **out);

#endif
