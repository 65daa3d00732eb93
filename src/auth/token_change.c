/*
 * See token.h: making and revoking tokens.
 *
 * A change reads the file, writes another one and renames it into place, all
 * under an flock on DIR/tokens.lock. The lock file stays: removing it would let
 * two processes lock two files of one name.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/file.h>
#include <unistd.h>

#include "auth/private_file.h"
#include "auth/token.h"
#include "auth/token_internal.h"
#include "base/base64.h"
#include "base/errno_advice.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "json/escape.h"

enum { ID_BYTES = 6 }; /* random bytes of a token's id */

/* Expired tokens are listed for a week, so that one can see why a client fails. */
static const int64_t keep_expired_ms = INT64_C(7) * 24 * 3600 * 1000;

static void add_hex(struct vd_buf *out, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        vd_buf_addf(out, "%02x", bytes[i]);
}

static void write_entry(struct vd_buf *out, const struct vd_token *t,
                        const unsigned char hash[VD_TOKEN_HASH_LEN])
{
    vd_buf_add_text(out, "{\"id\":");
    vd_escape_write(out, t->id);
    vd_buf_add_text(out, ",\"hash\":\"");
    add_hex(out, hash, VD_TOKEN_HASH_LEN);
    vd_buf_add_text(out, "\",\"user\":");
    vd_escape_write(out, t->user);
    vd_buf_add_text(out, ",\"groups\":[");
    for (size_t i = 0; i < t->groups_n; i++) {
        if (i)
            vd_buf_add_char(out, ',');
        vd_escape_write(out, t->groups[i]);
    }
    vd_buf_addf(out, "],\"created\":%lld", (long long)t->created_ms);
    if (t->expires_ms)
        vd_buf_addf(out, ",\"expires\":%lld", (long long)t->expires_ms);
    if (t->description.n) {
        vd_buf_add_text(out, ",\"description\":");
        vd_escape_write(out, t->description);
    }
    vd_buf_add_text(out, "}\n");
}

/* ---- the lock ---- */

static int lock_take(const char *folder, int *fd, struct vd_error *error)
{
    struct vd_buf path = {0};
    int code = VD_OK;
    vd_buf_addf(&path, "%s/tokens.lock", folder);
    int opened = open(vd_buf_text(&path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                      VD_FILE_MODE_SECRET);
    int locked = -1;
    if (opened >= 0)
        while ((locked = flock(opened, LOCK_EX)) != 0 && errno == EINTR)
            continue;
    if (locked != 0) {
        code = vd_error_set(error, VD_ERR_IO, "could not lock %s: %s%s", vd_buf_text(&path),
                            strerror(errno), vd_errno_advice(errno));
        if (opened >= 0)
            close(opened);
    } else {
        *fd = opened;
    }
    vd_buf_release(&path);
    return code;
}

/* ---- changes ---- */

/* Writes the lines of all tokens but `leave_out` and those that expired long ago. Returns whether
 * `leave_out` was among them. */
static bool write_others(struct vd_buf *out, const struct vd_token_set *set,
                         struct vd_slice leave_out, int64_t now_ms)
{
    bool found = false;
    for (size_t i = 0; i < vd_token_set_count(set); i++) {
        const struct vd_token_entry *e = vd_token_set_entry(set, i);
        const struct vd_token *t = &e->token;
        if (leave_out.n && vd_slice_eq(t->id, leave_out))
            found = true;
        else if (!t->expires_ms || now_ms < t->expires_ms + keep_expired_ms)
            write_entry(out, t, e->hash);
    }
    return found;
}

static int write_file(const char *folder, struct vd_slice text, struct vd_error *error)
{
    struct vd_buf path = {0};
    vd_buf_addf(&path, "%s/tokens", folder);
    int code = vd_private_file_replace(vd_buf_text(&path), text, VD_FILE_MODE_SECRET, error);
    vd_buf_release(&path);
    return code;
}

static bool is_name(struct vd_slice text)
{
    if (!text.n || text.n > VD_USER_NAME_LEN_MAX || !vd_utf8_is_valid(text))
        return false;
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f)
            return false;
    return true;
}

/* Names that only the server itself may give to users: a token with one of them would pass for a
 * user or group that it is not. */
static const struct reserved {
    const char *option, *name;
    bool prefix; /* all names that begin with it are reserved, too */
    const char *why;
} reserved[] = {
    {"--user", VD_USER_ANONYMOUS, false, "is whoever has no credential: give another name"},
    {"--user", "system:serviceaccount:", true,
     "is a ServiceAccount: make its token with 'kubectl create token'"},
    {"--groups", VD_GROUP_UNAUTHENTICATED, false, "is for whoever has no credential: leave it out"},
    {"--groups", "system:serviceaccounts", false,
     "is for ServiceAccounts: leave it out, or make a token with 'kubectl create token'"},
    {"--groups", "system:serviceaccounts:", true,
     "is for ServiceAccounts: leave it out, or make a token with 'kubectl create token'"},
};

static int check_reserved(const char *option, struct vd_slice name, struct vd_error *error)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        const struct reserved *r = &reserved[i];
        if (strcmp(option, r->option) == 0 &&
            (r->prefix ? vd_slice_starts_with(name, vd_slice_of(r->name))
                       : vd_slice_is(name, r->name)))
            return vd_error_set(error, VD_ERR_INVALID, "%s %.*s %s", option, VD_FMT(name), r->why);
    }
    return VD_OK;
}

