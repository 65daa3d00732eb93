/*
 * A call of git: its arguments, its configuration and its whole environment.
 *
 *     struct vd_git_command c;
 *     vd_git_command_init(&c, program, folder);
 *     vd_git_command_set(&c, "receive.maxInputSize", "1000000");
 *     vd_git_command_add(&c, "receive-pack");
 *     vd_git_command_add(&c, folder);
 *     ... vd_git_command_argv(&c), vd_git_command_env(&c) ...
 *     vd_git_command_release(&c);
 *
 * No call of git depends on the machine or on a user: there is no HOME, no configuration of the
 * system or of a user is read, PATH is the folder of git's helpers alone, nobody is asked for a
 * password, and messages are in English. What has to be configured is an argument (-c), which wins
 * over the configuration file of the repository. No shell is involved.
 *
 * All calls share a list of settings, in command.c with the reason of each.
 */
#ifndef VD_GIT_COMMAND_H
#define VD_GIT_COMMAND_H

#include <stdint.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/vec.h"
#include "git/program.h"

/* How much address space a git process may have. Its hooks are this program, which inherits the
 * limit: built with a sanitizer it maps terabytes, and then there is none (0). */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { VD_GIT_MEMORY_IS_LIMITED = 0 };
#else
enum { VD_GIT_MEMORY_IS_LIMITED = 1 };
#endif

static inline uint64_t vd_git_memory_max(void)
{
    return VD_GIT_MEMORY_IS_LIMITED ? (uint64_t)VD_GIT_MEMORY_MIB << 20 : 0;
}

/* The same for one that fetches: what a remote says may not make it grow. */
static inline uint64_t vd_git_fetch_memory_max(void)
{
    return VD_GIT_MEMORY_IS_LIMITED ? (uint64_t)VD_GIT_FETCH_MEMORY_MIB << 20 : 0;
}

struct vd_git_command {
    struct vd_arena arena; /* has all texts */
    VD_VEC(const char *) argv;
    VD_VEC(const char *) env;
};

/* A call that is about the bare repository in `folder`, which is absolute; NULL: about none. */
void vd_git_command_init(struct vd_git_command *c, const struct vd_git_program *program,
                         const char *folder);
void vd_git_command_release(struct vd_git_command *c);

/* A setting, `-c key=value`; before the first argument. A later one wins over an earlier one of the
 * same key. Texts are copied, here and below. */
void vd_git_command_set(struct vd_git_command *c, const char *key, const char *value);
void vd_git_command_set_u64(struct vd_git_command *c, const char *key, uint64_t value);

/* One more argument; the first one is the name of git's own command. */
void vd_git_command_add(struct vd_git_command *c, const char *argument);

/* One more variable of the environment. */
void vd_git_command_add_env(struct vd_git_command *c, const char *name, struct vd_slice value);

/* With a NULL behind the last. Good until the command changes or is released. */
const char *const *vd_git_command_argv(struct vd_git_command *c);
const char *const *vd_git_command_env(struct vd_git_command *c);

#endif
