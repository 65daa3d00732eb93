/*
 * See object_meta.h. What fields there are, and of which type, is one table; the
 * check walks it, so that a new field is a new line.
 */
#include "kinds/object_meta.h"

#include <assert.h>

#include "base/buf.h"
#include "base/human_time.h"
#include "kinds/field_path.h"
#include "kinds/uid.h"
#include "watch/excerpt.h"

/* --- checking --- */

enum shape { TEXT, TIME, INTEGER, TRUTH, TEXT_MAP, TEXT_LIST, OWNER_LIST, MANAGER_LIST };

struct field {
    struct vd_slice name;
    enum shape shape;
};

/* clang-format off */
static const struct field meta_fields[] = {
    {{"name", 4}, TEXT},
    {{"generateName", 12}, TEXT},
    {{"namespace", 9}, TEXT},
    {{"selfLink", 8}, TEXT},
    {{"uid", 3}, TEXT},
    {{"resourceVersion", 15}, TEXT},
    {{"generation", 10}, INTEGER},
    {{"creationTimestamp", 17}, TIME},
    {{"deletionTimestamp", 17}, TIME},
    {{"deletionGracePeriodSeconds", 26}, INTEGER},
    {{"labels", 6}, TEXT_MAP},
    {{"annotations", 11}, TEXT_MAP},
    {{"ownerReferences", 15}, OWNER_LIST},
    {{"finalizers", 10}, TEXT_LIST},
    {{"managedFields", 13}, MANAGER_LIST},
};

static const struct field owner_fields[] = {
    {{"apiVersion", 10}, TEXT},
    {{"kind", 4}, TEXT},
    {{"name", 4}, TEXT},
    {{"uid", 3}, TEXT},
    {{"controller", 10}, TRUTH},
    {{"blockOwnerDeletion", 18}, TRUTH},
};

/* What the fields are is looked at where they are taken over. */
static const struct field manager_fields[] = {
    {{"manager", 7}, TEXT},
    {{"operation", 9}, TEXT},
    {{"apiVersion", 10}, TEXT},
    {{"time", 4}, TIME},
    {{"fieldsType", 10}, TEXT},
    {{"subresource", 11}, TEXT},
};
/* clang-format on */

static int wrong_text(struct vd_error *error, const char *path, const char *want,
                      const struct vd_json *got)
{
    struct vd_buf shown = {0};
    if (vd_json_is(got, VD_JSON_STRING))
        vd_excerpt_add_quoted(&shown, vd_json_text(got), 80);
    else
        vd_buf_addf(&shown, "of type %s", vd_json_type_name(got));
    int code = vd_error_set(error, VD_ERR_INVALID, "%s must be %s, but it is %s", path, want,
                            vd_buf_text(&shown));
    vd_buf_release(&shown);
    return code;
}

static int wrong(struct vd_error *error, const struct vd_field_path *path, const char *want,
                 const struct vd_json *got)
{
    struct vd_buf at = {0};
    vd_field_path_write(&at, path, VD_FIELD_BRACKETS);
    int code = wrong_text(error, vd_buf_text(&at), want, got);
    vd_buf_release(&at);
    return code;
}

static int check_text_map(const struct vd_json *map, const struct vd_field_path *path,
                          struct vd_error *error)
{
    if (!vd_json_is(map, VD_JSON_OBJECT))
        return wrong(error, path, "a map of strings", map);
    VD_JSON_EACH (member, map) {
        if (vd_json_is(member, VD_JSON_STRING))
            continue;
        struct vd_buf at = {0};
        vd_field_path_write(&at, path, VD_FIELD_BRACKETS);
        vd_buf_add_char(&at, '[');
        vd_excerpt_add_quoted(&at, vd_json_key(member), 80);
        vd_buf_add_char(&at, ']');
        int code = wrong_text(error, vd_buf_text(&at), "a string", member);
        vd_buf_release(&at);
        return code;
    }
    return VD_OK;
}

