/*
 * See front_matter.h.
 *
 * This looks for the end line by line instead of parsing: YAML's scanner takes `---` or `...` at
 * the beginning of a line, with a blank or a line's end behind it, for a document marker before it
 * looks at anything else, whatever is open at that place. The fuzz target compares the two. A
 * parser would have to look at bytes of the body, which need not be YAML.
 */
#include "git/front_matter.h"

#include "git/document_marker.h"

static struct vd_slice without_cr(struct vd_slice line)
{
    return line.n && line.p[line.n - 1] == '\r' ? vd_slice(line.p, line.n - 1) : line;
}

enum vd_front_matter_result vd_front_matter_split(struct vd_slice text, struct vd_front_matter *out)
{
    struct vd_slice rest = text, line;
    if (vd_slice_starts_with(rest, VD_SLICE("\xEF\xBB\xBF")))
        rest = vd_slice_from(rest, 3);
    const char *from = rest.p;
    if (!vd_document_cut_line(&rest, &line) || !vd_slice_is(without_cr(line), "---"))
        return VD_FRONT_MATTER_NONE;
    for (uint32_t number = 2; vd_document_cut_line(&rest, &line); number++) {
        if (!vd_document_starts(line) && !vd_document_ends(line))
            continue;
        out->at = (struct vd_yaml_position){number, 1};
        if (without_cr(line).n != 3)
            return VD_FRONT_MATTER_UNCLEAR;
        out->yaml = vd_slice(from, (size_t)(line.p - from));
        out->body = rest;
        out->at.line = number + 1;
        return VD_FRONT_MATTER_FOUND;
    }
    return VD_FRONT_MATTER_UNCLOSED;
}
