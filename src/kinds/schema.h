/*
 * Structural schemas: openAPIV3Schema of a CustomResourceDefinition, compiled.
 *
 *     struct vd_schema *schema;
 *     code = vd_schema_new(&schema, openapi, &options, &error);
 *     vd_schema_prune(schema, object, &pruned);        unknown fields go
 *     ok = vd_schema_default(schema, &arena, object, &effort);   absent fields get defaults
 *     ok = vd_schema_validate(schema, object, &violations);
 *     vd_schema_unref(schema);
 *
 * That order is Kubernetes'. Pruning and defaulting are idempotent.
 *
 * What is compiled: type, nullable, format, enum, the numeric, length, item and
 * property bounds, pattern, required, properties, additionalProperties, items,
 * allOf, anyOf, oneOf, not, default and the x-kubernetes- extensions. Unknown
 * keywords are ignored. Keywords that Kubernetes has no meaning for in a CRD ($ref,
 * definitions, dependencies, patternProperties, additionalItems, a list of items)
 * are refused. Whether a CRD's schema is structural is another question, asked of
 * the CRD.
 *
 * A schema is reference counted; any number of threads may use it. What changes is only that a
 * lazy one compiles what it has put off, which nobody sees.
 */
#ifndef VD_KINDS_SCHEMA_H
#define VD_KINDS_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/effort.h"
#include "base/error.h"
#include "base/slice.h"
#include "kinds/violation.h"
#include "json/document.h"

struct vd_schema;
struct vd_schema_node;

struct vd_schema_options {
    /* The root is a whole resource: apiVersion, kind and metadata are there
     * without being named. */
    bool resource;

    /* The schema of ObjectMeta, for the root and embedded resources; NULL leaves
     * metadata alone. The new schema takes a reference. */
    struct vd_schema *metadata;

    /* The document outlives the schema and does not change: no copy is made. */
    bool borrow;

    /* Patterns and rules are compiled when an object first needs them, by whoever may: see
     * base/effort.h. They have been looked at before, so that they can be compiled. */
    bool lazy;

    /* `required` and list types are documentation: somebody else checks them, in
     * better words. */
    bool advisory;
};

/*
 * Compiles `openapi`, which is copied unless the options say that it need not be. *out is one
 * reference. NULL options: all zero. VD_ERR_INVALID names the place: "spec.a: pattern: ...".
 */
int vd_schema_new(struct vd_schema **out, const struct vd_json *openapi,
                  const struct vd_schema_options *options, struct vd_error *error) VD_MUST_USE;

/* One more reference to `s`, which is also the result. */
struct vd_schema *vd_schema_ref(struct vd_schema *s);

/* Drops a reference; the last one frees. NULL is harmless. */
void vd_schema_unref(struct vd_schema *s);

/* --- work on objects --- */

/*
 * Adds everything that is wrong with the object; true if nothing is. A null where
 * the schema does not allow one is wrong, so prune first. With out->effort.over, it has
 * not been looked at to the end, and `true` means nothing.
 */
bool vd_schema_validate(const struct vd_schema *s, const struct vd_json *object,
                        struct vd_violations *out);

/*
 * The same for an update of `old`: a value that has not changed may be wrong, as it
 * was taken when it came. Members are compared by name, items of a list of type map by
 * their keys, other items only with their whole list.
 */
bool vd_schema_validate_change(const struct vd_schema *s, const struct vd_json *object,
                               const struct vd_json *old, struct vd_violations *out);

/* The paths of the fields that pruning took away, "spec.foo", in order, at most
 * VD_PRUNED_PATHS_MAX. `= {0}` is none. */
struct vd_pruned {
    VD_VEC(struct vd_slice) paths;
    struct vd_arena arena;

    /* What becomes of a null outside of metadata where the schema wants a value and has no default
     * for it. If neither is set, it goes. */
    bool keeps_nulls; /* it stays, for the validation to refuse */
    bool empty_texts; /* in a map of strings it is the empty string, as Go reads it */
};

void vd_pruned_release(struct vd_pruned *p);

/*
 * Takes out the fields that the schema does not know, and nulls where it wants a
 * value and has no default for it. *pruned (NULL allowed) learns of the unknown
 * fields, and may say something else about nulls.
 */
void vd_schema_prune(const struct vd_schema *s, struct vd_json *object, struct vd_pruned *pruned);

/*
 * Fills in defaults, from the root down: a default may bring fields that have
 * defaults of their own. New values live in the arena. False, with effort->over: they would
 * add more bytes than the effort allows (VD_DEFAULTS_LEN_MAX). The object is then filled in
 * only partly and worth nothing; no more memory was used than what fits would have taken.
 */
bool vd_schema_default(const struct vd_schema *s, struct vd_arena *arena, struct vd_json *object,
                       struct vd_effort *effort) VD_MUST_USE;

/* --- a look inside, for merge patches and documents about the kind --- */

const struct vd_schema_node *vd_schema_root(const struct vd_schema *s);

/* The node for the member `key` of an object: a property's, or that of
 * additionalProperties; metadata's for a resource. NULL if the schema is silent. */
const struct vd_schema_node *vd_schema_member(const struct vd_schema_node *node,
                                              struct vd_slice key);

/* The node for the elements of an array, or NULL. */
const struct vd_schema_node *vd_schema_items(const struct vd_schema_node *node);

/* The JSON of the node, with descriptions and every extension; borrowed. */
const struct vd_json *vd_schema_source(const struct vd_schema_node *node);

/* How a strategic merge patch treats the field: x-kubernetes-patch-strategy
 * ("merge", "replace", "retainKeys"; empty if none) and x-kubernetes-patch-merge-key. */
struct vd_patch_strategy {
    struct vd_slice strategy;
    struct vd_slice merge_key;
};
struct vd_patch_strategy vd_schema_patch_strategy(const struct vd_schema_node *node);

#endif
