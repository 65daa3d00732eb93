/*
 * See table_cell.h. A path of fields is followed in the bytes, and only the value
 * that it leads to is decoded; other paths, and cells that put several fields
 * together, decode the object, once for a row. So a table of ConfigMaps never
 * looks into their data, and one of Events decodes what is small anyway.
 *
 * The columns of a definition are its author's, and so are the objects: however many columns look
 * into however large an object, the bytes that are searched and written for a row are bounded.
 *
 * A body that is no JSON cannot come from the store; if one does, its cells are
 * empty.
 */
#include "kube/table/cell.h"

#include <stdlib.h>

#include "base/human_time.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "json/escape.h"
#include "json/parse.h"
#include "json/span.h"
#include "json/write.h"

enum { LONG_LEN = 4096 }; /* of a value that is not kept until the row is complete */

static void path_init(struct vd_table_path *out, struct vd_arena *a, struct vd_slice text)
{
    struct vd_error error;
    *out = (struct vd_table_path){.whole = vd_slice_is(text, ".")};
    if (!out->whole && vd_jsonpath_compile(a, text, &out->path, &error) != VD_OK)
        out->path = NULL;
}

void vd_table_column_init(struct vd_table_column *out, struct vd_arena *a,
                          const struct vd_column *column, bool native)
{
    struct vd_table_path *paths = vd_arena_alloc(a, column->path_count * sizeof *paths);
    for (size_t i = 0; i < column->path_count; i++)
        path_init(&paths[i], a, column->paths[i]);
    *out = (struct vd_table_column){.column = column, .paths = paths, .typed = native};
}

/* --- values --- */

static const struct vd_json *decode(struct vd_table_source *source, struct vd_slice bytes)
{
    struct vd_error error;
    struct vd_json *value;
    return vd_json_parse(source->scratch, bytes, NULL, &value, &error) == VD_OK ? value : NULL;
}

static const struct vd_json *document_of(struct vd_table_source *source)
{
    if (!source->document)
        source->document = decode(source, source->body);
    return source->document;
}

/* Pays for a search of the whole body; false: the row has had its share. */
static bool may_search(struct vd_table_source *source)
{
    source->work += source->body.n;
    return source->work <= VD_TABLE_ROW_WORK_MAX;
}

/* The first value that the path leads to; NULL if there is none or it is null. */
static const struct vd_json *value_at(const struct vd_table_path *path,
                                      struct vd_table_source *source)
{
    const struct vd_json *value = NULL;
    struct vd_slice bytes;
    if (!may_search(source))
        return NULL;
    if (path->whole)
        value = document_of(source);
    else if (path->path && vd_jsonpath_is_plain(path->path))
        value = vd_jsonpath_span(path->path, source->body, &bytes) ? decode(source, bytes) : NULL;
    else if (path->path)
        value = vd_jsonpath_first(path->path, document_of(source));
    return vd_json_is(value, VD_JSON_NULL) ? NULL : value;
}

static struct vd_slice text_of(const struct vd_json *object, const char *key)
{
    struct vd_slice text = vd_json_text(vd_json_get(object, vd_slice_of(key)));
    return text.p ? text : VD_SLICE("");
}

static struct vd_slice first_text(struct vd_slice a, struct vd_slice b)
{
    return a.n ? a : b;
}

/* --- the value at a path --- */

static void write_null(struct vd_buf *out)
{
    vd_buf_add_text(out, "null");
}

static void write_age(struct vd_buf *out, struct vd_slice timestamp, int64_t now_ms)
{
    char room[VD_HUMAN_DURATION_MAX];
    vd_escape_write(out, vd_human_age(timestamp, now_ms, room));
}

/* Fractions are cut off, as Go's conversion does. */
static void write_integer(struct vd_buf *out, const struct vd_json *value)
{
    int64_t integer;
    double real;
    if (vd_json_to_i64(value, &integer))
        vd_buf_addf(out, "%lld", (long long)integer);
    else if (vd_json_to_double(value, &real) && real > -9.2e18 && real < 9.2e18)
        vd_buf_addf(out, "%lld", (long long)real);
    else
        write_null(out);
}

/* A text, quoted; the beginning of a long one. */
static void write_quoted(struct vd_buf *out, struct vd_slice text)
{
    if (text.n <= VD_TABLE_CELL_LEN_MAX) {
        vd_escape_write(out, text);
        return;
    }
    struct vd_buf cut = {0};
    vd_buf_add_slice(&cut, vd_utf8_cut(text, VD_TABLE_CELL_LEN_MAX - 3));
    vd_buf_add_text(&cut, "...");
    vd_escape_write(out, vd_buf_slice(&cut));
    vd_buf_release(&cut);
}

