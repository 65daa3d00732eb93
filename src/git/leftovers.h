/*
 * What git processes leave in a repository when they are killed, and its removal:
 *
 *     *.lock                                 of refs, of packed-refs, of HEAD and of the settings
 *     objects/tmp_objdir-incoming-*          what a push has sent, in quarantine
 *     objects/pack/tmp_*, .tmp-*             packs that were being written
 *     gc.pid, gc.log                         of `git gc`, which would keep the next one from
 * running
 *
 * All functions wait for the disk: for a thread that may.
 */
#ifndef VD_GIT_LEFTOVERS_H
#define VD_GIT_LEFTOVERS_H

#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"

/* Removes all of it. No git process of this server may use the folder; a `git gc` that has outlived
 * the server before this one is ended first. */
int vd_leftovers_remove(const char *root, const char *uid, struct vd_error *error) VD_MUST_USE;

/* Removes what killed pushes have sent: quarantines that nothing was written to since this time (of
 * the wall clock). Pushes that were begun later may be under way. */
int vd_leftovers_remove_quarantines(const char *root, const char *uid, int64_t until_ms,
                                    struct vd_error *error) VD_MUST_USE;

/* Removes the packs that a killed `git gc` was writing: what nobody has written to since this time.
 * No fetch may be under way; pushes may. */
int vd_leftovers_remove_packs(const char *root, const char *uid, int64_t until_ms,
                              struct vd_error *error) VD_MUST_USE;

#endif
