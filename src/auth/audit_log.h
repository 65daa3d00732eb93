/*
 * The audit log's file: lines that one thread writes.
 *
 * Whoever adds a line never waits for the file: lines gather in a bounded buffer
 * (VD_AUDIT_QUEUE_LEN_MAX). When that is full they are dropped, counted
 * (vedette_audit_dropped_total), and the program's log says so; in blocking mode the adder waits
 * for room instead. A write that fails loses its lines; they are counted
 * (vedette_audit_errors_total), and the program's log says so. The next lines are written as usual.
 */
#ifndef VD_AUTH_AUDIT_LOG_H
#define VD_AUTH_AUDIT_LOG_H

#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"

enum vd_audit_mode { VD_AUDIT_BATCH, VD_AUDIT_BLOCKING };

struct vd_audit_log;

/* Appends to the file, made with mode 0600 when missing; "-" is the standard output. */
int vd_audit_log_open(struct vd_audit_log **out, const char *path, enum vd_audit_mode mode,
                      struct vd_error *error) VD_MUST_USE;

/* Writes what is queued, waiting VD_AUDIT_CLOSE_MS at most for a reader that does not read. NULL
 * allowed. Nobody may add lines any more. */
void vd_audit_log_close(struct vd_audit_log *log);

/* Opens the file of that name again, after the old one was moved away. On an error the old file
 * stays in use. */
int vd_audit_log_reopen(struct vd_audit_log *log, struct vd_error *error) VD_MUST_USE;

/* From now on nobody waits for room, even in blocking mode: the server is stopping, and must not
 * wait for a reader that does not read. NULL is fine. */
void vd_audit_log_stop_blocking(struct vd_audit_log *log);

/* One line, with its newline. Any thread. */
void vd_audit_log_add(struct vd_audit_log *log, struct vd_slice line);

#endif