/* Texts as they are, anything else as its JSON in a text. */
static void write_text(struct vd_buf *out, const struct vd_json *value, bool trim)
{
    struct vd_buf text = {0};
    if (vd_json_is(value, VD_JSON_STRING)) {
        write_quoted(out, trim ? vd_slice_trim(vd_json_text(value)) : vd_json_text(value));
        return;
    }
    vd_json_write(&text, value);
    write_quoted(out, vd_buf_slice(&text));
    vd_buf_release(&text);
}

static void write_missing(struct vd_buf *out, const struct vd_table_column *c)
{
    if (c->typed && vd_slice_is(c->column->type, "date"))
        vd_buf_add_text(out, "\"<unknown>\"");
    else if (c->typed && vd_slice_is(c->column->type, "string"))
        vd_buf_add_text(out, "\"\"");
    else
        write_null(out);
}

static void write_value(struct vd_buf *out, const struct vd_table_column *c,
                        const struct vd_table_source *source, const struct vd_json *value)
{
    struct vd_slice type = c->column->type;
    if (!value)
        write_missing(out, c);
    else if (vd_slice_is(type, "string"))
        write_text(out, value, c->typed);
    else if (vd_slice_is(type, "date") && vd_json_is(value, VD_JSON_STRING))
        write_age(out, vd_json_text(value), source->now_ms);
    else if (vd_slice_is(type, "integer"))
        write_integer(out, value);
    else if ((vd_slice_is(type, "number") && vd_json_is(value, VD_JSON_NUMBER)) ||
             (vd_slice_is(type, "boolean") && vd_json_is(value, VD_JSON_BOOL)))
        vd_json_write(out, value);
    else
        write_null(out);
}

/* A value that a path of fields has led to. Lists and objects are not decoded: a text shows their
 * bytes, and no other type shows anything. A long value leaves nothing behind. */
static void write_span(struct vd_buf *out, const struct vd_table_column *c,
                       struct vd_table_source *source, struct vd_slice bytes)
{
    struct vd_arena own = {0}, *row = source->scratch;
    if (bytes.p[0] == '{' || bytes.p[0] == '[') {
        if (vd_slice_is(c->column->type, "string"))
            write_quoted(out, bytes);
        else
            write_null(out);
        return;
    }
    if (bytes.n > LONG_LEN)
        source->scratch = &own;
    const struct vd_json *value = decode(source, bytes);
    write_value(out, c, source, vd_json_is(value, VD_JSON_NULL) ? NULL : value);
    source->scratch = row;
    vd_arena_release(&own);
}

static void write_path(struct vd_buf *out, const struct vd_table_column *c,
                       struct vd_table_source *source)
{
    const struct vd_table_path *path = &c->paths[0];
    struct vd_slice bytes;
    if (path->whole || !path->path || !vd_jsonpath_is_plain(path->path))
        write_value(out, c, source, value_at(path, source));
    else if (may_search(source) && vd_jsonpath_span(path->path, source->body, &bytes))
        write_span(out, c, source, bytes);
    else
        write_missing(out, c);
}

static void write_path_or_none(struct vd_buf *out, const struct vd_table_column *c,
                               struct vd_table_source *source)
{
    struct vd_slice text = vd_json_text(value_at(&c->paths[0], source));
    write_quoted(out, first_text(text, VD_SLICE("<none>")));
}

/* As git shortens the names of commits, where it can choose. */
static void write_short_hash(struct vd_buf *out, const struct vd_table_column *c,
                             struct vd_table_source *source)
{
    enum { SHORT_LEN = 7 };
    struct vd_slice text = vd_json_text(value_at(&c->paths[0], source));
    if (text.n)
        write_quoted(out, vd_utf8_cut(text, SHORT_LEN));
    else
        write_missing(out, c);
}

static size_t count_at(const struct vd_table_path *path, struct vd_table_source *source)
{
    struct vd_slice bytes, key, value;
    struct vd_span_cursor cursor;
    size_t n = 0;
    if (!path->path || !vd_jsonpath_is_plain(path->path))
        return vd_json_count(value_at(path, source));
    if (!may_search(source) || !vd_jsonpath_span(path->path, source->body, &bytes))
        return 0;
    vd_span_open(&cursor, bytes);
    while (vd_span_next(&cursor, &key, &value))
        n++;
    return n;
}

static void write_count(struct vd_buf *out, const struct vd_table_column *c,
                        struct vd_table_source *source)
{
    size_t n = 0;
    for (size_t i = 0; i < c->column->path_count; i++)
        n += count_at(&c->paths[i], source);
    vd_buf_add_u64(out, n);
}

/* --- references and subjects --- */

