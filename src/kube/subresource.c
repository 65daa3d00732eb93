/* See subresource.h. A kind says itself whether it has status and scale. The
 * bodies of other subresources are built-in kinds that name their owner,
 * "serviceaccounts/token"; owners are kinds of the core group. */
#include "kube/subresource.h"

#include <assert.h>
#include <stdlib.h>

enum { OBJECT_VERBS = VD_VERB_GET | VD_VERB_PATCH | VD_VERB_UPDATE };

static struct vd_subresource of_kind(const char *name, const struct vd_kind *body, uint32_t verbs)
{
    return (struct vd_subresource){.name = vd_slice_of(name),
                                   .group = body->group,
                                   .version = body->version,
                                   .kind = body->kind,
                                   .body = body,
                                   .verbs = verbs};
}

static struct vd_subresource scale(void)
{
    return (struct vd_subresource){.name = VD_SLICE("scale"),
                                   .group = VD_SLICE("autoscaling"),
                                   .version = VD_SLICE("v1"),
                                   .kind = VD_SLICE("Scale"),
                                   .verbs = OBJECT_VERBS};
}

/* "token" if `body` is that of kind's subresource token; else empty. */
static struct vd_slice name_under(const struct vd_kind *body, const struct vd_kind *kind)
{
    struct vd_slice path = body->subresource;
    if (!body->served || !body->native || !vd_slice_starts_with(path, kind->plural))
        return VD_SLICE("");
    struct vd_slice rest = vd_slice_from(path, kind->plural.n);
    return rest.n && rest.p[0] == '/' ? vd_slice_from(rest, 1) : VD_SLICE("");
}

static int by_name(const void *a, const void *b)
{
    const struct vd_subresource *x = a, *y = b;
    return vd_slice_cmp(x->name, y->name);
}

size_t vd_subresources(const struct vd_kind_set *set, const struct vd_kind *kind,
                       struct vd_subresource out[VD_SUBRESOURCES_MAX])
{
    size_t n = 0, count;
    if (kind->has_status) /* first, as Kubernetes lists those of definitions */
        out[n++] = of_kind("status", kind, OBJECT_VERBS);
    if (kind->has_scale)
        out[n++] = scale();
    if (!kind->native || kind->group.n)
        return n;
    if (vd_slice_is(kind->plural, "namespaces"))
        out[n++] = of_kind("finalize", kind, VD_VERB_UPDATE);
    struct vd_kind *const *all = vd_kind_set_all(set, &count);
    for (size_t i = 0; i < count; i++) {
        struct vd_slice name = name_under(all[i], kind);
        if (!name.n)
            continue;
        assert(n < VD_SUBRESOURCES_MAX);
        out[n] = of_kind("", all[i], all[i]->verbs);
        out[n++].name = name;
    }
    qsort(out, n, sizeof *out, by_name);
    return n;
}
