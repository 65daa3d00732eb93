/*
 * Times in the forms that Kubernetes shows and stores: ages for people, RFC 3339
 * in objects. Milliseconds since 1970, UTC, on this side. Pure functions.
 */
#ifndef VD_BASE_HUMAN_TIME_H
#define VD_BASE_HUMAN_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/slice.h"

enum {
    VD_HUMAN_DURATION_MAX = 32, /* bytes of a duration, with its NUL */
    VD_RFC3339_MAX = 28,        /* bytes of a time with microseconds, with its NUL */
};

/*
 * A duration with two or three significant figures, as `kubectl get` shows an
 * age: "21s", "5m10s", "3h12m", "2d4h", "45d", "3y120d". Less than two seconds
 * below zero is "0s", since clocks differ; further below is "<invalid>".
 */
struct vd_slice vd_human_duration(int64_t ms, char out[VD_HUMAN_DURATION_MAX]);

/*
 * The age at `now_ms` of what has this timestamp: a duration, or "<invalid>" if
 * the text is no time. An empty text, of what has none yet, is "<unknown>".
 */
struct vd_slice vd_human_age(struct vd_slice timestamp, int64_t now_ms,
                             char out[VD_HUMAN_DURATION_MAX]);

/*
 * Reads "2026-11-15T09:35:21Z", with a fraction of a second or an offset like
 * +01:30 or not; digits of the fraction beyond the third are dropped. As in Go
 * the T and the Z are capitals, and there is no second 60. False otherwise.
 */
bool vd_rfc3339_parse(struct vd_slice text, int64_t *ms) VD_MUST_USE;

/* "2026-11-15T09:35:21Z", the form of metav1.Time: what is below a second is
 * dropped. Years 0 to 9999; any other gives an empty slice. */
struct vd_slice vd_rfc3339_format(int64_t ms, char out[VD_RFC3339_MAX]);

/* "2026-11-15T09:35:21.042000Z", the form of metav1.MicroTime. */
struct vd_slice vd_rfc3339_format_micro(int64_t ms, char out[VD_RFC3339_MAX]);

#endif
