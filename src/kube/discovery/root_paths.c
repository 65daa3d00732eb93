/* See root_paths.h. The paths are put down as lines, one or more times each, and sorted. */
#include "kube/discovery/root_paths.h"

#include <stdlib.h>

#include "base/vec.h"
#include "kube/subresource.h"
#include "json/escape.h"

static int compare(const void *a, const void *b)
{
    return vd_slice_cmp(*(const struct vd_slice *)a, *(const struct vd_slice *)b);
}

static void add_kinds(struct vd_buf *lines, const struct vd_kind_set *set)
{
    size_t n;
    struct vd_kind *const *kinds = vd_kind_set_all(set, &n);
    for (size_t i = 0; i < n; i++) {
        if (!vd_kind_is_listed(kinds[i]))
            continue;
        if (kinds[i]->group.n)
            vd_buf_addf(lines, "/apis/%.*s\n", VD_FMT(kinds[i]->group));
        vd_buf_addf(lines, "/%s/%.*s\n", kinds[i]->group.n ? "apis" : "api",
                    VD_FMT(kinds[i]->api_version));
    }
}

void vd_root_paths_write(struct vd_buf *out, const struct vd_kind_set *set, struct vd_slice others)
{
    static const char documents[] = "/api\n/apis\n/apis/\n/openapi/v2\n/openapi/v3\n/openapi/v3/\n";
    struct vd_buf lines = {0};
    VD_VEC(struct vd_slice) paths = {0};
    struct vd_slice rest, line, last = VD_SLICE("");
    vd_buf_add_slice(&lines, others);
    vd_buf_add_text(&lines, documents);
    add_kinds(&lines, set);
    rest = vd_buf_slice(&lines);
    while (rest.n && vd_slice_cut(&rest, '\n', &line))
        *VD_VEC_PUSH(&paths) = line;
    if (paths.n)
        qsort(paths.p, paths.n, sizeof *paths.p, compare);
    vd_buf_add_text(out, "{\"paths\":[");
    for (size_t i = 0; i < paths.n; i++) {
        if (vd_slice_eq(paths.p[i], last))
            continue;
        if (last.n)
            vd_buf_add_char(out, ',');
        vd_escape_write(out, paths.p[i]);
        last = paths.p[i];
    }
    vd_buf_add_text(out, "]}");
    VD_VEC_RELEASE(&paths);
    vd_buf_release(&lines);
}
