/*
 * The record of who has set which fields, metadata.managedFields, apart from its object.
 *
 * The record is the largest part of most objects, and most writes change one entry of it at most.
 * So it is cut out of the stored bytes before they are parsed, travels beside the document as
 * bytes, and is put back when the object is written. managed_fields.h has the rules.
 */
#ifndef VD_KINDS_MANAGED_RECORD_H
#define VD_KINDS_MANAGED_RECORD_H

#include "base/attributes.h"
#include "base/error.h"
#include "kinds/kind.h"
#include "kinds/managed_fields.h"
#include "json/document.h"

/* The field manager of what the server does by itself. */
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
 * What a new object is compared with. Objects of built-in kinds have some parts even when
 * they are empty, so that nobody owns those as such; a namespace's spec and status are the
 * server's.
 */
struct vd_json *vd_managed_empty_object(struct vd_arena *a, const struct vd_kind *kind,
                                        const struct vd_json *object);

/* Reads the record: the list that the client has sent (`given`, NULL: none), if that is another
 * than the stored one, or else the stored one. */
void vd_managed_record_read(struct vd_managed *m, struct vd_arena *a, struct vd_slice stored,
                            const struct vd_json *given);

/* The record's JSON, in its arena. */
struct vd_slice vd_managed_record_write(const struct vd_managed *m);

/*
 * Brings the record up to date with what the server does by itself, on documents with their
 * managedFields in them: `object` gets its record. `old` is NULL for a new object.
 */
void vd_track_server(struct vd_arena *a, const struct vd_kind *kind, const struct vd_json *old,
                     struct vd_json *object, int64_t now_ms);

#endif
