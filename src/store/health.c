/*
 * The store's health: what keeps it from writing, for good or until it passes. Only the writer
 * changes it, and each change for better or worse is one line of the log, with the folder; the
 * sentence itself goes to clients and names no path.
 */
#include "store/health.h"

#include "base/log.h"
#include "store/store_internal.h"

void vd_store_fail(struct vd_store *store, const struct vd_error *error)
{
    pthread_mutex_lock(&store->health_lock);
    store->health.read_only = true;
    store->health.error = *error;
    pthread_mutex_unlock(&store->health_lock);
    atomic_store(&store->read_only, true);
    vd_log_error("the store is read-only until a restart because a write failed",
                 VD_F_STR("folder", store->engine->where), VD_F_ERROR(error));
}

bool vd_store_is_hindered(const struct vd_store *store)
{
    return store->health.full || store->health.locked || store->health.short_of_memory;
}

void vd_store_hinder(struct vd_store *store, const struct vd_error *error)
{
    bool was_hindered = vd_store_is_hindered(store);
    pthread_mutex_lock(&store->health_lock);
    store->health.full = error && error->code == VD_ERR_FULL;
    store->health.locked = error && error->code == VD_ERR_LOCKED;
    store->health.short_of_memory = error && error->code == VD_ERR_MEMORY;
    if (!store->health.read_only)
        store->health.error = error ? *error : store->damage;
    pthread_mutex_unlock(&store->health_lock);
    if (error && !was_hindered)
        vd_log_warn("the store cannot write at the moment",
                    VD_F_STR("folder", store->engine->where), VD_F_ERROR(error));
    else if (!error && was_hindered)
        vd_log_info("the store can write again", VD_F_STR("folder", store->engine->where));
}

void vd_store_probe(struct vd_store *store)
{
    struct vd_error error;
    int code = store->engine->ops->probe(store->engine, &error);
    if (code && !vd_code_passes(code))
        vd_store_fail(store, &error);
    else
        vd_store_hinder(store, code ? &error : NULL);
}

void vd_store_health(struct vd_store *store, struct vd_health *out)
{
    pthread_mutex_lock(&store->health_lock);
    *out = store->health;
    pthread_mutex_unlock(&store->health_lock);
}
