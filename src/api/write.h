/*
 * A write: one object is created, updated, patched, applied to or deleted, from what somebody
 * wants to an event in the log. Every face changes objects through here, so that none of them can
 * leave out a step: conversion, defaults, pruning, validation, metadata and generation, field
 * managers, escalation, ownership by Git, finalizers.
 *
 * VD_WRITE_REPLACE creates the object or puts another in the place of the one that is there. One
 * that is being deleted is not replaced: VD_REFUSED_EXISTS, with `deleting` and the finalizers that
 * it waits for. With `checks_rights` the user needs the verb create or update, by which it is; if
 * it changes nothing, neither.
 *
 *     w->l = loop; w->kind = ...; w->verb = ...;     the first part of the struct
 *     vd_write_start(w);
 *     ...                                            ops->done(w): w->result, w->refusal
 *     vd_write_release(w);
 *
 * A write runs on its loop; what takes too long for a turn is done by a worker's thread. It is
 * proposed on the condition that the object is still what was read. If somebody else was faster,
 * and the write does not say which version it means, it is made again from the new version: `read`
 * and `make` are called again.
 *
 * `done` is called exactly once, on the loop: maybe before vd_write_start() returns. A write that
 * is cancelled is told to nobody, but its memory may be in use: `done` comes when it is not any
 * more, with VD_WRITE_CANCELLED. What was proposed by then stands.
 */
#ifndef VD_API_WRITE_H
#define VD_API_WRITE_H

#include "api/loop.h"
#include "api/refusal.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "kinds/kind.h"
#include "kinds/kinds.h"
#include "net/account.h"
#include "json/document.h"

enum vd_write_verb {
    VD_WRITE_CREATE,
    VD_WRITE_UPDATE,  /* all of the object was sent */
    VD_WRITE_PATCH,   /* `make` makes the new object of the old one */
    VD_WRITE_APPLY,   /* a configuration was sent: server-side apply */
    VD_WRITE_REPLACE, /* `make` makes the object, whether there is one or not */
    VD_WRITE_DELETE,
};

/* The part of the object that is written. */
enum vd_write_part {
    VD_PART_OBJECT,
    VD_PART_STATUS,
    VD_PART_SCALE,    /* the number of replicas; the caller makes the object of a Scale */
    VD_PART_FINALIZE, /* a namespace's spec */
};

/* What becomes of fields that the schema does not know, and of those that were sent twice. */
enum vd_field_validation {
    VD_FIELDS_WARN,
    VD_FIELDS_STRICT,
    VD_FIELDS_IGNORE,
};

enum vd_write_result {
    VD_WRITE_REFUSED, /* `refusal` says why */
    VD_WRITE_CREATED,
    VD_WRITE_UPDATED,
    VD_WRITE_UNCHANGED, /* it was so already: there is no event */
    VD_WRITE_MARKED,    /* for deletion: finalizers keep it */
    VD_WRITE_DELETED,   /* also by an update that took the last finalizer off */
    VD_WRITE_ABSENT,    /* what was to be deleted is not there, and may be absent */
    VD_WRITE_CANCELLED,
    VD_WRITE_WITHHELD, /* a member of a batch that was refused because of another one */
    VD_WRITE_RESULTS
};

enum {
    VD_WRITE_GUARDS_MAX = 2,    /* the namespace and the definition of a new object */
    VD_WRITE_WARNINGS_MAX = 32, /* more are left out */
};

struct vd_write;
struct vd_batch_member;
struct vd_write_job;
struct vd_write_validation;
struct vd_conversion;

/* What the caller does. Members that are NULL are not called. */
struct vd_write_ops {
    /* The document that was sent, in the arena, for this attempt alone: it is changed. False: the
     * write is refused, with VD_REFUSED_BY_CALLER. May be called by a worker's thread. */
    bool (*read)(struct vd_write *w, struct vd_json **out);
    /* Makes the new object of the old one, after `read`; likewise. For VD_WRITE_REPLACE `old` is
     * NULL when there is no such object; *out is what was sent, or NULL. Of an object that is
     * replaced the write itself keeps status, finalizers, ownerReferences, managedFields and all
     * that only the server sets, whatever `make` says of them. */
    bool (*make)(struct vd_write *w, const struct vd_json *old, struct vd_json **out);
    /* Of VD_WRITE_REPLACE, likewise by any thread: the object is new, or differs from the one that
     * is replaced. Changes its annotations or its status, and nothing else, before it is validated;
     * memory is the arena's. No field manager is recorded for that. False: the write is refused,
     * as by `read`. */
    bool (*stamp)(struct vd_write *w, struct vd_json *object);
    /* On the loop, before a worker calls these for the first time: what they need must not go
     * when the client does. */
    void (*detach)(struct vd_write *w);
    /* Whether the loop has no other client than the one that this is for; see loop.h. */
    bool (*is_alone)(struct vd_write *w);
    void (*done)(struct vd_write *w); /* on the loop, once */
};

/* What must be true of an object that is deleted. p is NULL where nothing is demanded; an empty
 * text is a demand that nothing meets. */
struct vd_write_preconditions {
    struct vd_slice uid, version;
};

