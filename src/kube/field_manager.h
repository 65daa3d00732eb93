/*
 * Field managers: who a write is by, and the record of it in metadata.managedFields.
 *
 * The record is the fattest part of most objects, and most writes change one entry of it
 * at most. So it is cut out of the stored bytes before they are parsed, travels beside the
 * document as bytes, and is put back when the object is written.
 * kinds/managed_fields.h has the rules.
 */
#ifndef VD_KUBE_FIELD_MANAGER_H
#define VD_KUBE_FIELD_MANAGER_H

#include "kinds/kind.h"
#include "kinds/managed_fields.h"
#include "json/document.h"

/* Who the server itself is. */
#define VD_MANAGER_SERVER "vedette"

/*
 * Parses a stored body on a copy in the arena; the document has no managedFields: their
 * JSON, or nothing, is in *managed.
 */
int vd_body_parse(struct vd_arena *a, struct vd_slice body, struct vd_json **out,
                  struct vd_slice *managed, struct vd_error *error) VD_MUST_USE;

/* Puts the bytes back: the object can then be written, and is good for nothing else. */
void vd_managed_put_back(struct vd_arena *a, struct vd_json *object, struct vd_slice managed);

/*
 * Brings *managed up to date with a write that makes `object` of `old` (NULL: a new object).
 * `given` is the list that the client has sent, NULL if it has not. True if fields that can be
 * owned differ.
 */
bool vd_track(struct vd_arena *a, const struct vd_kind *kind, const struct vd_managed_who *who,
              const struct vd_json *old, const struct vd_json *object, const struct vd_json *given,
              struct vd_slice *managed);

/*
 * The same for what the server does by itself, on documents with their managedFields in
 * them: `object` gets its record. `old` is NULL for a new object.
 */
void vd_track_server(struct vd_arena *a, const struct vd_kind *kind, const struct vd_json *old,
                     struct vd_json *object, int64_t now_ms);

#endif
