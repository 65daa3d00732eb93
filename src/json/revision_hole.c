/* See revision_hole.h. */
#include "json/revision_hole.h"

#include <assert.h>

#include "json/write.h"

static void add_separator(struct vd_buf *out, const struct vd_json *object,
                          const struct vd_json *member)
{
    if (member != vd_json_first(object))
        vd_buf_add_char(out, ',');
}

/* Gives the offset in `out` of the hole. */
static size_t write_metadata(struct vd_buf *out, const struct vd_json *metadata)
{
    const struct vd_json *version = vd_json_get(metadata, VD_SLICE("resourceVersion"));
    size_t hole = 0;
    vd_buf_add_char(out, '{');
    VD_JSON_EACH (member, metadata) {
        add_separator(out, metadata, member);
        vd_json_write_key(out, member);
        if (member != version) {
            vd_json_write(out, member);
        } else {
            vd_buf_add(out, "\"\"", 2);
            hole = out->n - 1;
        }
    }
    if (!version) {
        vd_buf_add_text(out, vd_json_first(metadata) ? ",\"resourceVersion\":\"\""
                                                     : "\"resourceVersion\":\"\"");
        hole = out->n - 1;
    }
    vd_buf_add_char(out, '}');
    return hole;
}

int vd_revision_hole_write(struct vd_buf *out, const struct vd_json *object, size_t *hole,
                           struct vd_error *error)
{
    const struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    if (!vd_json_is(metadata, VD_JSON_OBJECT))
        return vd_error_set(error, VD_ERR_INVALID,
                            "the document has no object \"metadata\" to hold its resourceVersion");
    vd_buf_add_char(out, '{');
    VD_JSON_EACH (member, object) {
        add_separator(out, object, member);
        vd_json_write_key(out, member);
        if (member == metadata)
            *hole = write_metadata(out, member);
        else
            vd_json_write(out, member);
    }
    vd_buf_add_char(out, '}');
    return VD_OK;
}

void vd_revision_hole_fill(struct vd_buf *out, struct vd_slice template, size_t hole,
                           uint64_t revision)
{
    assert(hole <= template.n);
    char digits[20];
    size_t n = vd_u64_digits(revision, digits);
    vd_buf_reserve(out, template.n + n);
    vd_buf_add(out, template.p, hole);
    vd_buf_add(out, digits, n);
    vd_buf_add(out, template.p + hole, template.n - hole);
}
