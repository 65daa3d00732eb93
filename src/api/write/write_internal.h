/*
 * The steps of a write, each in its file.
 *
 * A step that gives false has refused the write, or has it wait, or has given it to a worker: the
 * caller does not touch the write again, since `done` may have been called.
 */
#ifndef VD_API_WRITE_WRITE_INTERNAL_H
#define VD_API_WRITE_WRITE_INTERNAL_H

#include "api/write.h"
#include "kinds/managed_fields.h"
#include "kinds/object.h"

/* ---- write.c ---- */

/* Makes the attempt, from the beginning. */
void vd_write_attempt(struct vd_write *w);

/* The write is over, with this result. On the loop. */
void vd_write_finish(struct vd_write *w, enum vd_write_result result);

/* Refuses the write. On a worker's thread `done` is called when it is back on the loop. Always
 * false. The texts are the arena's. */
bool vd_write_refuse(struct vd_write *w, const struct vd_refusal *refusal);

/* The same with a reason that has a text, which is copied. */
bool vd_write_refuse_text(struct vd_write *w, enum vd_refusal_reason reason, struct vd_slice text);
bool vd_write_refuse_for(struct vd_write *w, enum vd_refusal_reason reason);

/* By the code of an error of the layers below. */
struct vd_refusal vd_write_refusal_of_error(struct vd_write *w, int code,
                                            const struct vd_error *error);
bool vd_write_refuse_error(struct vd_write *w, int code, const struct vd_error *error);

/* Whether it may be made again, which is counted. */
bool vd_write_may_try_again(struct vd_write *w, bool name_taken);

/* Makes it again: what was warned of is found anew. */
void vd_write_try_again(struct vd_write *w);

static inline bool vd_write_is_at_status(const struct vd_write *w)
{
    return w->part == VD_PART_STATUS;
}

/* The kind in whose form objects are stored. */
const struct vd_kind *vd_write_stored_kind(const struct vd_write *w);

/* ---- job.c: what a worker does ---- */

/* How much may be done where the write is made: little on the loop, if a worker can have it. */
struct vd_effort vd_write_effort(const struct vd_write *w);

/* Whether so many bytes are too many for the loop, on which it is, and a worker can have it. */
bool vd_write_is_too_long_here(const struct vd_write *w, size_t len);

/* Has a worker do the work, and then the loop `then`, unless the write was refused. NULL: the work
 * calls vd_write_job_end(). On the loop. */
void vd_write_job_start(struct vd_write *w, void (*work)(struct vd_write *w),
                        void (*then)(struct vd_write *w));

/* Has a worker make the attempt. */
void vd_write_job_attempt(struct vd_write *w);

/* The same when it was begun on the loop: it begins anew, and finds anew what was warned of. */
void vd_write_job_restart(struct vd_write *w);

/* On a worker's thread, as the last thing of the work: this is to be done on the loop. */
void vd_write_job_end(struct vd_write *w, void (*then)(struct vd_write *w));

/* True: it was waiting for its turn, and is nobody's any more. */
bool vd_write_job_cancel(struct vd_write *w) VD_MUST_USE;

/* ---- current.c: what was sent, and what is stored ---- */

/* The document that was sent, for this attempt; NULL if there is none. */
bool vd_write_read_sent(struct vd_write *w, struct vd_json **out) VD_MUST_USE;

/* The stored object, decoded, in the kind's version, or, with w->as_stored, in its own; the wish is
 * set to the condition that it is still that. NULL: there is none, and the write allows that. */
bool vd_write_read_current(struct vd_write *w, struct vd_json **out) VD_MUST_USE;

/* ---- store.c: what is to be stored ---- */

/* Makes the wish one that puts this object, in the version that is stored and with w->managed in
 * it, and proposes it; its condition and key stay. With w->finishes the object goes. */
void vd_write_store(struct vd_write *w, struct vd_json *object);

/* ---- propose.c ---- */

