/*
 * See openapi_proto.h. Tables of fields, by the name that they have in JSON, and
 * one walk that writes what they say.
 *
 * The message has a wrapper wherever JSON has a choice or a map: `type` is a
 * message with a list of strings, a map is a message with a list of pairs
 * {1: name, 2: value}, a response is inside a "response or reference". The
 * field's `form` names the wrapper. Free JSON (defaults, enums, extensions) is
 * an Any with the text in its field `yaml`, as JSON is YAML.
 *
 * A message's length stands before it, and is known only behind it: the message
 * is written first and then moved to make room for the length.
 */
#include "kube/openapi/proto.h"

#include <string.h>

#include "kube/protobuf/wire.h"
#include "json/write.h"

enum form {
    TEXT,
    BOOL,
    INT,
    DOUBLE,
    TEXTS,       /* a list of strings */
    ANY,         /* free JSON */
    ANYS,        /* a list of it */
    MESSAGE,     /* of the type `of` */
    WRAPPED,     /* {1: of} */
    CHOICE,      /* {1: of} or {2: bool} */
    TYPE,        /* {1: string...} */
    MAP,         /* {entry: {1: name, 2: of}...} */
    WRAPPED_MAP, /* {entry: {1: name, 2: {1: of}}...} */
    PARAMETERS,  /* a list, by their "in" */
};

struct field {
    const char *key;
    uint32_t number;
    enum form form;
    const struct message *of;
    uint32_t entry;
};

struct message {
    const struct field *fields;
    size_t n;
    uint32_t extension; /* the field of "x-..." members */
};

#define MESSAGE_OF(fields_, extension_)                                                            \
    {                                                                                              \
        .fields = (fields_), .n = sizeof(fields_) / sizeof *(fields_), .extension = (extension_)   \
    }

static const struct message SCHEMA;

static const struct field SCHEMA_FIELDS[] = {
    {"$ref", 1, TEXT, NULL, 0},
    {"format", 2, TEXT, NULL, 0},
    {"title", 3, TEXT, NULL, 0},
    {"description", 4, TEXT, NULL, 0},
    {"default", 5, ANY, NULL, 0},
    {"multipleOf", 6, DOUBLE, NULL, 0},
    {"maximum", 7, DOUBLE, NULL, 0},
    {"exclusiveMaximum", 8, BOOL, NULL, 0},
    {"minimum", 9, DOUBLE, NULL, 0},
    {"exclusiveMinimum", 10, BOOL, NULL, 0},
    {"maxLength", 11, INT, NULL, 0},
    {"minLength", 12, INT, NULL, 0},
    {"pattern", 13, TEXT, NULL, 0},
    {"maxItems", 14, INT, NULL, 0},
    {"minItems", 15, INT, NULL, 0},
    {"uniqueItems", 16, BOOL, NULL, 0},
    {"maxProperties", 17, INT, NULL, 0},
    {"minProperties", 18, INT, NULL, 0},
    {"required", 19, TEXTS, NULL, 0},
    {"enum", 20, ANYS, NULL, 0},
    {"additionalProperties", 21, CHOICE, &SCHEMA, 0},
    {"type", 22, TYPE, NULL, 0},
    {"items", 23, WRAPPED, &SCHEMA, 0},
    {"properties", 25, MAP, &SCHEMA, 1},
    {"example", 30, ANY, NULL, 0},
};
static const struct message SCHEMA = MESSAGE_OF(SCHEMA_FIELDS, 31);

static const struct field RESPONSE_FIELDS[] = {
    {"description", 1, TEXT, NULL, 0},
    {"schema", 2, WRAPPED, &SCHEMA, 0},
};
static const struct message RESPONSE = MESSAGE_OF(RESPONSE_FIELDS, 5);

static const struct field BODY_FIELDS[] = {
    {"description", 1, TEXT, NULL, 0}, {"name", 2, TEXT, NULL, 0},         {"in", 3, TEXT, NULL, 0},
    {"required", 4, BOOL, NULL, 0},    {"schema", 5, MESSAGE, &SCHEMA, 0},
};
static const struct message BODY = MESSAGE_OF(BODY_FIELDS, 6);

static const struct field QUERY_FIELDS[] = {
    {"required", 1, BOOL, NULL, 0}, {"in", 2, TEXT, NULL, 0},   {"description", 3, TEXT, NULL, 0},
    {"name", 4, TEXT, NULL, 0},     {"type", 6, TEXT, NULL, 0}, {"format", 7, TEXT, NULL, 0},
};
static const struct message QUERY = MESSAGE_OF(QUERY_FIELDS, 23);

