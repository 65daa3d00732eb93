/*
 * What is counted of the Git face: requests, bytes, processes, and refs that had to be mended.
 * Pushes have counters of their own (git/push_metrics.c). Any thread.
 */
#ifndef VD_GIT_METER_H
#define VD_GIT_METER_H

#include <stddef.h>
#include <stdint.h>

#include "git/smart_http.h"

/* Has all of them shown from the start. */
void vd_git_meter_register(void);

/* A request was answered with this status, and so many bytes. */
void vd_git_meter_answered(enum vd_git_service service, unsigned status, uint64_t duration_ns,
                           uint64_t sent);

/* So many bytes of a request's body have come. */
void vd_git_meter_received(enum vd_git_service service, uint64_t received);

/* So many processes serve requests now, and so many requests wait for one. */
void vd_git_meter_processes(size_t running, size_t waiting);

/* So many refs are set to what the store records. */
void vd_git_meter_recovered(size_t refs);

/* An upkeep of a repository has ended: "good", "failed", "stopped". */
void vd_git_meter_upkeep(const char *result, uint64_t duration_ns);

#endif
