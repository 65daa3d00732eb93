/* What of an applied configuration cannot be applied; see object_merge.h. */
#include "kinds/field_shape.h"
#include "kinds/object_merge.h"

struct check {
    struct vd_arena *arena;
    struct vd_buf path;
    struct vd_error *error;
};

static int check(struct check *c, const struct vd_schema_node *node, const struct vd_json *v);

static int refuse(struct check *c, const char *why)
{
    return vd_error_set(c->error, VD_ERR_INVALID, "%s: %s", vd_buf_text(&c->path), why);
}

/* Is there a place for members that the schema does not name? */
static bool is_open(const struct vd_schema_node *node)
{
    return node->additional || node->property_count == 0 ||
           (node->flags & (VD_SCHEMA_PRESERVE | VD_SCHEMA_ANY_ADDITIONAL));
}

static int check_below(struct check *c, const struct vd_path_element *at,
                       const struct vd_schema_node *node, const struct vd_json *v)
{
    size_t before = c->path.n;
    vd_path_element_show(&c->path, at);
    int code = check(c, node, v);
    c->path.n = before;
    c->path.p[before] = 0;
    return code;
}

static int check_members(struct check *c, const struct vd_schema_node *node,
                         const struct vd_json *v)
{
    VD_JSON_EACH (member, v) {
        bool named;
        const struct vd_schema_node *child = vd_field_member_node(node, vd_json_key(member),
                                                                  &named);
        struct vd_path_element at = vd_path_name(vd_json_key(member));
        if (!child && !named && !is_open(node)) {
            vd_path_element_show(&c->path, &at);
            return refuse(c, "field not declared in schema");
        }
        int code = child ? check_below(c, &at, child, member) : VD_OK;
        if (code)
            return code;
    }
    return VD_OK;
}

/* Why an item that goes by its place has no better step. */
static int refuse_item(struct check *c, const struct vd_schema_node *node,
                       const struct vd_field_item *item)
{
    if (node->merge_type == VD_LIST_SET)
        return refuse(c, "associative list without keys has an element that is no scalar");
    if (!vd_json_is(item->item, VD_JSON_OBJECT))
        return refuse(c, "associative list with keys may not have non-map elements");
    VD_JSON_EACH (name, node->map_keys) {
        const struct vd_json *value = vd_json_get(item->item, vd_json_text(name));
        if (value && value->type < VD_JSON_ARRAY)
            continue;
        return vd_error_set(c->error, VD_ERR_INVALID,
                            "%s: element %zu: associative list with keys has an element that omits "
                            "key field \"%.*s\" (and doesn't have default value)",
                            vd_buf_text(&c->path), item->place, VD_FMT(vd_json_text(name)));
    }
    return refuse(c, "associative list has no keys");
}

static int check_items(struct check *c, const struct vd_schema_node *node, const struct vd_json *v)
{
    struct vd_field_item *sorted, *items = vd_field_items(c->arena, node, v, &sorted);
    size_t n = vd_json_count(v);
    for (size_t i = 0; i < n; i++) {
        if (items[i].at.type == VD_PATH_INDEX)
            return refuse_item(c, node, &items[i]);
        int code = node->items ? check_below(c, &items[i].at, node->items, items[i].item) : VD_OK;
        if (code)
            return code;
    }
    for (size_t i = 1; i < n; i++)
        if (vd_path_element_cmp(&sorted[i - 1].at, &sorted[i].at) == 0) {
            struct vd_buf step = {0};
            vd_path_element_show(&step, &sorted[i].at);
            int code = vd_error_set(c->error, VD_ERR_INVALID, "%s: duplicate entries for key %s",
                                    vd_buf_text(&c->path), vd_buf_text(&step));
            vd_buf_release(&step);
            return code;
        }
    return VD_OK;
}

static int check(struct check *c, const struct vd_schema_node *node, const struct vd_json *v)
{
    size_t place = 0;
    int code = VD_OK;
    if (vd_json_is(v, VD_JSON_OBJECT))
        return check_members(c, node, v);
    if (vd_field_shape(node, v) == VD_SHAPE_LIST)
        return check_items(c, node, v);
    if (vd_json_is(v, VD_JSON_ARRAY) && node->items)
        VD_JSON_EACH (item, v) {
            struct vd_path_element at = {.type = VD_PATH_INDEX, .index = place++};
            code = check_below(c, &at, node->items, item);
            if (code)
                break;
        }
    return code;
}

int vd_apply_check(struct vd_arena *a, const struct vd_schema_node *root,
                   const struct vd_json *config, struct vd_error *error)
{
    struct check c = {.arena = a, .error = error};
    int code = root ? check(&c, root, config) : VD_OK;
    vd_buf_release(&c.path);
    return code;
}
