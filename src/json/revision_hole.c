/* See revision_hole.h. */
#include "json/revision_hole.h"

#include <assert.h>

#include "json/span.h"

/* Adds json with the bytes of `gap`, which lies in it, replaced by `filling`.
 * Gives the offset in `out` behind the filling. */
static size_t add_replaced(struct vd_buf *out, struct vd_slice json, struct vd_slice gap,
                           const char *filling)
{
    const char *behind = gap.p + gap.n;
    vd_buf_reserve(out, json.n + 32);
    vd_buf_add(out, json.p, (size_t)(gap.p - json.p));
    vd_buf_add_text(out, filling);
    size_t at = out->n;
    vd_buf_add(out, behind, (size_t)(json.p + json.n - behind));
    return at;
}

int vd_revision_hole_make(struct vd_buf *out, struct vd_slice json, size_t *hole,
                          struct vd_error *error)
{
    static const struct vd_slice path[] = {{"metadata", 8}, {"resourceVersion", 15}};
    struct vd_slice metadata, gap;
    if (vd_span_find(json, path, 2, &gap)) {
        *hole = add_replaced(out, json, gap, "\"\"") - 1;
        return VD_OK;
    }
    if (!vd_span_get(json, VD_SLICE("metadata"), &metadata) || metadata.n < 2 ||
        metadata.p[0] != '{' || metadata.p[metadata.n - 1] != '}')
        return vd_error_set(error, VD_ERR_INVALID,
                            "the document has no object \"metadata\" to hold its resourceVersion");
    gap = vd_slice(metadata.p + metadata.n - 1, 0);
    bool empty = vd_slice_trim(vd_slice(metadata.p + 1, metadata.n - 2)).n == 0;
    *hole = add_replaced(out, json, gap,
                         empty ? "\"resourceVersion\":\"\"" : ",\"resourceVersion\":\"\"") -
            1;
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
