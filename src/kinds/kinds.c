/*
 * See kinds.h. A set is one array of kinds in discovery order and two indexes of
 * it, sorted by kind and by storage key; look-ups are binary searches. A change
 * copies pointers and puts the new ones in their places, which is cheap enough for
 * thousands of kinds.
 *
 * `lock` guards `current`; it is held for the exchange of a pointer and a count.
 * `writer` is held during a whole change, so that changes do not lose each other;
 * it is taken before `lock`.
 */
#include "kinds/kinds.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/refcount.h"
#include "base/vec.h"
#include "json/compare.h"

struct vd_kind_set {
    struct vd_refcount refs;
    uint64_t generation;
    size_t n;
    struct vd_kind **all;     /* one reference each */
    struct vd_kind **by_kind; /* the same, otherwise sorted; no references */
    struct vd_kind **by_key;
};

struct vd_kinds {
    pthread_mutex_t writer, lock;
    struct vd_kind_set *current;
    _Atomic uint64_t generation;
    struct vd_schema *metadata;
};

static int resource_order(struct vd_slice group, struct vd_slice version, struct vd_slice plural,
                          const struct vd_kind *kind)
{
    int order = vd_slice_cmp(group, kind->group);
    order = order ? order : vd_version_cmp(version, kind->version);
    return order ? order : vd_slice_cmp(plural, kind->plural);
}

static int kind_order(struct vd_slice group, struct vd_slice version, struct vd_slice name,
                      const struct vd_kind *kind)
{
    int order = vd_slice_cmp(group, kind->group);
    order = order ? order : vd_version_cmp(version, kind->version);
    return order ? order : vd_slice_cmp(name, kind->kind);
}

static int by_resource(const void *a, const void *b)
{
    const struct vd_kind *x = *(struct vd_kind *const *)a;
    return resource_order(x->group, x->version, x->plural, *(struct vd_kind *const *)b);
}

static int by_kind(const void *a, const void *b)
{
    const struct vd_kind *x = *(struct vd_kind *const *)a;
    return kind_order(x->group, x->version, x->kind, *(struct vd_kind *const *)b);
}

/* Among those of one key the kind that is stored as it is comes first. */
static int by_key(const void *a, const void *b)
{
    const struct vd_kind *x = *(struct vd_kind *const *)a, *y = *(struct vd_kind *const *)b;
    int order = vd_slice_cmp(x->resource, y->resource);
    bool x_is = x->storage_version && x->storage_field_count == 0;
    bool y_is = y->storage_version && y->storage_field_count == 0;
    return order ? order : (int)y_is - (int)x_is;
}

/* What a new set is made of: the kinds of an old one, but for those of a group and
 * plural, and some new ones. */
struct change {
    const struct vd_kind_set *old;
    struct vd_slice group, plural;
    bool builtin;                   /* a definition replaces no built-in kind */
    VD_VEC(struct vd_kind *) fresh; /* one reference each */
};

static bool is_replaced(const struct change *change, const struct vd_kind *kind)
{
    return kind->builtin == change->builtin && vd_slice_eq(kind->plural, change->plural) &&
           vd_slice_eq(kind->group, change->group);
}

/* Puts the kind behind those that come before it or are its equal. */
static void insert(struct vd_kind **kinds, size_t n, struct vd_kind *kind,
                   int (*order)(const void *a, const void *b))
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order(&kind, &kinds[middle]) < 0)
            high = middle;
        else
            low = middle + 1;
    }
    memmove(&kinds[low + 1], &kinds[low], (n - low) * sizeof *kinds);
    kinds[low] = kind;
}

/* One of the set's arrays: the old one is sorted already, so this takes n steps. */
static struct vd_kind **arrange(const struct change *change, struct vd_kind *const *old,
                                int (*order)(const void *a, const void *b), size_t *count)
{
    struct vd_kind **kinds = vd_calloc(change->old->n + change->fresh.n + 1, sizeof *kinds);
    size_t n = 0;
    for (size_t i = 0; i < change->old->n; i++)
        if (!is_replaced(change, old[i]))
            kinds[n++] = old[i];
    for (size_t i = 0; i < change->fresh.n; i++)
        insert(kinds, n++, change->fresh.p[i], order);
    *count = n;
    return kinds;
}

static struct vd_kind_set *set_new(const struct change *change, uint64_t generation)
{
    struct vd_kind_set *set = VD_NEW(struct vd_kind_set);
    vd_refcount_init(&set->refs);
    set->generation = generation;
    set->all = arrange(change, change->old->all, by_resource, &set->n);
    set->by_kind = arrange(change, change->old->by_kind, by_kind, &set->n);
    set->by_key = arrange(change, change->old->by_key, by_key, &set->n);
    for (size_t i = 0; i < set->n; i++)
        vd_kind_ref(set->all[i]);
    return set;
}

