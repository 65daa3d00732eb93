/* See served_form.h. */
#include "kinds/served_form.h"

#include "base/attributes.h"
#include "json/escape.h"
#include "json/parse.h"
#include "json/span.h"
#include "json/write.h"

/* How the kind calls a stored field. */
static struct vd_slice shown_key(const struct vd_kind *kind, struct vd_slice raw)
{
    for (size_t i = 0; i < kind->storage_field_count; i++)
        if (vd_span_key_is(raw, kind->storage_fields[i].there))
            return kind->storage_fields[i].here;
    return raw;
}

bool vd_served_form_is_of_version(const struct vd_kind *kind, struct vd_slice body)
{
    struct vd_slice version;
    if (!vd_span_get(body, VD_SLICE("apiVersion"), &version) || version.n < 2)
        return false;
    return vd_slice_eq(vd_slice(version.p + 1, version.n - 2), kind->api_version);
}

/* Whether its version and the names of its fields are those of the kind. */
static bool is_named_as_stored(const struct vd_kind *kind, struct vd_slice body)
{
    return !kind->converts ||
           (!kind->storage_field_count && vd_served_form_is_of_version(kind, body));
}

bool vd_served_form_is_as_stored(const struct vd_kind *kind, struct vd_slice body, uint64_t written)
{
    return !vd_object_is_behind(kind, written) && is_named_as_stored(kind, body);
}

/* What cannot be read is shown as it is. */
static int show_anew(const struct vd_kind *kind, struct vd_slice body, struct vd_buf *room,
                     struct vd_effort *effort, struct vd_slice *out, struct vd_error *error)
{
    struct vd_arena arena = {0};
    struct vd_json *object = NULL;
    int code = VD_OK;
    *out = body;
    if (effort->on_loop && body.n > VD_TURN_OBJECT_LEN_MAX) {
        effort->over = true;
        return vd_error_set(error, VD_ERR_LIMIT, "it has %zu bytes, which takes too long here",
                            body.n);
    }
    if (!vd_json_parse(&arena, body, NULL, &object, NULL) && vd_json_is(object, VD_JSON_OBJECT)) {
        code = vd_object_catch_up(kind, &arena, object, effort, error);
        if (!code) {
            vd_object_convert(kind, kind, &arena, object);
            vd_buf_reset(room);
            vd_json_write(room, object);
            *out = vd_buf_slice(room);
        }
    }
    vd_arena_release(&arena);
    return code;
}

/* Another version and the names of its fields, copied in pieces. */
static struct vd_slice show_renamed(const struct vd_kind *kind, struct vd_slice body,
                                    struct vd_buf *room)
{
    struct vd_span_cursor at;
    struct vd_slice key, value;
    const char *separator = "";
    vd_buf_reset(room);
    vd_buf_reserve(room, body.n + kind->api_version.n);
    vd_buf_add_char(room, '{');
    vd_span_open(&at, body);
    while (vd_span_next(&at, &key, &value)) {
        bool is_version = vd_span_key_is(key, VD_SLICE("apiVersion"));
        struct vd_slice name = shown_key(kind, key);
        vd_buf_add_text(room, separator);
        vd_buf_add_char(room, '"');
        vd_buf_add_slice(room, name);
        vd_buf_add_text(room, "\":");
        if (is_version)
            vd_escape_write(room, kind->api_version);
        else
            vd_buf_add_slice(room, value);
        separator = ",";
    }
    vd_buf_add_char(room, '}');
    return vd_buf_slice(room);
}

int vd_served_form_make(const struct vd_kind *kind, struct vd_slice body, uint64_t written,
                        struct vd_buf *room, struct vd_effort *effort, struct vd_slice *out,
                        struct vd_error *error)
{
    *out = body;
    if (VD_UNLIKELY(vd_object_is_behind(kind, written))) {
        int code = show_anew(kind, body, room, effort, out, error);
        if (code || out->p != body.p)
            return code;
    }
    if (!is_named_as_stored(kind, body))
        *out = show_renamed(kind, body, room);
    return VD_OK;
}
