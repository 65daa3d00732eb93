/* See ownership.h. */
#include "server/ownership.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "kinds/object_meta.h"
#include "kinds/uid.h"

static struct vd_slice owner_key(const void *item)
{
    const struct vd_owner_node *owner = item;
    return vd_slice((const char *)owner->uid.bytes, VD_UID_LEN);
}

static struct vd_slice dependent_key(const void *item)
{
    const struct vd_dependent *d = item;
    return vd_slice(d->key.bytes, d->key.len);
}

void vd_ownership_init(struct vd_ownership *o, struct vd_reconciler *owners,
                       struct vd_reconciler *dependents)
{
    *o = (struct vd_ownership){.owner_reconciler = owners, .dependent_reconciler = dependents};
    vd_hash_map_init(&o->owners, owner_key);
    vd_hash_map_init(&o->dependents, dependent_key);
}

static void owner_free(struct vd_owner_node *owner)
{
    free(owner->key.bytes);
    free(owner);
}

static void dependent_free(struct vd_dependent *d)
{
    free(d->key.bytes);
    free(d->links);
    free(d);
}

void vd_ownership_release(struct vd_ownership *o)
{
    size_t at = 0;
    for (struct vd_owner_node *owner; (owner = vd_hash_map_next(&o->owners, &at));)
        owner_free(owner);
    at = 0;
    for (struct vd_dependent *d; (d = vd_hash_map_next(&o->dependents, &at));)
        dependent_free(d);
    vd_hash_map_release(&o->owners);
    vd_hash_map_release(&o->dependents);
    vd_buf_release(&o->scratch);
}

/* ---- keys ---- */

static void write_key(struct vd_buf *out, const struct vd_key *key)
{
    vd_buf_reset(out);
    vd_buf_add_slice(out, key->resource);
    vd_buf_add_char(out, '\0');
    vd_buf_add_slice(out, key->namespace);
    vd_buf_add_char(out, '/');
    vd_buf_add_slice(out, key->name);
}

static void keep_key(struct vd_kept_key *kept, const struct vd_key *key)
{
    struct vd_buf bytes = {0};
    write_key(&bytes, key);
    *kept = (struct vd_kept_key){.len = bytes.n, .bytes = bytes.p};
    const char *namespace = bytes.p + key->resource.n + 1;
    kept->key = (struct vd_key){vd_slice(bytes.p, key->resource.n),
                                vd_slice(namespace, key->namespace.n),
                                vd_slice(namespace + key->namespace.n + 1, key->name.n)};
}

void vd_owner_name(struct vd_owner_node *owner, const struct vd_key *key)
{
    if (!owner->key.bytes)
        keep_key(&owner->key, key);
}

/* ---- nodes ---- */

struct vd_owner_node *vd_ownership_owner(const struct vd_ownership *o, struct vd_uid uid)
{
    return vd_hash_map_get(&o->owners, vd_slice((const char *)uid.bytes, VD_UID_LEN));
}

struct vd_owner_node *vd_ownership_open_owner(struct vd_ownership *o, struct vd_uid uid)
{
    struct vd_owner_node *owner = vd_ownership_owner(o, uid);
    if (owner)
        return owner;
    owner = VD_NEW(struct vd_owner_node);
    owner->uid = uid;
    owner->item.reconciler = o->owner_reconciler;
    vd_hash_map_put(&o->owners, owner);
    return owner;
}

struct vd_dependent *vd_ownership_dependent(struct vd_ownership *o, const struct vd_key *key)
{
    write_key(&o->scratch, key);
    return vd_hash_map_get(&o->dependents, vd_buf_slice(&o->scratch));
}

void vd_owner_settle(struct vd_ownership *o, struct vd_owner_node *owner)
{
    if (owner->links || owner->waiting || !vd_controller_item_is_idle(&owner->item))
        return;
    vd_hash_map_remove(&o->owners, owner_key(owner));
    owner_free(owner);
}

void vd_dependent_settle(struct vd_ownership *o, struct vd_dependent *d)
{
    if (d->links_n || !vd_controller_item_is_idle(&d->item))
        return;
    vd_hash_map_remove(&o->dependents, dependent_key(d));
    dependent_free(d);
}

/* ---- links ---- */

static void link_in(struct vd_owner_link *link)
{
    struct vd_owner_node *owner = link->owner;
    link->prev = NULL;
    link->next = owner->links;
    if (owner->links)
        owner->links->prev = link;
    owner->links = link;
    owner->blocking += link->blocks;
}

static void link_out(struct vd_owner_link *link)
{
    struct vd_owner_node *owner = link->owner;
    if (link->prev)
        link->prev->next = link->next;
    else
        owner->links = link->next;
    if (link->next)
        link->next->prev = link->prev;
    owner->blocking -= link->blocks;
}

static bool read_link(const struct vd_json *item, struct vd_uid *uid, bool *blocks)
{
    struct vd_owner owner = vd_owner_read(item);
    *blocks = owner.block_owner_deletion;
    *uid = vd_uid_of_text(owner.uid);
    return owner.uid.n > 0;
}

static bool is_same(const struct vd_dependent *d, const struct vd_json *owners)
{
    size_t n = 0;
    struct vd_uid uid;
    bool blocks;
    VD_JSON_EACH (item, owners) {
        if (!read_link(item, &uid, &blocks))
            continue;
        if (n == d->links_n || d->links[n].blocks != blocks ||
            !vd_uid_eq(d->links[n].owner->uid, uid))
            return false;
        n++;
    }
    return n == d->links_n;
}

static void unlink_all(struct vd_ownership *o, struct vd_controller *controller,
                       struct vd_owner_link *links, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct vd_owner_node *owner = links[i].owner;
        link_out(&links[i]);
        if (owner->waiting)
            vd_controller_add(controller, &owner->item);
        vd_owner_settle(o, owner);
    }
    free(links);
}

static void link_all(struct vd_ownership *o, struct vd_dependent *d, const struct vd_json *owners)
{
    size_t count = vd_json_count(owners);
    d->links_n = 0;
    d->links = count ? vd_calloc(count, sizeof *d->links) : NULL;
    VD_JSON_EACH (item, owners) {
        assert(d->links_n < count);
        struct vd_owner_link *link = &d->links[d->links_n];
        struct vd_uid uid;
        if (!read_link(item, &uid, &link->blocks))
            continue;
        link->owner = vd_ownership_open_owner(o, uid);
        link->dependent = d;
        link_in(link);
        d->links_n++;
    }
}

struct vd_dependent *vd_ownership_relink(struct vd_ownership *o, struct vd_controller *controller,
                                         const struct vd_key *key, const struct vd_json *owners)
{
    struct vd_dependent *d = vd_ownership_dependent(o, key);
    if (!d && !vd_json_count(owners))
        return NULL;
    if (!d) {
        d = VD_NEW(struct vd_dependent);
        d->item.reconciler = o->dependent_reconciler;
        keep_key(&d->key, key);
        vd_hash_map_put(&o->dependents, d);
    }
    if (is_same(d, owners)) {
        vd_dependent_settle(o, d);
        return NULL;
    }
    /* The new links first, so that owners that stay are not freed between. */
    struct vd_owner_link *old = d->links;
    size_t old_n = d->links_n;
    link_all(o, d, owners);
    unlink_all(o, controller, old, old_n);
    if (d->links_n)
        return d;
    vd_dependent_settle(o, d);
    return NULL;
}