static int check_fields(const struct vd_json *map, const struct field *fields, size_t n,
                        const struct vd_field_path *path, struct vd_error *error);

static int check_item(const struct vd_json *item, enum shape shape,
                      const struct vd_field_path *path, struct vd_error *error)
{
    if (shape == TEXT_LIST)
        return vd_json_is(item, VD_JSON_STRING) ? VD_OK : wrong(error, path, "a string", item);
    if (!vd_json_is(item, VD_JSON_OBJECT))
        return wrong(error, path, "an object", item);
    return shape == OWNER_LIST
               ? check_fields(item, owner_fields, sizeof owner_fields / sizeof *owner_fields, path,
                              error)
               : check_fields(item, manager_fields, sizeof manager_fields / sizeof *manager_fields,
                              path, error);
}

static int check_list(const struct vd_json *list, enum shape shape,
                      const struct vd_field_path *path, struct vd_error *error)
{
    if (!vd_json_is(list, VD_JSON_ARRAY))
        return wrong(error, path, "a list", list);
    size_t i = 0;
    int code = VD_OK;
    VD_JSON_EACH (item, list) {
        struct vd_field_path at = vd_field_element(path, i++);
        code = check_item(item, shape, &at, error);
        if (code)
            break;
    }
    return code;
}

static int check_field(const struct vd_json *v, enum shape shape, const struct vd_field_path *path,
                       struct vd_error *error)
{
    int64_t number;
    switch (shape) {
    case TEXT:
        return vd_json_is(v, VD_JSON_STRING) ? VD_OK : wrong(error, path, "a string", v);
    case TIME:
        return vd_rfc3339_parse(vd_json_text(v), &number)
                   ? VD_OK
                   : wrong(error, path, "a time like 2006-01-02T15:04:05Z", v);
    case INTEGER:
        return vd_json_to_i64(v, &number) ? VD_OK : wrong(error, path, "a 64-bit integer", v);
    case TRUTH:
        return vd_json_is(v, VD_JSON_BOOL) ? VD_OK : wrong(error, path, "true or false", v);
    case TEXT_MAP:
        return check_text_map(v, path, error);
    default:
        return check_list(v, shape, path, error);
    }
}

static int check_fields(const struct vd_json *map, const struct field *fields, size_t n,
                        const struct vd_field_path *path, struct vd_error *error)
{
    for (size_t i = 0; i < n; i++) {
        const struct vd_json *v = vd_json_get(map, fields[i].name);
        if (!v || vd_json_is(v, VD_JSON_NULL))
            continue;
        struct vd_field_path at = vd_field_member(path, fields[i].name);
        int code = check_field(v, fields[i].shape, &at, error);
        if (code)
            return code;
    }
    return VD_OK;
}

int vd_meta_check(const struct vd_json *object, struct vd_error *error)
{
    if (!vd_json_is(object, VD_JSON_OBJECT))
        return wrong_text(error, "an object of the API", "a JSON object", object);
    const struct vd_field_path at = vd_field_member(NULL, VD_SLICE("metadata"));
    const struct vd_json *meta = vd_json_get(object, VD_SLICE("metadata"));
    if (!meta || vd_json_is(meta, VD_JSON_NULL))
        return VD_OK;
    if (!vd_json_is(meta, VD_JSON_OBJECT))
        return wrong(error, &at, "an object", meta);
    return check_fields(meta, meta_fields, sizeof meta_fields / sizeof *meta_fields, &at, error);
}

void vd_meta_fill_texts(struct vd_json *object)
{
    static const char *const maps[] = {"labels", "annotations"};
    struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        struct vd_json *map = vd_json_get(metadata, vd_slice_of(maps[i]));
        if (!vd_json_is(map, VD_JSON_OBJECT))
            continue;
        for (struct vd_json *text = vd_json_first(map); text; text = vd_json_next(text))
            if (vd_json_is(text, VD_JSON_NULL))
                vd_json_make_text(text);
    }
}

