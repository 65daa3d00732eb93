/* See generated_name.h. */
#include "kinds/generated_name.h"

#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"

struct vd_slice vd_generated_name_make(struct vd_arena *a, struct vd_slice base)
{
    /* No vowels and nothing that looks like one: no words come out. */
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    enum { COUNT = sizeof letters - 1, FAIR = 256 / COUNT * COUNT };
    base = vd_utf8_cut(base, VD_NAME_BASE_LEN_MAX);
    char *name = vd_arena_alloc(a, base.n + VD_NAME_SUFFIX_LEN + 1);
    size_t n = base.n;
    if (n)
        memcpy(name, base.p, n);
    while (n < base.n + VD_NAME_SUFFIX_LEN) {
        uint8_t byte;
        vd_random_bytes(&byte, 1);
        if (byte < FAIR)
            name[n++] = letters[byte % COUNT];
    }
    name[n] = 0;
    return vd_slice(name, n);
}
