/* What a writer is told of metadata that is taken, but should be otherwise. The sentences are those
 * of Kubernetes. Lists are sorted, since a client may send long ones. */
#include <stdlib.h>

#include "api/write/write_internal.h"
#include "kinds/object_meta.h"
#include "json/compare.h"

enum { COLLISIONS_MAX = 16 }; /* different references of one hash that one is compared with */

/* ---- owners ---- */

struct reference {
    uint64_t hash;
    size_t place;
    const struct vd_json *item;
};

static int by_hash(const void *a, const void *b)
{
    const struct reference *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Marks the places that repeat an earlier one; their number. */
static size_t find_repeated(struct vd_arena *a, const struct vd_json *owners, bool *repeated)
{
    size_t n = vd_json_count(owners), i = 0, found = 0;
    struct reference *all = vd_arena_alloc(a, n * sizeof *all);
    VD_JSON_EACH (item, owners) {
        all[i] = (struct reference){vd_json_hash(item), i, item};
        repeated[i++] = false;
    }
    qsort(all, n, sizeof *all, by_hash);
    for (i = 1; i < n; i++)
        for (size_t j = i; j-- > 0 && i - j <= COLLISIONS_MAX && all[j].hash == all[i].hash;)
            if (vd_json_eq(all[j].item, all[i].item)) {
                repeated[all[i].place] = true;
                found++;
                break;
            }
    return found;
}

void vd_write_drop_repeated_owners(struct vd_write *w, struct vd_json *object)
{
    struct vd_json *owners = vd_json_dig(object, "metadata", "ownerReferences", NULL);
    struct vd_json *before = NULL;
    struct vd_buf uids = {0};
    size_t place = 0;
    if (!vd_json_is(owners, VD_JSON_ARRAY) || vd_json_count(owners) < 2)
        return;
    bool *repeated = vd_arena_alloc(w->arena, vd_json_count(owners));
    if (!find_repeated(w->arena, owners, repeated))
        return;
    for (struct vd_json *item = vd_json_first(owners), *next; item; item = next) {
        next = vd_json_next(item);
        if (!repeated[place++]) {
            before = item;
            continue;
        }
        vd_buf_addf(&uids, "%s%.*s", uids.n ? ", " : "",
                    VD_FMT(vd_json_text(vd_json_get(item, VD_SLICE("uid")))));
        vd_json_remove_after(owners, before);
    }
    vd_write_warn(w,
                  ".metadata.ownerReferences contains duplicate entries%s; API server dedups owner "
                  "references in 1.20+, and may reject such requests as early as 1.24; please fix "
                  "your requests; duplicate UID(s) observed: %s",
                  w->verb == VD_WRITE_PATCH || w->verb == VD_WRITE_APPLY
                      ? " after mutating admission happens"
                      : "",
                  vd_buf_text(&uids));
    vd_buf_release(&uids);
}

/* ---- finalizers ---- */

static int by_text(const void *a, const void *b)
{
    return vd_slice_cmp(*(const struct vd_slice *)a, *(const struct vd_slice *)b);
}

static size_t sorted_texts(struct vd_arena *a, const struct vd_json *list, struct vd_slice **out)
{
    size_t n = 0;
    *out = vd_arena_alloc(a, (vd_json_count(list) + 1) * sizeof **out);
    VD_JSON_EACH (item, list)
        if (vd_json_is(item, VD_JSON_STRING))
            (*out)[n++] = vd_json_text(item);
    qsort(*out, n, sizeof **out, by_text);
    return n;
}

void vd_write_warn_of_finalizers(struct vd_write *w, const struct vd_json *object,
                                 const struct vd_json *old)
{
    const struct vd_json *list = vd_meta_finalizers(object);
    struct vd_slice *names, *known;
    if (w->kind->native || vd_json_count(list) == 0)
        return;
    size_t n = sorted_texts(w->arena, list, &names);
    size_t known_n = sorted_texts(w->arena, old ? vd_meta_finalizers(old) : NULL, &known);
    for (size_t i = 0; i < n; i++) {
        if (memchr(names[i].p, '/', names[i].n) || vd_slice_is(names[i], "orphan") ||
            vd_slice_is(names[i], "foregroundDeletion") ||
            bsearch(&names[i], known, known_n, sizeof *known, by_text))
            continue;
        vd_write_warn(w,
                      "metadata.finalizers: \"%.*s\": prefer a domain-qualified finalizer name "
                      "including a path (/) to avoid accidental conflicts with other finalizer "
                      "writers",
                      VD_FMT(names[i]));
    }
}
