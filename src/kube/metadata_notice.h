/* What a writer is told of metadata that is taken, but should be otherwise. */
#ifndef VD_KUBE_METADATA_NOTICE_H
#define VD_KUBE_METADATA_NOTICE_H

#include "kube/call.h"
#include "json/document.h"

/* Takes out owner references that repeat another one in all their members, and warns of them. */
void vd_call_drop_repeated_owners(struct vd_call *call, struct vd_json *object);

/* Warns of finalizers of a custom object that `old` (NULL: there is none) does not have, and whose
 * names belong to nobody. */
void vd_call_warn_of_finalizers(struct vd_call *call, const struct vd_json *object,
                                const struct vd_json *old);

#endif
