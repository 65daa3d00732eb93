/*
 * The credentials of a remote repository: what the Secret that spec.remote.secretRef names has of
 *
 *     username, password        HTTP Basic
 *     token                     HTTP Basic, as the password of any user; instead of the two above
 *     ca.crt                    the authorities whose certificates of https are good
 *     ssh-privatekey            the key of ssh
 *     known_hosts               the keys of hosts that ssh accepts
 *
 * None of them is ever an argument of a program or in a log. A password goes to git by its
 * environment, as a header; what has to be a file is one in a folder of mode 0700, for as long as
 * git runs.
 *
 * On the loop: the files are small.
 */
#ifndef VD_GIT_REMOTE_CREDENTIALS_H
#define VD_GIT_REMOTE_CREDENTIALS_H

#include "base/attributes.h"
#include "base/buf.h"
#include "git/command.h"
#include "git/remote_url.h"
#include "json/document.h"

struct vd_remote_credentials {
    struct vd_buf username, password, token, ca, ssh_key, known_hosts;
    char *folder; /* of the files; NULL: there are none */
};

/* Reads what the Secret has. VD_ERR_INVALID: something in it makes no sense, or is too long. */
int vd_remote_credentials_read(struct vd_remote_credentials *out, const struct vd_json *secret,
                               struct vd_error *error) VD_MUST_USE;

/* Makes the files that the URL needs, in `folder`, which is made and must not be there. */
int vd_remote_credentials_open(struct vd_remote_credentials *c, enum vd_remote_scheme scheme,
                               const char *folder, struct vd_error *error) VD_MUST_USE;

/* Gives them to a call of git, before its first argument. */
void vd_remote_credentials_give(const struct vd_remote_credentials *c, enum vd_remote_scheme scheme,
                                struct vd_git_command *command);

/* Removes the files, and wipes all. `= {0}` may be released. */
void vd_remote_credentials_release(struct vd_remote_credentials *c);

/* Removes a folder of files that an earlier server has left. */
void vd_remote_credentials_sweep(const char *folder);

#endif