struct vd_kind_set *vd_kind_set_ref(struct vd_kind_set *set)
{
    vd_ref(&set->refs);
    return set;
}

void vd_kind_set_unref(struct vd_kind_set *set)
{
    if (!set || !vd_unref(&set->refs))
        return;
    for (size_t i = 0; i < set->n; i++)
        vd_kind_unref(set->all[i]);
    free(set->all);
    free(set->by_kind);
    free(set->by_key);
    free(set);
}

uint64_t vd_kind_set_generation(const struct vd_kind_set *set)
{
    return set->generation;
}

struct vd_kind *const *vd_kind_set_all(const struct vd_kind_set *set, size_t *n)
{
    *n = set->n;
    return set->all;
}

/* The kind of this name in one of the set's arrays, which is sorted by `order`. */
static const struct vd_kind *locate(const struct vd_kind_set *set, struct vd_kind *const *kinds,
                                    struct vd_slice group, struct vd_slice version,
                                    struct vd_slice name,
                                    int (*order)(struct vd_slice, struct vd_slice, struct vd_slice,
                                                 const struct vd_kind *))
{
    size_t low = 0, high = set->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int side = order(group, version, name, kinds[middle]);
        if (side == 0)
            return kinds[middle];
        if (side < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct vd_kind *vd_kind_set_resource(const struct vd_kind_set *set, struct vd_slice group,
                                           struct vd_slice version, struct vd_slice plural)
{
    const struct vd_kind *kind = locate(set, set->all, group, version, plural, resource_order);
    return kind && !kind->subresource.n ? kind : NULL;
}

const struct vd_kind *vd_kind_set_kind(const struct vd_kind_set *set, struct vd_slice group,
                                       struct vd_slice version, struct vd_slice kind)
{
    return locate(set, set->by_kind, group, version, kind, kind_order);
}

const struct vd_kind *vd_kind_set_stored(const struct vd_kind_set *set, struct vd_slice resource)
{
    size_t low = 0, high = set->n; /* the first that is not less */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (vd_slice_cmp(set->by_key[middle]->resource, resource) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < set->n && vd_slice_eq(set->by_key[low]->resource, resource);
    return found && set->by_key[low]->stored ? set->by_key[low] : NULL;
}

struct vd_kinds *vd_kinds_new(struct vd_schema *metadata)
{
    struct vd_kinds *kinds = VD_NEW(struct vd_kinds);
    pthread_mutex_init(&kinds->writer, NULL);
    pthread_mutex_init(&kinds->lock, NULL);
    kinds->metadata = metadata ? vd_schema_ref(metadata) : NULL;
    kinds->current = set_new(&(struct change){.old = &(struct vd_kind_set){.n = 0}}, 0);
    return kinds;
}

void vd_kinds_free(struct vd_kinds *kinds)
{
    if (!kinds)
        return;
    vd_kind_set_unref(kinds->current);
    vd_schema_unref(kinds->metadata);
    pthread_mutex_destroy(&kinds->writer);
    pthread_mutex_destroy(&kinds->lock);
    free(kinds);
}

uint64_t vd_kinds_generation(const struct vd_kinds *kinds)
{
    return atomic_load_explicit(&kinds->generation, memory_order_acquire);
}

struct vd_schema *vd_kinds_metadata(const struct vd_kinds *kinds)
{
    return kinds->metadata;
}

struct vd_kind_set *vd_kinds_snapshot(struct vd_kinds *kinds)
{
    pthread_mutex_lock(&kinds->lock);
    struct vd_kind_set *set = vd_kind_set_ref(kinds->current);
    pthread_mutex_unlock(&kinds->lock);
    return set;
}

/* Makes the change the current set. */
static void publish(struct vd_kinds *kinds, const struct change *change)
{
    uint64_t generation = vd_kinds_generation(kinds) + 1;
    struct vd_kind_set *set = set_new(change, generation);
    pthread_mutex_lock(&kinds->lock);
    struct vd_kind_set *old = kinds->current;
    kinds->current = set;
    atomic_store_explicit(&kinds->generation, generation, memory_order_release);
    pthread_mutex_unlock(&kinds->lock);
    vd_kind_set_unref(old);
}

static void change_release(struct change *change)
{
    for (size_t i = 0; i < change->fresh.n; i++)
        vd_kind_unref(change->fresh.p[i]);
    VD_VEC_RELEASE(&change->fresh);
}

/* Objects that were as the schema wanted them still are, if it has not changed. */
static void inherit_since(const struct vd_kind_set *set, struct vd_kind *kind)
{
    const struct vd_kind *was = vd_kind_set_resource(set, kind->group, kind->version, kind->plural);
    if (was && was->preserve_unknown == kind->preserve_unknown &&
        vd_slice_eq(was->definition_uid, kind->definition_uid) &&
        vd_json_eq(vd_schema_source(vd_schema_root(was->schema)),
                   vd_schema_source(vd_schema_root(kind->schema))))
        kind->schema_since = was->schema_since;
}

/* Kubernetes' own kinds of a group and version are all that is served there, as it has it. */
static bool is_reserved(const struct vd_kind_set *set, const struct vd_kind *kind)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->all[i]->native && vd_slice_eq(set->all[i]->api_version, kind->api_version))
            return true;
    return false;
}

static bool is_builtin(const struct vd_kind_set *set, struct vd_slice group, struct vd_slice plural)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->all[i]->builtin && vd_slice_eq(set->all[i]->plural, plural) &&
            vd_slice_eq(set->all[i]->group, group))
            return true;
    return false;
}

