/* See table.h. */
#include "kube/table/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/refcount.h"
#include "kube/table/cell.h"
#include "json/escape.h"
#include "json/span.h"

struct vd_table {
    struct vd_refcount refs;
    struct vd_kind *kind; /* a reference; NULL: of Scales */
    struct vd_arena arena;
    bool name_column; /* before the others */
    struct vd_table_column *columns;
    size_t columns_n;
    struct vd_slice definitions;
};

/* --- columns --- */

#define TEXT(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }
static const struct vd_column name_column = {
    .name = TEXT("Name"),
    .type = TEXT("string"),
    .format = TEXT("name"),
    .description = TEXT("Unique among the objects of its kind in its namespace."),
};
#undef TEXT

/*
 * Kubernetes' own printers call every column of theirs a string, ages and counts
 * too. The exception is the creation time as such ("Created At"), of kinds that
 * have no printer: that is a date, though it is not shown as an age.
 */
static struct vd_slice shown_type(bool native, const struct vd_column *column)
{
    if (!native)
        return column->type;
    bool time = column->cell == VD_CELL_PATH && vd_slice_is(column->type, "string") &&
                column->path_count && vd_slice_is(column->paths[0], ".metadata.creationTimestamp");
    return time ? VD_SLICE("date") : VD_SLICE("string");
}

static void write_description(struct vd_buf *out, const struct vd_column *column)
{
    struct vd_buf text = {0};
    if (!column->description.n && column->path_count)
        vd_buf_addf(&text, "Custom resource definition column (in JSONPath format): %.*s",
                    VD_FMT(column->paths[0]));
    else
        vd_buf_add_slice(&text, column->description);
    vd_escape_write(out, vd_buf_slice(&text));
    vd_buf_release(&text);
}

static void write_column(struct vd_buf *out, const struct vd_column *column, struct vd_slice type)
{
    vd_buf_add_text(out, "{\"name\":");
    vd_escape_write(out, column->name);
    vd_buf_add_text(out, ",\"type\":");
    vd_escape_write(out, type);
    vd_buf_add_text(out, ",\"format\":");
    vd_escape_write(out, column->format);
    vd_buf_add_text(out, ",\"description\":");
    write_description(out, column);
    vd_buf_addf(out, ",\"priority\":%d}", (int)column->priority);
}

static void table_init(struct vd_table *table, const struct vd_column *columns, size_t n,
                       bool native)
{
    struct vd_arena *a = &table->arena;
    struct vd_buf out = {0};
    table->columns = vd_arena_alloc(a, n * sizeof *table->columns);
    table->columns_n = n;
    vd_buf_add_char(&out, '[');
    if (table->name_column)
        write_column(&out, &name_column, name_column.type);
    for (size_t i = 0; i < n; i++) {
        vd_table_column_init(&table->columns[i], a, &columns[i], native);
        if (out.n > 1)
            vd_buf_add_char(&out, ',');
        write_column(&out, &columns[i], shown_type(native, &columns[i]));
    }
    vd_buf_add_char(&out, ']');
    table->definitions = vd_arena_copy(a, vd_buf_slice(&out));
    vd_buf_release(&out);
}

struct vd_slice vd_table_columns(const struct vd_table *table)
{
    return table->definitions;
}

struct vd_table *vd_table_new(struct vd_kind *kind)
{
    struct vd_table *table = VD_NEW(struct vd_table);
    vd_refcount_init(&table->refs);
    table->kind = vd_kind_ref(kind);
    table->name_column = kind->name_column;
    table_init(table, kind->columns, kind->column_count, kind->native);
    return table;
}

/* In the arena, where the table's columns refer to it. */
static void add_count(struct vd_arena *a, struct vd_column *column, const char *name,
                      const char *path, const char *description)
{
    column->name = vd_slice_of(name);
    column->type = VD_SLICE("integer");
    column->format = VD_SLICE("");
    column->description = vd_slice_of(description);
    column->paths = vd_arena_alloc(a, sizeof *column->paths);
    column->paths[0] = vd_slice_of(path);
    column->path_count = 1;
}

struct vd_table *vd_table_new_scale(void)
{
    struct vd_table *table = VD_NEW(struct vd_table);
    struct vd_column *columns = vd_arena_alloc(&table->arena, 2 * sizeof *columns);
    vd_refcount_init(&table->refs);
    memset(columns, 0, 2 * sizeof *columns);
    add_count(&table->arena, &columns[0], "Desired", ".spec.replicas",
              "How many replicas are wanted.");
    add_count(&table->arena, &columns[1], "Available", ".status.replicas",
              "How many replicas there are.");
    table->name_column = true;
    table_init(table, columns, 2, false);
    return table;
}

struct vd_table *vd_table_ref(struct vd_table *table)
{
    vd_ref(&table->refs);
    return table;
}