/* Proposes the wish, and finishes the write when the store has answered, or tries again. Of a
 * member of a batch it tells the batch. */
void vd_write_propose(struct vd_write *w);

/* What is to be deleted is not there, which the write allows. */
void vd_write_propose_absent(struct vd_write *w);

/* What has become of the object that was proposed, or would have been in a dry run. */
enum vd_write_result vd_write_result_of(const struct vd_write *w, bool changed);

/* Why, when the store has refused it. `its_own`: for what was to be put, and not for a guard. */
struct vd_refusal vd_write_refusal_of(struct vd_write *w, const struct vd_outcome *outcome,
                                      bool its_own);

/* Whether there is an object of the name, and that the name is taken, maybe by one that waits for
 * its finalizers. */
bool vd_write_exists(const struct vd_write *w);
struct vd_refusal vd_write_existing(struct vd_write *w);

/* ---- override.c ---- */

/* What was refused because Git owns the object (*claim), as an override, if the object asks for one
 * and the user has the right. The proposal then has an Event, too. NULL: it stays refused, and
 * *claim says all that there is to say. */
struct vd_admitted *vd_write_override(struct vd_write *w, struct vd_git_claim *claim) VD_MUST_USE;

/* ---- conversion.c ---- */

/* Has the body converted into the version of `to` and then calls `then` with the result, borrowed
 * for that call. If that fails the write is refused. `revision` is that of the body, if it is
 * stored; else 0. */
void vd_write_convert(struct vd_write *w, const struct vd_kind *to, struct vd_slice body,
                      uint64_t revision, void (*then)(struct vd_write *w, struct vd_body *served));

/* ---- the verbs ---- */

void vd_write_create(struct vd_write *w);  /* create.c */
void vd_write_update(struct vd_write *w);  /* update.c: also patches */
void vd_write_apply(struct vd_write *w);   /* apply.c */
void vd_write_delete(struct vd_write *w);  /* delete.c */
void vd_write_replace(struct vd_write *w); /* replace.c */

/* Checks, furnishes and proposes a new object. */
void vd_write_create_object(struct vd_write *w, struct vd_json *object);

/* Lets a replacement that differs from `old` in nothing but annotations that are ignored be no
 * change at all. */
void vd_write_ignore_annotations(struct vd_write *w, const struct vd_json *old,
                                 struct vd_json *object);

/* Has the caller stamp an object that is made, or refuse it. */
bool vd_write_stamp(struct vd_write *w, struct vd_json *object) VD_MUST_USE;

/* The same of an object that differs from the one that it replaces: for that, and for nothing less,
 * the user needs the right to update it. */
bool vd_write_allow_replacement(struct vd_write *w, struct vd_json *object) VD_MUST_USE;

/* The whole way of an update: checks the new object, keeps what it cannot change of the
 * old one, and proposes it. */
void vd_write_put_version(struct vd_write *w, const struct vd_json *old, struct vd_json *object);

/* What the nulls of the object are, for pruning. */
struct vd_pruned vd_write_nulls(const struct vd_write *w);

/* ---- object_check.c: what a document has to be before it becomes an object ---- */

/* An object of this kind. Typed clients leave apiVersion and kind out: they are filled in. */
bool vd_write_check_kind(struct vd_write *w, const struct vd_kind *expected,
                         struct vd_json *object) VD_MUST_USE;

/* The object's namespace is the write's, or is not said. */
bool vd_write_check_namespace_named(struct vd_write *w, struct vd_json *object) VD_MUST_USE;

/* Prunes it and fills in defaults; *pruned may be NULL. */
bool vd_write_prepare(struct vd_write *w, struct vd_json *object, bool create,
                      struct vd_pruned *pruned) VD_MUST_USE;

/* Unknown and duplicate fields: refused, warned of, or passed over. A patch is refused with what
 * it makes of the object, which is `object`. */
