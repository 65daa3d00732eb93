/*
 * The decoder: from wire fields, by the tables of protobuf_schema.h, to JSON.
 *
 * A message is decoded in two steps. Reading collects its fields into slots, one
 * for each field of its table: of a scalar the last value counts, elements of
 * arrays and maps become JSON at once, and the bytes of an embedded message are
 * only noted. Then the message's form makes a value of the slots; an object has
 * its members in the table's order, whatever the order on the wire.
 *
 * An embedded message may come in several pieces, which are to be merged.
 * Protobuf defines that as reading their concatenation, so a message is a chain
 * of segments that are read one after the other into the same slots.
 *
 * Bounds. Slots are reused by all messages of one nesting level, so memory does
 * not grow with the number of messages, and levels are bounded by the depth of
 * the document: every second one at least is an object (protobuf_schema.h).
 * Defaults can make a large object of a message of two bytes; values are counted
 * for that. Duplicate keys of a map are found by sorting. Embedded JSON costs
 * what it costs as a body of its own.
 *
 * `around` is always the number of containers around the value in question.
 */
#include "kube/protobuf/protobuf.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "kube/protobuf/schema.h"
#include "kube/protobuf/wire.h"
#include "watch/excerpt.h"
#include "json/parse.h"

/* A piece of a message; the pieces behind it are to be merged with it. */
struct segment {
    struct vd_slice bytes;
    struct segment *next;
};

/* What was read of a field. */
struct slot {
    bool seen;
    uint64_t number;       /* of a number or bool; a double's bits */
    struct segment first;  /* of a string, of bytes, of a message */
    struct segment *last;  /* of a message */
    struct vd_json *items; /* of VD_PROTOBUF_MANY and MAP: array and object */
};

/* The slots of a nesting level. */
struct frame {
    struct frame *inner;
    struct slot slots[VD_PROTOBUF_FIELDS_MAX];
};

struct decoder {
    struct vd_arena *arena;
    struct vd_arena scratch; /* frames and segments; gone after the call */
    struct vd_slice body;
    struct vd_slice api_version;
    struct vd_slice kind;
    const struct vd_protobuf_options *options;
    struct vd_error *error;
    struct frame **frame; /* where the next level's frame is, or will be */
    size_t value_count;
    size_t unknown_count;
};

/* What is being decoded, for errors too. */
struct place {
    const struct vd_protobuf_message *message;
    const struct vd_protobuf_field *field; /* of the message; NULL: all of it */
    const char *at;                        /* in the body */
};

static int message_value(struct decoder *d, const struct vd_protobuf_message *message,
                         const struct segment *segments, size_t around, struct vd_json **out);

/* --- errors --- */

static int fail(struct decoder *d, enum vd_code code, struct place p, const char *format, ...)
    VD_PRINTF(4, 5);

