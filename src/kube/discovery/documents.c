/*
 * See documents.h. A map from path and form to the documents of the newest
 * generation that was seen; a newer set empties it, but for the OpenAPI documents of
 * versions whose kinds are all the same: with a thousand kinds, one more would
 * otherwise cost as much as all.
 *
 * Only documents that exist are kept, so the map is bounded by the registry,
 * whatever clients ask for.
 */
#include "kube/discovery/documents.h"

#include <assert.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash_map.h"
#include "kube/discovery/discovery.h"
#include "kube/openapi/proto.h"
#include "kube/openapi/v2.h"
#include "kube/openapi/v3.h"
#include "json/parse.h"
#include "json/write.h"
#include "json/yaml_write.h"

struct vd_documents {
    struct vd_slice server_version;
    struct vd_arena arena; /* of server_version */

    /* Guards what follows, and is held while a document is made. Taken after no
     * other lock and before none. */
    pthread_mutex_t lock;
    uint64_t generation;
    struct vd_hash_map map; /* of struct vd_document: one reference each */
};

/* --- paths --- */

enum what {
    NOTHING,
    API,
    APIS,
    GROUP,
    RESOURCES,
    OPENAPI_V2,
    OPENAPI_V3_INDEX,
    OPENAPI_V3,
};

/* What a path asks for. */
struct question {
    enum what what;
    struct vd_slice group, version;
};

enum { PARTS_MAX = 5 }; /* segments of a document's path */

/* Splits at slashes; one at the end does not count. PARTS_MAX + 1: too many. */
static size_t split(struct vd_slice path, struct vd_slice parts[PARTS_MAX])
{
    size_t n = 0;
    if (!path.n || path.p[0] != '/')
        return 0;
    struct vd_slice rest = vd_slice_from(path, 1), part;
    if (vd_slice_ends_with(rest, VD_SLICE("/")))
        rest.n--;
    while (vd_slice_cut(&rest, '/', &part)) {
        if (n == PARTS_MAX || !part.n)
            return PARTS_MAX + 1;
        parts[n++] = part;
    }
    return n;
}

/* api[/V] or apis[/G[/V]]. */
static struct question read_api(const struct vd_slice *parts, size_t n)
{
    struct question q = {.group = VD_SLICE(""), .version = VD_SLICE("")};
    if (n == 0 || n > 3)
        return q;
    if (vd_slice_is(parts[0], "api") && n <= 2) {
        q.what = n == 1 ? API : RESOURCES;
        q.version = n == 2 ? parts[1] : q.version;
    } else if (vd_slice_is(parts[0], "apis")) {
        q.what = n == 1 ? APIS : n == 2 ? GROUP : RESOURCES;
        q.group = n >= 2 ? parts[1] : q.group;
        q.version = n == 3 ? parts[2] : q.version;
    }
    return q;
}

static struct question read_path(struct vd_slice path)
{
    struct vd_slice parts[PARTS_MAX];
    struct question q = {.what = NOTHING};
    size_t n = split(path, parts);
    if (n == 0 || n > PARTS_MAX)
        return q;
    if (!vd_slice_is(parts[0], "openapi"))
        return read_api(parts, n);
    if (n == 2 && vd_slice_is(parts[1], "v2"))
        q.what = OPENAPI_V2;
    if (n == 2 && vd_slice_is(parts[1], "v3"))
        q.what = OPENAPI_V3_INDEX;
    if (n > 2 && vd_slice_is(parts[1], "v3")) {
        q = read_api(parts + 2, n - 2);
        q.what = q.what == RESOURCES ? OPENAPI_V3 : NOTHING;
    }
    return q;
}

bool vd_document_is_path(struct vd_slice path)
{
    return read_path(path).what != NOTHING;
}

/* --- forms --- */

static bool param_is(const struct vd_media_type *range, const char *name, struct vd_arena *a,
                     const char *value)
{
    struct vd_slice found;
    return vd_media_type_param(range, vd_slice_of(name), a, &found) && vd_slice_is(found, value);
}

static bool has_param(const struct vd_media_type *range, const char *name, struct vd_arena *a)
{
    struct vd_slice value;
    return vd_media_type_param(range, vd_slice_of(name), a, &value);
}

/* Whether the range asks for JSON or YAML as it is, or for one of the aggregated lists, which /api
 * and /apis alone have. */
