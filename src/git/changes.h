/*
 * What changes on branches: the manifests of the files in which two commits of each differ.
 *
 *     struct vd_branch_change branch = {.name = ..., .before = commit, .after = commit};
 *     struct vd_changes c = {.l = loop, .place = place, .branches = &branch, .branches_n = 1, ...};
 *     vd_changes_start(&c);
 *     ...  c.done(&c)            once: c.error, c.report; the branches' manifests
 *     vd_changes_release(&c);
 *
 * Only files that differ are read, old and new ones, and of those only what .vedette.yaml lets
 * count. If that file itself differs, or one of the commits is missing, all files of both commits
 * are. Lengths are asked for before contents, so that nothing larger than the limits is unpacked.
 * Files are parsed by a worker's thread.
 *
 * A file that is wrong is a finding of the report, not a failure: all files are looked at. `error`
 * is set if git has failed, or a limit of the whole push was passed.
 *
 * On the loop.
 */
#ifndef VD_GIT_CHANGES_H
#define VD_GIT_CHANGES_H

#include "api/loop.h"
#include "git/blobs.h"
#include "git/git_process.h"
#include "git/manifest.h"
#include "git/report.h"
#include "git/repository_config.h"
#include "git/tree_diff.h"

/* One of the commits of a branch. */
struct vd_branch_side {
    struct vd_slice commit;    /* empty: there is none */
    struct vd_slice config_id; /* of .vedette.yaml; empty: it has none */
    struct vd_repository_config config;
    struct vd_git_manifests manifests; /* the outcome */
};

struct vd_branch_change {
    struct vd_slice name;
    struct vd_branch_side before, after; /* the caller sets their commits */
    /* Private: */
    struct vd_tree_files files;
    bool reads_all; /* of both commits */
    bool is_same;   /* both are one commit: its files are read once, as new ones */
};

/* A file that is read: what git said of it, and its text. */
struct vd_changed_file {
    struct vd_branch_change *branch;
    struct vd_branch_side *side;
    const struct vd_tree_file *file;
    struct vd_slice text;
    bool is_new;
};

struct vd_changes {
    /* ---- the caller's; borrowed until `done` ---- */
    struct vd_api_loop *l;
    struct vd_git_place place;
    struct vd_branch_change *branches;
    size_t branches_n;
    uint64_t file_len_max; /* of a manifest; a longer one is a finding */
    size_t files_max;      /* of each side of a branch */
    bool is_whole;         /* all files of the new commits are read, and of old ones that differ */
    /* Whether so many bytes of memory may be held for manifests: called for their texts, and again
     * when they are parsed. NULL: any. */
    bool (*reserve)(struct vd_changes *c, uint64_t len);
    void (*done)(struct vd_changes *c);
    /* ---- the outcome ---- */
    struct vd_error error; /* code 0: it has succeeded */
    struct vd_git_report report;
    struct vd_arena arena; /* has the texts of files, and the documents */
    /* ---- private ---- */
    struct vd_blobs blobs;
    struct vd_tree_diff diff;
    int step;
    size_t at; /* what the next answer is about: a side, a branch or a file */
    VD_VEC(struct vd_changed_file) files;
    uint64_t len; /* of the files' texts */
    struct vd_pool_item parsing;
    bool is_parsing, is_stopped, is_done;
};

/* `done` may be called at once, if git cannot be started. */
void vd_changes_start(struct vd_changes *c);

/* Gives up, before `done`: that comes with VD_ERR_CLOSED when nothing is under way any more. */
void vd_changes_stop(struct vd_changes *c);

/* After `done`, or if it was never started. */
void vd_changes_release(struct vd_changes *c);

#endif
