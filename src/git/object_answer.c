/* See object_answer.h. */
#include "git/object_answer.h"

#include <string.h>

#include "base/limits.h"
#include "git/ref_command.h"

enum { LINE_LEN_MAX = VD_GIT_PATH_LEN_MAX + 256 };

static int bad_answer(struct vd_error *error)
{
    return vd_error_set(error, VD_ERR_FORMAT,
                        "the answer of git cat-file cannot be read; is git newer than this "
                        "server?");
}

/* "1111... blob 12". */
static bool read_line(struct vd_slice line, struct vd_object_answer *out)
{
    struct vd_slice rest = line;
    return vd_slice_cut(&rest, ' ', &out->id) && vd_object_id_is(out->id) &&
           vd_slice_cut(&rest, ' ', &out->type) && out->type.n && rest.p &&
           vd_slice_to_u64(rest, &out->len) == 0;
}

int vd_object_answer_read(struct vd_slice bytes, bool contents, uint64_t len_max,
                          struct vd_object_answer *out, size_t *used, struct vd_error *error)
{
    struct vd_object_answer answer = {.id = VD_SLICE(""), .type = VD_SLICE("")};
    const char *end = bytes.n ? memchr(bytes.p, '\n', bytes.n) : NULL;
    *used = 0;
    if (!end)
        return bytes.n > LINE_LEN_MAX ? bad_answer(error) : 0;
    struct vd_slice line = vd_slice(bytes.p, (size_t)(end - bytes.p));
    if (vd_slice_ends_with(line, VD_SLICE(" missing"))) {
        *out = answer;
        *used = line.n + 1;
        return 0;
    }
    if (!read_line(line, &answer))
        return bad_answer(error);
    answer.found = true;
    size_t len = line.n + 1;
    if (contents) {
        if (answer.len > len_max)
            return vd_error_set(error, VD_ERR_LIMIT, "the object %.*s is longer than %llu bytes",
                                VD_FMT(answer.id), (unsigned long long)len_max);
        if (bytes.n - len < answer.len + 1)
            return 0;
        answer.contents = vd_slice(bytes.p + len, (size_t)answer.len);
        len += answer.contents.n + 1;
        if (bytes.p[len - 1] != '\n')
            return bad_answer(error);
    }
    *out = answer;
    *used = len;
    return 0;
}