static bool discovery_form(const struct vd_media_type *range, bool aggregated, struct vd_arena *a,
                           enum vd_document_form *form)
{
    bool json = vd_media_type_takes(range, VD_SLICE("application"), VD_SLICE("json"));
    if (!json && !vd_media_type_is(range, VD_SLICE("application"), VD_SLICE("yaml")))
        return false;
    if (!has_param(range, "as", a) && !has_param(range, "g", a) && !has_param(range, "v", a)) {
        *form = json ? VD_DOCUMENT_JSON : VD_DOCUMENT_YAML;
        return true;
    }
    if (!json || !aggregated || !param_is(range, "as", a, "APIGroupDiscoveryList") ||
        !param_is(range, "g", a, "apidiscovery.k8s.io"))
        return false;
    *form = param_is(range, "v", a, "v2") ? VD_DOCUMENT_AGGREGATED : VD_DOCUMENT_AGGREGATED_V2BETA1;
    return *form == VD_DOCUMENT_AGGREGATED || param_is(range, "v", a, "v2beta1");
}

/* Both spellings are in use. */
static bool is_openapi_protobuf(const struct vd_media_type *range)
{
    return vd_slice_is(range->type, "application") &&
           (vd_slice_is(range->subtype, "com.github.proto-openapi.spec.v2@v1.0+protobuf") ||
            vd_slice_is(range->subtype, "com.github.proto-openapi.spec.v2.v1.0+protobuf"));
}

/* A client of Kubernetes' protobuf goes by the answer's Content-Type, and gets JSON. */
static bool takes_only_protobuf(const struct vd_accept *accept, struct vd_arena *a)
{
    for (size_t i = 0; i < accept->n; i++)
        if (accept->ranges[i].quality && !has_param(&accept->ranges[i], "as", a) &&
            vd_media_type_is(&accept->ranges[i], VD_SLICE("application"),
                             VD_SLICE("vnd.kubernetes.protobuf")))
            return true;
    return false;
}

static bool plain_form(const struct vd_media_type *range, enum vd_document_form *form)
{
    *form = VD_DOCUMENT_JSON;
    return vd_media_type_takes(range, VD_SLICE("application"), VD_SLICE("json"));
}

bool vd_document_form_of(struct vd_slice path, const struct vd_accept *accept, struct vd_arena *a,
                         enum vd_document_form *form)
{
    enum what what = read_path(path).what;
    enum vd_document_form found = VD_DOCUMENT_JSON;
    bool ok = accept->n == 0;
    for (size_t i = 0; !ok && i < accept->n; i++) {
        const struct vd_media_type *range = &accept->ranges[i];
        if (!range->quality)
            continue;
        if (what <= RESOURCES)
            ok = discovery_form(range, what == API || what == APIS, a, &found);
        else if (what == OPENAPI_V2 && is_openapi_protobuf(range))
            ok = (found = VD_DOCUMENT_PROTOBUF, true);
        else
            ok = plain_form(range, &found);
    }
    if (!ok && what <= RESOURCES && takes_only_protobuf(accept, a)) {
        found = VD_DOCUMENT_JSON;
        ok = true;
    }
    if (ok)
        *form = found;
    return ok;
}

/* --- making --- */

static struct vd_document *get(struct vd_documents *documents, const struct vd_kind_set *set,
                               const struct question *q, enum vd_document_form form);

struct index_context {
    struct vd_documents *documents;
    const struct vd_kind_set *set;
};

static void add_hash(void *context, struct vd_slice group, struct vd_slice version,
                     struct vd_buf *hash)
{
    struct index_context *index = context;
    struct question q = {OPENAPI_V3, group, version};
    struct vd_document *document = get(index->documents, index->set, &q, VD_DOCUMENT_JSON);
    vd_buf_add_slice(hash, document->hash);
    vd_document_unref(document);
}

static void write_openapi_v2(struct vd_buf *out, struct vd_slice server_version,
                             const struct vd_kind_set *set, bool protobuf)
{
    struct vd_arena arena = {0};
    const struct vd_json *document = vd_openapi_v2(&arena, set, server_version);
    if (protobuf)
        vd_openapi_proto_write(out, document);
    else
        vd_json_write(out, document);
    vd_arena_release(&arena);
}

static bool write_discovery(struct vd_buf *out, const struct vd_kind_set *set,
                            const struct question *q, enum vd_document_form form)
{
    struct vd_discovery_aggregate aggregate = {.core = q->what == API,
                                               .v2beta1 = form == VD_DOCUMENT_AGGREGATED_V2BETA1};
    if (form == VD_DOCUMENT_AGGREGATED || form == VD_DOCUMENT_AGGREGATED_V2BETA1)
        vd_discovery_write_aggregate(out, set, aggregate);
    else if (q->what == API)
        vd_discovery_write_versions(out);
    else
        vd_discovery_write_groups(out, set);
    return true;
}

