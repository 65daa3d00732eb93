/*
 * What has failed for a Repository: status.lastError, and how long the server waits
 * before it tries again. On the controller's loop.
 */
#ifndef VD_GIT_STATUS_ERROR_H
#define VD_GIT_STATUS_ERROR_H

#include "api/conditional_batch.h"

/* The text without the newlines at its end, and with its first VD_GIT_STATUS_ERROR_LEN_MAX bytes
 * only. */
struct vd_slice vd_status_error_cut(struct vd_slice text);

/* Writes the text, cut, as status.lastError of the Repository, for this item. False: it is there
 * already, and nothing was sent. */
bool vd_status_error_write(struct vd_controller *controller, struct vd_controller_item *item,
                           const struct vd_event *event, const struct vd_json *object,
                           struct vd_slice text);

/* The pause behind so many failures in a row: it doubles up to VD_GIT_RETRY_MS_MAX, and a part of
 * it is random. */
uint64_t vd_status_error_pause_ms(unsigned failures);

/* The time, or up to a quarter less: so that not all do the same at once. */
uint64_t vd_jittered_ms(uint64_t pause_ms);

#endif