static const struct field PATH_FIELDS[] = {
    {"required", 1, BOOL, NULL, 0}, {"in", 2, TEXT, NULL, 0},   {"description", 3, TEXT, NULL, 0},
    {"name", 4, TEXT, NULL, 0},     {"type", 5, TEXT, NULL, 0}, {"format", 6, TEXT, NULL, 0},
};
static const struct message PATH = MESSAGE_OF(PATH_FIELDS, 22);

static const struct field OPERATION_FIELDS[] = {
    {"summary", 2, TEXT, NULL, 0},
    {"description", 3, TEXT, NULL, 0},
    {"operationId", 5, TEXT, NULL, 0},
    {"produces", 6, TEXTS, NULL, 0},
    {"consumes", 7, TEXTS, NULL, 0},
    {"parameters", 8, PARAMETERS, NULL, 0},
    {"responses", 9, WRAPPED_MAP, &RESPONSE, 1},
    {"deprecated", 11, BOOL, NULL, 0},
};
static const struct message OPERATION = MESSAGE_OF(OPERATION_FIELDS, 13);

static const struct field PATH_ITEM_FIELDS[] = {
    {"get", 2, MESSAGE, &OPERATION, 0},   {"put", 3, MESSAGE, &OPERATION, 0},
    {"post", 4, MESSAGE, &OPERATION, 0},  {"delete", 5, MESSAGE, &OPERATION, 0},
    {"patch", 8, MESSAGE, &OPERATION, 0}, {"parameters", 9, PARAMETERS, NULL, 0},
};
static const struct message PATH_ITEM = MESSAGE_OF(PATH_ITEM_FIELDS, 10);

static const struct field INFO_FIELDS[] = {
    {"title", 1, TEXT, NULL, 0},
    {"version", 2, TEXT, NULL, 0},
    {"description", 3, TEXT, NULL, 0},
};
static const struct message INFO = MESSAGE_OF(INFO_FIELDS, 7);

static const struct field DOCUMENT_FIELDS[] = {
    {"swagger", 1, TEXT, NULL, 0},
    {"info", 2, MESSAGE, &INFO, 0},
    {"paths", 8, MAP, &PATH_ITEM, 2},
    {"definitions", 9, MAP, &SCHEMA, 1},
};
static const struct message DOCUMENT = MESSAGE_OF(DOCUMENT_FIELDS, 16);

static void write_message(struct vd_buf *out, const struct message *message,
                          const struct vd_json *object);

/* --- the wire --- */

static size_t varint_bytes(uint64_t value, char bytes[10])
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (char)(value | 0x80);
    bytes[n++] = (char)value;
    return n;
}

static void add_varint(struct vd_buf *out, uint64_t value)
{
    char bytes[10];
    vd_buf_add(out, bytes, varint_bytes(value, bytes));
}

static void add_tag(struct vd_buf *out, uint32_t number, enum vd_wire_type type)
{
    add_varint(out, (uint64_t)number << 3 | type);
}

static void add_bytes(struct vd_buf *out, uint32_t number, struct vd_slice bytes)
{
    add_tag(out, number, VD_WIRE_BYTES);
    add_varint(out, bytes.n);
    vd_buf_add_slice(out, bytes);
}

static void add_number(struct vd_buf *out, uint32_t number, uint64_t value)
{
    add_tag(out, number, VD_WIRE_VARINT);
    add_varint(out, value);
}

static void add_double(struct vd_buf *out, uint32_t number, double value)
{
    uint64_t bits;
    char bytes[8];
    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (char)(bits >> (8 * i));
    add_tag(out, number, VD_WIRE_FIXED64);
    vd_buf_add(out, bytes, sizeof bytes);
}

/* A message begins; the result goes to `end`. */
static size_t begin(struct vd_buf *out, uint32_t number)
{
    add_tag(out, number, VD_WIRE_BYTES);
    return out->n;
}

static void end(struct vd_buf *out, size_t from)
{
    char bytes[10];
    size_t len = out->n - from, n = varint_bytes(len, bytes);
    vd_buf_add(out, bytes, n); /* for the room */
    memmove(out->p + from + n, out->p + from, len);
    memcpy(out->p + from, bytes, n);
}

/* --- forms --- */

static void write_any(struct vd_buf *out, uint32_t number, const struct vd_json *v)
{
    struct vd_buf text = {0};
    size_t any = begin(out, number);
    vd_json_write(&text, v);
    vd_buf_add_char(&text, '\n');
    add_bytes(out, 2, vd_buf_slice(&text));
    end(out, any);
    vd_buf_release(&text);
}

static void write_texts(struct vd_buf *out, uint32_t number, const struct vd_json *list)
{
    VD_JSON_EACH (text, list)
        add_bytes(out, number, vd_json_text(text));
}