static bool write_body(struct vd_buf *out, struct vd_documents *documents,
                       const struct vd_kind_set *set, const struct question *q,
                       enum vd_document_form form)
{
    struct index_context index = {documents, set};
    switch (q->what) {
    case NOTHING:
        return false;
    case API:
    case APIS:
        return write_discovery(out, set, q, form);
    case GROUP:
        return vd_discovery_write_group(out, set, q->group);
    case RESOURCES:
        return vd_discovery_write_resources(out, set, q->group, q->version);
    case OPENAPI_V2:
        write_openapi_v2(out, documents->server_version, set, form == VD_DOCUMENT_PROTOBUF);
        return true;
    case OPENAPI_V3_INDEX:
        vd_openapi_v3_write_index(out, set, add_hash, &index);
        return true;
    case OPENAPI_V3:
        return vd_openapi_v3_write(out, set, q->group, q->version, documents->server_version);
    }
    return false;
}

/* Discovery was written to `out` as JSON, and becomes YAML. */
static void turn_to_yaml(struct vd_buf *out)
{
    struct vd_arena arena = {0};
    struct vd_json *document = NULL;
    int code = vd_json_parse_copy(&arena, vd_buf_slice(out), NULL, &document, NULL);
    assert(code == VD_OK); /* it was written here */
    (void)code;
    vd_buf_reset(out);
    vd_yaml_write(out, document);
    vd_arena_release(&arena);
}

static bool has_form(enum what what, enum vd_document_form form)
{
    switch (form) {
    case VD_DOCUMENT_JSON:
        return true;
    case VD_DOCUMENT_YAML:
        return what <= RESOURCES;
    case VD_DOCUMENT_AGGREGATED:
    case VD_DOCUMENT_AGGREGATED_V2BETA1:
        return what == API || what == APIS;
    case VD_DOCUMENT_PROTOBUF:
        return what == OPENAPI_V2;
    }
    return false;
}

static struct vd_slice content_type(enum vd_document_form form)
{
    switch (form) {
    case VD_DOCUMENT_JSON:
        break;
    case VD_DOCUMENT_YAML:
        return VD_SLICE("application/yaml");
    case VD_DOCUMENT_AGGREGATED:
        return VD_SLICE(VD_DISCOVERY_V2_TYPE);
    case VD_DOCUMENT_AGGREGATED_V2BETA1:
        return VD_SLICE(VD_DISCOVERY_V2BETA1_TYPE);
    case VD_DOCUMENT_PROTOBUF:
        return VD_SLICE(VD_OPENAPI_V2_PROTOBUF_TYPE);
    }
    return VD_SLICE("application/json");
}

static void set_hash(struct vd_document *document)
{
    static const char digits[] = "0123456789ABCDEF";
    unsigned char digest[SHA256_DIGEST_LENGTH];
    char *at = document->etag_text;
    SHA256((const unsigned char *)document->body->data, document->body->len, digest);
    *at++ = '"';
    document->hash = vd_slice(at, VD_DOCUMENT_HASH_LEN);
    for (size_t i = 0; i < sizeof digest; i++) {
        *at++ = digits[digest[i] >> 4];
        *at++ = digits[digest[i] & 15];
    }
    *at++ = '"';
    document->etag = vd_slice(document->etag_text, sizeof document->etag_text);
}

