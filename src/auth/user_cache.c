/*
 * See user_cache.h.
 *
 * The entries are a ring in the order in which they came; a map finds them by hash. An entry that
 * is out of date stays, without a user, until the ring reaches it again, so that nothing has to be
 * moved.
 */
#include "auth/user_cache.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/hash_map.h"

struct entry {
    uint64_t hash[2];
    struct vd_user *user; /* NULL: the entry is free */
    int64_t since_ms;
};

struct vd_user_cache {
    struct vd_hash_map by_hash;
    int64_t ttl_ms;
    size_t entries_max;
    size_t next; /* the entry that is used next */
    struct entry entries[];
};

static struct vd_slice key_of(const void *item)
{
    return vd_slice(((const struct entry *)item)->hash, sizeof(uint64_t[2]));
}

struct vd_user_cache *vd_user_cache_new(size_t entries_max, int64_t ttl_ms)
{
    assert(entries_max > 0);
    struct vd_user_cache *cache = vd_calloc(1,
                                            sizeof *cache + entries_max * sizeof cache->entries[0]);
    vd_hash_map_init(&cache->by_hash, key_of);
    cache->entries_max = entries_max;
    cache->ttl_ms = ttl_ms;
    return cache;
}

static void entry_drop(struct vd_user_cache *cache, struct entry *e)
{
    if (!e->user)
        return;
    vd_hash_map_remove(&cache->by_hash, key_of(e));
    vd_user_unref(e->user);
    e->user = NULL;
}

void vd_user_cache_clear(struct vd_user_cache *cache)
{
    for (size_t i = 0; i < cache->entries_max; i++)
        entry_drop(cache, &cache->entries[i]);
}

void vd_user_cache_free(struct vd_user_cache *cache)
{
    if (!cache)
        return;
    vd_user_cache_clear(cache);
    vd_hash_map_release(&cache->by_hash);
    free(cache);
}

static struct entry *find(struct vd_user_cache *cache, struct vd_slice token, uint64_t hash[2])
{
    vd_hash_bytes_wide(token.p, token.n, hash);
    return vd_hash_map_get(&cache->by_hash, vd_slice(hash, sizeof(uint64_t[2])));
}

struct vd_user *vd_user_cache_get(struct vd_user_cache *cache, struct vd_slice token,
                                  int64_t now_ms)
{
    uint64_t hash[2];
    struct entry *e = find(cache, token, hash);
    if (!e)
        return NULL;
    /* A clock that was set back must not make an entry live longer. */
    if (now_ms < e->since_ms || now_ms - e->since_ms >= cache->ttl_ms ||
        vd_user_has_expired(e->user, now_ms)) {
        entry_drop(cache, e);
        return NULL;
    }
    return vd_user_ref(e->user);
}

void vd_user_cache_put(struct vd_user_cache *cache, struct vd_slice token, struct vd_user *user,
                       int64_t now_ms)
{
    uint64_t hash[2];
    struct entry *known = find(cache, token, hash);
    if (known)
        entry_drop(cache, known);
    struct entry *e = &cache->entries[cache->next];
    cache->next = (cache->next + 1) % cache->entries_max;
    entry_drop(cache, e);
    memcpy(e->hash, hash, sizeof e->hash);
    e->user = vd_user_ref(user);
    e->since_ms = now_ms;
    vd_hash_map_put(&cache->by_hash, e);
}
