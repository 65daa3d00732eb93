/*
 * A push and its parts, for the files that do its steps. All of it is loop 0's, but for what the
 * exchange's loop has.
 */
#ifndef VD_GIT_PUSH_INTERNAL_H
#define VD_GIT_PUSH_INTERNAL_H

#include "base/refcount.h"
#include "git/branch_admission.h"
#include "git/hook_channel.h"
#include "git/push.h"
#include "git/push_metrics.h"
#include "git/quarantines.h"
#include "git/ref_command.h"

enum vd_push_phase {
    VD_PUSH_IDLE,       /* no hook has asked yet */
    VD_PUSH_VALIDATING, /* pre-receive waits */
    VD_PUSH_VALIDATED,  /* and was told that all is well */
    VD_PUSH_ADMITTING,  /* proc-receive waits */
    VD_PUSH_OVER,       /* the hooks have had their last answer */
};

struct vd_ref_commands {
    VD_VEC(struct vd_ref_command);
};

struct vd_push {
    struct vd_refcount refs; /* one of each side, and one of each message on its way */
    struct vd_pushes *pushes;
    /* ---- the exchange's loop ---- */
    struct vd_loop *loop;
    void (*send)(void *arg, struct vd_slice bytes);
    void (*give_up)(void *arg);
    void *arg;
    bool is_ended;
    /* ---- never changes ---- */
    struct vd_slice namespace, name, uid;
    uint64_t begun_ns;
    char *folder;
    struct vd_user *user;
    /* ---- loop 0 ---- */
    struct vd_push *prev, *next; /* of the server's pushes */
    enum vd_push_phase phase;
    bool is_gone; /* nobody waits for it */
    bool is_given_up;
    bool is_counted; /* among those that are validated or admitted */
    bool is_busy;    /* something is under way that uses it */
    struct vd_arena arena;
    struct vd_buf input; /* the beginning of a message */
    struct vd_hook_begin begin;
    size_t input_len; /* bytes that the hooks have sent */
    bool is_proc;     /* proc-receive speaks */
    bool mends;       /* it brings lost contents back */
    bool adopts;      /* it may take objects over that belong to the API */
    struct vd_ref_commands commands, validated;
    struct vd_branch_admission branches;
};

struct vd_pushes {
    struct vd_admissions *all;
    struct vd_push *first; /* those that loop 0 has heard of */
    size_t counted;
    bool is_stopped;
    struct vd_quarantines quarantines; /* of those that were killed */
};

/* ---- push.c ---- */

/* Whether a push of the repository with this uid is under way that was begun before this time. */
bool vd_pushes_use_before(const struct vd_pushes *pushes, struct vd_slice uid, uint64_t before_ns);

/* Answers the hook that waits: a text that git shows, and its exit status. */
void vd_push_answer(struct vd_push *p, struct vd_slice text, bool ok);

/* The same for proc-receive: NULL, all refs are moved; else the reason why none is. */
void vd_push_report(struct vd_push *p, struct vd_slice text, const char *reason);

/* Nothing is under way any more: goes on, or is freed if nobody waits for it. */
void vd_push_rest(struct vd_push *p);

/* ---- push_validate.c: pre-receive ---- */

void vd_push_validate(struct vd_push *p);

/* ---- push_admit.c: proc-receive ---- */

void vd_push_admit(struct vd_push *p);

#endif