static int check_wish(const struct vd_token_spec *spec, struct vd_error *error)
{
    if (!is_name(spec->user))
        return vd_error_set(error, VD_ERR_INVALID,
                            "the token's user must be 1 to %d bytes of UTF-8 without control "
                            "characters",
                            VD_USER_NAME_LEN_MAX);
    for (size_t i = 0; i < spec->groups_n; i++)
        if (!is_name(spec->groups[i]))
            return vd_error_set(
                error, VD_ERR_INVALID,
                "a group of the token must be 1 to %d bytes of UTF-8 without control "
                "characters; give them as a,b,c",
                VD_USER_NAME_LEN_MAX);
    if (spec->groups_n > VD_USER_GROUPS_MAX)
        return vd_error_set(error, VD_ERR_LIMIT, "a token can be in %d groups at most",
                            VD_USER_GROUPS_MAX);
    if (spec->description.n && !is_name(spec->description))
        return vd_error_set(error, VD_ERR_INVALID,
                            "the token's description must be one line of UTF-8, %d bytes at most",
                            VD_USER_NAME_LEN_MAX);
    if (spec->lifetime_ms < 0)
        return vd_error_set(error, VD_ERR_INVALID, "the token's lifetime is negative");
    int code = check_reserved("--user", spec->user, error);
    for (size_t i = 0; !code && i < spec->groups_n; i++)
        code = check_reserved("--groups", spec->groups[i], error);
    return code;
}

/* A new id that the set does not have. */
static void make_id(struct vd_buf *id, const struct vd_token_set *set)
{
    do {
        unsigned char bytes[ID_BYTES];
        vd_random_bytes(bytes, sizeof bytes);
        vd_buf_reset(id);
        add_hex(id, bytes, sizeof bytes);
    } while (vd_token_set_find(set, vd_buf_slice(id)));
}

static void make_token(struct vd_buf *token)
{
    unsigned char secret[VD_TOKEN_SECRET_LEN];
    vd_random_bytes(secret, sizeof secret);
    vd_buf_add_text(token, VD_TOKEN_PREFIX);
    vd_base64_encode(token, vd_slice(secret, sizeof secret), VD_BASE64_URL);
    OPENSSL_cleanse(secret, sizeof secret);
}

static int add_token(const char *folder, const struct vd_token_spec *spec, int64_t now_ms,
                     struct vd_slice token, struct vd_buf *id, struct vd_error *error)
{
    struct vd_token_set *set = NULL;
    struct vd_buf file = {0};
    unsigned char hash[VD_TOKEN_HASH_LEN];
    int code = vd_token_set_load(&set, folder, error);
    if (code)
        return code;
    if (vd_token_set_count(set) >= VD_TOKENS_MAX) {
        code = vd_error_set(error, VD_ERR_LIMIT, "there are %d tokens already: revoke some",
                            VD_TOKENS_MAX);
        goto out;
    }
    make_id(id, set);
    vd_token_hash(token, hash);
    write_others(&file, set, vd_slice("", 0), now_ms);
    write_entry(&file,
                &(struct vd_token){
                    .id = vd_buf_slice(id),
                    .user = spec->user,
                    .groups = spec->groups,
                    .groups_n = spec->groups_n,
                    .description = spec->description,
                    .created_ms = now_ms,
                    .expires_ms = spec->lifetime_ms ? now_ms + spec->lifetime_ms : 0,
                },
                hash);
    code = write_file(folder, vd_buf_slice(&file), error);
out:
    vd_buf_release(&file);
    vd_token_set_unref(set);
    return code;
}

int vd_token_create(const char *folder, const struct vd_token_spec *spec,
                    const struct vd_clock *clock, struct vd_buf *token, struct vd_buf *id,
                    struct vd_error *error)
{
    struct vd_buf made = {0}, made_id = {0};
    int fd = -1;
    int code = check_wish(spec, error);
    if (!code)
        code = lock_take(folder, &fd, error);
    if (code)
        return code;
    make_token(&made);
    code = add_token(folder, spec, vd_clock_wall_ms(clock), vd_buf_slice(&made), &made_id, error);
    close(fd);
    if (!code) {
        vd_buf_add_slice(token, vd_buf_slice(&made));
        vd_buf_add_slice(id, vd_buf_slice(&made_id));
    }
    OPENSSL_cleanse(made.p, made.n);
    vd_buf_release(&made);
    vd_buf_release(&made_id);
    return code;
}

int vd_token_revoke(const char *folder, struct vd_slice id, const struct vd_clock *clock,
                    struct vd_error *error)
{
    struct vd_token_set *set = NULL;
    struct vd_buf file = {0};
    int fd = -1;
    int code = lock_take(folder, &fd, error);
    if (code)
        return code;
    code = vd_token_set_load(&set, folder, error);
    if (!code && !write_others(&file, set, id, vd_clock_wall_ms(clock)))
        code = vd_error_set(error, VD_ERR_NOT_FOUND,
                            "there is no token %.*s: 'vedette token list' shows their ids",
                            VD_FMT(vd_utf8_cut(id, 64)));
    if (!code)
        code = write_file(folder, vd_buf_slice(&file), error);
    close(fd);
    vd_buf_release(&file);
    vd_token_set_unref(set);
    return code;
}
