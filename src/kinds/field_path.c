/*
 * See field_path.h. The parts are chained from the leaf to the root, so writing
 * recurses first; the depth of a document is bounded by VD_JSON_DEPTH_MAX.
 */
#include "kinds/field_path.h"

#include "base/limits.h"
#include "watch/excerpt.h"

static void write_part(struct vd_buf *out, const struct vd_field_path *part,
                       enum vd_field_style style, size_t start)
{
    if (part->part == VD_FIELD_ELEMENT) {
        vd_buf_addf(out, "[%zu]", part->index);
    } else if (part->part == VD_FIELD_KEY && style == VD_FIELD_BRACKETS) {
        vd_buf_add_char(out, '[');
        vd_excerpt_add(out, part->key, VD_FIELD_PATH_LEN_MAX);
        vd_buf_add_char(out, ']');
    } else {
        if (out->n > start)
            vd_buf_add_char(out, '.');
        vd_excerpt_add(out, part->key, VD_FIELD_PATH_LEN_MAX);
    }
}

static void write_up_to(struct vd_buf *out, const struct vd_field_path *path,
                        enum vd_field_style style, size_t start, size_t parts_left)
{
    if (!path)
        return;
    if (parts_left == 0) {
        vd_buf_add_text(out, "...");
        return;
    }
    write_up_to(out, path->up, style, start, parts_left - 1);
    write_part(out, path, style, start);
}

void vd_field_path_write(struct vd_buf *out, const struct vd_field_path *path,
                         enum vd_field_style style)
{
    size_t parts = 0, bytes = 0;
    for (const struct vd_field_path *p = path; p && bytes < VD_FIELD_PATH_LEN_MAX; p = p->up) {
        bytes += p->key.n + 2;
        parts++;
    }
    write_up_to(out, path, style, out->n, parts);
}
