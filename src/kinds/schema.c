/* See schema.h: the look inside a compiled schema. The work is in schema_*.c. */
#include "kinds/schema.h"

#include "kinds/schema_internal.h"

const struct vd_schema_node *vd_schema_root(const struct vd_schema *s)
{
    return s->root;
}

const struct vd_schema_node *vd_schema_member(const struct vd_schema_node *node,
                                              struct vd_slice key)
{
    if (!node)
        return NULL;
    if (node->metadata && vd_slice_is(key, "metadata"))
        return node->metadata;
    const struct vd_schema_property *property = vd_schema_find(node, key);
    return property ? property->node : node->additional;
}

const struct vd_schema_node *vd_schema_items(const struct vd_schema_node *node)
{
    return node ? node->items : NULL;
}

const struct vd_json *vd_schema_source(const struct vd_schema_node *node)
{
    return node ? node->source : NULL;
}

struct vd_patch_strategy vd_schema_patch_strategy(const struct vd_schema_node *node)
{
    const struct vd_json *source = vd_schema_source(node);
    return (struct vd_patch_strategy){
        vd_json_text(vd_json_get(source, VD_SLICE("x-kubernetes-patch-strategy"))),
        vd_json_text(vd_json_get(source, VD_SLICE("x-kubernetes-patch-merge-key"))),
    };
}
