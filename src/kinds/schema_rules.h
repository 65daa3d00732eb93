/*
 * The rules of schemas (x-kubernetes-validations): CEL with a schema's types, and an
 * object's walk past them.
 *
 * What each file does: schema_type.c makes the types, schema_rules.c compiles the
 * rules of a schema and evaluates them, structural_rules.c judges them when a
 * CustomResourceDefinition comes in.
 */
#ifndef VD_KINDS_SCHEMA_RULES_H
#define VD_KINDS_SCHEMA_RULES_H

#include <stdbool.h>

#include "base/arena.h"
#include "cel/rule.h"
#include "kinds/schema.h"
#include "kinds/violation.h"
#include "json/document.h"

/* The rules of one node. */
struct vd_schema_rules {
    struct vd_cel_rule *p;
    size_t n;
    const struct vd_cel_type *type; /* of self; NULL: nothing can be checked */
    struct vd_slice type_name;      /* "object": what messages show for the value */
};

/* The type of a schema, in the arena, whose texts are the schema's; NULL if it has
 * none. `resource`: it is a whole resource, or an embedded one. */
struct vd_cel_type *vd_schema_cel_type(struct vd_arena *a, const struct vd_json *schema,
                                       bool resource);

/* One rule as the schema writes it, not compiled. The fieldPath is normalised by
 * `schema`; one that does not lead to a field is left out, and false. */
bool vd_schema_rule_read(struct vd_arena *a, const struct vd_json *schema,
                         const struct vd_json *source, struct vd_cel_rule *out);

/* The rules of all nodes of a schema, compiled if they are not; NULL: the effort does not
 * allow it. They are the schema's. */
const struct vd_rule_book *vd_schema_rules_get(const struct vd_schema *s, struct vd_effort *effort);
void vd_rule_book_free(struct vd_rule_book *book); /* NULL is harmless */

/* What is wrong with `text` as a format that CEL's format library names. */
extern const struct vd_cel_host vd_schema_cel_host;

/* Whether there are x-kubernetes-validations in it. */
bool vd_schema_has_rules(const struct vd_schema *s);

/* Can the rules be asked at all, or are there violations that would make them trip? */
bool vd_schema_may_check_rules(const struct vd_violations *v, size_t from);

/*
 * Evaluates the rules of the schema; adds what is not true. `old` is the stored object
 * of an update, or NULL: transition rules compare with it, and a rule that only fails
 * where nothing has changed is passed over. True if nothing was added.
 */
bool vd_schema_check_rules(const struct vd_schema *s, const struct vd_json *object,
                           const struct vd_json *old, struct vd_violations *out);

#endif
