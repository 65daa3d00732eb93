/* See type.h. */
#include "cel/type.h"

#include <assert.h>
#include <string.h>

enum { KINDS = VD_CEL_ERROR + 1 }; /* values of enum vd_cel_kind */

#define SIMPLE(k) [k] = {.kind = (k)}

static const struct vd_cel_type dyn_type = {.kind = VD_CEL_DYN};

static const struct vd_cel_type simple[KINDS] = {
    SIMPLE(VD_CEL_DYN),
    SIMPLE(VD_CEL_NULL),
    SIMPLE(VD_CEL_BOOL),
    SIMPLE(VD_CEL_INT),
    SIMPLE(VD_CEL_UINT),
    SIMPLE(VD_CEL_DOUBLE),
    SIMPLE(VD_CEL_STRING),
    SIMPLE(VD_CEL_BYTES),
    SIMPLE(VD_CEL_TIMESTAMP),
    SIMPLE(VD_CEL_DURATION),
    [VD_CEL_TYPE] = {.kind = VD_CEL_TYPE, .item = &dyn_type},
    [VD_CEL_LIST] = {.kind = VD_CEL_LIST, .item = &dyn_type},
    [VD_CEL_MAP] = {.kind = VD_CEL_MAP, .key = &dyn_type, .item = &dyn_type},
    SIMPLE(VD_CEL_OBJECT),
    [VD_CEL_OPTIONAL] = {.kind = VD_CEL_OPTIONAL, .item = &dyn_type},
    SIMPLE(VD_CEL_URL),
    SIMPLE(VD_CEL_IP),
    SIMPLE(VD_CEL_CIDR),
    SIMPLE(VD_CEL_QUANTITY),
    SIMPLE(VD_CEL_FORMAT),
    SIMPLE(VD_CEL_PARAM),
    SIMPLE(VD_CEL_ERROR),
};

static const char *const kind_names[KINDS] = {
    [VD_CEL_DYN] = "dyn",
    [VD_CEL_NULL] = "null_type",
    [VD_CEL_BOOL] = "bool",
    [VD_CEL_INT] = "int",
    [VD_CEL_UINT] = "uint",
    [VD_CEL_DOUBLE] = "double",
    [VD_CEL_STRING] = "string",
    [VD_CEL_BYTES] = "bytes",
    [VD_CEL_TIMESTAMP] = "google.protobuf.Timestamp",
    [VD_CEL_DURATION] = "google.protobuf.Duration",
    [VD_CEL_TYPE] = "type",
    [VD_CEL_LIST] = "list",
    [VD_CEL_MAP] = "map",
    [VD_CEL_OBJECT] = "object",
    [VD_CEL_OPTIONAL] = "optional_type",
    [VD_CEL_URL] = "kubernetes.URL",
    [VD_CEL_IP] = "net.IP",
    [VD_CEL_CIDR] = "net.CIDR",
    [VD_CEL_QUANTITY] = "kubernetes.Quantity",
    [VD_CEL_FORMAT] = "kubernetes.NamedFormat",
    [VD_CEL_PARAM] = "param",
    [VD_CEL_ERROR] = "!error!",
};

const struct vd_cel_type *vd_cel_type_of(enum vd_cel_kind kind)
{
    return &simple[kind];
}

const char *vd_cel_kind_name(enum vd_cel_kind kind)
{
    return kind_names[kind];
}

static struct vd_cel_type *new_type(struct vd_arena *a, enum vd_cel_kind kind)
{
    struct vd_cel_type *type = vd_arena_alloc(a, sizeof *type);
    memset(type, 0, sizeof *type);
    type->kind = (uint8_t)kind;
    return type;
}

static const struct vd_cel_type *around(struct vd_arena *a, enum vd_cel_kind kind,
                                        const struct vd_cel_type *item)
{
    struct vd_cel_type *type = new_type(a, kind);
    type->item = item;
    return type;
}