void vd_meta_drop_empty(struct vd_json *object)
{
    static const char *const containers[] = {"labels", "annotations", "ownerReferences",
                                             "finalizers"};
    struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    for (size_t i = 0; i < sizeof containers / sizeof *containers; i++) {
        const struct vd_json *v = vd_json_get(metadata, vd_slice_of(containers[i]));
        if (v && vd_json_count(v) == 0)
            vd_json_remove(metadata, vd_slice_of(containers[i]));
    }
}

/* --- reading --- */

static struct vd_json *field_of(const struct vd_json *object, struct vd_slice field)
{
    return vd_json_get(vd_json_get(object, VD_SLICE("metadata")), field);
}

static const struct vd_json *container_of(const struct vd_json *object, struct vd_slice field,
                                          enum vd_json_type type)
{
    const struct vd_json *v = field_of(object, field);
    return vd_json_is(v, type) ? v : NULL;
}

struct vd_slice vd_meta_text(const struct vd_json *object, struct vd_slice field)
{
    struct vd_slice text = vd_json_text(field_of(object, field));
    return text.p ? text : VD_SLICE("");
}

struct vd_uid vd_meta_uid(const struct vd_json *object)
{
    struct vd_uid uid = {{0}};
    return vd_uid_parse(vd_meta_text(object, VD_SLICE("uid")), &uid) ? uid : (struct vd_uid){{0}};
}

int64_t vd_meta_generation(const struct vd_json *object)
{
    int64_t generation;
    return vd_json_to_i64(field_of(object, VD_SLICE("generation")), &generation) ? generation : 0;
}

const struct vd_json *vd_meta_labels(const struct vd_json *object)
{
    return container_of(object, VD_SLICE("labels"), VD_JSON_OBJECT);
}

const struct vd_json *vd_meta_annotations(const struct vd_json *object)
{
    return container_of(object, VD_SLICE("annotations"), VD_JSON_OBJECT);
}

const struct vd_json *vd_meta_finalizers(const struct vd_json *object)
{
    return container_of(object, VD_SLICE("finalizers"), VD_JSON_ARRAY);
}

const struct vd_json *vd_meta_owners(const struct vd_json *object)
{
    return container_of(object, VD_SLICE("ownerReferences"), VD_JSON_ARRAY);
}

static bool text_in(const struct vd_json *map, struct vd_slice key, struct vd_slice *value)
{
    struct vd_slice text = vd_json_text(vd_json_get(map, key));
    if (!text.p)
        return false;
    *value = text;
    return true;
}

bool vd_meta_label(const struct vd_json *object, struct vd_slice key, struct vd_slice *value)
{
    return text_in(vd_meta_labels(object), key, value);
}

bool vd_meta_annotation(const struct vd_json *object, struct vd_slice key, struct vd_slice *value)
{
    return text_in(vd_meta_annotations(object), key, value);
}

size_t vd_meta_annotations_len(const struct vd_json *annotations)
{
    size_t total = 0;
    VD_JSON_EACH (annotation, annotations)
        total += vd_json_key(annotation).n + vd_json_text(annotation).n;
    return total;
}

bool vd_meta_has_finalizer(const struct vd_json *object, struct vd_slice name)
{
    VD_JSON_EACH (item, vd_meta_finalizers(object))
        if (vd_json_is(item, VD_JSON_STRING) && vd_slice_eq(vd_json_text(item), name))
            return true;
    return false;
}

struct vd_owner vd_owner_read(const struct vd_json *item)
{
    return (struct vd_owner){
        .api_version = vd_json_text(vd_json_get(item, VD_SLICE("apiVersion"))),
        .kind = vd_json_text(vd_json_get(item, VD_SLICE("kind"))),
        .name = vd_json_text(vd_json_get(item, VD_SLICE("name"))),
        .uid = vd_json_text(vd_json_get(item, VD_SLICE("uid"))),
        .controller = vd_json_truth(vd_json_get(item, VD_SLICE("controller"))),
        .block_owner_deletion = vd_json_truth(vd_json_get(item, VD_SLICE("blockOwnerDeletion"))),
    };
}