bool vd_write_check_fields(struct vd_write *w, const struct vd_kind *kind,
                           const struct vd_pruned *pruned,
                           const struct vd_json *object) VD_MUST_USE;

/* The warnings, as one sentence of the errors that they are for a strict write. They are none
 * any more. */
void vd_write_join_warnings(struct vd_write *w, struct vd_buf *out);

/* A kind can demand that a write of status touches nothing else. */
bool vd_write_check_boundary(struct vd_write *w, const struct vd_json *object,
                             const struct vd_json *old) VD_MUST_USE;

/* ---- guards.c: where an object lives ---- */

/* An object that is there is not replaced in a batch that deletes its namespace or its kind. */
bool vd_write_check_places(struct vd_write *w) VD_MUST_USE;

/* A namespaced object needs its namespace, alive: now, and, by the guard, when the
 * object is written. Nothing then comes into a namespace that is being emptied. */
bool vd_write_check_namespace(struct vd_write *w) VD_MUST_USE;

/* The same of the definition of a custom kind: nothing comes behind when its objects go. */
bool vd_write_check_definition(struct vd_write *w) VD_MUST_USE;

/* ---- validation.c ---- */

/* Checks the schema and the rules of the kind, and calls `then`, on the loop or where the write is
 * made, if nothing is wrong: at once, or when a worker has done what takes too long for a turn. The
 * object is then a copy. `old` is NULL for a new object, and is the arena's. */
void vd_write_validate(struct vd_write *w, struct vd_json *object, const struct vd_json *old,
                       void (*then)(struct vd_write *w, struct vd_json *object));

/* The same for a kind whose objects are small, at once. */
bool vd_write_check_valid(struct vd_write *w, const struct vd_kind *kind,
                          const struct vd_json *object) VD_MUST_USE;

/* Refuses the write with all that is wrong with the object, of a kind of this name. Always false.
 */
bool vd_write_refuse_invalid(struct vd_write *w, struct vd_slice kind, const struct vd_json *object,
                             const struct vd_violations *violations);

/* ---- field_manager.c ---- */

/* Who the write is by, and now; in the arena. */
struct vd_managed_who vd_write_manager(struct vd_write *w);

/*
 * Brings w->managed up to date with a write that makes `object` of `old` (NULL: a new object).
 * `given` is the list that the client has sent, NULL if it has not; of a part of the object it does
 * not count. True if fields that can be owned differ.
 */
bool vd_write_track(struct vd_write *w, const struct vd_json *old, const struct vd_json *object,
                    const struct vd_json *given);

/* ---- metadata_notice.c: what a writer is told of metadata that is taken ---- */

/* Takes out owner references that repeat another one in all their members, and warns of them. */
void vd_write_drop_repeated_owners(struct vd_write *w, struct vd_json *object);

/* Warns of finalizers of a custom object that `old` (NULL: there is none) does not have, and whose
 * names belong to nobody. */
void vd_write_warn_of_finalizers(struct vd_write *w, const struct vd_json *object,
                                 const struct vd_json *old);

/* ---- escalation.c ---- */

/* Whether the user may write this object, if it is a role or a binding; any other object may be:
 * nobody gives away rights that they do not have. */
bool vd_write_check_escalation(struct vd_write *w, const struct vd_json *object,
                               bool creating) VD_MUST_USE;

/* ---- follower_rights.c ---- */

/* Whether the user may make `object` of `old` (NULL: there is none), if it is a Repository that
 * follows a remote and its spec is new or another one: that takes the right to impersonate its
 * ServiceAccount and to get its Secrets. Any other object may be made. */
bool vd_write_check_follower(struct vd_write *w, const struct vd_json *object,
                             const struct vd_json *old) VD_MUST_USE;

/* ---- rights.c ---- */

/* Whether the user may do this to the object. */
bool vd_write_check_rights(struct vd_write *w, const char *verb) VD_MUST_USE;

#endif
