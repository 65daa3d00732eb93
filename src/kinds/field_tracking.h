/*
 * Field tracking: metadata.managedFields follows each write of an object.
 *
 * The record is the fattest part of most objects, and most writes change one entry of it
 * at most. So it is cut out of the stored bytes before they are parsed, travels beside the
 * document as bytes, and is put back when the object is written:
 *
 *     code = vd_body_parse(&arena, stored, &old, &managed, &error);
 *     ...                                        the caller makes `object` of it
 *     vd_field_tracking_begin(&tracking, &arena, kind, old, object, managed, given);
 *     if (vd_field_tracking_needs_manager(&tracking))
 *         vd_managed_update(&tracking.record, &who, &tracking.changes);
 *     vd_field_tracking_end(&tracking, &managed);
 *     vd_managed_put_back(&arena, object, managed);
 *
 * managed_fields.h has the rules of the record.
 */
#ifndef VD_KINDS_FIELD_TRACKING_H
#define VD_KINDS_FIELD_TRACKING_H

#include "base/attributes.h"
#include "kinds/kind.h"
#include "kinds/managed_fields.h"
#include "json/document.h"

/* The manager of what the server itself writes. */
#define VD_MANAGER_SERVER "vedette"

/*
 * Parses a stored body on a copy in the arena; the document has no managedFields: their
 * JSON, or nothing, is in *managed.
 */
int vd_body_parse(struct vd_arena *a, struct vd_slice body, struct vd_json **out,
                  struct vd_slice *managed, struct vd_error *error) VD_MUST_USE;

/* Puts the bytes back: the object can then be written, and is good for nothing else. */
void vd_managed_put_back(struct vd_arena *a, struct vd_json *object, struct vd_slice managed);

/* A write that makes one document of another, while its record is brought up to date. */
struct vd_field_tracking {
    struct vd_managed record;
    struct vd_field_changes changes; /* of the fields that can be owned */
    bool is_new;                     /* there was no object before */
};

/*
 * Compares `old` (NULL: a new object) with `object`, both without managedFields. `stored` is the
 * record of the old object, `given` the list that the client has sent, NULL if it has not or if it
 * does not count. Everything is borrowed, and lives as long as the arena.
 */
void vd_field_tracking_begin(struct vd_field_tracking *t, struct vd_arena *a,
                             const struct vd_kind *kind, const struct vd_json *old,
                             const struct vd_json *object, struct vd_slice stored,
                             const struct vd_json *given);

/* Whether the writer is to be entered into the record, by vd_managed_update(). Of an object without
 * a record none is begun, until somebody applies to it. */
static inline bool vd_field_tracking_needs_manager(const struct vd_field_tracking *t)
{
    return (t->record.n || t->is_new) && !vd_field_changes_none(&t->changes);
}

/* *managed becomes the new record, in the arena, if it is another than the stored one. True if
 * fields that can be owned differ. */
bool vd_field_tracking_end(struct vd_field_tracking *t, struct vd_slice *managed);

/*
 * All of this for what the server does by itself, on documents with their managedFields in
 * them: `object` gets its record. `old` is NULL for a new object.
 */
void vd_field_tracking_server(struct vd_arena *a, const struct vd_kind *kind,
                              const struct vd_json *old, struct vd_json *object, int64_t now_ms);

#endif