static void add_lower(struct vd_buf *out, struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++)
        vd_buf_add_char(out, text.p[i] >= 'A' && text.p[i] <= 'Z' ? (char)(text.p[i] | 0x20)
                                                                  : text.p[i]);
}

static void add_reference(struct vd_buf *text, const struct vd_json *reference, bool lower)
{
    struct vd_slice kind = text_of(reference, "kind"), name = text_of(reference, "name");
    if (lower)
        add_lower(text, kind);
    else
        vd_buf_add_slice(text, kind);
    if (name.n || !lower)
        vd_buf_addf(text, "/%.*s", VD_FMT(name));
}

static void add_subjects(struct vd_buf *text, const struct vd_json *subjects, const char *kind)
{
    VD_JSON_EACH (subject, subjects) {
        if (!vd_slice_is(text_of(subject, "kind"), kind))
            continue;
        if (text->n)
            vd_buf_add_text(text, ", ");
        if (!strcmp(kind, "ServiceAccount"))
            vd_buf_addf(text, "%.*s/", VD_FMT(text_of(subject, "namespace")));
        vd_buf_add_slice(text, text_of(subject, "name"));
    }
}

/* --- events --- */

/*
 * events.k8s.io calls the older fields deprecatedX. Newer events have eventTime
 * and, when they repeat, a series; older ones have first, last and a count.
 */
static const struct vd_json *event_field(const struct vd_json *event, const char *name,
                                         const char *other_name)
{
    const struct vd_json *value = vd_json_get(event, vd_slice_of(name));
    return value ? value : vd_json_get(event, vd_slice_of(other_name));
}

static struct vd_slice event_first(const struct vd_json *event)
{
    struct vd_slice first = vd_json_text(
        event_field(event, "firstTimestamp", "deprecatedFirstTimestamp"));
    return first_text(first, text_of(event, "eventTime"));
}

static struct vd_slice event_last(const struct vd_json *event)
{
    const struct vd_json *series = vd_json_get(event, VD_SLICE("series"));
    if (vd_json_is(series, VD_JSON_OBJECT))
        return text_of(series, "lastObservedTime");
    struct vd_slice last = vd_json_text(
        event_field(event, "lastTimestamp", "deprecatedLastTimestamp"));
    return first_text(last, event_first(event));
}

static void write_event_count(struct vd_buf *out, const struct vd_json *event)
{
    const struct vd_json *series = vd_json_get(event, VD_SLICE("series"));
    int64_t count = 0;
    if (vd_json_is(series, VD_JSON_OBJECT)) {
        if (!vd_json_to_i64(vd_json_get(series, VD_SLICE("count")), &count))
            count = 0;
    } else if (!vd_json_to_i64(event_field(event, "count", "deprecatedCount"), &count) || !count) {
        count = 1;
    }
    vd_buf_addf(out, "%lld", (long long)count);
}

static void add_event_source(struct vd_buf *text, const struct vd_json *event)
{
    const struct vd_json *source = event_field(event, "source", "deprecatedSource");
    struct vd_slice controller = vd_json_text(
        event_field(event, "reportingComponent", "reportingController"));
    struct vd_slice host = first_text(text_of(source, "host"), text_of(event, "reportingInstance"));
    vd_buf_add_slice(text, first_text(text_of(source, "component"), controller));
    if (host.n)
        vd_buf_addf(text, ", %.*s", VD_FMT(host));
}

/* --- services --- */

static void add_joined(struct vd_buf *text, struct vd_slice part)
{
    if (text->n)
        vd_buf_add_char(text, ',');
    vd_buf_add_slice(text, part);
}

static int by_bytes(const void *a, const void *b)
{
    return vd_slice_cmp(*(const struct vd_slice *)a, *(const struct vd_slice *)b);
}

/* Addresses of the load balancer: sorted, each once. */
static void add_ingress(struct vd_buf *text, const struct vd_json *service,
                        struct vd_arena *scratch)
{
    const struct vd_json *ingress = vd_json_dig(service, "status", "loadBalancer", "ingress", NULL);
    struct vd_slice *all = vd_arena_alloc(scratch, vd_json_count(ingress) * sizeof *all);
    size_t n = 0;
    VD_JSON_EACH (item, ingress) {
        struct vd_slice address = first_text(text_of(item, "ip"), text_of(item, "hostname"));
        if (address.n)
            all[n++] = address;
    }
    qsort(all, n, sizeof *all, by_bytes);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !vd_slice_eq(all[i], all[i - 1]))
            add_joined(text, all[i]);
}