static int fail(struct decoder *d, enum vd_code code, struct place p, const char *format, ...)
{
    char what[VD_ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    struct vd_slice key = p.field ? p.field->key : vd_slice("", 0);
    return vd_error_set(d->error, code, "the protobuf body's %s%s%.*s, at byte %zu: %s",
                        p.message->name, p.field ? "." : "", VD_FMT(key),
                        (size_t)(p.at - d->body.p), what);
}

/* Before a container is made inside `around` others. */
static int check_depth(struct decoder *d, struct place p, size_t around)
{
    if (around < VD_JSON_DEPTH_MAX)
        return VD_OK;
    return fail(d, VD_ERR_LIMIT, p, "nests deeper than %d levels", VD_JSON_DEPTH_MAX);
}

/* Before a member or element is made. */
static int count_value(struct decoder *d, struct place p)
{
    if (++d->value_count <= VD_PROTOBUF_VALUES_MAX)
        return VD_OK;
    return fail(d, VD_ERR_LIMIT, p, "more than %d values in one document", VD_PROTOBUF_VALUES_MAX);
}

/* --- scalars --- */

static struct vd_json *base64_value(struct decoder *d, struct vd_slice bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = (bytes.n + 2) / 3 * 4;
    char *text = vd_arena_alloc(d->arena, n);
    for (size_t i = 0, o = 0; i < bytes.n; i += 3, o += 4) {
        const unsigned char *p = (const unsigned char *)bytes.p + i;
        size_t left = bytes.n - i;
        unsigned bits = (unsigned)p[0] << 16 | (left > 1 ? (unsigned)p[1] << 8 : 0) |
                        (left > 2 ? (unsigned)p[2] : 0);
        text[o] = digits[bits >> 18];
        text[o + 1] = digits[bits >> 12 & 63];
        text[o + 2] = left > 1 ? digits[bits >> 6 & 63] : '=';
        text[o + 3] = left > 2 ? digits[bits & 63] : '=';
    }
    return vd_json_string_ref(d->arena, vd_slice(text, n));
}

/* A string, which was checked when it was read, or bytes. */
static struct vd_json *text_value(struct decoder *d, const struct vd_protobuf_field *f,
                                  struct vd_slice bytes)
{
    return f->type == VD_PROTOBUF_BYTES ? base64_value(d, bytes)
                                        : vd_json_string_ref(d->arena, bytes);
}

static double slot_double(const struct slot *slot)
{
    double value;
    static_assert(sizeof value == sizeof slot->number, "a double has 64 bits");
    memcpy(&value, &slot->number, sizeof value);
    return value;
}

/* Protobuf casts: of an int32 the lower half of the bits counts. */
static int32_t slot_i32(const struct slot *slot)
{
    return (int32_t)(uint32_t)slot->number;
}

static int64_t slot_i64(const struct slot *slot)
{
    return (int64_t)slot->number;
}

/* --- reading --- */

static uint8_t wire_type_of(const struct vd_protobuf_field *f)
{
    if (f->shape != VD_PROTOBUF_ONE || f->type >= VD_PROTOBUF_STRING)
        return VD_WIRE_BYTES;
    return f->type == VD_PROTOBUF_DOUBLE ? VD_WIRE_FIXED64 : VD_WIRE_VARINT;
}

static int check_text(struct decoder *d, struct place p, struct vd_slice text)
{
    if (vd_utf8_is_valid(text))
        return VD_OK;
    return fail(d, VD_ERR_INVALID, p, "a string is not valid UTF-8");
}

static void unknown_field(struct decoder *d, const struct vd_protobuf_message *m,
                          const struct vd_wire_field *wire)
{
    const struct vd_protobuf_options *o = d->options;
    if (d->unknown_count++ < VD_PROTOBUF_UNKNOWN_MAX && o && o->on_unknown)
        o->on_unknown(o->context,
                      &(struct vd_protobuf_unknown){.message = m->name,
                                                    .number = wire->number,
                                                    .offset = (size_t)(wire->at - d->body.p)});
}

static void slot_add_segment(struct decoder *d, struct slot *slot, struct vd_slice bytes)
{
    struct segment *segment = &slot->first;
    if (slot->last) {
        segment = vd_arena_alloc(&d->scratch, sizeof *segment);
        slot->last->next = segment;
    }
    *segment = (struct segment){.bytes = bytes};
    slot->last = segment;
}

/* The payload of a string, of bytes or of a message, as an element. */
static int element_value(struct decoder *d, struct place p, const struct segment *segments,
                         size_t around, struct vd_json **out)
{
    const struct vd_protobuf_field *f = p.field;
    int code = count_value(d, p);
    if (!code && f->type == VD_PROTOBUF_STRING)
        code = check_text(d, p, segments->bytes);
    if (code)
        return code;
    if (f->type == VD_PROTOBUF_MESSAGE)
        return message_value(d, f->message, segments, around, out);
    *out = text_value(d, f, segments->bytes);
    return VD_OK;
}

static int read_one(struct decoder *d, struct place p, struct slot *slot,
                    const struct vd_wire_field *wire)
{
    slot->number = wire->value;
    if (p.field->type == VD_PROTOBUF_MESSAGE)
        slot_add_segment(d, slot, wire->bytes);
    else
        slot->first.bytes = wire->bytes;
    return p.field->type == VD_PROTOBUF_STRING ? check_text(d, p, wire->bytes) : VD_OK;
}

static int read_element(struct decoder *d, struct place p, struct slot *slot, struct vd_slice bytes,
                        size_t around)
{
    struct vd_json *item;
    int code = element_value(d, p, &(struct segment){.bytes = bytes}, around, &item);
    if (!code)
        vd_json_append(slot->items, item);
    return code;
}

/* An entry is a message {1 key; 2 value}. A part that is absent is empty. */
static int read_entry_parts(struct decoder *d, struct place p, struct vd_slice bytes,
                            struct vd_slice *key, struct slot *value)
{
    struct vd_wire in = vd_wire_of(bytes);
    struct vd_wire_field wire;
    while (vd_wire_next(&in, &wire)) {
        p.at = wire.at;
        if (wire.number > 2) {
            unknown_field(d, p.message, &wire);
            continue;
        }
        if (wire.type != VD_WIRE_BYTES)
            return fail(d, VD_ERR_INVALID, p, "the %s of an entry has wire type %d, not 2",
                        wire.number == 1 ? "key" : "value", (int)wire.type);
        if (wire.number == 1)
            *key = wire.bytes;
        else if (p.field->type == VD_PROTOBUF_MESSAGE)
            slot_add_segment(d, value, wire.bytes);
        else
            value->first.bytes = wire.bytes;
    }
    p.at = in.at;
    return in.problem ? fail(d, VD_ERR_INVALID, p, "an entry is broken: %s", in.problem) : VD_OK;
}

static int read_entry(struct decoder *d, struct place p, struct slot *slot, struct vd_slice bytes,
                      size_t around)
{
    struct vd_slice key = vd_slice("", 0);
    struct slot value = {.first = {.bytes = vd_slice(bytes.p, 0)}};
    struct vd_json *item;
    int code = read_entry_parts(d, p, bytes, &key, &value);
    if (!code)
        code = check_text(d, p, key);
    if (!code)
        code = element_value(d, p, &value.first, around, &item);
    if (!code)
        vd_json_add_ref(slot->items, key, item);
    return code;
}

static int read_field(struct decoder *d, struct place p, struct slot *slot,
                      const struct vd_wire_field *wire, size_t around)
{
    const struct vd_protobuf_field *f = p.field;
    if (wire->type != wire_type_of(f))
        return fail(d, VD_ERR_INVALID, p, "has wire type %d, not %d", (int)wire->type,
                    (int)wire_type_of(f));
    slot->seen = true;
    if (f->shape == VD_PROTOBUF_ONE)
        return read_one(d, p, slot, wire);
    int code = check_depth(d, p, around);
    if (code)
        return code;
    bool is_map = f->shape == VD_PROTOBUF_MAP;
    if (!slot->items)
        slot->items = is_map ? vd_json_object(d->arena) : vd_json_array(d->arena);
    return is_map ? read_entry(d, p, slot, wire->bytes, around + 1)
                  : read_element(d, p, slot, wire->bytes, around + 1);
}

/* `around` is of the message's fields. */
static int read_segment(struct decoder *d, const struct vd_protobuf_message *m, struct slot *slots,
                        struct vd_slice bytes, size_t around)
{
    struct vd_wire in = vd_wire_of(bytes);
    struct vd_wire_field wire;
    while (vd_wire_next(&in, &wire)) {
        const struct vd_protobuf_field *f = vd_protobuf_field_find(m, wire.number);
        if (!f) {
            unknown_field(d, m, &wire);
            continue;
        }
        struct place p = {m, f, wire.at};
        int code = read_field(d, p, &slots[f - m->fields], &wire, around);
        if (code)
            return code;
    }
    if (!in.problem)
        return VD_OK;
    return fail(d, VD_ERR_INVALID, (struct place){m, NULL, in.at}, "a field is broken: %s",
                in.problem);
}

/* --- maps --- */

struct entry {
    struct vd_slice key;
    struct vd_json *value;
    size_t place; /* on the wire */
};

static int entry_cmp(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int c = vd_slice_cmp(a->key, b->key);
    return c ? c : (a->place > b->place) - (a->place < b->place);
}

static bool is_sorted(const struct vd_json *object)
{
    const struct vd_json *before = NULL;
    VD_JSON_EACH (item, object) {
        if (before && vd_slice_cmp(vd_json_key(before), vd_json_key(item)) >= 0)
            return false;
        before = item;
    }
    return true;
}

/* Sorts the members, as Go does, and of those with one key keeps the last. */
static void sort_map(struct vd_json *object)
{
    if (is_sorted(object))
        return;
    size_t n = vd_json_count(object), i = 0;
    struct entry *entries = vd_malloc(n * sizeof *entries);
    for (struct vd_json *item; (item = vd_json_first(object)); i++) {
        entries[i] = (struct entry){vd_json_key(item), item, i};
        vd_json_remove_after(object, NULL);
    }
    qsort(entries, n, sizeof *entries, entry_cmp);
    for (i = 0; i < n; i++)
        if (i + 1 == n || !vd_slice_eq(entries[i].key, entries[i + 1].key))
            vd_json_add_ref(object, entries[i].key, entries[i].value);
    free(entries);
}

/* --- the value of a field --- */

static bool is_zero(const struct vd_protobuf_field *f, const struct slot *slot)
{
    switch ((enum vd_protobuf_type)f->type) {
    case VD_PROTOBUF_STRING:
    case VD_PROTOBUF_BYTES:
        return slot->first.bytes.n == 0;
    case VD_PROTOBUF_INT32:
        return slot_i32(slot) == 0;
    case VD_PROTOBUF_BOOL:
    case VD_PROTOBUF_INT64:
        return slot->number == 0;
    case VD_PROTOBUF_DOUBLE:
        return slot_double(slot) == 0;
    case VD_PROTOBUF_MESSAGE:
        break;
    }
    return false;
}

static int double_value(struct decoder *d, struct place p, const struct slot *slot,
                        struct vd_json **out)
{
    double value = slot_double(slot);
    if (!isfinite(value))
        return fail(d, VD_ERR_INVALID, p, "JSON has no number for infinity or NaN");
    *out = vd_json_double(d->arena, value);
    return VD_OK;
}

/* Of a slot that was seen, or of one that is zero. */
static int one_value(struct decoder *d, struct place p, const struct slot *slot, size_t around,
                     struct vd_json **out)
{
    switch ((enum vd_protobuf_type)p.field->type) {
    case VD_PROTOBUF_BOOL:
        *out = vd_json_bool(d->arena, slot->number != 0);
        break;
    case VD_PROTOBUF_INT32:
        *out = vd_json_i64(d->arena, slot_i32(slot));
        break;
    case VD_PROTOBUF_INT64:
        *out = vd_json_i64(d->arena, slot_i64(slot));
        break;
    case VD_PROTOBUF_DOUBLE:
        return double_value(d, p, slot, out);
    case VD_PROTOBUF_STRING:
    case VD_PROTOBUF_BYTES:
        *out = text_value(d, p.field, slot->seen ? slot->first.bytes : vd_slice("", 0));
        break;
    case VD_PROTOBUF_MESSAGE: {
        const struct segment none = {.bytes = vd_slice(p.at, 0)};
        return message_value(d, p.field->message, slot->seen ? &slot->first : &none, around, out);
    }
    }
    return VD_OK;
}

/* Does JSON have nothing of the field? */
static bool is_left_out(const struct vd_protobuf_field *f, const struct slot *slot)
{
    if (f->presence == VD_PROTOBUF_NONZERO)
        return !slot->seen || (!slot->items && is_zero(f, slot));
    return f->presence == VD_PROTOBUF_PRESENT && !slot->seen;
}

/* Of a field that is not left out. */
static int field_value(struct decoder *d, struct place p, const struct slot *slot, size_t around,
                       struct vd_json **out)
{
    const struct vd_protobuf_field *f = p.field;
    if (f->shape == VD_PROTOBUF_ONE && (slot->seen || f->presence != VD_PROTOBUF_OR_NULL))
        return one_value(d, p, slot, around, out);
    if (slot->items && f->shape == VD_PROTOBUF_MAP)
        sort_map(slot->items);
    *out = slot->items ? slot->items : vd_json_null(d->arena);
    return VD_OK;
}

/* --- the forms of messages --- */

static struct place field_place(struct place message, size_t i)
{
    message.field = &message.message->fields[i];
    return message;
}

static int object_value(struct decoder *d, struct place p, const struct slot *slots, size_t around,
                        struct vd_json **out)
{
    struct vd_json *object = vd_json_object(d->arena);
    if (around == 0) {
        vd_json_add_ref(object, VD_SLICE("kind"), vd_json_string_ref(d->arena, d->kind));
        vd_json_add_ref(object, VD_SLICE("apiVersion"),
                        vd_json_string_ref(d->arena, d->api_version));
    }
    for (size_t i = 0; i < p.message->field_count; i++) {
        p.field = &p.message->fields[i];
        if (is_left_out(p.field, &slots[i]))
            continue;
        struct vd_json *value;
        int code = count_value(d, p);
        if (!code)
            code = field_value(d, p, &slots[i], around + 1, &value);
        if (code)
            return code;
        vd_json_add_ref(object, p.field->key, value);
    }
    *out = object;
    return VD_OK;
}

static int list_value(struct decoder *d, struct place p, const struct slot *slots, size_t around,
                      struct vd_json **out)
{
    int code = check_depth(d, p, around);
    if (!code)
        *out = slots[0].items ? slots[0].items : vd_json_array(d->arena);
    return code;
}

static int choice_value(struct decoder *d, struct place p, const struct slot *slots, size_t around,
                        struct vd_json **out)
{
    size_t i = 0;
    while (i + 1 < p.message->field_count && !slots[i].seen)
        i++;
    return field_value(d, field_place(p, i), &slots[i], around, out);
}

/* Years 0 to 9999, which RFC 3339 can write; Go's zero time is a null. */
static int time_value(struct decoder *d, struct place p, const struct slot *slots, bool micro,
                      struct vd_json **out)
{
    enum { SECONDS_TEXT_LEN = 19 };
    static const int64_t year_0 = -62167219200, year_1 = -62135596800, year_10000 = 253402300800;
    int64_t seconds = slot_i64(&slots[0]);
    int32_t nanos = slot_i32(&slots[1]);
    bool zero = (!slots[0].seen && !slots[1].seen) || (seconds == year_1 && (!micro || nanos == 0));
    if (seconds < year_0 || seconds >= year_10000)
        return fail(d, VD_ERR_INVALID, field_place(p, 0), "is not in the years 0 to 9999");
    if (nanos < 0 || nanos > 999999999)
        return fail(d, VD_ERR_INVALID, field_place(p, 1), "is not 0 to 999999999");
    if (zero) {
        *out = vd_json_null(d->arena);
        return VD_OK;
    }
    char text[VD_TIME_TEXT_MAX], whole[SECONDS_TEXT_LEN + sizeof ".123456Z"];
    vd_time_format(seconds * 1000, text);
    int n = micro
                ? snprintf(whole, sizeof whole, "%.*s.%06dZ", SECONDS_TEXT_LEN, text, nanos / 1000)
                : snprintf(whole, sizeof whole, "%.*sZ", SECONDS_TEXT_LEN, text);
    assert(n > 0 && (size_t)n < sizeof whole);
    *out = vd_json_string(d->arena, vd_slice(whole, (size_t)n));
    return VD_OK;
}

static int raw_value(struct decoder *d, struct place p, const struct slot *slots, size_t around,
                     struct vd_json **out)
{
    struct vd_slice bytes = slots[0].first.bytes;
    if (!slots[0].seen || bytes.n == 0) {
        *out = vd_json_null(d->arena);
        return VD_OK;
    }
    /* A depth of 0 would mean the default. */
    size_t left = VD_JSON_DEPTH_MAX - around;
    const struct vd_json_options options = {.depth_max = left ? left : 1};
    struct vd_json *value;
    int code = vd_json_parse(d->arena, bytes, &options, &value, d->error);
    if (code) {
        vd_error_prefix(d->error, "the protobuf body's %s.%.*s, at byte %zu", p.message->name,
                        VD_FMT(p.message->fields[0].key), (size_t)(bytes.p - d->body.p));
        return code;
    }
    if (left == 0 && vd_json_depth(value) > 0)
        return check_depth(d, field_place(p, 0), around);
    *out = value;
    return VD_OK;
}

static int int_or_string_value(struct decoder *d, struct place p, const struct slot *slots,
                               struct vd_json **out)
{
    int64_t type = slot_i64(&slots[0]);
    if (type != 0 && type != 1)
        return fail(d, VD_ERR_INVALID, field_place(p, 0), "is neither 0 (int) nor 1 (string)");
    return one_value(d, field_place(p, (size_t)type + 1), &slots[type + 1], 0, out);
}

static int form_value(struct decoder *d, struct place p, const struct slot *slots, size_t around,
                      struct vd_json **out)
{
    switch (p.message->form) {
    case VD_PROTOBUF_AS_OBJECT:
        return object_value(d, p, slots, around, out);
    case VD_PROTOBUF_AS_LIST:
        return list_value(d, p, slots, around, out);
    case VD_PROTOBUF_AS_CHOICE:
        return choice_value(d, p, slots, around, out);
    case VD_PROTOBUF_AS_TIME:
        return time_value(d, p, slots, false, out);
    case VD_PROTOBUF_AS_MICRO_TIME:
        return time_value(d, p, slots, true, out);
    case VD_PROTOBUF_AS_RAW:
        return raw_value(d, p, slots, around, out);
    case VD_PROTOBUF_AS_INT_OR_STRING:
        break;
    }
    return int_or_string_value(d, p, slots, out);
}

static int message_value(struct decoder *d, const struct vd_protobuf_message *m,
                         const struct segment *segments, size_t around, struct vd_json **out)
{
    assert(m && segments);
    struct place p = {m, NULL, segments->bytes.p};
    bool is_object = m->form == VD_PROTOBUF_AS_OBJECT;
    int code = is_object ? check_depth(d, p, around) : VD_OK;
    if (code)
        return code;
    struct frame **level = d->frame;
    if (!*level) {
        *level = vd_arena_alloc(&d->scratch, sizeof **level);
        (*level)->inner = NULL;
    }
    struct slot *slots = (*level)->slots;
    memset(slots, 0, m->field_count * sizeof *slots);
    d->frame = &(*level)->inner;
    for (; segments && !code; segments = segments->next)
        code = read_segment(d, m, slots, segments->bytes, around + is_object);
    if (!code)
        code = form_value(d, p, slots, around, out);
    d->frame = level;
    return code;
}

/* --- the whole --- */

/* The message that the decoder's kind names. */
static int find_message(const struct decoder *d, const struct vd_protobuf_message **out)
{
    enum { NAME_LEN_MAX = 80 };
    if (d->kind.n == 0 || d->api_version.n == 0)
        return vd_error_set(d->error, VD_ERR_INVALID,
                            "the protobuf body's envelope has no %s; send both apiVersion and kind",
                            d->kind.n ? "apiVersion" : "kind");
    *out = vd_protobuf_message_find(d->api_version, d->kind);
    if (*out)
        return VD_OK;
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "no protobuf message is known for kind ");
    vd_excerpt_add_quoted(&text, d->kind, NAME_LEN_MAX);
    vd_buf_add_text(&text, " of ");
    vd_excerpt_add_quoted(&text, d->api_version, NAME_LEN_MAX);
    vd_buf_add_text(&text, "; send it as JSON or YAML");
    int code = vd_error_set(d->error, VD_ERR_NOT_FOUND, "%s", vd_buf_text(&text));
    vd_buf_release(&text);
    return code;
}

