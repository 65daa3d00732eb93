/*
 * The order of API versions: vd_version_cmp of kind.h.
 *
 * v<major>, v<major>beta<minor> and v<major>alpha<minor> come first, stable before
 * beta before alpha, then by major and minor, larger first. Any other name comes
 * behind them, by its bytes.
 */
#include "kinds/kind.h"

struct parts {
    bool known;
    unsigned stability; /* 3 stable, 2 beta, 1 alpha */
    uint64_t major, minor;
};

/* The digits at the front of *rest; false if there are none. */
static bool take_number(struct vd_slice *rest, uint64_t *out)
{
    size_t n = 0;
    while (n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '9')
        n++;
    if (vd_slice_to_u64(vd_slice(rest->p, n), out))
        return false;
    *rest = vd_slice_from(*rest, n);
    return true;
}

static struct parts parts_of(struct vd_slice version)
{
    struct parts none = {0}, parts = {.known = true, .stability = 3};
    struct vd_slice rest = vd_slice_from(version, 1);
    if (!version.n || version.p[0] != 'v' || !take_number(&rest, &parts.major))
        return none;
    if (rest.n == 0)
        return parts;
    if (vd_slice_starts_with(rest, VD_SLICE("beta"))) {
        parts.stability = 2;
        rest = vd_slice_from(rest, 4);
    } else if (vd_slice_starts_with(rest, VD_SLICE("alpha"))) {
        parts.stability = 1;
        rest = vd_slice_from(rest, 5);
    } else {
        return none;
    }
    return take_number(&rest, &parts.minor) && rest.n == 0 ? parts : none;
}

int vd_version_cmp(struct vd_slice a, struct vd_slice b)
{
    if (vd_slice_eq(a, b))
        return 0;
    struct parts x = parts_of(a), y = parts_of(b);
    if (x.known != y.known)
        return x.known ? -1 : 1;
    if (!x.known)
        return vd_slice_cmp(a, b);
    if (x.stability != y.stability)
        return x.stability > y.stability ? -1 : 1;
    if (x.major != y.major)
        return x.major > y.major ? -1 : 1;
    return (x.minor < y.minor) - (x.minor > y.minor);
}