static void add_service_external(struct vd_buf *text, const struct vd_json *service,
                                 struct vd_arena *scratch)
{
    const struct vd_json *spec = vd_json_get(service, VD_SLICE("spec"));
    struct vd_slice type = first_text(text_of(spec, "type"), VD_SLICE("ClusterIP"));
    bool balanced = vd_slice_is(type, "LoadBalancer");
    if (vd_slice_is(type, "ExternalName")) {
        vd_buf_add_slice(text, text_of(spec, "externalName"));
        return;
    }
    if (balanced)
        add_ingress(text, service, scratch);
    VD_JSON_EACH (address, vd_json_get(spec, VD_SLICE("externalIPs")))
        add_joined(text, vd_json_text(address));
    if (!text->n)
        vd_buf_add_text(text, balanced ? "<pending>" : "<none>");
}

static void add_service_ports(struct vd_buf *text, const struct vd_json *ports)
{
    VD_JSON_EACH (item, ports) {
        struct vd_slice node = vd_json_number_text(vd_json_get(item, VD_SLICE("nodePort")));
        add_joined(text, vd_json_number_text(vd_json_get(item, VD_SLICE("port"))));
        if (node.n && !vd_slice_is(node, "0"))
            vd_buf_addf(text, ":%.*s", VD_FMT(node));
        vd_buf_addf(text, "/%.*s", VD_FMT(first_text(text_of(item, "protocol"), VD_SLICE("TCP"))));
    }
    if (!text->n)
        vd_buf_add_text(text, "<none>");
}

/* In the order of the whole "key=value", as Kubernetes has it. */
static void add_labels(struct vd_buf *text, const struct vd_json *labels, struct vd_arena *scratch)
{
    struct vd_slice *all = vd_arena_alloc(scratch, vd_json_count(labels) * sizeof *all);
    struct vd_buf pair = {0};
    size_t n = 0;
    VD_JSON_EACH (label, vd_json_is(labels, VD_JSON_OBJECT) ? labels : NULL) {
        vd_buf_reset(&pair);
        vd_buf_add_slice(&pair, vd_json_key(label));
        vd_buf_add_char(&pair, '=');
        vd_buf_add_slice(&pair, vd_json_text(label));
        all[n++] = vd_arena_copy(scratch, vd_buf_slice(&pair));
    }
    vd_buf_release(&pair);
    qsort(all, n, sizeof *all, by_bytes);
    for (size_t i = 0; i < n; i++)
        add_joined(text, all[i]);
    if (!n)
        vd_buf_add_text(text, "<none>");
}

/* --- all of them --- */

/* Cells that are texts made of several fields. */
static void add_composed(struct vd_buf *text, enum vd_cell cell, const struct vd_json *value,
                         struct vd_arena *scratch)
{
    switch (cell) {
    case VD_CELL_REFERENCE:
    case VD_CELL_LOWER_REFERENCE:
        add_reference(text, value, cell == VD_CELL_LOWER_REFERENCE);
        break;
    case VD_CELL_EVENT_SOURCE:
        add_event_source(text, value);
        break;
    case VD_CELL_SUBJECT_USERS:
        add_subjects(text, value, "User");
        break;
    case VD_CELL_SUBJECT_GROUPS:
        add_subjects(text, value, "Group");
        break;
    case VD_CELL_SUBJECT_ACCOUNTS:
        add_subjects(text, value, "ServiceAccount");
        break;
    case VD_CELL_SERVICE_EXTERNAL:
        add_service_external(text, value, scratch);
        break;
    case VD_CELL_SERVICE_PORTS:
        add_service_ports(text, value);
        break;
    default:
        add_labels(text, value, scratch);
        break;
    }
}

static void write_composed(struct vd_buf *out, const struct vd_table_column *c,
                           struct vd_table_source *source)
{
    struct vd_buf text = {0};
    add_composed(&text, c->column->cell, value_at(&c->paths[0], source), source->scratch);
    write_quoted(out, vd_buf_slice(&text));
    vd_buf_release(&text);
}

void vd_table_cell_write(struct vd_buf *out, const struct vd_table_column *column,
                         struct vd_table_source *source)
{
    switch (column->column->cell) {
    case VD_CELL_PATH:
        write_path(out, column, source);
        break;
    case VD_CELL_SHORT_HASH:
        write_short_hash(out, column, source);
        break;
    case VD_CELL_PATH_OR_NONE:
        write_path_or_none(out, column, source);
        break;
    case VD_CELL_COUNT:
        write_count(out, column, source);
        break;
    case VD_CELL_LAST_SEEN:
        write_age(out, event_last(value_at(&column->paths[0], source)), source->now_ms);
        break;
    case VD_CELL_FIRST_SEEN:
        write_age(out, event_first(value_at(&column->paths[0], source)), source->now_ms);
        break;
    case VD_CELL_EVENT_COUNT:
        write_event_count(out, value_at(&column->paths[0], source));
        break;
    default:
        write_composed(out, column, source);
        break;
    }
}
