/*
 * See discovery.h. A set is ordered by group, version and plural, so every
 * document is one walk over it: groups and versions are runs of kinds. Members
 * stand in the order in which Go writes them.
 *
 * storageVersionHash tells clients whether two versions are one storage: the
 * first 8 bytes of SHA-256 of "group/version/Kind" of the stored version.
 */
#include "kube/discovery/discovery.h"

#include <assert.h>
#include <openssl/sha.h>

#include "base/base64.h"
#include "kube/subresource.h"
#include "json/escape.h"

/* A run of kinds: all[from] to all[to - 1]. */
struct run {
    struct vd_kind *const *all;
    size_t from, to;
};

static struct run whole(const struct vd_kind_set *set)
{
    struct run run = {0};
    run.all = vd_kind_set_all(set, &run.to);
    return run;
}

/* The kinds of the group, or of the version, at the front of *rest, which moves
 * behind them. False when nothing is left. Runs without a listed kind are
 * passed over. */
static bool cut(struct run *rest, bool by_version, struct run *part)
{
    while (rest->from < rest->to) {
        const struct vd_kind *first = rest->all[rest->from];
        bool listed = false;
        *part = (struct run){rest->all, rest->from, rest->from};
        for (; part->to < rest->to; part->to++) {
            const struct vd_kind *kind = rest->all[part->to];
            if (!vd_slice_eq(kind->group, first->group) ||
                (by_version && !vd_slice_eq(kind->version, first->version)))
                break;
            listed |= vd_kind_is_listed(kind);
        }
        rest->from = part->to;
        if (listed)
            return true;
    }
    return false;
}

static bool cut_group(struct run *rest, struct run *group)
{
    return cut(rest, false, group);
}

static bool cut_version(struct run *rest, struct run *version)
{
    return cut(rest, true, version);
}

static const struct vd_kind *first_of(const struct run *run)
{
    return run->all[run->from];
}

/* --- parts --- */

static void add_member(struct vd_buf *out, const char *key, struct vd_slice text)
{
    vd_buf_addf(out, "\"%s\":", key);
    vd_escape_write(out, text);
}

static void add_verbs(struct vd_buf *out, uint32_t verbs)
{
    bool first = true;
    vd_buf_add_text(out, ",\"verbs\":[");
    for (int bit = 0; bit < VD_VERB_COUNT; bit++) {
        if (!(verbs & (1u << bit)))
            continue;
        vd_buf_addf(out, "%s\"%s\"", first ? "" : ",", vd_verb_name((enum vd_verb_bit)bit));
        first = false;
    }
    vd_buf_add_char(out, ']');
}

static void add_texts(struct vd_buf *out, const char *key, const struct vd_slice *texts, size_t n)
{
    if (!n)
        return;
    vd_buf_addf(out, ",\"%s\":[", key);
    for (size_t i = 0; i < n; i++) {
        if (i)
            vd_buf_add_char(out, ',');
        vd_escape_write(out, texts[i]);
    }
    vd_buf_add_char(out, ']');
}

static void add_names(struct vd_buf *out, const struct vd_kind *kind)
{
    add_texts(out, "shortNames", kind->short_names, kind->short_name_count);
    add_texts(out, "categories", kind->categories, kind->category_count);
}

/* --- groups --- */

void vd_discovery_write_versions(struct vd_buf *out)
{
    vd_buf_add_text(out, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
                         "\"serverAddressByClientCIDRs\":[]}");
}

static void add_group_version(struct vd_buf *out, const struct vd_kind *kind)
{
    vd_buf_add_char(out, '{');
    add_member(out, "groupVersion", kind->api_version);
    vd_buf_add_char(out, ',');
    add_member(out, "version", kind->version);
    vd_buf_add_char(out, '}');
}

/* "name":..,"versions":[..],"preferredVersion":{..}; the newest is preferred. */
static void add_group(struct vd_buf *out, struct run group)
{
    const struct vd_kind *preferred = NULL;
    struct run version;
    add_member(out, "name", first_of(&group)->group);
    vd_buf_add_text(out, ",\"versions\":[");
    while (cut_version(&group, &version)) {
        if (preferred)
            vd_buf_add_char(out, ',');
        else
            preferred = first_of(&version);
        add_group_version(out, first_of(&version));
    }
    assert(preferred); /* a group has a listed kind, or it was passed over */
    vd_buf_add_text(out, "],\"preferredVersion\":");
    add_group_version(out, preferred);
}

