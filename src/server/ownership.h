/*
 * Who owns whom: an index over the ownerReferences of all objects.
 *
 *     dependent  an object with ownerReferences, by its key
 *     owner      a uid that they name, or an object that waits for its dependents
 *     link       one such reference, in its dependent and in its owner's list
 *
 * Objects without owners that own nothing cost nothing. An owner or dependent is
 * freed when nothing needs it and its item is idle: vd_owner_settle().
 */
#ifndef VD_SERVER_OWNERSHIP_H
#define VD_SERVER_OWNERSHIP_H

#include "api/controller.h"
#include "base/buf.h"
#include "base/hash_map.h"

struct vd_owner_node;
struct vd_dependent;

struct vd_owner_link {
    struct vd_owner_node *owner;
    struct vd_dependent *dependent;
    struct vd_owner_link *prev, *next; /* in the owner's list */
    bool blocks;                       /* blockOwnerDeletion */
};

/* An object's name, kept: "kind\0space/name". */
struct vd_kept_key {
    struct vd_key key; /* points into `bytes` */
    size_t len;
    char *bytes;
};

struct vd_owner_node {
    struct vd_controller_item item; /* ends its foreground deletion, or orphans its dependents */
    struct vd_uid uid;
    bool gone;    /* it was seen to be deleted */
    bool waiting; /* it is being deleted and has a finalizer of ours: then `key` is set */
    struct vd_kept_key key;
    struct vd_owner_link *links;
    size_t blocking; /* links that block */
};

struct vd_dependent {
    struct vd_controller_item item; /* looks whether it is garbage */
    struct vd_kept_key key;
    struct vd_owner_link *links;
    size_t links_n;
};

struct vd_ownership {
    struct vd_hash_map owners;     /* by uid */
    struct vd_hash_map dependents; /* by kept key */
    struct vd_buf scratch;
    struct vd_reconciler *owner_reconciler, *dependent_reconciler;
};

/* The reconcilers of the items of owners and dependents. */
void vd_ownership_init(struct vd_ownership *o, struct vd_reconciler *owners,
                       struct vd_reconciler *dependents);
void vd_ownership_release(struct vd_ownership *o); /* the controller has stopped */

/* NULL: not in the index. */
struct vd_owner_node *vd_ownership_owner(const struct vd_ownership *o, struct vd_uid uid);
struct vd_dependent *vd_ownership_dependent(struct vd_ownership *o, const struct vd_key *key);

/* Made when missing; settle it when nothing has been made of it. */
struct vd_owner_node *vd_ownership_open_owner(struct vd_ownership *o, struct vd_uid uid);

/* The owner is an object of this name. */
void vd_owner_name(struct vd_owner_node *owner, const struct vd_key *key);

/* The object's owners are now those of `owners`, an array of ownerReferences or NULL.
 * Gives the dependent if that has changed, and NULL if not or if it has none. Owners
 * that wait and lost a link that blocks are queued. */
struct vd_dependent *vd_ownership_relink(struct vd_ownership *o, struct vd_controller *controller,
                                         const struct vd_key *key, const struct vd_json *owners);

/* Frees it if nothing needs it. */
void vd_owner_settle(struct vd_ownership *o, struct vd_owner_node *owner);
void vd_dependent_settle(struct vd_ownership *o, struct vd_dependent *dependent);

#endif
