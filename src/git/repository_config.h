/*
 * .vedette.yaml at the root of a repository: which of its files are manifests.
 *
 *     apiVersion: git.vedette.dev/v1     both may be left out
 *     kind: RepositoryConfig
 *     paths: [products/, collections/summer-*.yaml]
 *     exclude: [products/drafts/]
 *     defaultNamespace: shop
 *     labels: {team: web}
 *
 * `paths` and `exclude` are patterns (path_pattern.h). Without `paths` every file counts but those
 * with a part of their path that begins with a dot, such as .github/. `exclude` wins over
 * `paths`. `defaultNamespace` is where objects go that name no namespace, instead of the
 * repository's own. `labels` are given to every object that does not have them.
 */
#ifndef VD_GIT_REPOSITORY_CONFIG_H
#define VD_GIT_REPOSITORY_CONFIG_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/slice.h"
#include "base/vec.h"
#include "git/path_pattern.h"
#include "git/report.h"

/* The path of the file. */
#define VD_REPOSITORY_CONFIG_PATH ".vedette.yaml"

struct vd_repository_label {
    struct vd_slice key, value;
};

/* `= {0}` is what holds for a repository without the file. The texts are the arena's. */
struct vd_repository_config {
    struct vd_path_patterns paths, exclude;
    struct vd_slice default_namespace; /* may be empty */
    VD_VEC(struct vd_repository_label) labels;
    struct vd_arena arena;
};

void vd_repository_config_release(struct vd_repository_config *c);

/*
 * Reads the text of the file into `c`, which is empty. What is wrong goes to the report, each
 * mistake with its line and column; unknown keys are mistakes. False if there are any: then `c` is
 * to be released and not used.
 */
bool vd_repository_config_read(struct vd_repository_config *c, struct vd_slice text,
                               struct vd_git_report *report) VD_MUST_USE;

/* Whether the patterns let a file of this path count. They do not look at the kind of file: see
 * vd_git_path_counts() of git/manifest.h. */
bool vd_repository_config_takes(const struct vd_repository_config *c, struct vd_slice path);

#endif
