/* See quantity.h. */
#include "base/quantity.h"

#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t ms;
};

static const struct unit units[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1},
};

enum { UNITS = sizeof units / sizeof *units };

#define DURATION_MS_MAX (UINT64_C(36525) * 86400000)

const char *vd_bytes_text(uint64_t bytes, char out[VD_QUANTITY_MAX])
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    double value = (double)bytes;
    while (value >= 1024 && unit + 1 < sizeof names / sizeof *names) {
        value /= 1024;
        unit++;
    }
    snprintf(out, VD_QUANTITY_MAX, "%.*f %s", unit && value < 10 ? 1 : 0, value, names[unit]);
    return out;
}

const char *vd_duration_text(uint64_t ms, char out[VD_QUANTITY_MAX])
{
    size_t i = 0;
    while (i + 1 < UNITS && ms < units[i].ms)
        i++;
    int n = snprintf(out, VD_QUANTITY_MAX, "%llu%s", (unsigned long long)(ms / units[i].ms),
                     units[i].name);
    uint64_t rest = ms % units[i].ms;
    /* Milliseconds beside seconds, as in 45s850ms, are left out. */
    if (i + 2 < UNITS && rest >= units[i + 1].ms)
        snprintf(out + n, VD_QUANTITY_MAX - (size_t)n, "%llu%s",
                 (unsigned long long)(rest / units[i + 1].ms), units[i + 1].name);
    return out;
}

/* The digits at the front of *rest. */
static int take_number(struct vd_slice *rest, uint64_t *out)
{
    size_t n = 0;
    while (n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '9')
        n++;
    int rc = vd_slice_to_u64(vd_slice(rest->p, n), out);
    *rest = vd_slice_from(*rest, n);
    return rc;
}

/* The unit at the front of *rest, or UNITS. "ms" is not "m" and an "s". */
static size_t take_unit(struct vd_slice *rest)
{
    size_t n = 0;
    while (n < rest->n && (rest->p[n] < '0' || rest->p[n] > '9'))
        n++;
    size_t i = 0;
    while (i < UNITS && !vd_slice_is(vd_slice(rest->p, n), units[i].name))
        i++;
    *rest = vd_slice_from(*rest, n);
    return i;
}

int vd_duration_parse(struct vd_slice text, uint64_t *ms)
{
    uint64_t total = 0;
    size_t smallest = 0; /* units must get smaller */
    if (text.n == 0)
        return -1;
    while (text.n) {
        uint64_t number;
        if (take_number(&text, &number) != 0)
            return -1;
        size_t unit = take_unit(&text);
        if (unit == UNITS || unit < smallest || number > DURATION_MS_MAX / units[unit].ms)
            return -1;
        total += number * units[unit].ms;
        smallest = unit + 1;
        if (total > DURATION_MS_MAX)
            return -1;
    }
    *ms = total;
    return 0;
}

int vd_size_parse(struct vd_slice text, uint64_t *bytes)
{
    static const char letters[] = "KMGT";
    uint64_t number;
    unsigned shift = 0;
    if (take_number(&text, &number) != 0)
        return -1;
    const char *letter = text.n ? memchr(letters, text.p[0], sizeof letters - 1) : NULL;
    if (letter) {
        shift = 10 * (unsigned)(letter - letters + 1);
        text = vd_slice_from(text, 1);
        if (!vd_slice_is(text, "iB") && !vd_slice_is(text, "i"))
            return -1;
    } else if (text.n && !vd_slice_is(text, "B"))
        return -1;
    if (number > UINT64_MAX >> shift)
        return -1;
    *bytes = number << shift;
    return 0;
}
