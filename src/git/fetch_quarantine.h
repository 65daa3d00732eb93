/*
 * The quarantine of a fetch: a folder of its own, `objects/tmp_objdir-fetch` of the repository,
 * into which git writes what a remote sends. When all of it has come and is good, its packs are
 * moved to those of the repository; else the folder is removed, and nothing is left of the fetch.
 * There is at most one fetch of a repository at a time. What a server that dies leaves of it, the
 * next one removes (git/leftovers.h).
 *
 * All functions but the first two wait for the disk: for a thread that may.
 */
#ifndef VD_GIT_FETCH_QUARANTINE_H
#define VD_GIT_FETCH_QUARANTINE_H

#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"

/* Adds the path of the quarantine of the bare repository in `folder`: its GIT_OBJECT_DIRECTORY. */
void vd_fetch_quarantine_path(struct vd_buf *out, const char *folder);

/* Adds what lets git read the objects of the repository as well: its
 * GIT_ALTERNATE_OBJECT_DIRECTORIES. */
void vd_fetch_quarantine_alternates(struct vd_buf *out, const char *folder);

/* Makes it; one that is there is removed before. */
int vd_fetch_quarantine_make(const char *folder, struct vd_error *error) VD_MUST_USE;

/* Bytes of the packs in it. */
uint64_t vd_fetch_quarantine_len(const char *folder);

/* Moves its packs to those of the repository, and removes it. */
int vd_fetch_quarantine_admit(const char *folder, struct vd_error *error) VD_MUST_USE;

int vd_fetch_quarantine_remove(const char *folder, struct vd_error *error) VD_MUST_USE;

#endif
