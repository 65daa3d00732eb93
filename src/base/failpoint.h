/*
 * Named failpoints around durable steps.
 *
 * In test builds, VEDETTE_FAILPOINT=name:n in the environment kills the process
 * (SIGKILL to itself) the n-th time that the point is passed. In release builds
 * nothing of it exists.
 */
#ifndef VD_BASE_FAILPOINT_H
#define VD_BASE_FAILPOINT_H

/* Every failpoint of the store; its crash test visits each of them. */
#define VD_FAILPOINT_NAMES(X)                                                                      \
    X("engine.before_commit")                                                                      \
    X("engine.after_commit")                                                                       \
    X("engine.before_compact_commit")                                                              \
    X("engine.after_compact_commit")                                                               \
    X("engine.before_checkpoint")                                                                  \
    X("engine.after_checkpoint")                                                                   \
    X("store.before_apply")                                                                        \
    X("store.before_answer")                                                                       \
    X("store.after_answer")

/* Every failpoint of a git push, in the order in which a push passes them; the crash test of pushes
 * visits each of them. */
#define VD_GIT_FAILPOINT_NAMES(X)                                                                  \
    X("git.before_validation")                                                                     \
    X("git.after_validation")                                                                      \
    X("git.before_prepare")                                                                        \
    X("git.before_batch")                                                                          \
    X("git.after_batch")                                                                           \
    X("git.after_refs")

/* Those of a fetch of a remote repository, behind which comes what a push passes. */
#define VD_FETCH_FAILPOINT_NAMES(X)                                                                \
    X("git.before_fetch")                                                                          \
    X("git.after_fetch")

#if VD_FAILPOINTS
void vd_failpoint(const char *name);
#define VD_FAILPOINT(name) vd_failpoint(name)
#else
#define VD_FAILPOINT(name) ((void)0)
#endif

#endif
