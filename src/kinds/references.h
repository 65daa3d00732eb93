/*
 * References: which fields of a kind's objects name other objects.
 *
 * A definition says so in the annotation vedette.dev/references, a JSON list:
 *
 *     [{"path": "spec.categoryRef", "kind": "CategoryTaxonomy", "group": "catalog.gitstore.dev"},
 *      {"path": "spec.parentRef", "kind": "CategoryTaxonomy", "group": "catalog.gitstore.dev",
 *       "blocksDeletion": true},
 *      {"path": "spec.media[].fileRef", "kind": "File", "group": "catalog.gitstore.dev"}]
 *
 * The value at the path is an object with `name` and maybe `namespace` and `optional`, or a text,
 * which is the name. "[]" behind a field goes through the elements of its list. A reference
 * without a namespace means the object's own. "blocksDeletion" says that an object cannot be
 * deleted as long as another one refers to it by this field.
 *
 * Whether the objects exist, and whether somebody may refer to another namespace, is the caller's
 * question. Pure functions; any thread.
 */
#ifndef VD_KINDS_REFERENCES_H
#define VD_KINDS_REFERENCES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"
#include "base/vec.h"
#include "json/document.h"

#define VD_REFERENCES_ANNOTATION "vedette.dev/references"

struct vd_kind;

/* A field that refers to objects of a kind. */
struct vd_reference_field {
    struct vd_slice path;  /* "spec.media[].fileRef" */
    struct vd_slice group; /* empty: the core group */
    struct vd_slice kind;
    bool blocks_deletion;
};

/* What one object refers to. */
struct vd_reference {
    const struct vd_reference_field *field; /* lives as long as the kind */
    struct vd_slice path;      /* of the value in the object: "spec.media[2].fileRef" */
    struct vd_slice namespace; /* the object's own, unless the reference has one */
    struct vd_slice name;
    bool optional; /* the object that is meant may be missing */
};

struct vd_references {
    VD_VEC(struct vd_reference) list;
    bool too_many; /* more than VD_REFERENCES_MAX: the rest is not in the list */
};

/*
 * Reads the text of the annotation; *fields is in the arena. VD_ERR_INVALID names the element and
 * what is wrong with it: "[1].path: must be ...". An empty text has no fields.
 */
int vd_reference_fields_parse(struct vd_arena *arena, struct vd_slice text,
                              struct vd_reference_field **fields, size_t *n,
                              struct vd_error *error) VD_MUST_USE;

/* Adds what the object, which is in the namespace, refers to, in the order of the fields. What has
 * another form than a reference is left out: the schema refuses it. Paths are in the arena; names
 * are borrowed from the object. */
void vd_references_of(const struct vd_kind *kind, const struct vd_json *object,
                      struct vd_slice namespace, struct vd_arena *arena, struct vd_references *out);

void vd_references_release(struct vd_references *references);

#endif
