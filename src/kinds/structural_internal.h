/* What the files of structural_*.c share. */
#ifndef VD_KINDS_STRUCTURAL_INTERNAL_H
#define VD_KINDS_STRUCTURAL_INTERNAL_H

#include "kinds/schema.h"
#include "kinds/structural.h"

#define VD_X_PRESERVE      VD_SLICE("x-kubernetes-preserve-unknown-fields")
#define VD_X_EMBEDDED      VD_SLICE("x-kubernetes-embedded-resource")
#define VD_X_INT_OR_STRING VD_SLICE("x-kubernetes-int-or-string")
#define VD_X_LIST_TYPE     VD_SLICE("x-kubernetes-list-type")
#define VD_X_LIST_KEYS     VD_SLICE("x-kubernetes-list-map-keys")
#define VD_X_MAP_TYPE      VD_SLICE("x-kubernetes-map-type")
#define VD_X_VALIDATIONS   VD_SLICE("x-kubernetes-validations")

/* The text of a keyword; empty, never NULL, for anything else. */
static inline struct vd_slice vd_keyword_text(const struct vd_json *schema, struct vd_slice keyword)
{
    struct vd_slice text = vd_json_text(vd_json_get(schema, keyword));
    return text.p ? text : vd_slice("", 0);
}

static inline bool vd_keyword_truth(const struct vd_json *schema, struct vd_slice keyword)
{
    return vd_json_truth(vd_json_get(schema, keyword));
}

static inline bool vd_has_type(const struct vd_json *schema, const char *type)
{
    return vd_slice_is(vd_keyword_text(schema, VD_SLICE("type")), type);
}

/* A member that is a schema; NULL for anything else, as true and false are. */
static inline const struct vd_json *vd_subschema(const struct vd_json *schema,
                                                 struct vd_slice keyword)
{
    const struct vd_json *value = vd_json_get(schema, keyword);
    return vd_json_is(value, VD_JSON_OBJECT) ? value : NULL;
}

/* "keyword: Forbidden: detail", or Required, or Invalid value with the keyword's value. */
void vd_structural_forbid(struct vd_violations *out, const struct vd_field_path *path,
                          struct vd_slice keyword, const char *detail);
void vd_structural_require(struct vd_violations *out, const struct vd_field_path *path,
                           struct vd_slice keyword, const char *detail);
void vd_structural_refuse(struct vd_violations *out, const struct vd_json *schema,
                          const struct vd_field_path *path, struct vd_slice keyword,
                          const char *detail);

/* Counts the instructions of a pattern at `path`; says so when the definition has too many. */
void vd_structural_count_patterns(struct vd_violations *out, const struct vd_field_path *path,
                                  size_t size);

/* structural_nested.c: what stands under allOf, anyOf, oneOf and not of a schema. */
void vd_structural_nested(const struct vd_json *schema, const struct vd_field_path *path,
                          struct vd_violations *out);

/* Everything that the root's alternatives speak of is also there outside of them. */
void vd_structural_complete(const struct vd_json *schema, const struct vd_field_path *path,
                            struct vd_violations *out);

/* structural_default.c: defaults that are valid themselves. */
void vd_structural_defaults(const struct vd_json *schema, const struct vd_field_path *path,
                            struct vd_violations *out);

/* The same by the rules, which compile. */
void vd_structural_default_rules(const struct vd_json *schema, const struct vd_field_path *path,
                                 struct vd_violations *out);

/* Defaults that together make an empty object longer than VD_DEFAULTS_LEN_MAX. */
void vd_structural_default_growth(const struct vd_schema *compiled,
                                  const struct vd_field_path *path, struct vd_violations *out);

/* structural_rules.c: whether x-kubernetes-validations compile and what they may cost.
 * The rest of the schema is in order. */
void vd_structural_rules(const struct vd_json *schema, const struct vd_field_path *path,
                         struct vd_violations *out);

/* structural_keywords.c: which keywords there are, and which go together. */
void vd_structural_keywords(const struct vd_json *schema, const struct vd_field_path *path,
                            struct vd_violations *out);

#endif
