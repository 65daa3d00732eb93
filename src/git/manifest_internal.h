/* The inside of manifests, for the files manifest*.c only. */
#ifndef VD_GIT_MANIFEST_INTERNAL_H
#define VD_GIT_MANIFEST_INTERNAL_H

#include "git/documents.h"
#include "git/manifest.h"

/*
 * Makes the manifest of a document, with the defaults of the configuration. False if it is none, or
 * if something is wrong, which is reported.
 */
bool vd_git_manifest_read(struct vd_git_manifest *m, const struct vd_git_document *document,
                          const struct vd_repository_config *config, struct vd_arena *arena,
                          struct vd_git_report *report) VD_MUST_USE;

/* Adds what is wrong with the fields of the document: those that are not for authors, and types of
 * metadata. Members of metadata that are null are taken out. */
void vd_git_manifest_check_fields(struct vd_json *document, struct vd_violations *out);

#endif
