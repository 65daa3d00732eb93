/*
 * A transfer: one request of a git client on its way through a git process.
 *
 * The request was read and allowed. It waits until its repository is ready, if that was created a
 * moment ago, and for a slot (git/process_slots.h); then the process is started. The body of the
 * request streams into its stdin, unpacked if it is compressed; its stdout is the answer. Whoever
 * is slower makes the other wait: no more than VD_GIT_BACKLOG_LEN_MAX bytes are kept in each
 * direction.
 *
 *     waits for the repository -> waits for a slot -> runs -> the process has exited
 *
 * If the client leaves, git's input ends, and if it does not end with that, it is killed with its
 * group; what a killed push has sent is removed (git/quarantines.h). If the process fails before it
 * has said anything, the answer is a sentence; after that, whatever it has said is the answer, and
 * one that was cut off is broken off. What it says on stderr goes to the log.
 *
 * All on the exchange's loop.
 */
#ifndef VD_GIT_TRANSFER_H
#define VD_GIT_TRANSFER_H

#include "git/repository.h"
#include "git/service.h"

/* Takes the exchange over, until it is answered or its client has left. The request and the
 * repository are borrowed for the call. */
void vd_transfer_start(struct vd_git *git, struct vd_exchange *x,
                       const struct vd_git_request *request,
                       const struct vd_repository *repository);

#endif
