/* See approval.h. */
#include "kinds/approval.h"

#include <ctype.h>
#include <string.h>

#include "kinds/object_meta.h"

static bool is_protected(struct vd_slice group)
{
    return vd_slice_is(group, "k8s.io") || vd_slice_is(group, "kubernetes.io") ||
           vd_slice_ends_with(group, VD_SLICE(".k8s.io")) ||
           vd_slice_ends_with(group, VD_SLICE(".kubernetes.io"));
}

/* An address with a scheme and a host. */
static bool is_address(struct vd_slice text)
{
    size_t scheme = 0;
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] <= ' ' || text.p[i] == 0x7f)
            return false;
    while (scheme < text.n &&
           (isalnum((unsigned char)text.p[scheme]) || (scheme && memchr("+-.", text.p[scheme], 3))))
        scheme++;
    if (!scheme || !isalpha((unsigned char)text.p[0]))
        return false;
    struct vd_slice rest = vd_slice_from(text, scheme);
    return vd_slice_starts_with(rest, VD_SLICE("://")) && rest.n > 3 &&
           !memchr("/?#", rest.p[3], 3);
}

enum vd_approval vd_approval_of(const struct vd_json *definition, struct vd_slice *value)
{
    struct vd_slice group = vd_json_text(vd_json_dig(definition, "spec", "group", NULL));
    struct vd_slice text = VD_SLICE("");
    if (!vd_meta_annotation(definition, VD_SLICE(VD_APPROVAL_ANNOTATION), &text))
        text = VD_SLICE("");
    *value = text;
    if (!group.p || !is_protected(group))
        return VD_APPROVAL_NOT_NEEDED;
    if (!text.n)
        return VD_APPROVAL_MISSING;
    if (vd_slice_starts_with(text, VD_SLICE("unapproved")))
        return VD_APPROVAL_BYPASSED;
    return is_address(text) ? VD_APPROVAL_GIVEN : VD_APPROVAL_INVALID;
}

#define WANTED "protected groups must have approval annotation \"" VD_APPROVAL_ANNOTATION "\""
#define WHERE  ", see https://github.com/kubernetes/enhancements/pull/1111"

const char *vd_approval_advice(enum vd_approval state)
{
    return state == VD_APPROVAL_MISSING ? WANTED WHERE
                                        : WANTED
               " with either a URL or a reason starting with \"unapproved\"" WHERE;
}