/* The kinds of a version, in the order of the set: a run of it. */
static struct vd_kind *const *kinds_of(const struct vd_kind_set *set, struct vd_slice group,
                                       struct vd_slice version, size_t *n)
{
    size_t count, low = 0;
    struct vd_kind *const *all = vd_kind_set_all(set, &count);
    for (size_t high = count; low < high;) { /* the first that is not before the version */
        size_t middle = low + (high - low) / 2;
        int order = vd_slice_cmp(all[middle]->group, group);
        order = order ? order : vd_version_cmp(all[middle]->version, version);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *n = 0;
    while (low + *n < count && vd_slice_eq(all[low + *n]->group, group) &&
           vd_slice_eq(all[low + *n]->version, version))
        ++*n;
    return all + low;
}

/* What the document was made from stays, so that its address is nobody else's. */
static void keep_kinds(struct vd_document *document, const struct vd_kind_set *set,
                       const struct question *q)
{
    size_t n;
    struct vd_kind *const *kinds = kinds_of(set, q->group, q->version, &n);
    if (q->what != OPENAPI_V3 || !n)
        return;
    document->kinds = vd_memdup(kinds, n * sizeof(struct vd_kind *));
    document->kinds_n = n;
    for (size_t i = 0; i < n; i++)
        vd_kind_ref(document->kinds[i]);
}

static bool is_of_set(const struct vd_document *document, const struct vd_kind_set *set)
{
    size_t n;
    if (!document->kinds_n)
        return false;
    struct vd_kind *const *kinds = kinds_of(set, document->kinds[0]->group,
                                            document->kinds[0]->version, &n);
    return n == document->kinds_n && memcmp(kinds, document->kinds, n * sizeof *kinds) == 0;
}

static struct vd_document *document_new(struct vd_slice key, struct vd_slice body,
                                        enum vd_document_form form)
{
    struct vd_document *document = vd_calloc(1, sizeof *document + key.n);
    vd_refcount_init(&document->refs);
    document->body = vd_bytes_copy(body);
    document->content_type = content_type(form);
    memcpy(document->key_text, key.p, key.n);
    document->key = vd_slice(document->key_text, key.n);
    set_hash(document);
    return document;
}

struct vd_document *vd_document_ref(struct vd_document *document)
{
    vd_ref(&document->refs);
    return document;
}

void vd_document_unref(struct vd_document *document)
{
    if (!document || !vd_unref(&document->refs))
        return;
    for (size_t i = 0; i < document->kinds_n; i++)
        vd_kind_unref(document->kinds[i]);
    free(document->kinds);
    vd_bytes_unref(document->body);
    free(document);
}

/* --- the map --- */

static struct vd_slice key_of(const void *item)
{
    const struct vd_document *document = item;
    return document->key;
}

static void add_key(struct vd_buf *out, const struct question *q, enum vd_document_form form)
{
    vd_buf_addf(out, "%d %d %.*s/%.*s", (int)q->what, (int)form, VD_FMT(q->group),
                VD_FMT(q->version));
}

/* Keeps what is also true of the set; NULL: nothing is. */
static void forget_old(struct vd_documents *documents, const struct vd_kind_set *set)
{
    struct vd_hash_map kept;
    size_t at = 0;
    vd_hash_map_init(&kept, key_of);
    for (struct vd_document *d; (d = vd_hash_map_next(&documents->map, &at));) {
        if (set && is_of_set(d, set))
            (void)vd_hash_map_put(&kept, d);
        else
            vd_document_unref(d);
    }
    vd_hash_map_release(&documents->map);
    documents->map = kept;
}

/* With the lock held. Recursion: the index asks for what it lists. */
static struct vd_document *get(struct vd_documents *documents, const struct vd_kind_set *set,
                               const struct question *q, enum vd_document_form form)
{
    struct vd_buf key = {0}, body = {0};
    bool newest = vd_kind_set_generation(set) == documents->generation;
    struct vd_document *document = NULL;
    add_key(&key, q, form);
    if (newest)
        document = vd_hash_map_get(&documents->map, vd_buf_slice(&key));
    if (document) {
        vd_document_ref(document);
    } else if (write_body(&body, documents, set, q, form)) {
        if (form == VD_DOCUMENT_YAML)
            turn_to_yaml(&body);
        document = document_new(vd_buf_slice(&key), vd_buf_slice(&body), form);
        keep_kinds(document, set, q);
        if (newest)
            (void)vd_hash_map_put(&documents->map, vd_document_ref(document));
    }
    vd_buf_release(&key);
    vd_buf_release(&body);
    return document;
}

struct vd_document *vd_documents_get(struct vd_documents *documents, const struct vd_kind_set *set,
                                     struct vd_slice path, enum vd_document_form form)
{
    struct question q = read_path(path);
    if (q.what == NOTHING || !has_form(q.what, form))
        return NULL;
    pthread_mutex_lock(&documents->lock);
    if (vd_kind_set_generation(set) > documents->generation) {
        forget_old(documents, set);
        documents->generation = vd_kind_set_generation(set);
    }
    struct vd_document *document = get(documents, set, &q, form);
    pthread_mutex_unlock(&documents->lock);
    return document;
}

struct vd_documents *vd_documents_new(struct vd_slice server_version)
{
    struct vd_documents *documents = vd_calloc(1, sizeof *documents);
    documents->server_version = vd_arena_copy(&documents->arena, server_version);
    pthread_mutex_init(&documents->lock, NULL);
    vd_hash_map_init(&documents->map, key_of);
    return documents;
}

void vd_documents_free(struct vd_documents *documents)
{
    if (!documents)
        return;
    forget_old(documents, NULL);
    vd_hash_map_release(&documents->map);
    pthread_mutex_destroy(&documents->lock);
    vd_arena_release(&documents->arena);
    free(documents);
}

/* --- conditional requests --- */

bool vd_document_redirects(const struct vd_document *document, struct vd_slice path,
                           struct vd_slice hash, struct vd_buf *location)
{
    if (read_path(path).what != OPENAPI_V3 || !hash.n || vd_slice_eq(hash, document->hash))
        return false;
    vd_buf_addf(location, "%.*s?hash=%.*s", VD_FMT(path), VD_FMT(document->hash));
    return true;
}

bool vd_document_matches_etag(const struct vd_document *document, struct vd_slice if_none_match)
{
    struct vd_slice rest = if_none_match, part;
    while (rest.p && vd_slice_cut(&rest, ',', &part)) {
        part = vd_slice_trim(part);
        if (vd_slice_starts_with(part, VD_SLICE("W/")))
            part = vd_slice_from(part, 2);
        if (vd_slice_is(part, "*") || vd_slice_eq(part, document->etag))
            return true;
    }
    return false;
}
