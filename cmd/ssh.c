/*
 * See ssh.h. The environment (git/fetch.c sets it) has the ssh program in VEDETTE_SSH and a private
 * folder in VEDETTE_SSH_FOLDER, with the files `key` and `known_hosts`. ssh reads no configuration
 * and no keys of this machine, asks nobody anything, and goes to no host whose key is not known.
 */
#include "ssh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"

static const char *const options[] = {
    "BatchMode=yes",           "StrictHostKeyChecking=yes",
    "UpdateHostKeys=no",       "IdentitiesOnly=yes",
    "IdentityAgent=none",      "GlobalKnownHostsFile=/dev/null",
    "ForwardAgent=no",         "ClearAllForwardings=yes",
    "PermitLocalCommand=no",   "ProxyCommand=none",
    "CanonicalizeHostname=no", "PasswordAuthentication=no",
    "ConnectTimeout=30",       "ServerAliveInterval=15",
    "ServerAliveCountMax=4",   "KbdInteractiveAuthentication=no",
};
enum { OPTIONS = sizeof options / sizeof *options };

bool vd_is_ssh(const char *program)
{
    const char *slash = program ? strrchr(program, '/') : NULL;
    const char *name = slash ? slash + 1 : program;
    return name && strcmp(name, "ssh") == 0 && getenv("VEDETTE_SSH") != NULL;
}

static char *joined(const char *option, const char *folder, const char *name)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text, "%s\"%s/%s\"", option, folder, name);
    return vd_buf_take(&text, NULL);
}

int vd_ssh_run(int argc, char **argv)
{
    const char *program = getenv("VEDETTE_SSH"), *folder = getenv("VEDETTE_SSH_FOLDER");
    char **all = vd_calloc((size_t)argc + 2 * OPTIONS + 8, sizeof *all);
    size_t n = 0;
    if (!program || !folder)
        return 255;
    all[n++] = vd_strdup(program);
    all[n++] = vd_strdup("-F");
    all[n++] = vd_strdup("/dev/null");
    for (size_t i = 0; i < OPTIONS; i++) {
        all[n++] = vd_strdup("-o");
        all[n++] = vd_strdup(options[i]);
    }
    all[n++] = vd_strdup("-o");
    all[n++] = joined("IdentityFile=", folder, "key");
    all[n++] = vd_strdup("-o");
    all[n++] = joined("UserKnownHostsFile=", folder, "known_hosts");
    for (int i = 1; i < argc; i++)
        all[n++] = argv[i];
    execv(program, all);
    perror(program);
    return 255;
}