bool vd_meta_controller(const struct vd_json *object, struct vd_owner *out)
{
    VD_JSON_EACH (item, vd_meta_owners(object)) {
        struct vd_owner owner = vd_owner_read(item);
        if (owner.controller) {
            *out = owner;
            return true;
        }
    }
    return false;
}

/* --- writing --- */

/* The member of that type, made if there is none or a null. */
static struct vd_json *open_member(struct vd_arena *a, struct vd_json *parent, struct vd_slice key,
                                   enum vd_json_type type)
{
    struct vd_json *v = vd_json_get(parent, key);
    if (!v || vd_json_is(v, VD_JSON_NULL)) {
        v = type == VD_JSON_OBJECT ? vd_json_object(a) : vd_json_array(a);
        vd_json_set(a, parent, key, v);
    }
    assert(vd_json_is(v, type));
    return v;
}

static struct vd_json *open_meta(struct vd_arena *a, struct vd_json *object)
{
    return open_member(a, object, VD_SLICE("metadata"), VD_JSON_OBJECT);
}

void vd_meta_set_text(struct vd_arena *a, struct vd_json *object, struct vd_slice field,
                      struct vd_slice text)
{
    struct vd_json *meta = open_meta(a, object);
    if (text.n)
        vd_json_set(a, meta, field, vd_json_string(a, text));
    else
        vd_json_remove(meta, field);
}

void vd_meta_set_uid(struct vd_arena *a, struct vd_json *object, struct vd_uid uid)
{
    char text[VD_UID_TEXT_MAX];
    vd_meta_set_text(a, object, VD_SLICE("uid"),
                     vd_uid_is_none(uid) ? VD_SLICE("") : vd_uid_format(uid, text));
}

void vd_meta_set_generation(struct vd_arena *a, struct vd_json *object, int64_t generation)
{
    struct vd_json *meta = open_meta(a, object);
    if (generation)
        vd_json_set(a, meta, VD_SLICE("generation"), vd_json_i64(a, generation));
    else
        vd_json_remove(meta, VD_SLICE("generation"));
}

void vd_meta_set_creation_timestamp(struct vd_arena *a, struct vd_json *object, int64_t ms)
{
    char text[VD_RFC3339_MAX];
    vd_meta_set_text(a, object, VD_SLICE("creationTimestamp"), vd_rfc3339_format(ms, text));
}

void vd_meta_set_deletion(struct vd_arena *a, struct vd_json *object, int64_t ms, int64_t grace_s)
{
    char text[VD_RFC3339_MAX];
    vd_meta_set_text(a, object, VD_SLICE("deletionTimestamp"), vd_rfc3339_format(ms, text));
    vd_json_set(a, open_meta(a, object), VD_SLICE("deletionGracePeriodSeconds"),
                vd_json_i64(a, grace_s));
}

static void set_in(struct vd_arena *a, struct vd_json *object, struct vd_slice map,
                   struct vd_slice key, struct vd_slice value)
{
    vd_json_set(a, open_member(a, open_meta(a, object), map, VD_JSON_OBJECT), key,
                vd_json_string(a, value));
}

/* Takes a member that has become empty out of metadata. */
static void drop_if_empty(struct vd_json *object, struct vd_slice field)
{
    if (vd_json_count(field_of(object, field)) == 0)
        vd_json_remove(vd_json_get(object, VD_SLICE("metadata")), field);
}

static bool remove_in(struct vd_json *object, struct vd_slice map, struct vd_slice key)
{
    if (!vd_json_remove(field_of(object, map), key))
        return false;
    drop_if_empty(object, map);
    return true;
}

void vd_meta_set_label(struct vd_arena *a, struct vd_json *object, struct vd_slice key,
                       struct vd_slice value)
{
    set_in(a, object, VD_SLICE("labels"), key, value);
}

