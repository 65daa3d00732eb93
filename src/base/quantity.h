/* Amounts in the units that people write: 12.3 MiB, 1h30m. */
#ifndef VD_BASE_QUANTITY_H
#define VD_BASE_QUANTITY_H

#include <stdint.h>

#include "base/slice.h"

enum { VD_QUANTITY_MAX = 32 }; /* bytes of any of these texts, with its NUL */

/* "0 B", "999 B", "1.2 KiB", "15 MiB"; written to out, which is returned. */
const char *vd_bytes_text(uint64_t bytes, char out[VD_QUANTITY_MAX]);

/* "850ms", "45s", "1h30m", "3d4h": the two largest units. */
const char *vd_duration_text(uint64_t ms, char out[VD_QUANTITY_MAX]);

/* Numbers with units d, h, m, s or ms, the larger first: "1h30m". 0, or -1 when
 * the text is anything else or more than 100 years. */
int vd_duration_parse(struct vd_slice text, uint64_t *ms) VD_MUST_USE;

/* A number of bytes, alone or with the unit B, KiB, MiB, GiB or TiB, of which "iB"
 * shortens to "i" as in Kubernetes: "64MiB", "64Mi". 0, or -1 when the text is
 * anything else or does not fit. */
int vd_size_parse(struct vd_slice text, uint64_t *bytes) VD_MUST_USE;

#endif
