/*
 * See tables.h. A map from the address of a kind to its table, which holds the kind,
 * so that the address stays its own. A newer set empties the map.
 */
#include "kube/table/tables.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash_map.h"

struct kept {
    const struct vd_kind *kind;
    struct vd_table *table; /* a reference */
};

struct vd_tables {
    /* Guards what follows, and is held while a table is made. Taken after no other
     * lock and before none. */
    pthread_mutex_t lock;
    uint64_t generation;
    struct vd_hash_map map; /* of struct kept */
};

static struct vd_slice key_of(const void *item)
{
    const struct kept *kept = item;
    return vd_slice(&kept->kind, sizeof kept->kind);
}

static void forget_all(struct vd_tables *tables)
{
    size_t at = 0;
    for (struct kept *kept; (kept = vd_hash_map_next(&tables->map, &at));) {
        vd_table_unref(kept->table);
        free(kept);
    }
    vd_hash_map_release(&tables->map);
    vd_hash_map_init(&tables->map, key_of);
}

struct vd_tables *vd_tables_new(void)
{
    struct vd_tables *tables = VD_NEW(struct vd_tables);
    pthread_mutex_init(&tables->lock, NULL);
    vd_hash_map_init(&tables->map, key_of);
    return tables;
}

void vd_tables_free(struct vd_tables *tables)
{
    if (!tables)
        return;
    forget_all(tables);
    vd_hash_map_release(&tables->map);
    pthread_mutex_destroy(&tables->lock);
    free(tables);
}

static void keep(struct vd_tables *tables, struct vd_table *table)
{
    struct kept *kept = VD_NEW(struct kept);
    *kept = (struct kept){vd_table_kind(table), vd_table_ref(table)};
    vd_hash_map_put(&tables->map, kept);
}

struct vd_table *vd_tables_get(struct vd_tables *tables, const struct vd_kind_set *set,
                               const struct vd_kind *kind)
{
    uint64_t generation = vd_kind_set_generation(set);
    struct vd_table *table;
    pthread_mutex_lock(&tables->lock);
    if (generation > tables->generation) {
        forget_all(tables);
        tables->generation = generation;
    }
    struct kept *kept = vd_hash_map_get(&tables->map, vd_slice(&kind, sizeof kind));
    if (kept) {
        table = vd_table_ref(kept->table);
    } else {
        table = vd_table_new((struct vd_kind *)(uintptr_t)kind); /* for its count only */
        if (generation == tables->generation)
            keep(tables, table);
    }
    pthread_mutex_unlock(&tables->lock);
    return table;
}
