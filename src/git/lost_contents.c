/* See lost_contents.h. */
#include "git/lost_contents.h"

#include <string.h>

enum { BRANCHES_MAX = 8 }; /* that the text names */

bool vd_contents_are_lost(const struct vd_error *error)
{
    return strstr(error->text, "nonexistent object") != NULL;
}

void vd_contents_lost_write(struct vd_buf *out, const struct vd_repository *repository)
{
    size_t n = 0;
    vd_buf_add_text(out, "the repository's folder has lost commits that the store records; the "
                         "objects are as they were. Push the commits from a clone that has them: "
                         "git push origin");
    VD_JSON_EACH (item, repository->recorded) {
        struct vd_slice commit = vd_json_text(vd_json_get(item, VD_SLICE("commit")));
        if (commit.n && n++ < BRANCHES_MAX)
            vd_buf_addf(out, " %.*s:refs/heads/%.*s", VD_FMT(commit),
                        VD_FMT(vd_json_text(vd_json_get(item, VD_SLICE("name")))));
    }
    if (n > BRANCHES_MAX)
        vd_buf_add_text(out, " ..., and so on for all of status.branches");
}
