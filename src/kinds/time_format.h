/* Dates, times and durations as texts: the predicates behind format.h. Pure. */
#ifndef VD_KINDS_TIME_FORMAT_H
#define VD_KINDS_TIME_FORMAT_H

#include <stdbool.h>

#include "base/slice.h"

/* 2026-11-15: a day that exists. */
bool vd_time_is_date(struct vd_slice text);

/* RFC 3339: a date, 'T', hh:mm:ss with any fraction, 'Z' or an offset. Either
 * letter may be small. */
bool vd_time_is_date_time(struct vd_slice text);

/* Go's durations (1h30m, -1.5s, 0) and the longer words of go-openapi (2 days). */
bool vd_time_is_duration(struct vd_slice text);

#endif
