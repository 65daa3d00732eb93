/* What the files of rules share: one function for each kind that has some. */
#ifndef VD_KINDS_RULES_INTERNAL_H
#define VD_KINDS_RULES_INTERNAL_H

#include "kinds/rules.h"

typedef void vd_kind_rule_prepare_fn(struct vd_arena *arena, struct vd_json *object, bool create);
typedef void vd_kind_rule_settle_fn(struct vd_arena *arena, struct vd_json *object);
typedef void vd_kind_rule_check_fn(const struct vd_json *object, const struct vd_json *old,
                                   struct vd_violations *out);

/* rules_config.c */
vd_kind_rule_prepare_fn vd_rule_secret_prepare;
vd_kind_rule_check_fn vd_rule_configmap_check, vd_rule_secret_check;

/* rules_definition.c */
vd_kind_rule_prepare_fn vd_rule_definition_prepare;
vd_kind_rule_settle_fn vd_rule_definition_settle;
vd_kind_rule_check_fn vd_rule_definition_check;

/* rules_conversion.c: spec.conversion of a definition, whose spec stands at `up`. */
void vd_kind_rule_conversion_check(const struct vd_json *spec, const struct vd_field_path *up,
                                   struct vd_violations *out);

/* rules_rbac.c */
vd_kind_rule_prepare_fn vd_rule_binding_prepare;
vd_kind_rule_check_fn vd_rule_role_check, vd_rule_cluster_role_check, vd_rule_binding_check,
    vd_rule_cluster_binding_check;

/* The text of a member; empty, never NULL, for anything else. */
static inline struct vd_slice vd_kind_rule_text(const struct vd_json *object, const char *key)
{
    struct vd_slice text = vd_json_text(vd_json_get(object, vd_slice_of(key)));
    return text.p ? text : vd_slice("", 0);
}

/* Adds a violation that has no value to show: Required and Forbidden. */
static inline void vd_kind_rule_add(struct vd_violations *out, enum vd_violation_type type,
                                    const struct vd_field_path *path, const char *detail)
{
    vd_violations_add(out, type, path, vd_bad_value_nothing(), "%s", detail);
}

#endif
