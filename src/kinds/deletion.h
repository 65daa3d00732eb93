/*
 * What deletion means for an object: finalizers have a say, and so has the way in
 * which its dependents are to be treated.
 *
 * An object without finalizers goes at once. One with finalizers is marked, by its
 * deletionTimestamp, and goes with the last of them. All who delete ask here which of both it is.
 */
#ifndef VD_KINDS_DELETION_H
#define VD_KINDS_DELETION_H

#include "base/arena.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "kinds/kind.h"
#include "store/event.h"
#include "store/proposal.h"
#include "json/document.h"

/* The finalizers of the garbage collector. */
#define VD_FINALIZER_FOREGROUND VD_SLICE("foregroundDeletion")
#define VD_FINALIZER_ORPHAN     VD_SLICE("orphan")

/* That of definitions: their objects go first. */
#define VD_FINALIZER_DEFINITION VD_SLICE("customresourcecleanup.apiextensions.k8s.io")

/* That of repositories: the objects that they own and their folder go first. */
#define VD_FINALIZER_REPOSITORY VD_SLICE("git.vedette.dev/repository")

/* The storage keys of Repositories and CustomResourceDefinitions. */
#define VD_REPOSITORIES VD_SLICE("repositories.git.vedette.dev")
#define VD_DEFINITIONS  VD_SLICE("customresourcedefinitions.apiextensions.k8s.io")

/* Whether a client may have the object deleted. VD_ERR_CONFLICT says what is in the way and how it
 * goes: a repository stays while it owns objects, unless its spec says that these go with it. */
int vd_deletion_check(const struct vd_json *object, struct vd_slice resource,
                      struct vd_error *error) VD_MUST_USE;

/* What is wanted of an object that is to be deleted. */
struct vd_deletion {
    struct vd_slice resource;   /* of the object's kind */
    const struct vd_kind *kind; /* in whose form it is stored; NULL: unknown, or the object is not
                                   behind it (object.h) */
    struct vd_slice policy;  /* "Foreground" or "Orphan" for a finalizer of the garbage collector;
                                any other adds nothing */
    bool cascades_elsewhere; /* of a repository with Cascade: who deletes it may also delete what it
                                owns outside its namespace, which its status records */
    const struct vd_clock *clock;
};

/* What is to be proposed for it. */
enum vd_deletion_step {
    VD_DELETION_NOTHING, /* it was marked before */
    VD_DELETION_MARK,    /* a put of the object, which is marked now */
    VD_DELETION_REMOVE,  /* a delete */
};

/*
 * Says what deleting the object comes to: VD_DELETION_MARK or VD_DELETION_REMOVE. The object gets
 * the policy's finalizer and, to be put, its mark. Marking is a change of what is wanted, so an
 * object that counts its generations has a new one; a namespace or a definition is Terminating from
 * then on. One that was marked before is not marked again.
 */
enum vd_deletion_step vd_deletion_begin(const struct vd_deletion *deletion, struct vd_arena *a,
                                        struct vd_json *object);

/*
 * The same for the stored version `event`, whose document `object` is: makes *wish, which holds for
 * this very version; one that was marked before is left alone. What is put is as new as its
 * revision, so it catches up with its kind first. The wish's key is borrowed from the event's
 * entry; its body is in the arena, while the object's new values are in `scratch`. Fails if the
 * object cannot be written.
 */
int vd_deletion_wish(const struct vd_deletion *deletion, const struct vd_event *event,
                     struct vd_json *object, struct vd_arena *scratch, struct vd_arena *arena,
                     enum vd_deletion_step *step, struct vd_wish *wish,
                     struct vd_error *error) VD_MUST_USE;

/* Whether the repository was deleted by somebody who may also delete what it owns outside its
 * namespace. */
bool vd_deletion_cascades_elsewhere(const struct vd_json *object);

/* Whether finalizers keep the object, so that it can only be marked. */
bool vd_deletion_waits(const struct vd_json *object, struct vd_slice resource);

/* Whether the object, as it is to be put, is one that was marked and that nothing keeps any more:
 * then it is to be deleted instead. */
bool vd_deletion_is_finished(const struct vd_json *object, struct vd_slice resource);

#endif
