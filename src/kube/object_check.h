/* The checks of a document that is to become an object. False: the call has been answered. */
#ifndef VD_KUBE_OBJECT_CHECK_H
#define VD_KUBE_OBJECT_CHECK_H

#include "kinds/object.h"
#include "kube/call.h"
#include "json/document.h"

/* Whether the call is at an object's status, and not at the object. */
bool vd_call_is_at_status(const struct vd_call *call);

/* An object of this kind. Typed clients leave apiVersion and kind out: they are filled in. */
bool vd_call_check_kind(struct vd_call *call, const struct vd_kind *expected,
                        struct vd_json *object) VD_MUST_USE;

/* The body's namespace is the URL's, or is not said. */
bool vd_call_check_space(struct vd_call *call, struct vd_json *object) VD_MUST_USE;

/* A namespaced object needs its namespace, alive: now, and, by the guard, when the
 * object is written. Nothing then comes into a namespace that is being emptied. */
bool vd_call_check_namespace(struct vd_call *call) VD_MUST_USE;

/* The same of the definition of a custom kind: nothing comes behind when its objects go. */
bool vd_call_check_definition(struct vd_call *call) VD_MUST_USE;

/* Prunes it and fills in defaults; *pruned may be NULL. False: the call has been answered, or a
 * worker makes it from the beginning. */
bool vd_call_prepare(struct vd_call *call, struct vd_json *object, bool create,
                     struct vd_pruned *pruned) VD_MUST_USE;

/* Unknown and duplicate fields: refused, warned of, or passed over. A patch is refused with what
 * it makes of the object, which is `object`. */
bool vd_call_check_fields(struct vd_call *call, const struct vd_kind *kind,
                          const struct vd_pruned *pruned, const struct vd_json *object) VD_MUST_USE;

/* The warnings, as one sentence of the errors that they are for a strict request. They are none
 * any more. */
void vd_call_take_strict(struct vd_call *call, struct vd_buf *out);

/* A kind can demand that a write of status touches nothing else. */
bool vd_call_check_boundary(struct vd_call *call, const struct vd_json *object,
                            const struct vd_json *old) VD_MUST_USE;

/* Whether a body that is answered and never stored is a document of this kind: then it is an
 * object with what the schema demands. */
bool vd_call_check_question(struct vd_call *call, const struct vd_kind *kind,
                            struct vd_json *object) VD_MUST_USE;

#endif
