/* See failpoint.h. The environment variable is read each time that a failpoint is passed. That is
 * cheap enough: only test builds have failpoints, and only at steps that cost a sync anyway. */
#include "base/failpoint.h"

#if VD_FAILPOINTS

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"

static bool is_known(const char *name)
{
    static const char *const names[] = {
#define FAILPOINT_NAME(text) text,
        VD_FAILPOINT_NAMES(FAILPOINT_NAME) VD_GIT_FAILPOINT_NAMES(FAILPOINT_NAME)
            VD_FETCH_FAILPOINT_NAMES(FAILPOINT_NAME)
#undef FAILPOINT_NAME
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

void vd_failpoint(const char *name)
{
    static _Atomic uint64_t passed;
    assert(is_known(name));
    struct vd_slice count = vd_slice_of(getenv("VEDETTE_FAILPOINT")), wanted;
    uint64_t n = 1;
    if (!count.n || !vd_slice_cut(&count, ':', &wanted) || !vd_slice_is(wanted, name))
        return;
    if (vd_slice_to_u64(count, &n) != 0 || atomic_fetch_add(&passed, 1) + 1 < n)
        return;
    raise(SIGKILL);
}

#endif