static int check_content(const struct vd_protobuf_envelope *e, struct vd_error *error)
{
    if (e->content_encoding.n)
        return vd_error_set(error, VD_ERR_INVALID,
                            "the protobuf body's content has an encoding; send it without one");
    if (e->content_type.n && !vd_slice_is(e->content_type, "application/vnd.kubernetes.protobuf"))
        return vd_error_set(error, VD_ERR_INVALID,
                            "the protobuf body's content is said not to be protobuf; leave its "
                            "contentType empty");
    return VD_OK;
}

int vd_protobuf_decode(struct vd_arena *a, struct vd_slice body,
                       const struct vd_protobuf_options *options, struct vd_json **out,
                       struct vd_error *error)
{
    struct vd_protobuf_envelope e = {0};
    struct frame *frames = NULL;
    struct decoder d = {
        .arena = a, .body = body, .options = options, .error = error, .frame = &frames};
    const struct vd_protobuf_message *m = NULL;
    struct vd_json *document = NULL;
    int code = vd_protobuf_envelope_read(body, &e, error);
    if (!code)
        code = check_content(&e, error);
    if (code)
        goto out;
    d.kind = e.kind.n || !options ? e.kind : options->kind;
    d.api_version = e.api_version.n || !options ? e.api_version : options->api_version;
    code = find_message(&d, &m);
    if (code)
        goto out;
    if (e.raw.n == 0) /* places are told by pointers into the body */
        e.raw = vd_slice(body.p + body.n, 0);
    code = message_value(&d, m, &(struct segment){.bytes = e.raw}, 0, &document);
    if (!code)
        *out = document;
out:
    if (options && options->unknown_count)
        *options->unknown_count = d.unknown_count;
    vd_arena_release(&d.scratch);
    return code;
}
