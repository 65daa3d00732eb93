/* See openapi_v3.h. The documents are put together from openapi_schema.h and
 * openapi_paths.h, and written as one. */
#include "kube/openapi/v3.h"

#include "kinds/schema.h"
#include "kube/openapi/paths.h"
#include "kube/openapi/schema.h"
#include "kube/subresource.h"
#include "json/escape.h"
#include "json/write.h"

static void add_bodies(struct vd_arena *a, struct vd_json *schemas, const struct vd_kind_set *set,
                       const struct vd_kind *kind)
{
    struct vd_subresource subs[VD_SUBRESOURCES_MAX];
    size_t n = vd_subresources(set, kind, subs);
    for (size_t i = 0; i < n; i++) {
        if (subs[i].body)
            vd_openapi_add_kind(a, schemas, subs[i].body);
        else
            vd_openapi_add_scale(a, schemas);
    }
}

static const struct vd_json *metadata_of(const struct vd_kind *kind)
{
    const struct vd_schema_node *node = vd_schema_member(vd_schema_root(kind->schema),
                                                         VD_SLICE("metadata"));
    return node ? vd_schema_source(node) : NULL;
}

bool vd_openapi_v3_add(struct vd_arena *a, struct vd_json *paths, struct vd_json *schemas,
                       const struct vd_kind_set *set, struct vd_slice group,
                       struct vd_slice version)
{
    size_t n;
    const struct vd_kind *last = NULL;
    struct vd_kind *const *all = vd_kind_set_all(set, &n);
    for (size_t i = 0; i < n; i++) {
        const struct vd_kind *kind = all[i];
        if (!vd_kind_is_listed(kind) || !vd_slice_eq(kind->group, group) ||
            !vd_slice_eq(kind->version, version))
            continue;
        vd_openapi_add_paths(a, paths, set, kind);
        vd_openapi_add_kind(a, schemas, kind);
        add_bodies(a, schemas, set, kind);
        if (kind->native && (kind->verbs & VD_VERB_WATCH))
            vd_openapi_add_watch_event(a, schemas);
        last = kind;
    }
    if (last)
        vd_openapi_add_shared(a, schemas, metadata_of(last));
    return last != NULL;
}

bool vd_openapi_v3_write(struct vd_buf *out, const struct vd_kind_set *set, struct vd_slice group,
                         struct vd_slice version, struct vd_slice server_version)
{
    struct vd_arena arena = {0};
    struct vd_json *paths = vd_json_object(&arena), *schemas = vd_json_object(&arena);
    bool found = vd_openapi_v3_add(&arena, paths, schemas, set, group, version);
    if (found) {
        vd_buf_add_text(out, "{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"Kubernetes\","
                             "\"version\":");
        vd_escape_write(out, server_version);
        vd_buf_add_text(out, "},\"paths\":");
        vd_json_write(out, paths);
        vd_buf_add_text(out, ",\"components\":{\"schemas\":");
        vd_json_write(out, schemas);
        vd_buf_add_text(out, "}}");
    }
    vd_arena_release(&arena);
    return found;
}

void vd_openapi_v3_each(const struct vd_kind_set *set,
                        void (*each)(void *context, struct vd_slice group, struct vd_slice version),
                        void *context)
{
    size_t n;
    const struct vd_kind *last = NULL;
    struct vd_kind *const *all = vd_kind_set_all(set, &n);
    for (size_t i = 0; i < n; i++) {
        if (!vd_kind_is_listed(all[i]) ||
            (last && vd_slice_eq(last->api_version, all[i]->api_version)))
            continue;
        last = all[i];
        each(context, last->group, last->version);
    }
}

/* --- the index --- */

struct index {
    struct vd_buf *out;
    void (*hash_of)(void *context, struct vd_slice group, struct vd_slice version,
                    struct vd_buf *hash);
    void *context;
    bool more;
};

static void add_entry(void *context, struct vd_slice group, struct vd_slice version)
{
    struct index *index = context;
    struct vd_buf path = {0}, url = {0};
    if (group.n)
        vd_buf_addf(&path, "apis/%.*s/%.*s", VD_FMT(group), VD_FMT(version));
    else
        vd_buf_addf(&path, "api/%.*s", VD_FMT(version));
    vd_buf_addf(&url, "/openapi/v3/%s?hash=", vd_buf_text(&path));
    index->hash_of(index->context, group, version, &url);
    if (index->more)
        vd_buf_add_char(index->out, ',');
    index->more = true;
    vd_escape_write(index->out, vd_buf_slice(&path));
    vd_buf_add_text(index->out, ":{\"serverRelativeURL\":");
    vd_escape_write(index->out, vd_buf_slice(&url));
    vd_buf_add_char(index->out, '}');
    vd_buf_release(&path);
    vd_buf_release(&url);
}

void vd_openapi_v3_write_index(struct vd_buf *out, const struct vd_kind_set *set,
                               void (*hash_of)(void *context, struct vd_slice group,
                                               struct vd_slice version, struct vd_buf *hash),
                               void *context)
{
    struct index index = {.out = out, .hash_of = hash_of, .context = context};
    vd_buf_add_text(out, "{\"paths\":{");
    vd_openapi_v3_each(set, add_entry, &index);
    vd_buf_add_text(out, "}}");
}
