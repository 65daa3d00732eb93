/*
 * The channel between the hooks of a push and the server: messages on file descriptor 3.
 *
 * `git receive-pack` runs the vedette program as its hooks pre-receive and proc-receive
 * (cmd/hook.c). They decide nothing: they tell the server what git tells them, and do what it
 * answers.
 *
 *     hook                                          server
 *     BEGIN "pre-receive\0objects\0alternates\0quarantine"
 *     COMMAND "<old> <new> refs/heads/main"         (one for each ref)
 *     OPTION "<push option>"                        (one for each)
 *     READY
 *                                                   TEXT "admitted 3 resources\n"
 *                                                   REPORT "ok refs/heads/main"
 *                                                   EXIT "0"
 *
 * There may be any number of TEXT messages. REPORT is for proc-receive, one for each ref.
 *
 * The two hooks of a push speak one after the other over the same channel. A message is four bytes
 * with the length of its payload, the most significant first, one byte for its type, and the
 * payload:
 *
 *     00 00 00 01 'x' '0'                           EXIT "0"
 *
 * Pure functions; any thread.
 */
#ifndef VD_GIT_HOOK_CHANNEL_H
#define VD_GIT_HOOK_CHANNEL_H

#include "base/attributes.h"
#include "base/buf.h"
#include "base/slice.h"

enum { VD_HOOK_CHANNEL_FD = 3 }; /* in the hooks */

enum vd_hook_message_type {
    VD_HOOK_BEGIN = 'b',
    VD_HOOK_COMMAND = 'c',
    VD_HOOK_OPTION = 'o',
    VD_HOOK_READY = 'r',
    VD_HOOK_TEXT = 't',
    VD_HOOK_REPORT = 'l',
    VD_HOOK_EXIT = 'x',
};

struct vd_hook_message {
    enum vd_hook_message_type type;
    struct vd_slice payload; /* in the bytes that were read */
    size_t len;              /* bytes of the whole message */
};

enum vd_hook_result {
    VD_HOOK_MORE, /* the bytes end before the message does */
    VD_HOOK_DONE, /* a message was read */
    VD_HOOK_BAD,  /* no message begins like this: an unknown type, or longer than
                     VD_HOOK_MESSAGE_LEN_MAX */
};

/* Reads the message with which the bytes begin. *out is filled for VD_HOOK_DONE only. */
enum vd_hook_result vd_hook_message_read(struct vd_slice bytes,
                                         struct vd_hook_message *out) VD_MUST_USE;

/* Adds a message. A text that is too long for one becomes several; any other payload is cut. */
void vd_hook_message_write(struct vd_buf *out, enum vd_hook_message_type type,
                           struct vd_slice payload);

/* What BEGIN says. The folders are as git has set them for its hooks, empty where it has not. */
struct vd_hook_begin {
    struct vd_slice hook;       /* "pre-receive" or "proc-receive" */
    struct vd_slice objects;    /* GIT_OBJECT_DIRECTORY */
    struct vd_slice alternates; /* GIT_ALTERNATE_OBJECT_DIRECTORIES */
    struct vd_slice quarantine; /* GIT_QUARANTINE_PATH */
};

/* False: the payload is none. The slices are in it. */
bool vd_hook_begin_read(struct vd_slice payload, struct vd_hook_begin *out) VD_MUST_USE;
void vd_hook_begin_write(struct vd_buf *out, const struct vd_hook_begin *begin);

#endif
