/* Rules of strategic merging for made-up documents: the first letter of a field says how it is
 * merged: `a` is replaced, `l` is a list of maps by "k", `s` a list of strings. */
#ifndef VD_TESTS_MERGE_LETTERS_H
#define VD_TESTS_MERGE_LETTERS_H

#include "kube/patch/strategic_merge.h"

static inline struct vd_merge_field letter_field(const void *node, struct vd_slice name)
{
    struct vd_merge_field field = {.node = node};
    char letter = name.n ? name.p[0] : 0;
    if (letter == 'a')
        field.strategy = VD_MERGE_REPLACE;
    if (letter == 'l' || letter == 's')
        field.strategy = VD_MERGE_LIST;
    if (letter == 'l')
        field.key = VD_SLICE("k");
    return field;
}

static const struct vd_merge_rules letter_rules = {.field = letter_field};

#endif