const struct vd_cel_type *vd_cel_list_of(struct vd_arena *a, const struct vd_cel_type *item)
{
    return around(a, VD_CEL_LIST, item);
}

const struct vd_cel_type *vd_cel_optional_of(struct vd_arena *a, const struct vd_cel_type *item)
{
    return around(a, VD_CEL_OPTIONAL, item);
}

const struct vd_cel_type *vd_cel_type_type(struct vd_arena *a, const struct vd_cel_type *item)
{
    return around(a, VD_CEL_TYPE, item);
}

const struct vd_cel_type *vd_cel_map_of(struct vd_arena *a, const struct vd_cel_type *key,
                                        const struct vd_cel_type *item)
{
    struct vd_cel_type *type = new_type(a, VD_CEL_MAP);
    type->key = key;
    type->item = item;
    return type;
}

struct vd_cel_type *vd_cel_type_declare(struct vd_arena *a, enum vd_cel_kind kind)
{
    struct vd_cel_type *type = new_type(a, kind);
    type->declared = true;
    return type;
}

const struct vd_cel_field *vd_cel_type_field(const struct vd_cel_type *object, struct vd_slice name)
{
    for (size_t i = 0; i < object->field_count; i++)
        if (vd_slice_eq(object->fields[i].name, name))
            return &object->fields[i];
    return NULL;
}

void vd_cel_type_write(struct vd_buf *out, const struct vd_cel_type *type)
{
    switch ((enum vd_cel_kind)type->kind) {
    case VD_CEL_NULL:
        vd_buf_add_text(out, "null");
        break;
    case VD_CEL_TIMESTAMP:
        vd_buf_add_text(out, "timestamp");
        break;
    case VD_CEL_DURATION:
        vd_buf_add_text(out, "duration");
        break;
    case VD_CEL_MAP:
        vd_buf_add_text(out, "map(");
        vd_cel_type_write(out, type->key);
        vd_buf_add_text(out, ", ");
        vd_cel_type_write(out, type->item);
        vd_buf_add_char(out, ')');
        break;
    case VD_CEL_LIST:
    case VD_CEL_OPTIONAL:
    case VD_CEL_TYPE:
        vd_buf_addf(out, "%s(", kind_names[type->kind]);
        vd_cel_type_write(out, type->item);
        vd_buf_add_char(out, ')');
        break;
    default:
        vd_buf_add_text(out, kind_names[type->kind]);
    }
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_reserved(struct vd_slice name)
{
    static const char *const words[] = {
        "true",     "false",   "null",      "in",       "as",  "break",  "const",
        "continue", "else",    "for",       "function", "if",  "import", "let",
        "loop",     "package", "namespace", "return",   "var", "void",   "while",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (vd_slice_is(name, words[i]))
            return true;
    return false;
}

bool vd_cel_escape(struct vd_arena *a, struct vd_slice raw, struct vd_slice *out)
{
    struct vd_buf text = {0};
    bool ok = raw.n > 0 && (is_letter(raw.p[0]) || strchr(".-/", raw.p[0]) != NULL);
    if (ok && is_reserved(raw)) {
        vd_buf_addf(&text, "__%.*s__", VD_FMT(raw));
    } else {
        for (size_t i = 0; ok && i < raw.n; i++) {
            char c = raw.p[i];
            if (c == '_' && i + 1 < raw.n && raw.p[i + 1] == '_') {
                vd_buf_add_text(&text, "__underscores__");
                i++;
            } else if (c == '.')
                vd_buf_add_text(&text, "__dot__");
            else if (c == '-')
                vd_buf_add_text(&text, "__dash__");
            else if (c == '/')
                vd_buf_add_text(&text, "__slash__");
            else if (is_letter(c) || (c >= '0' && c <= '9'))
                vd_buf_add_char(&text, c);
            else
                ok = false;
        }
    }
    if (ok)
        *out = vd_arena_copy(a, vd_buf_slice(&text));
    vd_buf_release(&text);
    return ok;
}