void vd_discovery_write_groups(struct vd_buf *out, const struct vd_kind_set *set)
{
    bool first = true;
    struct run rest = whole(set), group;
    vd_buf_add_text(out, "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[");
    while (cut_group(&rest, &group)) {
        if (!first_of(&group)->group.n)
            continue;
        vd_buf_add_text(out, first ? "{" : ",{");
        add_group(out, group);
        vd_buf_add_char(out, '}');
        first = false;
    }
    vd_buf_add_text(out, "]}");
}

bool vd_discovery_write_group(struct vd_buf *out, const struct vd_kind_set *set,
                              struct vd_slice name)
{
    struct run rest = whole(set), group;
    while (cut_group(&rest, &group)) {
        if (!name.n || !vd_slice_eq(first_of(&group)->group, name))
            continue;
        vd_buf_add_text(out, "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",");
        add_group(out, group);
        vd_buf_add_char(out, '}');
        return true;
    }
    return false;
}

/* --- resources --- */

static void add_storage_hash(struct vd_buf *out, const struct vd_kind_set *set,
                             const struct vd_kind *kind)
{
    const struct vd_kind *stored = vd_kind_set_stored(set, kind->resource);
    if (!kind->stored || !stored)
        return;
    struct vd_buf text = {0};
    unsigned char digest[SHA256_DIGEST_LENGTH];
    vd_buf_addf(&text, "%.*s/%.*s/%.*s", VD_FMT(stored->group), VD_FMT(stored->version),
                VD_FMT(stored->kind));
    SHA256((const unsigned char *)text.p, text.n, digest);
    vd_buf_release(&text);
    vd_buf_add_text(out, ",\"storageVersionHash\":\"");
    vd_base64_encode(out, vd_slice(digest, 8), VD_BASE64_STANDARD);
    vd_buf_add_char(out, '"');
}

static void add_resource(struct vd_buf *out, const struct vd_kind_set *set,
                         const struct vd_kind *kind)
{
    vd_buf_add_char(out, '{');
    add_member(out, "name", kind->plural);
    vd_buf_add_char(out, ',');
    add_member(out, "singularName", kind->singular);
    vd_buf_addf(out, ",\"namespaced\":%s,", kind->namespaced ? "true" : "false");
    add_member(out, "kind", kind->kind);
    add_verbs(out, kind->verbs);
    add_names(out, kind);
    add_storage_hash(out, set, kind);
    vd_buf_add_char(out, '}');
}

/* The body's group and version are named where they are not the list's. */
static void add_subresource(struct vd_buf *out, const struct vd_kind *kind,
                            const struct vd_subresource *sub)
{
    struct vd_buf name = {0};
    vd_buf_addf(&name, "%.*s/%.*s", VD_FMT(kind->plural), VD_FMT(sub->name));
    vd_buf_add_text(out, ",{");
    add_member(out, "name", vd_buf_slice(&name));
    vd_buf_release(&name);
    vd_buf_addf(out, ",\"singularName\":\"\",\"namespaced\":%s,",
                kind->namespaced ? "true" : "false");
    if (!vd_slice_eq(sub->group, kind->group) || !vd_slice_eq(sub->version, kind->version)) {
        add_member(out, "group", sub->group);
        vd_buf_add_char(out, ',');
        add_member(out, "version", sub->version);
        vd_buf_add_char(out, ',');
    }
    add_member(out, "kind", sub->kind);
    add_verbs(out, sub->verbs);
    vd_buf_add_char(out, '}');
}

static void add_resources(struct vd_buf *out, const struct vd_kind_set *set, struct run version)
{
    bool first = true;
    for (size_t i = version.from; i < version.to; i++) {
        const struct vd_kind *kind = version.all[i];
        struct vd_subresource subs[VD_SUBRESOURCES_MAX];
        if (!vd_kind_is_listed(kind))
            continue;
        if (!first)
            vd_buf_add_char(out, ',');
        first = false;
        add_resource(out, set, kind);
        size_t n = vd_subresources(set, kind, subs);
        for (size_t s = 0; s < n; s++)
            add_subresource(out, kind, &subs[s]);
    }
}

/* Kubernetes leaves apiVersion out of the core group's list. */
static void begin_resources(struct vd_buf *out, struct vd_slice group, struct vd_slice version)
{
    struct vd_buf name = {0};
    if (group.n)
        vd_buf_addf(&name, "%.*s/", VD_FMT(group));
    vd_buf_add_slice(&name, version);
    vd_buf_add_text(out, "{\"kind\":\"APIResourceList\",");
    if (group.n)
        vd_buf_add_text(out, "\"apiVersion\":\"v1\",");
    add_member(out, "groupVersion", vd_buf_slice(&name));
    vd_buf_release(&name);
    vd_buf_add_text(out, ",\"resources\":[");
}

bool vd_discovery_write_resources(struct vd_buf *out, const struct vd_kind_set *set,
                                  struct vd_slice group, struct vd_slice version)
{
    struct run rest = whole(set), run;
    while (cut_version(&rest, &run)) {
        const struct vd_kind *kind = first_of(&run);
        if (!vd_slice_eq(kind->group, group) || !vd_slice_eq(kind->version, version))
            continue;
        begin_resources(out, group, version);
        add_resources(out, set, run);
        vd_buf_add_text(out, "]}");
        return true;
    }
    if (group.n || !vd_slice_is(version, "v1"))
        return false;
    begin_resources(out, group, version);
    vd_buf_add_text(out, "]}");
    return true;
}

/* --- aggregated --- */

static void add_response_kind(struct vd_buf *out, struct vd_slice group, struct vd_slice version,
                              struct vd_slice kind)
{
    vd_buf_add_text(out, "\"responseKind\":{");
    add_member(out, "group", group);
    vd_buf_add_char(out, ',');
    add_member(out, "version", version);
    vd_buf_add_char(out, ',');
    add_member(out, "kind", kind);
    vd_buf_add_char(out, '}');
}

static void aggregate_subresources(struct vd_buf *out, const struct vd_kind_set *set,
                                   const struct vd_kind *kind)
{
    struct vd_subresource subs[VD_SUBRESOURCES_MAX];
    size_t n = vd_subresources(set, kind, subs);
    if (!n)
        return;
    vd_buf_add_text(out, ",\"subresources\":[");
    for (size_t i = 0; i < n; i++) {
        vd_buf_add_text(out, i ? ",{" : "{");
        add_member(out, "subresource", subs[i].name);
        vd_buf_add_char(out, ',');
        add_response_kind(out, subs[i].group, subs[i].version, subs[i].kind);
        add_verbs(out, subs[i].verbs);
        vd_buf_add_char(out, '}');
    }
    vd_buf_add_char(out, ']');
}

static void aggregate_resource(struct vd_buf *out, const struct vd_kind_set *set,
                               const struct vd_kind *kind)
{
    vd_buf_add_char(out, '{');
    add_member(out, "resource", kind->plural);
    vd_buf_add_char(out, ',');
    add_response_kind(out, kind->group, kind->version, kind->kind);
    vd_buf_addf(out, ",\"scope\":\"%s\",", kind->namespaced ? "Namespaced" : "Cluster");
    add_member(out, "singularResource", kind->singular);
    add_verbs(out, kind->verbs);
    add_names(out, kind);
    aggregate_subresources(out, set, kind);
    vd_buf_add_char(out, '}');
}

static void aggregate_version(struct vd_buf *out, const struct vd_kind_set *set, struct run version)
{
    bool first = true;
    vd_buf_add_char(out, '{');
    add_member(out, "version", first_of(&version)->version);
    vd_buf_add_text(out, ",\"resources\":[");
    for (size_t i = version.from; i < version.to; i++) {
        if (!vd_kind_is_listed(version.all[i]))
            continue;
        if (!first)
            vd_buf_add_char(out, ',');
        first = false;
        aggregate_resource(out, set, version.all[i]);
    }
    vd_buf_add_text(out, "],\"freshness\":\"Current\"}");
}

static void aggregate_group(struct vd_buf *out, const struct vd_kind_set *set, struct run group)
{
    bool first = true;
    struct run version;
    vd_buf_add_text(out, "{\"metadata\":{");
    if (first_of(&group)->group.n)
        add_member(out, "name", first_of(&group)->group);
    vd_buf_add_text(out, "},\"versions\":[");
    while (cut_version(&group, &version)) {
        if (!first)
            vd_buf_add_char(out, ',');
        first = false;
        aggregate_version(out, set, version);
    }
    vd_buf_add_text(out, "]}");
}

void vd_discovery_write_aggregate(struct vd_buf *out, const struct vd_kind_set *set,
                                  struct vd_discovery_aggregate what)
{
    bool first = true;
    struct run rest = whole(set), group;
    vd_buf_addf(out,
                "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/%s\","
                "\"metadata\":{},\"items\":[",
                what.v2beta1 ? "v2beta1" : "v2");
    while (cut_group(&rest, &group)) {
        if (what.core != !first_of(&group)->group.n)
            continue;
        if (!first)
            vd_buf_add_char(out, ',');
        first = false;
        aggregate_group(out, set, group);
    }
    vd_buf_add_text(out, "]}");
}
