/*
 * A fetch: the newest commit of a branch of a remote repository, with all that it leads to, comes
 * into a bare repository of this server.
 *
 *     struct vd_fetch f = {.loop = loop, .place = place, .url = url, .branch = branch, ...};
 *     vd_fetch_start(&f);
 *     ...  f.done(&f)        once: f.commit, or f.error
 *     vd_fetch_release(&f);
 *
 * git does it, as a child process without a shell and with none of the machine's settings. It
 * speaks no other protocol than that of the URL, follows no redirect and no submodule, brings no
 * tags, and asks nobody for a password. Certificates and the keys of hosts are checked. Its ref is
 * VD_FETCH_REF, which nobody can fetch or push; what came before it stays until the next fetch.
 *
 * What a remote sends is kept in a quarantine (git/fetch_quarantine.h) until all of it has come: a
 * fetch that fails leaves nothing behind. It leaves room on the disk (git/disk_room.h), and is
 * ended before it takes that.
 *
 * On the loop.
 */
#ifndef VD_GIT_FETCH_H
#define VD_GIT_FETCH_H

#include "git/bare_repository.h"
#include "git/git_process.h"
#include "git/ref_command.h"
#include "git/remote_credentials.h"
#include "git/remote_url.h"

#define VD_FETCH_REF "refs/vedette/remote/followed"

struct vd_fetch {
    /* ---- the caller's; borrowed until `done` ---- */
    struct vd_loop *loop;
    struct vd_git_place place;
    const char *ssh;          /* the ssh program; NULL: there is none */
    const char *ssh_launcher; /* what git calls in its place: this program (cmd/ssh.c) */
    const char *url;
    enum vd_remote_scheme scheme;
    const char *branch;
    /* While somebody waits for its slot, a fetch that brings less than VD_GIT_FETCH_SPEED_MIN bytes
     * a second for so long gives way, which is an error. */
    uint64_t slow_ms;
    bool (*is_wanted)(struct vd_fetch *f);    /* whether somebody waits; NULL: nobody ever does */
    const char *secret;                       /* that has the credentials; NULL: none has */
    struct vd_remote_credentials credentials; /* taken */
    void (*done)(struct vd_fetch *f);
    /* ---- the outcome ---- */
    struct vd_error error; /* code 0: it has succeeded */
    char commit[VD_OBJECT_ID_TEXT_MAX];
    bool is_interrupted; /* git has failed at the ref, and may have left its lock */
    bool gave_way;       /* it was slow, and others waited */
    /* ---- private ---- */
    struct vd_process process;
    struct vd_buf said;           /* on stderr; its beginning */
    struct vd_git_process helper; /* that names the commit, or sets the ref */
    struct vd_buf name;
    struct vd_timer timer;      /* looks at it while git fetches */
    uint64_t span_ms, span_len; /* since when its speed is measured, and what it had brought */
    bool is_slow;               /* in the last whole span */
    uint64_t pack_len_max;      /* bytes that it may write */
    struct vd_error cause;      /* why the server has ended it; code 0: it has not */
    struct vd_work work;        /* with the quarantine */
    struct vd_error work_error;
    bool is_stopped;
};

/* `done` may be called from inside. */
void vd_fetch_start(struct vd_fetch *f);

/* Gives it up; `done` comes with VD_ERR_CLOSED. */
void vd_fetch_stop(struct vd_fetch *f);

/* After `done`; removes the files of the credentials. `= {0}` may be released. */
void vd_fetch_release(struct vd_fetch *f);

/* Why git has failed, from how it has ended and what it has said. */
void vd_fetch_describe(struct vd_fetch *f, const struct vd_process_exit *exit,
                       struct vd_error *error);

/* Adds the path of the folder in which a fetch into this bare repository keeps credentials. */
void vd_fetch_private_folder(struct vd_buf *out, const char *folder);

#endif
