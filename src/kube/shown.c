/* See shown.h. */
#include "kube/shown.h"

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

bool vd_shown_is_of_version(const struct vd_kind *kind, struct vd_slice body)
{
    struct vd_slice version;
    if (!vd_span_get(body, VD_SLICE("apiVersion"), &version) || version.n < 2)
        return false;
    return vd_slice_eq(vd_slice(version.p + 1, version.n - 2), kind->api_version);
}

/* False: it cannot be read. */
static bool show_anew(const struct vd_kind *kind, struct vd_slice body, struct vd_buf *room)
{
    struct vd_arena arena = {0};
    struct vd_json *object = NULL;
    bool ok = !vd_json_parse(&arena, body, NULL, &object, NULL) &&
              vd_json_is(object, VD_JSON_OBJECT);
    if (ok) {
        vd_object_catch_up(kind, &arena, object);
        vd_object_convert(kind, kind, &arena, object);
        vd_buf_reset(room);
        vd_json_write(room, object);
    }
    vd_arena_release(&arena);
    return ok;
}

struct vd_slice vd_shown_body(const struct vd_kind *kind, struct vd_slice body, uint64_t written,
                              struct vd_buf *room)
{
    struct vd_span_cursor at;
    struct vd_slice key, value;
    const char *separator = "";
    if (VD_UNLIKELY(vd_object_is_behind(kind, written)) && show_anew(kind, body, room))
        return vd_buf_slice(room);
    if (!kind->converts || (!kind->storage_field_count && vd_shown_is_of_version(kind, body)))
        return body;
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
