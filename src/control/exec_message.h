/*
 * The messages between the manager and a program that reconciles: one JSON object a line, as
 * docs/exec-protocol.md describes them.
 *
 *     manager                                        program
 *     {"type":"hello","protocol":1,...}
 *                                                    {"type":"hello","protocol":1,"parallel":4}
 *     {"type":"reconcile","id":1,"object":{...},...}
 *                                                    {"type":"result","id":1,"status":{...}}
 *     {"type":"cancel","id":2}
 *     {"type":"shutdown"}
 *
 * Pure functions; any thread.
 */
#ifndef VD_CONTROL_EXEC_MESSAGE_H
#define VD_CONTROL_EXEC_MESSAGE_H

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "control/result.h"

enum { VD_EXEC_PROTOCOL = 1 };

/* ---- what the manager says; each adds one line ---- */

struct vd_exec_hello {
    struct vd_slice controller;
    struct vd_slice api_version, kind, resource; /* of the objects */
};
void vd_exec_write_hello(struct vd_buf *out, const struct vd_exec_hello *hello);

struct vd_exec_reconcile {
    uint64_t id;
    struct vd_slice namespace, name;
    struct vd_slice object; /* JSON; empty: there is no such object any more */
    unsigned attempt;
    int64_t deadline_ms; /* wall clock; 0: none */
};
void vd_exec_write_reconcile(struct vd_buf *out, const struct vd_exec_reconcile *reconcile);

void vd_exec_write_cancel(struct vd_buf *out, uint64_t id);
void vd_exec_write_shutdown(struct vd_buf *out);

/* ---- what the program says ---- */

enum vd_exec_type {
    VD_EXEC_HELLO,
    VD_EXEC_RESULT,
    VD_EXEC_LOG,
};

struct vd_exec_message {
    enum vd_exec_type type;
    uint64_t protocol, parallel; /* of HELLO */
    uint64_t id;                 /* of RESULT */
    struct vd_result result;     /* likewise; in the arena */
    struct vd_slice level, text; /* of LOG */
};

/* Reads a line, without its newline. VD_ERR_INVALID: it is no message; the sentence names the
 * member that is wrong. What is read points into the arena and into the line. */
int vd_exec_read(struct vd_arena *arena, struct vd_slice line, struct vd_exec_message *out,
                 struct vd_error *error) VD_MUST_USE;

#endif
