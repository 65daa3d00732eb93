/* What is counted of repositories that follow a remote, and of drift. Any thread. */
#ifndef VD_GIT_FOLLOW_METRICS_H
#define VD_GIT_FOLLOW_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void vd_follow_metrics_register(void);

void vd_follow_count_fetch(bool good, uint64_t duration_ns);

/* When the repository that lags most was last fetched with success; 0: none was. */
void vd_follow_tell_oldest(int64_t wall_ms);

/* A call of a webhook: "accepted", "refused", "replayed", "limited". */
void vd_follow_count_webhook(const char *result);

/* So many objects are overridden. */
void vd_follow_tell_drifted(size_t objects);

#endif
