/*
 * Reading one object, and which objects a list or a stream is about. The face's user may be asked
 * about here, or the face has asked for its request as a whole before.
 */
#ifndef VD_API_READ_H
#define VD_API_READ_H

#include "api/env.h"
#include "auth/access.h"
#include "base/arena.h"
#include "kinds/kind.h"
#include "store/event.h"
#include "watch/filter.h"

/* VD_ERR_FORBIDDEN, with the sentence that refuses it, unless the user may do this. */
int vd_api_authorize(const struct vd_api_env *env, const struct vd_access *access,
                     struct vd_error *error) VD_MUST_USE;

/*
 * The object as of now: one reference in *out, whose body is the stored bytes. kinds/served_form.h
 * makes of them what another version of the kind shows, and api/conversion.h what only a webhook
 * can make; a listing of one name does both. VD_ERR_NOT_FOUND; VD_ERR_FUTURE: the store has not
 * reached the revision `not_older` (0: any), for which api/revision_wait.h waits; VD_ERR_CORRUPT.
 */
int vd_api_get(const struct vd_api_env *env, const struct vd_key *key, uint64_t not_older,
               struct vd_event **out, struct vd_error *error) VD_MUST_USE;

/* VD_ERR_FUTURE if the store has not reached the revision. */
int vd_api_check_revision(const struct vd_api_env *env, uint64_t revision,
                          struct vd_error *error) VD_MUST_USE;

/* The newest revision that this process has. */
uint64_t vd_api_revision(const struct vd_api_env *env);

/* Which objects of a kind. Empty texts and NULLs select all. */
struct vd_selection {
    const struct vd_kind *kind;
    struct vd_slice namespace;        /* the namespace; left out for a kind that has none */
    struct vd_slice name;             /* one object */
    struct vd_selector *labels;       /* borrowed */
    struct vd_field_selector *fields; /* likewise, with the fields' names in the kind's version */
    uint32_t format; /* the face's own number of its encoding: streams share bytes if it is equal */
};

/*
 * The filter of a selection: one reference in *out. The arena is for the call. VD_ERR_INVALID: a
 * field that cannot be selected by, in Kubernetes' words. A field is looked for where the stored
 * version has it.
 */
int vd_api_filter(struct vd_filter **out, const struct vd_selection *selection,
                  struct vd_arena *arena, struct vd_error *error) VD_MUST_USE;

#endif
