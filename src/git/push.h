/*
 * Pushes: what the server does when the hooks of `git receive-pack` ask it (git/hook_channel.h).
 *
 * Whoever runs receive-pack for a push begins one here, hands over what comes on the channel of the
 * process, sends what it is given, and ends it when the process has ended or the client has gone:
 *
 *     push = vd_push_begin(pushes, &options);         before the process is started
 *     vd_push_channel(push, bytes);                   ops->channel of the process
 *     options.send(arg, bytes)                        vd_process_send_channel()
 *     vd_push_end(push);                              ops->exited of the process
 *
 * The exchange may be on any loop; the work is done on loop 0, which all pushes and the controller
 * of repositories share, so that nothing there needs a lock. Messages are posted between the two.
 *
 * pre-receive: the objects are in quarantine. The files that the push changes on admitted branches
 * are read, parsed, planned and tried out as one batch (git/admission.h). Everything that is wrong
 * is told, and the push is refused; nothing has changed.
 *
 * proc-receive: the objects are in the repository. One push of a repository at a time: the refs are
 * locked and compared with what the pusher saw, the batch is committed, the refs are moved. The
 * commit of the batch is the instant at which the push happens, as it has the Repository's
 * status.branches in it. What is lost before it has not happened; what is lost behind it is done by
 * the controller of repositories, which moves refs to what the status says.
 *
 * A push whose client goes before the batch is proposed does not happen; one whose client goes
 * later is finished without it.
 */
#ifndef VD_GIT_PUSH_H
#define VD_GIT_PUSH_H

#include "api/loop.h"
#include "auth/user.h"
#include "base/attributes.h"

/* A push with this option (git push -o) takes over the objects that it describes and that belong to
 * the API. */
#define VD_PUSH_OPTION_ADOPT "vedette.adopt"

struct vd_admissions;
struct vd_push;
struct vd_pushes;

/* On loop 0, or before it runs. `all` is borrowed. */
struct vd_pushes *vd_pushes_new(struct vd_admissions *all) VD_MUST_USE;

/* On loop 0, before it is stopped: pushes that have not come to their batch are given up. */
void vd_pushes_stop(struct vd_pushes *pushes);

/* When all loops have stopped and every push was ended. NULL is harmless. */
void vd_pushes_free(struct vd_pushes *pushes);

/* On loop 0: whether git works for a push in the repository with this uid. Its folder must not be
 * cleaned or removed then. */
bool vd_pushes_use(const struct vd_pushes *pushes, struct vd_slice uid);

/* On loop 0: the repository with this uid is deleted. Its pushes that have not come to their batch
 * are given up. */
void vd_pushes_give_up(struct vd_pushes *pushes, struct vd_slice uid);

/* The processes of a push to the repository with this uid were killed, and have left behind what it
 * has sent: that is removed. Any loop. */
void vd_pushes_killed(struct vd_pushes *pushes, struct vd_slice uid);

struct vd_push_options {
    struct vd_loop *loop;                 /* of the exchange: on it everything below happens */
    struct vd_slice namespace, name, uid; /* of the Repository; copied */
    struct vd_user *user;                 /* who pushes; a reference is taken */
    /* Bytes for the channel of the process, borrowed for the call. Not from inside a function of
     * this header, and not after vd_push_end(). */
    void (*send)(void *arg, struct vd_slice bytes);
    /* The push is given up, and its process is to be ended; likewise. */
    void (*give_up)(void *arg);
    void *arg;
};

/* On the exchange's loop, and all that follows. */
struct vd_push *vd_push_begin(struct vd_pushes *pushes,
                              const struct vd_push_options *options) VD_MUST_USE;

/* Bytes that came on the channel. */
void vd_push_channel(struct vd_push *push, struct vd_slice bytes);

/* The process has ended, or nobody waits for it. The push is not to be used any more. */
void vd_push_end(struct vd_push *push);

#endif