/* The message, or a message whose field 1 it is. */
static void write_wrapped(struct vd_buf *out, uint32_t number, const struct message *of,
                          const struct vd_json *v, bool wrapped)
{
    size_t outer = begin(out, number), inner = wrapped ? begin(out, 1) : 0;
    write_message(out, of, v);
    if (wrapped)
        end(out, inner);
    end(out, outer);
}

static void write_choice(struct vd_buf *out, const struct field *field, const struct vd_json *v)
{
    if (vd_json_is(v, VD_JSON_OBJECT)) {
        write_wrapped(out, field->number, field->of, v, true);
        return;
    }
    size_t choice = begin(out, field->number);
    add_number(out, 2, vd_json_truth(v));
    end(out, choice);
}

static void write_type(struct vd_buf *out, uint32_t number, const struct vd_json *v)
{
    size_t type = begin(out, number);
    if (vd_json_is(v, VD_JSON_STRING))
        add_bytes(out, 1, vd_json_text(v));
    else
        write_texts(out, 1, v);
    end(out, type);
}

static void write_map(struct vd_buf *out, const struct field *field, const struct vd_json *v)
{
    size_t map = begin(out, field->number);
    VD_JSON_EACH (member, v) {
        size_t pair = begin(out, field->entry);
        add_bytes(out, 1, vd_json_key(member));
        write_wrapped(out, 2, field->of, member, field->form == WRAPPED_MAP);
        end(out, pair);
    }
    end(out, map);
}

/* {1: {1: body} or {2: {3: query} or {4: path}}} */
static void write_parameter(struct vd_buf *out, uint32_t number, const struct vd_json *v)
{
    struct vd_slice in = vd_json_text(vd_json_get(v, VD_SLICE("in")));
    bool body = vd_slice_is(in, "body"), path = vd_slice_is(in, "path");
    size_t item = begin(out, number), parameter = begin(out, 1);
    if (body) {
        write_wrapped(out, 1, &BODY, v, false);
    } else {
        size_t other = begin(out, 2);
        write_wrapped(out, path ? 4 : 3, path ? &PATH : &QUERY, v, false);
        end(out, other);
    }
    end(out, parameter);
    end(out, item);
}

static void write_scalar(struct vd_buf *out, const struct field *field, const struct vd_json *v)
{
    int64_t integer;
    double real;
    if (field->form == TEXT && vd_json_is(v, VD_JSON_STRING))
        add_bytes(out, field->number, vd_json_text(v));
    else if (field->form == BOOL && vd_json_truth(v))
        add_number(out, field->number, 1);
    else if (field->form == INT && vd_json_to_i64(v, &integer))
        add_number(out, field->number, (uint64_t)integer);
    else if (field->form == DOUBLE && vd_json_to_double(v, &real))
        add_double(out, field->number, real);
}

static void write_field(struct vd_buf *out, const struct field *field, const struct vd_json *v)
{
    switch (field->form) {
    case TEXT:
    case BOOL:
    case INT:
    case DOUBLE:
        write_scalar(out, field, v);
        break;
    case TEXTS:
        write_texts(out, field->number, v);
        break;
    case ANY:
        write_any(out, field->number, v);
        break;
    case ANYS:
        VD_JSON_EACH (item, v)
            write_any(out, field->number, item);
        break;
    case MESSAGE:
    case WRAPPED:
        write_wrapped(out, field->number, field->of, v, field->form == WRAPPED);
        break;
    case CHOICE:
        write_choice(out, field, v);
        break;
    case TYPE:
        write_type(out, field->number, v);
        break;
    case MAP:
    case WRAPPED_MAP:
        write_map(out, field, v);
        break;
    case PARAMETERS:
        VD_JSON_EACH (item, v)
            write_parameter(out, field->number, item);
        break;
    }
}

static const struct field *field_of(const struct message *message, struct vd_slice key)
{
    for (size_t i = 0; i < message->n; i++) {
        if (vd_slice_is(key, message->fields[i].key))
            return &message->fields[i];
    }
    return NULL;
}

/* {1: name, 2: any} */
static void write_extension(struct vd_buf *out, uint32_t number, const struct vd_json *member)
{
    size_t pair = begin(out, number);
    add_bytes(out, 1, vd_json_key(member));
    write_any(out, 2, member);
    end(out, pair);
}

/* Recursion: no deeper than the document nests. */
static void write_message(struct vd_buf *out, const struct message *message,
                          const struct vd_json *object)
{
    VD_JSON_EACH (member, object) {
        const struct field *field = field_of(message, vd_json_key(member));
        if (field)
            write_field(out, field, member);
        else if (vd_slice_starts_with(vd_json_key(member), VD_SLICE("x-")))
            write_extension(out, message->extension, member);
    }
}

void vd_openapi_proto_write(struct vd_buf *out, const struct vd_json *document)
{
    write_message(out, &DOCUMENT, document);
}
