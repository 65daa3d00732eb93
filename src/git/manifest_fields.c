/*
 * The fields that an author may not set, each with the reason. The file says what is wanted; what
 * the server and controllers observe has no place in it.
 *
 * Fields that are refused are also taken out of the document, so that the rest of it can be checked
 * against its kind: an author learns of everything that is wrong at once.
 */
#include "git/manifest_internal.h"
#include "kinds/field_path.h"

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

/* What stands before the names of annotations that the Git pipeline writes. */
#define RESERVED "vedette.dev/git-"

static void refuse(struct vd_violations *out, const struct vd_field_path *path, const char *reason)
{
    vd_violations_add(out, VD_VIOLATION_FORBIDDEN, path, vd_bad_value_nothing(), "%s", reason);
}

/* Checks a member of a map from texts to texts. True: it may stay. */
static bool check_entry(const struct vd_json *entry, const struct vd_field_path *path,
                        struct vd_violations *out)
{
    bool is_reserved = vd_slice_starts_with(vd_json_key(entry), VD_SLICE(RESERVED));
    bool is_text = vd_json_is(entry, VD_JSON_STRING);
    if (!is_text)
        vd_violations_add(out, VD_VIOLATION_TYPE_INVALID, path, vd_bad_value_json(out, entry),
                          "must be a text; write it in quotes");
    if (is_reserved)
        refuse(out, path, "annotations and labels " RESERVED "* are set by the server");
    return is_text && !is_reserved;
}

/* A map from texts to texts. True: it may stay, maybe without some of its members. */
static bool check_texts(struct vd_json *map, const struct vd_field_path *path,
                        struct vd_violations *out)
{
    if (!vd_json_is(map, VD_JSON_OBJECT)) {
        vd_violations_add(out, VD_VIOLATION_TYPE_INVALID, path, vd_bad_value_json(out, map),
                          "must be a map");
        return false;
    }
    struct vd_json *before = NULL;
    for (struct vd_json *entry = vd_json_first(map), *next; entry; entry = next) {
        struct vd_field_path at = vd_field_key(path, vd_json_key(entry));
        next = vd_json_next(entry);
        if (check_entry(entry, &at, out))
            before = entry;
        else
            vd_json_remove_after(map, before);
    }
    return true;
}

/* Checks a member of metadata. True: it may stay. */
static bool check_member(struct vd_json *member, const struct vd_field_path *up,
                         struct vd_violations *out)
{
    struct vd_field_path path = vd_field_member(up, vd_json_key(member));
    size_t i = 0, n = sizeof metadata_keys / sizeof *metadata_keys;
    while (i < n && !vd_slice_eq(vd_json_key(member), metadata_keys[i].key))
        i++;
    if (i == n || metadata_keys[i].reason) {
        refuse(out, &path, i == n ? "unknown field" : metadata_keys[i].reason);
        return false;
    }
    if (i >= 2)
        return check_texts(member, &path, out);
    if (vd_json_is(member, VD_JSON_STRING))
        return true;
    vd_violations_add(out, VD_VIOLATION_TYPE_INVALID, &path, vd_bad_value_json(out, member),
                      "must be a text");
    return false;
}

static void check_metadata(struct vd_json *metadata, const struct vd_field_path *path,
                           struct vd_violations *out)
{
    struct vd_json *before = NULL;
    for (struct vd_json *member = vd_json_first(metadata), *next; member; member = next) {
        next = vd_json_next(member);
        if (!vd_json_is(member, VD_JSON_NULL) && check_member(member, path, out))
            before = member;
        else
            vd_json_remove_after(metadata, before);
    }
}

/* Whether the member is a text that is not empty. `is_reported`: a value of another type has been
 * reported and taken out already. */
static bool check_text(const struct vd_json *object, struct vd_slice key,
                       const struct vd_field_path *up, bool is_reported, struct vd_violations *out)
{
    struct vd_json *value = vd_json_get(object, key);
    struct vd_field_path path = vd_field_member(up, key);
    if (vd_json_is(value, VD_JSON_STRING) && vd_json_text(value).n)
        return true;
    if (value && !vd_json_is(value, VD_JSON_NULL) && !vd_json_is(value, VD_JSON_STRING))
        vd_violations_add(out, VD_VIOLATION_TYPE_INVALID, &path, vd_bad_value_json(out, value),
                          "must be a text");
    else if (!is_reported)
        vd_violations_add(out, VD_VIOLATION_REQUIRED, &path, vd_bad_value_nothing(), "%s", "");
    return false;
}

/* Checks metadata. True: it has a name. */
static bool check_metadata_of(struct vd_json *document, struct vd_violations *out)
{
    struct vd_json *metadata = vd_json_get(document, VD_SLICE("metadata"));
    struct vd_field_path path = vd_field_member(NULL, VD_SLICE("metadata"));
    if (metadata && !vd_json_is(metadata, VD_JSON_OBJECT) && !vd_json_is(metadata, VD_JSON_NULL)) {
        vd_violations_add(out, VD_VIOLATION_TYPE_INVALID, &path, vd_bad_value_json(out, metadata),
                          "must be a map");
        return false;
    }
    struct vd_json *name = vd_json_get(metadata, VD_SLICE("name"));
    bool is_bad_name = name && !vd_json_is(name, VD_JSON_NULL) && !vd_json_is(name, VD_JSON_STRING);
    check_metadata(metadata, &path, out);
    return check_text(metadata, VD_SLICE("name"), &path, is_bad_name, out);
}

bool vd_git_manifest_check_fields(struct vd_json *document, struct vd_violations *out)
{
    struct vd_json *status = vd_json_get(document, VD_SLICE("status"));
    struct vd_field_path status_path = vd_field_member(NULL, VD_SLICE("status"));
    bool has_version = check_text(document, VD_SLICE("apiVersion"), NULL, false, out);
    bool has_kind = check_text(document, VD_SLICE("kind"), NULL, false, out);
    bool has_name = check_metadata_of(document, out);
    if (status && !vd_json_is(status, VD_JSON_NULL))
        refuse(out, &status_path, "is written by controllers, not by authors; remove it");
    if (status)
        vd_json_remove(document, VD_SLICE("status"));
    return has_version && has_kind && has_name;
}
