/*
 * See token.h: the set of tokens and the look-up in it.
 *
 * The look-up hashes the whole token first, so nobody can choose the bytes by which the map is
 * searched without inverting SHA-256; the map's key is the hash's first half, and all of it is then
 * compared in constant time.
 */
#include "auth/token.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/stat.h>

#include "auth/private_file.h"
#include "auth/token_internal.h"
#include "base/alloc.h"
#include "base/hash_map.h"
#include "base/limits.h"
#include "base/vec.h"
#include "json/parse.h"

struct vd_token_set {
    struct vd_refcount count;
    struct vd_arena arena;
    VD_VEC(struct vd_token_entry *) entries;
    struct vd_hash_map by_hash, by_id;
    struct stat file; /* st_ino 0: there was none */
};

static struct vd_slice key_hash(const void *item)
{
    const struct vd_token_entry *e = item;
    return vd_slice(e->hash, VD_TOKEN_HASH_LEN / 2);
}

static struct vd_slice key_id(const void *item)
{
    return ((const struct vd_token_entry *)item)->token.id;
}

/* ---- reading ---- */

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hash(struct vd_slice text, unsigned char out[VD_TOKEN_HASH_LEN])
{
    if (text.n != (size_t)2 * VD_TOKEN_HASH_LEN)
        return false;
    for (size_t i = 0; i < VD_TOKEN_HASH_LEN; i++) {
        int high = hex_value(text.p[2 * i]), low = hex_value(text.p[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static bool read_groups(struct vd_arena *a, const struct vd_json *list, struct vd_token *token)
{
    size_t n = 0;
    if (list && !vd_json_is(list, VD_JSON_ARRAY))
        return false;
    struct vd_slice *groups = vd_arena_alloc(a, vd_json_count(list) * sizeof *groups);
    VD_JSON_EACH (item, list) {
        if (!vd_json_is(item, VD_JSON_STRING))
            return false;
        groups[n++] = vd_json_text(item);
    }
    token->groups = groups;
    token->groups_n = n;
    return true;
}

static bool read_time(const struct vd_json *line, struct vd_slice key, bool needed, int64_t *out)
{
    const struct vd_json *v = vd_json_get(line, key);
    *out = 0;
    return v ? vd_json_to_i64(v, out) && *out >= 0 : !needed;
}

static bool read_entry(struct vd_arena *a, const struct vd_json *line, struct vd_token_entry *e)
{
    struct vd_token *t = &e->token;
    t->id = vd_json_text(vd_json_get(line, VD_SLICE("id")));
    t->user = vd_json_text(vd_json_get(line, VD_SLICE("user")));
    t->description = vd_json_text(vd_json_get(line, VD_SLICE("description")));
    return t->id.n && t->user.n &&
           read_hash(vd_json_text(vd_json_get(line, VD_SLICE("hash"))), e->hash) &&
           read_groups(a, vd_json_get(line, VD_SLICE("groups")), t) &&
           read_time(line, VD_SLICE("created"), true, &t->created_ms) &&
           read_time(line, VD_SLICE("expires"), false, &t->expires_ms);
}

static int read_line(struct vd_token_set *set, struct vd_slice text, const char *path,
                     size_t number, struct vd_error *error)
{
    struct vd_token_entry *e = vd_arena_alloc(&set->arena, sizeof *e);
    struct vd_json_options strict = {.duplicates = VD_JSON_DUPLICATES_REJECT};
    struct vd_json *line;
    atomic_init(&e->cached_user, NULL);
    /* The parser's own sentence could show the file's bytes; this one does not. */
    if (vd_json_parse_copy(&set->arena, text, &strict, &line, NULL) ||
        !read_entry(&set->arena, line, e))
        return vd_error_set(error, VD_ERR_CORRUPT,
                            "line %zu of %s is no token: remove the line, or restore the file",
                            number, path);
    if (vd_hash_map_get(&set->by_id, e->token.id) || vd_hash_map_get(&set->by_hash, key_hash(e)))
        return vd_error_set(error, VD_ERR_CORRUPT,
                            "line %zu of %s is there twice: remove one of the two", number, path);
    vd_hash_map_put(&set->by_id, e);
    vd_hash_map_put(&set->by_hash, e);
    *VD_VEC_PUSH(&set->entries) = e;
    return VD_OK;
}

static int read_lines(struct vd_token_set *set, struct vd_slice text, const char *path,
                      struct vd_error *error)
{
    struct vd_slice rest = text, line;
    int code = VD_OK;
    for (size_t number = 1; !code && vd_slice_cut(&rest, '\n', &line); number++) {
        if (!vd_slice_trim(line).n)
            continue;
        if (set->entries.n >= VD_TOKENS_MAX)
            return vd_error_set(error, VD_ERR_LIMIT, "%s has more than %d tokens", path,
                                VD_TOKENS_MAX);
        code = read_line(set, line, path, number, error);
    }
    return code;
}

int vd_token_set_load(struct vd_token_set **out, const char *folder, struct vd_error *error)
{
    struct vd_token_set *set = VD_NEW(struct vd_token_set);
    struct vd_buf path = {0}, text = {0};
    vd_refcount_init(&set->count);
    vd_hash_map_init(&set->by_hash, key_hash);
    vd_hash_map_init(&set->by_id, key_id);
    vd_buf_addf(&path, "%s/tokens", folder);
    /* The file's state is taken before the file is read: a change in between is then noticed at the
     * next check. */
    if (stat(vd_buf_text(&path), &set->file) != 0)
        set->file = (struct stat){0};
    int code = vd_private_file_read(&text, vd_buf_text(&path), VD_TOKEN_FILE_LEN_MAX, error);
    if (code == VD_ERR_NOT_FOUND)
        code = VD_OK;
    else if (!code)
        code = read_lines(set, vd_buf_slice(&text), vd_buf_text(&path), error);
    vd_buf_release(&text);
    vd_buf_release(&path);
    if (code)
        vd_token_set_unref(set);
    else
        *out = set;
    return code;
}

struct vd_token_set *vd_token_set_ref(struct vd_token_set *set)
{
    vd_ref(&set->count);
    return set;
}

void vd_token_set_unref(struct vd_token_set *set)
{
    if (!set || !vd_unref(&set->count))
        return;
    for (size_t i = 0; i < set->entries.n; i++)
        vd_user_unref(atomic_load(&set->entries.p[i]->cached_user));
    vd_hash_map_release(&set->by_hash);
    vd_hash_map_release(&set->by_id);
    VD_VEC_RELEASE(&set->entries);
    vd_arena_release(&set->arena);
    free(set);
}

bool vd_token_set_is_current(const struct vd_token_set *set, const char *folder)
{
    struct vd_buf path = {0};
    struct stat now;
    vd_buf_addf(&path, "%s/tokens", folder);
    if (stat(vd_buf_text(&path), &now) != 0)
        now = (struct stat){0};
    vd_buf_release(&path);
    const struct stat *was = &set->file;
    return now.st_ino == was->st_ino && now.st_dev == was->st_dev && now.st_size == was->st_size &&
           now.st_mtim.tv_sec == was->st_mtim.tv_sec && now.st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

/* ---- looking up ---- */

size_t vd_token_set_count(const struct vd_token_set *set)
{
    return set->entries.n;
}

const struct vd_token *vd_token_set_at(const struct vd_token_set *set, size_t i)
{
    return &set->entries.p[i]->token;
}

const struct vd_token_entry *vd_token_set_entry(const struct vd_token_set *set, size_t i)
{
    return set->entries.p[i];
}

const struct vd_token *vd_token_set_find(const struct vd_token_set *set, struct vd_slice id)
{
    const struct vd_token_entry *e = vd_hash_map_get(&set->by_id, id);
    return e ? &e->token : NULL;
}

void vd_token_hash(struct vd_slice token, unsigned char out[VD_TOKEN_HASH_LEN])
{
    SHA256((const unsigned char *)token.p, token.n, out);
}

static struct vd_user *user_of(const struct vd_token *token)
{
    struct vd_buf id = {0};
    vd_buf_addf(&id, "TOKEN=%.*s", VD_FMT(token->id));
    struct vd_user *user = vd_user_new(&(struct vd_identity){
        .name = token->user,
        .groups = token->groups,
        .groups_n = token->groups_n,
        .method = VD_AUTH_TOKEN,
        .expires_ms = token->expires_ms,
        .credential_id = vd_buf_slice(&id),
    });
    vd_buf_release(&id);
    return user;
}

/* The token's user is made by the first request that brings it, and shared by all later
 * ones and their streams: thousands of watches with one token have one user. */
static struct vd_user *known_user(struct vd_token_entry *e)
{
    struct vd_user *user = atomic_load(&e->cached_user), *other = NULL;
    if (user)
        return vd_user_ref(user);
    user = user_of(&e->token);
    if (atomic_compare_exchange_strong(&e->cached_user, &other, user))
        return vd_user_ref(user);
    vd_user_unref(user); /* another thread was first */
    return vd_user_ref(other);
}

int vd_token_set_authenticate(const struct vd_token_set *set, struct vd_slice token, int64_t now_ms,
                              struct vd_user **out, struct vd_error *error)
{
    unsigned char hash[VD_TOKEN_HASH_LEN];
    if (token.n != VD_TOKEN_LEN || !vd_slice_starts_with(token, VD_SLICE(VD_TOKEN_PREFIX)))
        return vd_error_set(error, VD_ERR_NOT_FOUND, "the bearer token is not one of this server");
    vd_token_hash(token, hash);
    struct vd_token_entry *e = vd_hash_map_get(&set->by_hash,
                                               vd_slice(hash, VD_TOKEN_HASH_LEN / 2));
    if (!e || CRYPTO_memcmp(e->hash, hash, sizeof hash) != 0)
        return vd_error_set(error, VD_ERR_NOT_FOUND, "the bearer token is unknown, or was revoked");
    if (e->token.expires_ms && now_ms >= e->token.expires_ms)
        return vd_error_set(error, VD_ERR_EXPIRED, "the bearer token %.*s has expired",
                            VD_FMT(e->token.id));
    *out = known_user(e);
    return VD_OK;
}
