/*
 * Pruning: what the schema does not know goes.
 *
 * As in Kubernetes, only the structural part of a schema counts: properties,
 * additionalProperties and items, never what stands under allOf and its kin.
 * Under x-kubernetes-preserve-unknown-fields unknown fields stay, and so does
 * all below them; known fields there are still pruned by their own schema.
 *
 * The same walk takes out nulls that the schema does not allow and has no default
 * for: "spec": null is then the same as no spec, whatever made it. A null with a
 * default stays, for schema_default.c to replace. struct vd_pruned says of requests where
 * Kubernetes does something else with them.
 */
#include "base/limits.h"
#include "kinds/schema_internal.h"

static void prune(const struct vd_schema_node *node, struct vd_json *value,
                  const struct vd_field_path *path, struct vd_pruned *pruned);

void vd_pruned_release(struct vd_pruned *p)
{
    VD_VEC_RELEASE(&p->paths);
    vd_arena_release(&p->arena);
}

static void report(struct vd_pruned *pruned, const struct vd_field_path *path)
{
    if (!pruned || pruned->paths.n >= VD_PRUNED_PATHS_MAX)
        return;
    struct vd_buf text = {0};
    vd_field_path_write(&text, path, VD_FIELD_DOTTED);
    *VD_VEC_PUSH(&pruned->paths) = vd_arena_copy(&pruned->arena, vd_buf_slice(&text));
    vd_buf_release(&text);
}

static bool is_implicit(const struct vd_schema_node *node, struct vd_slice key)
{
    return (node->flags & VD_SCHEMA_RESOURCE) &&
           (vd_slice_is(key, "apiVersion") || vd_slice_is(key, "kind") ||
            vd_slice_is(key, "metadata"));
}

/* What a member's fate is, and the node that goes on with it (NULL: nobody). */
enum fate { KEEP, DROP_UNKNOWN, DROP_NULL, EMPTY_TEXT };

/* A null that the schema neither allows nor has a default for. */
static enum fate judge_null(bool in_map, const struct vd_schema_node *child,
                            const struct vd_pruned *pruned)
{
    if (!pruned)
        return DROP_NULL;
    if (pruned->empty_texts && in_map && child->types == VD_TYPE_STRING)
        return EMPTY_TEXT;
    return pruned->keeps_nulls ? KEEP : DROP_NULL;
}

static enum fate judge(const struct vd_schema_node *node, const struct vd_json *member,
                       const struct vd_schema_node **child, const struct vd_pruned *pruned)
{
    struct vd_slice key = vd_json_key(member);
    const struct vd_schema_property *property = vd_schema_find(node, key);
    *child = property && property->node ? property->node : NULL;
    if (!property)
        *child = node->additional;
    bool implicit = is_implicit(node, key);
    if (implicit && vd_slice_is(key, "metadata") && node->metadata)
        *child = node->metadata;
    if (!*child && !implicit && !(property && property->node) &&
        !(node->flags & (VD_SCHEMA_PRESERVE | VD_SCHEMA_ANY_ADDITIONAL)))
        return DROP_UNKNOWN;
    if (*child && vd_json_is(member, VD_JSON_NULL) && !((*child)->flags & VD_SCHEMA_NULLABLE) &&
        !(*child)->fallback)
        return judge_null(!property && !implicit, *child, pruned);
    return KEEP;
}

/* Metadata is read into fields of their own: a null in it is the same as nothing. */
static void prune_member(const struct vd_schema_node *node, const struct vd_schema_node *child,
                         struct vd_json *member, const struct vd_field_path *at,
                         struct vd_pruned *pruned)
{
    bool keeps = pruned && pruned->keeps_nulls;
    if (keeps && child == node->metadata)
        pruned->keeps_nulls = false;
    prune(child, member, at, pruned);
    if (pruned)
        pruned->keeps_nulls = keeps;
}

static void prune_object(const struct vd_schema_node *node, struct vd_json *object,
                         const struct vd_field_path *path, struct vd_pruned *pruned)
{
    struct vd_json *before = NULL;
    for (struct vd_json *member = vd_json_first(object), *next; member; member = next) {
        const struct vd_schema_node *child;
        next = vd_json_next(member);
        enum fate fate = judge(node, member, &child, pruned);
        struct vd_field_path at = vd_field_member(path, vd_json_key(member));
        if (fate == EMPTY_TEXT) {
            vd_json_make_text(member);
        } else if (fate != KEEP) {
            if (fate == DROP_UNKNOWN)
                report(pruned, &at);
            vd_json_remove_after(object, before);
            continue;
        }
        if (child)
            prune_member(node, child, member, &at, pruned);
        before = member;
    }
}

static void prune(const struct vd_schema_node *node, struct vd_json *value,
                  const struct vd_field_path *path, struct vd_pruned *pruned)
{
    if (vd_json_is(value, VD_JSON_OBJECT)) {
        prune_object(node, value, path, pruned);
    } else if (vd_json_is(value, VD_JSON_ARRAY) && node->items) {
        size_t index = 0;
        VD_JSON_EACH (item, value) {
            struct vd_field_path at = vd_field_element(path, index++);
            prune(node->items, item, &at, pruned);
        }
    }
}

void vd_schema_prune(const struct vd_schema *s, struct vd_json *object, struct vd_pruned *pruned)
{
    prune(s->root, object, NULL, pruned);
}
