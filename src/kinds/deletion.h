/*
 * What deletion means for an object: finalizers have a say, and so has the way in
 * which its dependents are to be treated.
 */
#ifndef VD_KINDS_DELETION_H
#define VD_KINDS_DELETION_H

#include "base/arena.h"
#include "json/document.h"

/* The finalizers of the garbage collector. */
#define VD_FINALIZER_FOREGROUND VD_SLICE("foregroundDeletion")
#define VD_FINALIZER_ORPHAN     VD_SLICE("orphan")

/* That of definitions: their objects go first. */
#define VD_FINALIZER_DEFINITION VD_SLICE("customresourcecleanup.apiextensions.k8s.io")

/* The storage key of CustomResourceDefinitions. */
#define VD_DEFINITIONS VD_SLICE("customresourcedefinitions.apiextensions.k8s.io")

/* The policy ("Foreground", "Orphan"; any other adds nothing) as a finalizer. */
void vd_deletion_propagate(struct vd_arena *a, struct vd_json *object, struct vd_slice policy);

/* Whether finalizers keep the object, so that it can only be marked. */
bool vd_deletion_waits(const struct vd_json *object, struct vd_slice storage_key);

/* Marks the object as being deleted since `now_ms`; once only. That is a change of what
 * is wanted, so an object that counts its generations has a new one. A namespace or a
 * definition is Terminating from then on. */
void vd_deletion_mark(struct vd_arena *a, struct vd_json *object, struct vd_slice storage_key,
                      int64_t now_ms);

#endif