void vd_meta_set_annotation(struct vd_arena *a, struct vd_json *object, struct vd_slice key,
                            struct vd_slice value)
{
    set_in(a, object, VD_SLICE("annotations"), key, value);
}

bool vd_meta_remove_label(struct vd_json *object, struct vd_slice key)
{
    return remove_in(object, VD_SLICE("labels"), key);
}

bool vd_meta_remove_annotation(struct vd_json *object, struct vd_slice key)
{
    return remove_in(object, VD_SLICE("annotations"), key);
}

bool vd_meta_add_finalizer(struct vd_arena *a, struct vd_json *object, struct vd_slice name)
{
    if (vd_meta_has_finalizer(object, name))
        return false;
    vd_json_append(open_member(a, open_meta(a, object), VD_SLICE("finalizers"), VD_JSON_ARRAY),
                   vd_json_string(a, name));
    return true;
}

bool vd_meta_remove_finalizer(struct vd_json *object, struct vd_slice name)
{
    struct vd_json *list = field_of(object, VD_SLICE("finalizers")), *before = NULL;
    bool found = false;
    if (!vd_json_is(list, VD_JSON_ARRAY))
        return false;
    for (struct vd_json *item = vd_json_first(list), *next; item; item = next) {
        next = vd_json_next(item);
        if (vd_json_is(item, VD_JSON_STRING) && vd_slice_eq(vd_json_text(item), name)) {
            vd_json_remove_after(list, before);
            found = true;
        } else {
            before = item;
        }
    }
    if (found)
        drop_if_empty(object, VD_SLICE("finalizers"));
    return found;
}

void vd_meta_set_owner(struct vd_arena *a, struct vd_json *object, const struct vd_owner *owner)
{
    struct vd_json *list = open_member(a, open_meta(a, object), VD_SLICE("ownerReferences"),
                                       VD_JSON_ARRAY);
    struct vd_json *item = vd_json_object(a);
    vd_json_add_ref(item, VD_SLICE("apiVersion"), vd_json_string(a, owner->api_version));
    vd_json_add_ref(item, VD_SLICE("kind"), vd_json_string(a, owner->kind));
    vd_json_add_ref(item, VD_SLICE("name"), vd_json_string(a, owner->name));
    vd_json_add_ref(item, VD_SLICE("uid"), vd_json_string(a, owner->uid));
    if (owner->controller)
        vd_json_add_ref(item, VD_SLICE("controller"), vd_json_bool(a, true));
    if (owner->block_owner_deletion)
        vd_json_add_ref(item, VD_SLICE("blockOwnerDeletion"), vd_json_bool(a, true));
    VD_JSON_EACH (other, list)
        if (vd_slice_eq(vd_owner_read(other).uid, owner->uid)) {
            vd_json_assign(other, item);
            return;
        }
    vd_json_append(list, item);
}

/* Go clients send an empty uid where others leave it out. */
static bool is_said(const struct vd_json *value)
{
    return value && !vd_json_is(value, VD_JSON_NULL) &&
           !(vd_json_is(value, VD_JSON_STRING) && !vd_json_text(value).n);
}

void vd_meta_inherit(struct vd_arena *arena, struct vd_json *object, const struct vd_json *old)
{
    static const struct {
        const char *field;
        bool always; /* even if the client sent another */
    } fields[] = {
        {"uid", false},
        {"deletionGracePeriodSeconds", false},
        {"generation", true},
        {"creationTimestamp", true},
        {"deletionTimestamp", true},
    };
    struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    const struct vd_json *before = vd_json_get(old, VD_SLICE("metadata"));
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct vd_slice field = vd_slice_of(fields[i].field);
        const struct vd_json *was = vd_json_get(before, field);
        if (!vd_json_is(metadata, VD_JSON_OBJECT) ||
            (!fields[i].always && is_said(vd_json_get(metadata, field))))
            continue;
        if (was)
            vd_json_set(arena, metadata, field, vd_json_copy(arena, was));
        else
            vd_json_remove(metadata, field);
    }
}
