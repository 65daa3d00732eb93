/* Patches of the request's body, for the objects and for what is shown of them. */
#ifndef VD_KUBE_PATCH_PATCH_H
#define VD_KUBE_PATCH_PATCH_H

#include "kube/decode.h"
#include "json/document.h"

/* Applies the request's body, a patch of this format, to the document. Not all formats
 * are patches: the caller has looked. */
int vd_call_apply_patch(struct vd_call *call, struct vd_json *doc, enum vd_body_format format,
                        struct vd_error *error) VD_MUST_USE;
/* call->refused says why it does not apply. Always false. */
bool vd_call_refuse_patch(struct vd_call *call, int code, const struct vd_error *error);

#endif
