/*
 * The rules of ConfigMap and Secret: keys, size, what some types of Secret must
 * hold, and immutability.
 */
#include <stdio.h>

#include "base/limits.h"
#include "kinds/name.h"
#include "kinds/object_meta.h"
#include "kinds/rules_internal.h"
#include "json/compare.h"
#include "json/key_index.h"

static void check_keys(const struct vd_json *object, const char *field, const char *other,
                       struct vd_violations *out)
{
    struct vd_field_path path = vd_field_member(NULL, vd_slice_of(field));
    const struct vd_json *others = other ? vd_json_get(object, vd_slice_of(other)) : NULL;
    struct vd_key_index index;
    vd_key_index_init(&index, others);
    VD_JSON_EACH (entry, vd_json_get(object, vd_slice_of(field))) {
        struct vd_name_faults faults;
        struct vd_slice key = vd_json_key(entry);
        struct vd_field_path at = vd_field_key(&path, key);
        if (!vd_name_check(VD_NAME_CONFIG_KEY, key, &faults))
            for (size_t i = 0; i < faults.n; i++)
                vd_violations_add(out, VD_VIOLATION_INVALID, &at, vd_bad_value_text(out, key), "%s",
                                  faults.p[i]);
        if (others && vd_key_index_get(&index, key))
            vd_violations_add(out, VD_VIOLATION_INVALID, &at, vd_bad_value_text(out, key),
                              "duplicate of key present in %s", other);
    }
    vd_key_index_release(&index);
}

/* The bytes that a base64 text stands for. */
static size_t decoded_len(struct vd_slice text)
{
    size_t n = text.n / 4 * 3;
    if (text.n >= 1 && text.p[text.n - 1] == '=')
        n--;
    if (text.n >= 2 && text.p[text.n - 2] == '=')
        n--;
    return n;
}

static size_t data_len(const struct vd_json *object, const char *field, bool base64)
{
    size_t total = 0;
    VD_JSON_EACH (entry, vd_json_get(object, vd_slice_of(field)))
        total += base64 ? decoded_len(vd_json_text(entry)) : vd_json_text(entry).n;
    return total;
}

static void add_too_long(struct vd_violations *out, const char *field)
{
    char detail[64];
    int n = snprintf(detail, sizeof detail, "may not be more than %d bytes",
                     VD_CONFIG_DATA_LEN_MAX);
    vd_violations_add_at(out, VD_VIOLATION_TOO_LONG, vd_slice_of(field), vd_bad_value_nothing(),
                         vd_slice(detail, (size_t)n));
}

/* Absent and empty are the same here. */
static bool same_data(const struct vd_json *a, const struct vd_json *b)
{
    return (vd_json_count(a) == 0 && vd_json_count(b) == 0) || vd_json_eq(a, b);
}

static void check_immutable(const struct vd_json *object, const struct vd_json *old,
                            const char *const *fields, struct vd_violations *out)
{
    static const char detail[] = "field is immutable when `immutable` is set";
    if (!vd_json_truth(vd_json_get(old, VD_SLICE("immutable"))))
        return;
    if (!vd_json_truth(vd_json_get(object, VD_SLICE("immutable")))) {
        struct vd_field_path path = vd_field_member(NULL, VD_SLICE("immutable"));
        vd_kind_rule_add(out, VD_VIOLATION_FORBIDDEN, &path, detail);
    }
    for (; *fields; fields++) {
        struct vd_slice field = vd_slice_of(*fields);
        struct vd_field_path path = vd_field_member(NULL, field);
        if (!same_data(vd_json_get(object, field), vd_json_get(old, field)))
            vd_kind_rule_add(out, VD_VIOLATION_FORBIDDEN, &path, detail);
    }
}

void vd_rule_configmap_check(const struct vd_json *object, const struct vd_json *old,
                             struct vd_violations *out)
{
    static const char *const fields[] = {"data", "binaryData", NULL};
    check_keys(object, "data", "binaryData", out);
    check_keys(object, "binaryData", "data", out);
    if (data_len(object, "data", false) + data_len(object, "binaryData", true) >
        VD_CONFIG_DATA_LEN_MAX)
        add_too_long(out, "");
    check_immutable(object, old, fields, out);
}

/* What a type of Secret must hold: `any` means one of the keys is enough. */
static const struct secret_type {
    const char *type;
    const char *keys[2];
    bool any, filled;
} secret_types[] = {
    {"kubernetes.io/dockercfg", {".dockercfg"}, false, true},
    {"kubernetes.io/dockerconfigjson", {".dockerconfigjson"}, false, true},
    {"kubernetes.io/basic-auth", {"username", "password"}, true, false},
    {"kubernetes.io/ssh-auth", {"ssh-privatekey"}, false, true},
    {"kubernetes.io/tls", {"tls.crt", "tls.key"}, false, false},
};

