/* A transfer and its parts, for the files that do its steps: transfer.c has the beginning, the
 * process and the end, transfer_body.c the way of the request's body to git, transfer_answer.c the
 * way of git's answer to the client, transfer_bounds.c what a push may take. */
#ifndef VD_GIT_TRANSFER_INTERNAL_H
#define VD_GIT_TRANSFER_INTERNAL_H

#include "git/push.h"
#include "git/transfer.h"
#include "net/inflate.h"
#include "net/process.h"

struct vd_transfer {
    struct vd_git *git;
    struct vd_exchange *x; /* NULL: the client has left */
    struct vd_git_request request;
    struct vd_slice namespace, name, uid; /* of the Repository */
    uint64_t pack_len_max;
    struct vd_user *user; /* a reference */
    struct vd_arena arena;
    struct vd_loop *loop;
    struct vd_timer timer;   /* while it waits for the repository or a slot, or for unpacking */
    uint64_t ready_until_ns; /* when it stops waiting for the repository */
    struct vd_slot slot;
    struct vd_process process;
    struct vd_push *push;      /* of receive-pack; NULL: it is none, or over */
    struct vd_inflate inflate; /* of a compressed body */
    struct vd_buf said;        /* on stderr; its beginning */
    bool body_has_ended;
    bool has_answered;  /* the head of the answer was sent */
    bool is_discarding; /* git has ended before the body has */
    uint64_t discarded; /* bytes of it */
    /* ---- bounds of a push ---- */
    uint64_t received;  /* bytes of its body */
    uint64_t unpack_ms; /* that git may take for unpacking them */
    bool is_unpacked;   /* a hook has spoken */
    bool is_broken;     /* it was broken off */
    /* Of git's answer: what is left of a packet, and the digits of the length of the next one. */
    size_t packet_left;
    unsigned packet_len, packet_digits;
};

/* ---- transfer.c ---- */

void vd_transfer_free(struct vd_transfer *t);

/* Answers with a sentence; before anything was sent. The exchange is not touched any more. */
void vd_transfer_refuse(struct vd_transfer *t, unsigned status, const char *text);

/* The hooks have nobody to speak to any more. */
void vd_transfer_end_push(struct vd_transfer *t);

/* Nobody waits for git any more. It removes what it has received of a push when its input ends:
 * were it killed at once, somebody else would have to. */
void vd_transfer_end_git(struct vd_transfer *t);

bool vd_transfer_is_push(const struct vd_transfer *t);

/* ---- transfer_body.c ---- */

/* Has the body come, into git. */
void vd_transfer_read_body(struct vd_transfer *t);

/* Git takes more of it. */
void vd_transfer_feed(struct vd_process *p);

/* Git has ended before the body: the rest is read and dropped, and then the transfer ends. */
void vd_transfer_discard(struct vd_transfer *t);

/* ---- transfer_answer.c: what git says, and its end ---- */

void vd_transfer_output(struct vd_process *p, struct vd_slice bytes);
void vd_transfer_errors(struct vd_process *p, struct vd_slice bytes);
void vd_transfer_exited(struct vd_process *p, const struct vd_process_exit *exit);

/* Sends it to the client, which is there. */
void vd_transfer_send(struct vd_transfer *t, struct vd_slice bytes);

/* The client takes more of it. */
void vd_transfer_client_drained(struct vd_exchange *x);

/* ---- transfer_bounds.c ---- */

/* VD_ERR_FULL: there is no room on the disk for a push. */
int vd_transfer_check_room(const struct vd_transfer *t, struct vd_error *error) VD_MUST_USE;

/* So many bytes of the body have come. False: the push was broken off. */
bool vd_transfer_received(struct vd_transfer *t, size_t n) VD_MUST_USE;

/* All of the body has come: from now on git has an end for unpacking it, until a hook speaks. */
void vd_transfer_await_unpacked(struct vd_transfer *t);
void vd_transfer_unpacked(struct vd_transfer *t);

/* These bytes of git's answer are sent. */
void vd_transfer_follow_packets(struct vd_transfer *t, struct vd_slice bytes);

#endif
