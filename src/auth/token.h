/*
 * Opaque bearer tokens: `vd_` and 43 characters that carry 32 random bytes.
 *
 * The file DIR/tokens (mode 0600) has one JSON object in each line, with the
 * SHA-256 of the token and never the token itself:
 *
 *     {"id":"7c0e5a91d2f4","hash":"<64 hex digits>","user":"ann","groups":["dev"],
 *      "created":1794735590123,"expires":1794739190123,"description":"laptop"}
 *
 * Times are milliseconds since 1970; `expires`, `groups` and `description` may
 * be missing. Changes are made to the file, under a lock that processes share
 * (DIR/tokens.lock), so the command line and a server may both make them. A
 * server reads the file into an immutable set, shared by reference count, and
 * replaces the set when vd_token_set_is_current says no.
 *
 * No function logs a token or puts one into an error.
 */
#ifndef VD_AUTH_TOKEN_H
#define VD_AUTH_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auth/user.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/slice.h"

/* What every token starts with: tells it from a JWT, and lets scanners find
 * one that leaked. */
#define VD_TOKEN_PREFIX "vd_"

struct vd_token {
    struct vd_slice id;
    struct vd_slice user;
    const struct vd_slice *groups;
    size_t groups_n;
    struct vd_slice description;
    int64_t created_ms;
    int64_t expires_ms; /* 0: never */
};

/* ---- the set: what a server looks tokens up in ---- */

struct vd_token_set;

/* Reads DIR/tokens; a missing file is an empty set. One reference. A line that
 * cannot be read is VD_ERR_CORRUPT with its number. */
int vd_token_set_load(struct vd_token_set **out, const char *folder,
                      struct vd_error *error) VD_MUST_USE;
struct vd_token_set *vd_token_set_ref(struct vd_token_set *set);
void vd_token_set_unref(struct vd_token_set *set); /* NULL is fine */

/* Whether the file is still the one that the set was read from, by inode, size
 * and change time: one stat. */
bool vd_token_set_is_current(const struct vd_token_set *set, const char *folder);

size_t vd_token_set_count(const struct vd_token_set *set);

/* In the order of the file; borrowed until the set is freed. */
const struct vd_token *vd_token_set_at(const struct vd_token_set *set, size_t i);

/* The token with this id, or NULL: so a stream can ask whether its token still exists. */
const struct vd_token *vd_token_set_find(const struct vd_token_set *set, struct vd_slice id);

/*
 * The user whom a bearer token stands for, with a reference for the caller. VD_ERR_NOT_FOUND: no
 * such token. VD_ERR_EXPIRED: it has expired. The time that this takes does not depend on how much
 * of a guessed token is right.
 */
int vd_token_set_authenticate(const struct vd_token_set *set, struct vd_slice token, int64_t now_ms,
                              struct vd_user **out, struct vd_error *error) VD_MUST_USE;

/* ---- changes ---- */

struct vd_token_spec {
    struct vd_slice user;
    const struct vd_slice *groups;
    size_t groups_n;
    struct vd_slice description;
    int64_t lifetime_ms; /* 0: for ever */
};

/* Makes a token and adds it to the file. The token, which cannot be shown again, is added to
 * `token`; its id to `id`. Tokens are removed from the file a week after they expired.
 * VD_ERR_INVALID: a name or group is malformed, or reserved for the server. */
int vd_token_create(const char *folder, const struct vd_token_spec *spec,
                    const struct vd_clock *clock, struct vd_buf *token, struct vd_buf *id,
                    struct vd_error *error) VD_MUST_USE;

/* Revokes a token. VD_ERR_NOT_FOUND: no token has this id. */
int vd_token_revoke(const char *folder, struct vd_slice id, const struct vd_clock *clock,
                    struct vd_error *error) VD_MUST_USE;

#endif
