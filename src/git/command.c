/* See command.h. */
#include "git/command.h"

#include "base/buf.h"

static const struct setting {
    const char *key, *value;
    unsigned from;  /* of git 2.x, the first that knows it */
    unsigned until; /* the first that wants another in its place; 0: none does */
} settings[] = {
    /* Nothing is done behind the back of whoever called: gc would run without limits. */
    {"gc.auto", "0", 0, 0},
    {"gc.autoDetach", "false", 0, 0},
    {"maintenance.auto", "false", 0, 0},
    {"receive.autogc", "false", 0, 0},
    /* A hosted repository fetches from nowhere, also not what a partial clone would lack. */
    {"protocol.allow", "never", 0, 0},
    /* Clients may ask for partial clones, and for objects that a branch or a tag leads to. */
    {"uploadpack.allowFilter", "true", 0, 0},
    {"uploadpack.allowAnySHA1InWant", "false", 0, 0},
    {"transfer.hideRefs", "refs/vedette", 0, 0},
    /* What a process may take. Windows into packs count as address space, which is limited too. */
    {"pack.threads", "1", 0, 0},
    {"pack.windowMemory", "67108864", 0, 0},
    {"pack.deltaCacheSize", "33554432", 0, 0},
    {"core.bigFileThreshold", "16777216", 0, 0},
    {"core.deltaBaseCacheLimit", "33554432", 0, 0},
    {"core.packedGitWindowSize", "33554432", 0, 0},
    {"core.packedGitLimit", "268435456", 0, 0},
    /* What was pushed is checked, is kept as one pack, and is on the disk before a ref names it. */
    {"transfer.fsckObjects", "true", 0, 0},
    {"transfer.unpackLimit", "1", 0, 0},
    {"core.fsyncObjectFiles", "true", 0, 36},
    {"core.fsync", "all", 36, 0},
    {"core.fsyncMethod", "fsync", 36, 0},
    /* Nobody reads who has moved a ref when: the server's own logs tell that. */
    {"core.logAllRefUpdates", "false", 0, 0},
    /* No program of the machine is called: no pager, no editor, no watcher of files, no hook but
     * those that receive-pack is given. */
    {"core.hooksPath", "/dev/null", 0, 0},
    {"core.fsmonitor", "false", 0, 0},
    {"core.untrackedCache", "false", 0, 0},
    {"core.attributesFile", "/dev/null", 0, 0},
    {"core.excludesFile", "/dev/null", 0, 0},
    {"credential.helper", "", 0, 0},
};

void vd_git_command_set(struct vd_git_command *c, const char *key, const char *value)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text, "%s=%s", key, value);
    vd_git_command_add(c, "-c");
    vd_git_command_add(c, vd_buf_text(&text));
    vd_buf_release(&text);
}

void vd_git_command_set_u64(struct vd_git_command *c, const char *key, uint64_t value)
{
    char digits[21];
    digits[vd_u64_digits(value, digits)] = 0;
    vd_git_command_set(c, key, digits);
}

void vd_git_command_add(struct vd_git_command *c, const char *argument)
{
    const char *copy = vd_arena_copy(&c->arena, vd_slice_of(argument)).p;
    *VD_VEC_PUSH(&c->argv) = copy;
}

void vd_git_command_add_env(struct vd_git_command *c, const char *name, struct vd_slice value)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text, "%s=%.*s", name, VD_FMT(value));
    const char *copy = vd_arena_copy(&c->arena, vd_buf_slice(&text)).p;
    *VD_VEC_PUSH(&c->env) = copy;
    vd_buf_release(&text);
}

/* No other version than 2 exists; a later one would know what the last of them does. */
static bool is_known(const struct vd_git_program *program, const struct setting *s)
{
    return vd_git_program_is(program, 2, s->from) &&
           (!s->until || !vd_git_program_is(program, 2, s->until));
}

void vd_git_command_init(struct vd_git_command *c, const struct vd_git_program *program,
                         const char *folder)
{
    *c = (struct vd_git_command){0};
    vd_git_command_add(c, program->path);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (is_known(program, &settings[i]))
            vd_git_command_set(c, settings[i].key, settings[i].value);
    vd_git_command_add_env(c, "PATH", vd_slice_of(program->exec_path));
    vd_git_command_add_env(c, "LC_ALL", VD_SLICE("C"));
    vd_git_command_add_env(c, "GIT_CONFIG_NOSYSTEM", VD_SLICE("1"));
    vd_git_command_add_env(c, "GIT_CONFIG_GLOBAL", VD_SLICE("/dev/null"));
    vd_git_command_add_env(c, "GIT_ATTR_NOSYSTEM", VD_SLICE("1"));
    vd_git_command_add_env(c, "GIT_TERMINAL_PROMPT", VD_SLICE("0"));
    vd_git_command_add_env(c, "GIT_NO_LAZY_FETCH", VD_SLICE("1"));
    vd_git_command_add_env(c, "GIT_ADVICE", VD_SLICE("0"));
    if (!folder)
        return;
    vd_git_command_set(c, "safe.directory", folder);
    vd_git_command_add_env(c, "GIT_DIR", vd_slice_of(folder));
}

void vd_git_command_release(struct vd_git_command *c)
{
    VD_VEC_RELEASE(&c->argv);
    VD_VEC_RELEASE(&c->env);
    vd_arena_release(&c->arena);
}

const char *const *vd_git_command_argv(struct vd_git_command *c)
{
    *VD_VEC_PUSH(&c->argv) = NULL;
    c->argv.n--;
    return c->argv.p;
}

const char *const *vd_git_command_env(struct vd_git_command *c)
{
    *VD_VEC_PUSH(&c->env) = NULL;
    c->env.n--;
    return c->env.p;
}
