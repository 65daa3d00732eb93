/*
 * The fields that an author may not set, each with the reason. The file says what is wanted; what
 * the server and controllers observe or keep in books has no place in it.
 */
#include "git/manifest_internal.h"
#include "kinds/field_path.h"
#include "kinds/git_ownership.h"

static const char of_server[] = "is set by the server, not by authors; remove it";

/* The members of metadata. A NULL reason: it is the author's. */
static const struct {
    struct vd_slice key;
    const char *reason;
} metadata_keys[] = {
    {VD_SLICE("name"), NULL},
    {VD_SLICE("namespace"), NULL},
    {VD_SLICE("labels"), NULL},
    {VD_SLICE("annotations"), NULL},
    {VD_SLICE("uid"), of_server},
    {VD_SLICE("resourceVersion"), of_server},
    {VD_SLICE("generation"), of_server},
    {VD_SLICE("creationTimestamp"), of_server},
    {VD_SLICE("deletionTimestamp"), of_server},
    {VD_SLICE("deletionGracePeriodSeconds"), of_server},
    {VD_SLICE("selfLink"), of_server},
    {VD_SLICE("managedFields"), of_server},
    {VD_SLICE("ownerReferences"), "is set by controllers, not by authors; remove it"},
    {VD_SLICE("finalizers"), "is set by controllers, not by authors; remove it"},
    {VD_SLICE("generateName"), "a manifest describes one object; write metadata.name instead"},
};

/* The annotations that are not the author's. A name that ends with a dash stands for all that begin
 * with it. The others of vedette.dev/ are the author's: those of definitions, and
 * vedette.dev/reset, by which alone a Repository is reset that Git owns. */
static const struct {
    struct vd_slice name;
    const char *reason;
} reserved[] = {
    {VD_SLICE("vedette.dev/git-"),
     "annotations and labels vedette.dev/git-* are set by the server"},
    {VD_SLICE(VD_GIT_OVERRIDE),
     "is set over the API, by whoever overrides Git in an emergency; remove it"},
    {VD_SLICE(VD_GIT_OVERRIDE_USER), "is set by the server, not by authors; remove it"},
};

static const char *reserved_reason(struct vd_slice key)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        struct vd_slice name = reserved[i].name;
        if (name.p[name.n - 1] == '-' ? vd_slice_starts_with(key, name) : vd_slice_eq(key, name))
            return reserved[i].reason;
    }
    return NULL;
}

bool vd_git_annotation_is_reserved(struct vd_slice key)
{
    return reserved_reason(key);
}

static void refuse(struct vd_violations *out, const struct vd_field_path *path, const char *reason)
{
    vd_violations_add(out, VD_VIOLATION_FORBIDDEN, path, vd_bad_value_nothing(), "%s", reason);
}

/* A map from texts to texts, or nothing. */
static void check_texts(const struct vd_json *map, const struct vd_field_path *path,
                        struct vd_violations *out)
{
    if (!vd_json_is(map, VD_JSON_OBJECT)) {
        vd_violations_add(out, VD_VIOLATION_TYPE_INVALID, path, vd_bad_value_json(out, map),
                          "must be a map");
        return;
    }
    VD_JSON_EACH (member, map) {
        struct vd_field_path at = vd_field_key(path, vd_json_key(member));
        if (!vd_json_is(member, VD_JSON_STRING))
            vd_violations_add(out, VD_VIOLATION_TYPE_INVALID, &at, vd_bad_value_json(out, member),
                              "must be a text; write it in quotes");
        const char *reason = reserved_reason(vd_json_key(member));
        if (reason)
            refuse(out, &at, reason);
    }
}

/* False: it is not the author's. */
static bool check_member(const struct vd_json *member, const struct vd_field_path *up,
                         struct vd_violations *out)
{
    struct vd_field_path path = vd_field_member(up, vd_json_key(member));
    size_t i = 0, n = sizeof metadata_keys / sizeof *metadata_keys;
    while (i < n && !vd_slice_eq(vd_json_key(member), metadata_keys[i].key))
        i++;
    if (i == n)
        refuse(out, &path, "unknown field");
    else if (metadata_keys[i].reason)
        refuse(out, &path, metadata_keys[i].reason);
    else if (i >= 2)
        check_texts(member, &path, out);
    else if (!vd_json_is(member, VD_JSON_STRING))
        vd_violations_add(out, VD_VIOLATION_TYPE_INVALID, &path, vd_bad_value_json(out, member),
                          "must be a text");
    return i < n && !metadata_keys[i].reason;
}

static void check_metadata(struct vd_json *metadata, const struct vd_field_path *path,
                           struct vd_violations *out)
{
    struct vd_json *before = NULL;
    for (struct vd_json *member = vd_json_first(metadata), *next; member; member = next) {
        next = vd_json_next(member);
        if (vd_json_is(member, VD_JSON_NULL) || !check_member(member, path, out))
            vd_json_remove_after(metadata, before);
        else
            before = member;
    }
}

/* The member is a text that is not empty. */
static void check_text(const struct vd_json *object, struct vd_slice key,
                       const struct vd_field_path *up, struct vd_violations *out)
{
    struct vd_json *value = vd_json_get(object, key);
    struct vd_field_path path = vd_field_member(up, key);
    if (!value || vd_json_is(value, VD_JSON_NULL) ||
        (vd_json_is(value, VD_JSON_STRING) && !vd_json_text(value).n))
        vd_violations_add(out, VD_VIOLATION_REQUIRED, &path, vd_bad_value_nothing(), "%s", "");
    else if (!vd_json_is(value, VD_JSON_STRING) && !up)
        vd_violations_add(out, VD_VIOLATION_TYPE_INVALID, &path, vd_bad_value_json(out, value),
                          "must be a text");
}

void vd_git_manifest_check_fields(struct vd_json *document, struct vd_violations *out)
{
    struct vd_json *metadata = vd_json_get(document, VD_SLICE("metadata"));
    struct vd_json *status = vd_json_get(document, VD_SLICE("status"));
    struct vd_field_path metadata_path = vd_field_member(NULL, VD_SLICE("metadata"));
    struct vd_field_path status_path = vd_field_member(NULL, VD_SLICE("status"));
    check_text(document, VD_SLICE("apiVersion"), NULL, out);
    check_text(document, VD_SLICE("kind"), NULL, out);
    if (metadata && !vd_json_is(metadata, VD_JSON_OBJECT) && !vd_json_is(metadata, VD_JSON_NULL)) {
        vd_violations_add(out, VD_VIOLATION_TYPE_INVALID, &metadata_path,
                          vd_bad_value_json(out, metadata), "must be a map");
    } else {
        check_metadata(metadata, &metadata_path, out);
        check_text(metadata, VD_SLICE("name"), &metadata_path, out);
    }
    vd_json_remove(document, VD_SLICE("status"));
    if (status && !vd_json_is(status, VD_JSON_NULL))
        refuse(out, &status_path, "is written by controllers, not by authors; remove it");
}
