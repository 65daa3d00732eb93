/* See manifest.h. */
#include "auth/manifest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "auth/private_file.h"
#include "base/limits.h"
#include "base/near_miss.h"
#include "json/yaml_read.h"

/* ---- mistakes ---- */

void vd_manifest_fail(struct vd_manifest *m, const struct vd_json *at, const char *format, ...)
{
    struct vd_yaml_position place = {0};
    char text[VD_ERROR_TEXT_MAX];
    if (m->code)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (at && vd_yaml_reader_position(m->reader, at, &place))
        m->code = vd_error_set(m->error, VD_ERR_INVALID, "%s:%u:%u: %s", m->name, place.line,
                               place.column, text);
    else
        m->code = vd_error_set(m->error, VD_ERR_INVALID, "%s: %s", m->name, text);
}

/* Notes a syntax error, which the reader words "line 3, column 5: ...", in the form of the other
 * mistakes. */
static void fail_syntax(struct vd_manifest *m, int code, const struct vd_error *reason)
{
    struct vd_yaml_position at = vd_yaml_reader_failed_at(m->reader);
    const char *behind = at.line ? strstr(reason->text, ": ") : NULL;
    if (behind)
        m->code = vd_error_set(m->error, (enum vd_code)code, "%s:%u:%u: %s", m->name, at.line,
                               at.column, behind + 2);
    else
        m->code = vd_error_set(m->error, (enum vd_code)code, "%s: %s", m->name, reason->text);
}

/* ---- opening ---- */

static int read_document(struct vd_manifest *m)
{
    struct vd_yaml_options options = {.positions = true};
    struct vd_error reason;
    m->reader = vd_yaml_reader_new(vd_buf_slice(&m->text), &options);
    int code = vd_yaml_reader_next(m->reader, &m->arena, &m->root, &reason);
    if (code)
        fail_syntax(m, code, &reason);
    else if (!vd_json_is(m->root, VD_JSON_OBJECT))
        vd_manifest_fail(m, NULL, "the file must be a map with apiVersion and kind");
    return m->code;
}

int vd_manifest_parse(struct vd_manifest *m, const char *name, struct vd_slice text,
                      struct vd_error *error)
{
    *m = (struct vd_manifest){.name = name, .error = error};
    vd_buf_add_slice(&m->text, text);
    return read_document(m);
}

int vd_manifest_open(struct vd_manifest *m, const char *path, struct vd_error *error)
{
    *m = (struct vd_manifest){.name = path, .error = error};
    m->code = vd_private_file_read(&m->text, path, VD_MANIFEST_LEN_MAX, error);
    return m->code ? m->code : read_document(m);
}

/* Checks that no second document follows. Reading on makes the reader forget the positions of the
 * first document, so this is done last. */
static void check_rest(struct vd_manifest *m)
{
    struct vd_json *second = NULL;
    struct vd_error reason;
    int code = vd_yaml_reader_next(m->reader, &m->arena, &second, &reason);
    if (code)
        fail_syntax(m, code, &reason);
    else if (second)
        vd_manifest_fail(m, NULL, "a second document: one file, one map");
}

int vd_manifest_close(struct vd_manifest *m)
{
    if (!m->code)
        check_rest(m);
    vd_yaml_reader_free(m->reader);
    vd_buf_release(&m->text);
    vd_arena_release(&m->arena);
    return m->code;
}

/* ---- reading ---- */

void vd_manifest_expect(struct vd_manifest *m, const char *group, const char *kind)
{
    static const char *const versions[] = {"v1", "v1beta1", "v1alpha1"};
    if (m->code)
        return;
    struct vd_slice given = vd_manifest_text(m, m->root, "apiVersion"), rest = given, part;
    struct vd_slice given_kind = vd_manifest_text(m, m->root, "kind");
    bool known = false;
    if (!given.p)
        rest = VD_SLICE("");
    if (vd_slice_cut(&rest, '/', &part) && vd_slice_is(part, group))
        for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
            known |= vd_slice_is(rest, versions[i]);
    if (!known || !vd_slice_is(given_kind, kind))
        vd_manifest_fail(m, m->root, "wants apiVersion: %s/v1 and kind: %s", group, kind);
}

void vd_manifest_fields(struct vd_manifest *m, const struct vd_json *object,
                        const char *const *names)
{
    if (m->code)
        return;
    if (!vd_json_is(object, VD_JSON_OBJECT)) {
        vd_manifest_fail(m, object, "wants a map, not %s", vd_json_type_name(object));
        return;
    }
    VD_JSON_EACH (member, object) {
        struct vd_slice key = vd_json_key(member);
        const char *const *name = names;
        while (*name && !vd_slice_is(key, *name))
            name++;
        if (*name)
            continue;
        char wrong[80];
        snprintf(wrong, sizeof wrong, "%.*s", (int)(key.n < 79 ? key.n : 79), key.p);
        struct vd_near_miss near = vd_near_miss(wrong);
        for (name = names; *name; name++)
            vd_near_miss_try(&near, *name);
        vd_manifest_fail(m, member, "there is no field '%s'%s%s%s", wrong,
                         near.best ? " (did you mean '" : "", near.best ? near.best : "",
                         near.best ? "'?)" : "");
        return;
    }
}

/* A field of the type; NULL when it is missing or null. */
static const struct vd_json *field(struct vd_manifest *m, const struct vd_json *object,
                                   const char *name, enum vd_json_type type, const char *wanted)
{
    const struct vd_json *value = m->code ? NULL : vd_json_get(object, vd_slice_of(name));
    if (!value || vd_json_is(value, VD_JSON_NULL))
        return NULL;
    if (!vd_json_is(value, type)) {
        vd_manifest_fail(m, value, "%s wants %s, not %s", name, wanted, vd_json_type_name(value));
        return NULL;
    }
    return value;
}

const struct vd_json *vd_manifest_object(struct vd_manifest *m, const struct vd_json *object,
                                         const char *name)
{
    return field(m, object, name, VD_JSON_OBJECT, "a map");
}

const struct vd_json *vd_manifest_list(struct vd_manifest *m, const struct vd_json *object,
                                       const char *name)
{
    return field(m, object, name, VD_JSON_ARRAY, "a list");
}

struct vd_slice vd_manifest_text(struct vd_manifest *m, const struct vd_json *object,
                                 const char *name)
{
    const struct vd_json *value = field(m, object, name, VD_JSON_STRING, "a text");
    return value ? vd_json_text(value) : VD_SLICE("");
}

struct vd_slice *vd_manifest_texts(struct vd_manifest *m, const struct vd_json *object,
                                   const char *name, struct vd_arena *arena, size_t *n)
{
    const struct vd_json *list = vd_manifest_list(m, object, name);
    struct vd_slice *texts = vd_arena_alloc(arena, vd_json_count(list) * sizeof *texts);
    *n = 0;
    VD_JSON_EACH (item, list) {
        if (!vd_json_is(item, VD_JSON_STRING))
            vd_manifest_fail(m, item, "%s wants texts, not %s", name, vd_json_type_name(item));
        else
            texts[(*n)++] = vd_arena_copy(arena, vd_json_text(item));
    }
    return texts;
}