/* Whether the new kind may stand beside the ones of the set. */
static int check_room(const struct vd_kind_set *set, const struct vd_kind *kind,
                      struct vd_error *error)
{
    if (!kind->builtin && is_builtin(set, kind->group, kind->plural))
        return vd_error_set(error, VD_ERR_EXISTS, "%.*s is built in; choose another group or name",
                            VD_FMT(kind->resource));
    const struct vd_kind *same = vd_kind_set_kind(set, kind->group, kind->version, kind->kind);
    if (same && !vd_slice_eq(same->plural, kind->plural))
        return vd_error_set(error, VD_ERR_EXISTS, "the kind %.*s of %.*s is already that of %.*s",
                            VD_FMT(kind->kind), VD_FMT(kind->api_version), VD_FMT(same->resource));
    return VD_OK;
}

/* Makes the kinds of all versions of the document, for change->old. */
static int make_fresh(struct change *change, const struct vd_json *document,
                      struct vd_schema *metadata, struct vd_error *error)
{
    struct vd_kind_options options = {change->builtin, metadata};
    const struct vd_json *spec = vd_json_get(document, VD_SLICE("spec"));
    const struct vd_json *versions = vd_json_get(spec, VD_SLICE("versions"));
    int code = VD_OK;
    change->group = vd_json_text(vd_json_get(spec, VD_SLICE("group")));
    change->plural = vd_json_text(vd_json_dig(spec, "names", "plural", NULL));
    if (vd_json_count(versions) == 0)
        return vd_error_set(error, VD_ERR_INVALID, "the definition has no versions");
    struct vd_kind_source *source = vd_kind_source_new(document);
    VD_JSON_EACH (version, versions) {
        struct vd_kind *kind = NULL;
        struct vd_slice name = vd_json_text(vd_json_get(version, VD_SLICE("name")));
        code = vd_kind_new(&kind, source, name, &options, error);
        if (code)
            break;
        *VD_VEC_PUSH(&change->fresh) = kind;
        inherit_since(change->old, kind);
        kind->served = kind->served && (change->builtin || !is_reserved(change->old, kind));
        code = check_room(change->old, kind, error);
        if (code)
            break;
    }
    for (size_t i = 0; !code && i < change->fresh.n; i++)
        vd_kind_introduce(change->fresh.p[i], change->fresh.p, change->fresh.n);
    vd_kind_source_unref(source);
    return code;
}

int vd_kinds_put(struct vd_kinds *kinds, const struct vd_json *document, bool builtin,
                 struct vd_error *error)
{
    struct change change = {.builtin = builtin};
    pthread_mutex_lock(&kinds->writer);
    change.old = kinds->current;
    int code = make_fresh(&change, document, kinds->metadata, error);
    if (!code)
        publish(kinds, &change);
    pthread_mutex_unlock(&kinds->writer);
    change_release(&change);
    return code;
}

int vd_kind_set_with(struct vd_kind_set **out, const struct vd_kind_set *set,
                     const struct vd_json *document, struct vd_schema *metadata,
                     struct vd_error *error)
{
    struct change change = {.old = set};
    int code = make_fresh(&change, document, metadata, error);
    if (!code)
        *out = set_new(&change, set->generation);
    change_release(&change);
    return code;
}

int vd_kinds_remove(struct vd_kinds *kinds, struct vd_slice group, struct vd_slice plural,
                    struct vd_error *error)
{
    struct change change = {.group = group, .plural = plural};
    int code = VD_ERR_NOT_FOUND;
    pthread_mutex_lock(&kinds->writer);
    change.old = kinds->current;
    for (size_t i = 0; code && i < change.old->n; i++)
        if (is_replaced(&change, change.old->all[i]))
            code = VD_OK;
    if (code)
        vd_error_set(error, VD_ERR_NOT_FOUND, "there is no kind %.*s in group \"%.*s\"",
                     VD_FMT(plural), VD_FMT(group));
    else
        publish(kinds, &change);
    pthread_mutex_unlock(&kinds->writer);
    return code;
}