static void check_secret_type(const struct vd_json *object, const struct secret_type *type,
                              struct vd_violations *out)
{
    const struct vd_json *data = vd_json_get(object, VD_SLICE("data"));
    struct vd_field_path path = vd_field_member(NULL, VD_SLICE("data"));
    bool missing[2] = {false, false};
    for (size_t i = 0; i < 2 && type->keys[i]; i++) {
        const struct vd_json *value = vd_json_get(data, vd_slice_of(type->keys[i]));
        missing[i] = !value || (type->filled && vd_json_text(value).n == 0);
    }
    if (type->any && !(missing[0] && missing[1]))
        return;
    for (size_t i = 0; i < 2 && type->keys[i]; i++) {
        struct vd_field_path at = vd_field_key(&path, vd_slice_of(type->keys[i]));
        if (missing[i])
            vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &at, "");
    }
}

static void check_account_token(const struct vd_json *object, struct vd_violations *out)
{
    static const char name[] = "kubernetes.io/service-account.name";
    struct vd_field_path metadata = vd_field_member(NULL, VD_SLICE("metadata"));
    struct vd_field_path annotations = vd_field_member(&metadata, VD_SLICE("annotations"));
    struct vd_field_path at = vd_field_key(&annotations, vd_slice_of(name));
    if (vd_kind_rule_text(vd_meta_annotations(object), name).n == 0)
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &at, "");
}

void vd_rule_secret_check(const struct vd_json *object, const struct vd_json *old,
                          struct vd_violations *out)
{
    static const char *const fields[] = {"data", NULL};
    struct vd_slice type = vd_kind_rule_text(object, "type");
    check_keys(object, "data", NULL, out);
    if (data_len(object, "data", true) > VD_CONFIG_DATA_LEN_MAX)
        add_too_long(out, "data");
    for (size_t i = 0; i < sizeof secret_types / sizeof *secret_types; i++)
        if (vd_slice_is(type, secret_types[i].type))
            check_secret_type(object, &secret_types[i], out);
    if (vd_slice_is(type, "kubernetes.io/service-account-token"))
        check_account_token(object, out);
    if (old && !vd_slice_eq(type, vd_kind_rule_text(old, "type"))) {
        struct vd_field_path path = vd_field_member(NULL, VD_SLICE("type"));
        vd_violations_add(out, VD_VIOLATION_INVALID, &path, vd_bad_value_text(out, type), "%s",
                          "field is immutable");
    }
    check_immutable(object, old, fields, out);
}

static struct vd_json *base64_of(struct vd_arena *arena, struct vd_slice s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = (const unsigned char *)s.p;
    char *text = vd_arena_alloc(arena, (s.n + 2) / 3 * 4 + 1), *at = text;
    for (size_t i = 0; i < s.n; i += 3) {
        uint32_t bits = (uint32_t)p[i] << 16;
        bits |= i + 1 < s.n ? (uint32_t)p[i + 1] << 8 : 0;
        bits |= i + 2 < s.n ? (uint32_t)p[i + 2] : 0;
        *at++ = digits[bits >> 18];
        *at++ = digits[bits >> 12 & 63];
        *at++ = i + 1 < s.n ? digits[bits >> 6 & 63] : '=';
        *at++ = i + 2 < s.n ? digits[bits & 63] : '=';
    }
    return vd_json_string_ref(arena, vd_slice(text, (size_t)(at - text)));
}

static bool all_strings(const struct vd_json *object)
{
    VD_JSON_EACH (member, object) {
        if (!vd_json_is(member, VD_JSON_STRING))
            return false;
    }
    return vd_json_is(object, VD_JSON_OBJECT);
}

void vd_rule_secret_prepare(struct vd_arena *arena, struct vd_json *object, bool create)
{
    (void)create;
    struct vd_json *texts = vd_json_get(object, VD_SLICE("stringData"));
    struct vd_json *data = vd_json_get(object, VD_SLICE("data"));
    if (!all_strings(texts) || (data && !vd_json_is(data, VD_JSON_OBJECT)))
        return; /* the schema will say */
    vd_json_remove(object, VD_SLICE("stringData"));
    if (vd_json_count(texts) == 0)
        return;
    if (!data) {
        data = vd_json_object(arena);
        vd_json_add(arena, object, VD_SLICE("data"), data);
    }
    /* The index must not see the object change, so what is new goes into a second
     * object first. */
    struct vd_json *added = vd_json_object(arena);
    struct vd_key_index index;
    vd_key_index_init(&index, data);
    VD_JSON_EACH (text, texts) {
        struct vd_json *encoded = base64_of(arena, vd_json_text(text));
        struct vd_json *there = vd_key_index_get(&index, vd_json_key(text));
        if (there)
            vd_json_assign(there, encoded);
        else
            vd_json_add(arena, added, vd_json_key(text), encoded);
    }
    vd_key_index_release(&index);
    while (vd_json_first(added)) {
        struct vd_slice key = vd_json_key(vd_json_first(added));
        vd_json_add_ref(data, key, vd_json_remove_after(added, NULL));
    }
}