struct vd_write {
    /* ---- the caller's, before it is started; all of it is borrowed until `done` ---- */
    struct vd_api_loop *l;
    const struct vd_write_ops *ops;
    struct vd_arena *arena; /* of a member of a batch, the batch's */
    struct vd_user *user;
    /* VD_AUTHOR_GIT: the Git pipeline writes for the user. It is the code that says so: a face
     * never takes it from what a client sends, so that no credential can express it. */
    enum vd_author author;
    struct vd_account *account; /* whose turns of the workers it takes; NULL: nobody's */
    struct vd_kind_set *kinds;
    const struct vd_kind *kind;
    enum vd_write_verb verb;
    enum vd_write_part part;
    struct vd_slice namespace, name; /* a create has no name: that is the object's, or is made */
    const struct vd_json *document;  /* what is sent, if there is no `read`; it is not changed */
    size_t len;                      /* bytes that were sent: a worker makes a large write */
    struct vd_slice manager;         /* of the fields that are changed */
    enum vd_field_validation validation;
    bool dry_run;
    bool force;         /* an apply takes fields over that are others' */
    bool checks_rights; /* the user's; false: the caller has already asked whether the user may */
    bool may_be_absent; /* what is deleted: then it is VD_WRITE_ABSENT, and not refused */
    /* A replacement that differs in nothing but these annotations is VD_WRITE_UNCHANGED. */
    const struct vd_slice *annotations_ignored;
    size_t annotations_ignored_n;
    struct vd_slice propagation; /* "Foreground", "Orphan": of a deletion */
    struct vd_write_preconditions preconditions;
    /* `make` says this of a patch: */
    bool version_named;  /* it says which version it means */
    bool version_tested; /* or has compared it itself */

    /* ---- the outcome, when `done` is called ---- */
    enum vd_write_result result;
    struct vd_refusal refusal;
    VD_VEC(struct vd_slice) warnings; /* texts in the arena */
    size_t yaml_warnings; /* so many of them, the first, are of keys that a YAML body repeats */
    uint64_t revision;    /* of what was written; in a dry run that of the version before */
    struct vd_wish wish;  /* with key, uid and body: a template that the revision goes into */
    struct vd_template served;  /* the body in the kind's version; empty: it is that already */
    bool as_stored;             /* the body is in the version that is stored, whatever its kind */
    struct vd_slice overridden; /* the reason why it was written though Git owns it; or empty */

    /* ---- private ---- */
    struct vd_batch_member *member;        /* of a batch; NULL: it is alone */
    struct vd_write_job *job;              /* that a worker does; NULL: it is on the loop */
    struct vd_write_validation *validated; /* what a worker validates */
    bool detached;                         /* ops->detach was called */
    bool cancelled;
    bool once;       /* it means the version that was read, and no newer one */
    bool deletes;    /* what is proposed is that the object goes, without another word */
    bool makes_name; /* from generateName: another one is as good */
    bool applied;    /* an apply has seen to `managed` */
    bool finishes;   /* what is put is the last of the object: it goes */
    bool unchanged;  /* what is put is what is there */
    bool awaited;    /* the registry follows what was written */
    unsigned attempts;
    struct vd_wish wishes[VD_WRITE_GUARDS_MAX + 1]; /* what is proposed: guards and the wish */
    size_t guard_count;
    struct vd_slice managed;        /* managedFields, beside the document */
    struct vd_slice managed_before; /* as it is stored */
    struct vd_event *before;        /* the version that was read, and is replaced; NULL: none */
    struct vd_buf body;             /* the template's memory; may be kept for another write */
    struct vd_loop_proposal proposal;
    struct vd_task defined;           /* the registry follows the definition that was written */
    struct vd_conversion *conversion; /* that it waits for; NULL: it does not */
    void (*then)(struct vd_write *w, struct vd_body *served);
    struct vd_body *current; /* `before` in the kind's version: a reference, or NULL */
    uint64_t current_revision;
    struct vd_body *stored; /* what is to be stored, in the stored version: a reference, or NULL */
};

/* On the loop. */
void vd_write_start(struct vd_write *w);

/* On the loop, once, after it was started and before `done`: nobody waits for it any more. `done`
 * may be called at once. */
void vd_write_cancel(struct vd_write *w);

/* Drops what the write holds, but for the memory of `body`. When it is done, or was never
 * started. */
void vd_write_release(struct vd_write *w);

/* The object that is meant, in the form of a storage key. */
struct vd_key vd_write_key(const struct vd_write *w);

/* "status", "scale", "finalize", or nothing. */
struct vd_slice vd_write_subresource(const struct vd_write *w);

/* Adds a warning for the client; the text is copied. Nobody is warned twice of the same. */
void vd_write_warn(struct vd_write *w, const char *format, ...) VD_PRINTF(2, 3);

/* A copy of the stored object, without what its schema has ceased to know since: nobody who
 * changes the rest is to blame for that. For `make`. */
struct vd_json *vd_write_pruned_copy(struct vd_write *w, const struct vd_json *old);

/* ---- for documents that are answered and never stored ---- */

/* Whether it is a document of this kind: an object with what the schema demands. False: it was
 * refused, and `done` was called. For a write that is not started. */
bool vd_write_check_question(struct vd_write *w, const struct vd_kind *kind,
                             struct vd_json *object) VD_MUST_USE;

#endif
