/*
 * Manifests: the objects that the files of a repository describe.
 *
 *     if (vd_git_path_counts(&config, path) && vd_git_entry_check(path, mode, len, max, &report))
 *         vd_git_file_read(&file, &config, &arena, &manifests, &report);
 *     ...                                                 find the kind of each manifest
 *     ok = vd_git_manifest_complete(m, kind, "shop", &arena, &report);
 *
 * Files that count are .yaml, .yml and .json, with any number of documents each, and .md and
 * .markdown that begin with YAML front matter; others are ignored, as is what .vedette.yaml
 * excludes. A document with neither apiVersion nor kind is no manifest: it is ignored with a
 * warning. The identity of a manifest is its API group, kind, namespace and name.
 *
 * A manifest may say apiVersion, kind, metadata.name, .namespace, .labels and .annotations, and
 * every other top-level field of its kind but status. What belongs to the server or to controllers
 * is refused by name.
 *
 * Nothing is copied: the text of a file has to stay for as long as its manifests and their
 * positions are used. All functions are pure; a report and an arena belong to one thread.
 */
#ifndef VD_GIT_MANIFEST_H
#define VD_GIT_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/slice.h"
#include "base/vec.h"
#include "git/documents.h"
#include "git/report.h"
#include "git/repository_config.h"
#include "kinds/kind.h"
#include "kinds/violation.h"
#include "json/document.h"

/* What the name of a file says of it. */
enum vd_git_file_type {
    VD_GIT_FILE_OTHER,
    VD_GIT_FILE_MARKDOWN,
    VD_GIT_FILE_YAML,
    VD_GIT_FILE_JSON,
};

enum vd_git_file_type vd_git_file_type(struct vd_slice path);

/* Whether a file of this path may hold manifests: by its name and by the configuration.
 * .vedette.yaml itself does not. */
bool vd_git_path_counts(const struct vd_repository_config *config, struct vd_slice path);

/* Whether an annotation, or a label, is not for authors: vedette.dev/git-*, vedette.dev/override
 * and vedette.dev/override-user. */
bool vd_git_annotation_is_reserved(struct vd_slice key);

/* The modes of tree entries that are no regular files. */
enum { VD_GIT_MODE_SYMLINK = 0120000, VD_GIT_MODE_SUBMODULE = 0160000, VD_GIT_MODE_TYPE = 0170000 };

/*
 * Whether an entry of a tree is to be read, whose path counts. A symbolic link and a submodule are
 * not, and a warning says so; a file of more than `len_max` bytes (0: VD_GIT_FILE_LEN_DEFAULT) is
 * not, and that is an error.
 */
bool vd_git_entry_check(struct vd_slice path, uint32_t mode, uint64_t len, uint64_t len_max,
                        struct vd_git_report *report) VD_MUST_USE;

/* A file with its bytes, both borrowed. */
struct vd_git_file {
    struct vd_slice path;
    struct vd_slice text;
};

struct vd_git_manifest {
    struct vd_slice api_version; /* "catalog.gitstore.dev/v1beta1", "v1" */
    struct vd_slice group;       /* its part before the slash, or empty */
    struct vd_slice version;
    struct vd_slice kind;      /* "Product" */
    struct vd_slice namespace; /* as written, or of the configuration; may be empty */
    struct vd_slice name;
    struct vd_json *document; /* the arena's: with the labels of the configuration */
    struct vd_slice body;     /* behind the front matter, byte for byte */
    struct vd_yaml_position body_at;
    bool has_body;               /* the file is Markdown and has bytes behind the front matter */
    bool namespace_is_default;   /* of the configuration */
    struct vd_git_source source; /* its path, and where its fields stand */
};

/* `= {0}` is none; released with VD_VEC_RELEASE. */
struct vd_git_manifests {
    VD_VEC(struct vd_git_manifest) list;
};

/*
 * Adds the manifests of the file to *out. What is wrong goes to the report; manifests that cannot
 * be objects are not added. A field that is not for authors is left out, so that the rest of the
 * manifest can be looked at, too. Named are: a file that is too large, binary, not UTF-8, a
 * pointer of Git LFS, front matter without an end, YAML and JSON that cannot be read, keys that
 * come twice, fields that are not for authors, missing names. True if nothing was an error.
 */
bool vd_git_file_read(const struct vd_git_file *file, const struct vd_repository_config *config,
                      struct vd_arena *arena, struct vd_git_manifests *out,
                      struct vd_git_report *report);

/*
 * Makes the document an object of its kind, once the kind is known: sets metadata.namespace of a
 * namespaced kind (that of the manifest, of the configuration, or `namespace`, the repository's
 * own), and the body. Refused are the namespace of a cluster-scoped object, and a body where the
 * kind's schema has no top-level string `body`. m->namespace is then the object's. True if nothing
 * is wrong.
 */
bool vd_git_manifest_complete(struct vd_git_manifest *m, const struct vd_kind *kind,
                              struct vd_slice namespace, struct vd_arena *arena,
                              struct vd_git_report *report) VD_MUST_USE;

/* Where a field of the manifest stands, or its nearest parent that is in the file; `body` stands
 * where the body of the file begins. */
struct vd_yaml_position vd_git_manifest_position(const struct vd_git_manifest *m,
                                                 struct vd_slice field);

/* The same for whoever asks often: `positions` are those of m->source, because reading the document
 * again for each field would take too long. NULL: the place of the document is given. */
struct vd_yaml_position vd_git_manifest_position_in(const struct vd_git_manifest *m,
                                                    struct vd_git_positions *positions,
                                                    struct vd_slice field);

/* Adds an error of the manifest, at the position of the field. */
void vd_git_manifest_refuse(const struct vd_git_manifest *m, struct vd_slice field,
                            struct vd_git_report *report, const char *format, ...) VD_PRINTF(4, 5);

/* Adds all violations of the object that the manifest describes, at their fields' positions. */
void vd_git_manifest_report(const struct vd_git_manifest *m, const struct vd_violations *violations,
                            struct vd_git_report *report);

#endif
