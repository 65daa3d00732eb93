/*
 * Checks the files of a work tree as the server would check a push of them, without a server.
 *
 *     struct vd_git_lint *l = vd_git_lint_new(VD_SLICE("default"));
 *     vd_git_lint_configure(l, text, &report);      if there is a .vedette.yaml: its text
 *     if (vd_git_lint_wants(l, path, mode, len, &report))
 *         vd_git_lint_add(l, path, text, &report);  these two for each file
 *     vd_git_lint_check(l, &report);
 *     vd_git_lint_free(l);
 *
 * Objects are checked against the built-in kinds and the CustomResourceDefinitions that the files
 * hold, wherever they stand: defaults, unknown fields (which are errors), schema, formats, rules,
 * names and labels. Two manifests of one object are an error, two paths that differ in upper and
 * lower case alone a warning. A lint does not know which objects a server has.
 *
 * No I/O; one thread. The texts are copied: a lint holds all manifests of the tree in memory.
 */
#ifndef VD_GIT_LINT_H
#define VD_GIT_LINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/slice.h"
#include "git/manifest.h"
#include "git/report.h"

struct vd_git_lint;

/* `namespace` is that of the repository, for objects that name none; copied. */
struct vd_git_lint *vd_git_lint_new(struct vd_slice namespace) VD_MUST_USE;

/* NULL is harmless. */
void vd_git_lint_free(struct vd_git_lint *l);

/* Reads .vedette.yaml, before anything else. False if it is wrong: then nothing is known of the
 * other files. */
bool vd_git_lint_configure(struct vd_git_lint *l, struct vd_slice text,
                           struct vd_git_report *report) VD_MUST_USE;

/* Whether a file is to be added: its path counts, it is a regular file and not too large. */
bool vd_git_lint_wants(struct vd_git_lint *l, struct vd_slice path, uint32_t mode, uint64_t len,
                       struct vd_git_report *report) VD_MUST_USE;

/* Tells of a definition from elsewhere: of a server. One of the tree takes its place. What cannot
 * be used is passed over. */
void vd_git_lint_know(struct vd_git_lint *l, const struct vd_json *definition);

/* Reads the manifests of a file. */
void vd_git_lint_add(struct vd_git_lint *l, struct vd_slice path, struct vd_slice text,
                     struct vd_git_report *report);

/* Checks all manifests, once, after all files were added. */
void vd_git_lint_check(struct vd_git_lint *l, struct vd_git_report *report);

/* A manifest with which nothing is wrong, so far. */
struct vd_git_lint_object {
    const struct vd_git_manifest *manifest;
    const struct vd_kind *kind;
    bool is_kind_known; /* built in, or known from elsewhere: not only by the tree */
};

/* The objects that the check has passed; NULL: no more. Borrowed. */
const struct vd_git_lint_object *vd_git_lint_object(const struct vd_git_lint *l, size_t at);

/* Whether the tree describes this namespace. */
bool vd_git_lint_has_namespace(const struct vd_git_lint *l, struct vd_slice name);

/* The manifests that were read; after the check those that can be objects of a kind are complete:
 * with namespace, body and defaults. Borrowed. */
const struct vd_git_manifests *vd_git_lint_manifests(const struct vd_git_lint *l);

/* How many files were added. */
size_t vd_git_lint_file_count(const struct vd_git_lint *l);

#endif
