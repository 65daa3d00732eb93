/*
 * An object's way in: what happens to it between the decoder and the store.
 *
 *     code = vd_object_prepare(kind, &arena, object, create, &pruned, &effort, &error);
 *     ...                           the caller: generateName, uid, status and so on
 *     ok = vd_object_validate(kind, object, old, &violations);
 *
 * One way for built-in and custom kinds. Pure: no clock, no store.
 */
#ifndef VD_KINDS_OBJECT_H
#define VD_KINDS_OBJECT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "kinds/kind.h"
#include "kinds/violation.h"
#include "json/document.h"

/*
 * Prunes, fills in defaults and brings the object into its stored form. It must
 * be a JSON object. *pruned (NULL allowed) learns of unknown fields, for warnings
 * and strict requests. Idempotent. VD_ERR_LIMIT, which names the object: defaults would add more
 * to it than the effort allows, and what has become of it is worth nothing. On an event loop the
 * effort is to be in_turn; then ask again elsewhere, beginning with the document.
 */
int vd_object_prepare(const struct vd_kind *kind, struct vd_arena *arena, struct vd_json *object,
                      bool create, struct vd_pruned *pruned, struct vd_effort *effort,
                      struct vd_error *error) VD_MUST_USE;

/* For `written`: just now, through this very kind. */
#define VD_WRITTEN_NOW UINT64_MAX

/* Whether an object that was written at this revision may be other than its kind's schema has
 * objects: with fields that it does not know, without defaults that it has. */
static inline bool vd_object_is_behind(const struct vd_kind *kind, uint64_t written)
{
    return written <= kind->schema_since || (kind->schemas_differ && written != VD_WRITTEN_NOW);
}

/* Whether whoever writes such an object without looking at the kind has to let it catch up first,
 * in the form that is stored: its new revision would hide that it is behind. Of versions that
 * differ nothing is hidden, and what one does not know another may. */
static inline bool vd_object_must_catch_up(const struct vd_kind *kind, uint64_t written)
{
    return written <= kind->schema_since && !kind->schemas_differ;
}

/* Takes out what the kind's schema does not know. */
void vd_object_prune(const struct vd_kind *kind, struct vd_json *object);

/* Prunes it and fills in defaults, as reading it does in Kubernetes: by the schema of the version
 * that it is stored in, which its apiVersion still says, and then without what the kind's own does
 * not know. Fails as vd_object_prepare. */
int vd_object_catch_up(const struct vd_kind *kind, struct vd_arena *arena, struct vd_json *object,
                       struct vd_effort *effort, struct vd_error *error) VD_MUST_USE;

/* The same for an object that the server itself writes, as it is to be deleted, say: if the
 * defaults are too much, it stays as it is. */
void vd_object_catch_up_or_stay(const struct vd_kind *kind, struct vd_arena *arena,
                                struct vd_json *object);

/*
 * Adds everything that is wrong: by the schema, the rules of metadata and those of
 * the kind. `old` is the stored object of an update, NULL for a create; fields that
 * only the server sets are expected to be in place already: vd_meta_inherit. True if nothing is
 * wrong. On an event loop, out->effort is to be in_turn: with out->effort.over afterwards, ask
 * again elsewhere.
 */
bool vd_object_validate(const struct vd_kind *kind, const struct vd_json *object,
                        const struct vd_json *old, struct vd_violations *out);

/*
 * From the form a kind shows to the one its objects are stored in, and back: the
 * fields of vedette.dev/storage-fields are renamed, and apiVersion is changed to
 * that of `to`. Both kinds have one storage key. When they are one, apiVersion may still
 * be another's: what was stored before another version became the one that is stored.
 */
void vd_object_convert(const struct vd_kind *from, const struct vd_kind *to, struct vd_arena *arena,
                       struct vd_json *object);

#endif