void vd_table_unref(struct vd_table *table)
{
    if (!table || !vd_unref(&table->refs))
        return;
    if (table->kind)
        vd_kind_unref(table->kind);
    vd_arena_release(&table->arena);
    free(table);
}

uint64_t vd_table_row_work(const struct vd_table *table, size_t body_len)
{
    uint64_t work = (uint64_t)body_len * (table->kind->column_count + 1);
    return work < VD_TABLE_ROW_WORK_MAX ? work : VD_TABLE_ROW_WORK_MAX;
}

const struct vd_kind *vd_table_kind(const struct vd_table *table)
{
    return table->kind;
}

/* --- documents --- */

void vd_table_begin(struct vd_table_writer *w, struct vd_buf *out, const struct vd_list_meta *meta)
{
    assert(w->table);
    vd_buf_addf(out, "{\"kind\":\"Table\",\"apiVersion\":\"%s\",\"metadata\":",
                vd_meta_version_name(w->version));
    vd_list_meta_write(out, meta);
    vd_buf_add_text(out, ",\"columnDefinitions\":");
    vd_buf_add_slice(out, w->headed ? VD_SLICE("null") : w->table->definitions);
    vd_buf_add_text(out, ",\"rows\":[");
    w->headed = true;
    w->started = false;
}

/* An object without a name, as bookmarks are, has an empty one. */
static void write_name(struct vd_buf *out, struct vd_slice body)
{
    struct vd_slice name;
    if (vd_span_get(vd_partial_metadata(body), VD_SLICE("name"), &name) && name.p[0] == '"')
        vd_buf_add_slice(out, name);
    else
        vd_buf_add_text(out, "\"\"");
}

static void write_cells(struct vd_table_writer *w, struct vd_buf *out, struct vd_arena *scratch,
                        struct vd_slice body)
{
    const struct vd_table *table = w->table;
    struct vd_table_source source = {.body = body, .now_ms = w->now_ms, .scratch = scratch};
    size_t from = out->n;
    vd_arena_reset(scratch);
    if (table->name_column)
        write_name(out, body);
    for (size_t i = 0; i < table->columns_n; i++) {
        if (i > 0 || table->name_column)
            vd_buf_add_char(out, ',');
        if (out->n - from < VD_TABLE_ROW_LEN_MAX)
            vd_table_cell_write(out, &table->columns[i], &source);
        else
            vd_buf_add_text(out, "null");
    }
}

void vd_table_add(struct vd_table_writer *w, struct vd_buf *out, struct vd_arena *scratch,
                  struct vd_slice body)
{
    vd_buf_add_text(out, w->started ? ",{\"cells\":[" : "{\"cells\":[");
    w->started = true;
    write_cells(w, out, scratch, body);
    vd_buf_add_text(out, "],\"object\":");
    if (w->object == VD_TABLE_METADATA)
        vd_partial_write(out, w->version, body);
    else
        vd_buf_add_slice(out, w->object == VD_TABLE_OBJECT ? body : VD_SLICE("null"));
    vd_buf_add_char(out, '}');
}

void vd_table_end(struct vd_table_writer *w, struct vd_buf *out)
{
    (void)w;
    vd_buf_add_text(out, "]}");
}

/* Between its quotes a resourceVersion is digits, which need no decoding. */
static struct vd_slice version_of(struct vd_slice body)
{
    struct vd_slice version;
    if (!vd_span_get(vd_partial_metadata(body), VD_SLICE("resourceVersion"), &version) ||
        version.n < 2 || version.p[0] != '"')
        return VD_SLICE("");
    return vd_slice(version.p + 1, version.n - 2);
}

void vd_table_write_one(struct vd_table_writer *w, struct vd_buf *out, struct vd_arena *scratch,
                        struct vd_slice body)
{
    struct vd_list_meta meta = {.resource_version = version_of(body)};
    vd_table_begin(w, out, &meta);
    vd_table_add(w, out, scratch, body);
    vd_table_end(w, out);
}

void vd_table_write_bookmark(struct vd_table_writer *w, struct vd_buf *out,
                             struct vd_arena *scratch, uint64_t revision)
{
    const struct vd_kind *kind = w->table->kind;
    struct vd_buf body = {0};
    vd_buf_addf(&body, "{\"kind\":\"%.*s\",\"apiVersion\":\"%.*s\",\"metadata\":{",
                VD_FMT(kind->kind), VD_FMT(kind->api_version));
    vd_buf_addf(&body, "\"resourceVersion\":\"%llu\"", (unsigned long long)revision);
    if (kind->native)
        vd_buf_add_text(&body, ",\"creationTimestamp\":null");
    vd_buf_add_text(&body, "}}");
    vd_table_write_one(w, out, scratch, vd_buf_slice(&body));
    vd_buf_release(&body);
}
