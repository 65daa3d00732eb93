/* How far a long piece of work has come, told to whoever waits for it. */
#ifndef VD_STORE_PROGRESS_H
#define VD_STORE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

/* `step` is called often, from the working thread, and must be quick. `what` names
 * the work ("copying"); total 0 means that nobody knows how much there is. */
struct vd_progress {
    void (*step)(void *arg, const char *what, uint64_t done, uint64_t total);
    void *arg;
};

/* NULL: nobody wants to know. */
static inline void vd_progress_step(const struct vd_progress *progress, const char *what,
                                    uint64_t done, uint64_t total)
{
    if (progress)
        progress->step(progress->arg, what, done, total);
}

#endif
