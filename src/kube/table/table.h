/*
 * Tables: lists and objects in the form that `kubectl get` prints.
 *
 *     {"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"418"},
 *      "columnDefinitions":[{"name":"Name","type":"string","format":"name",...},...],
 *      "rows":[{"cells":["t1","red",null,"21s"],"object":{...}},...]}
 *
 * What depends on the kind only - compiled paths, the columns as bytes - is made
 * once (kube/table/tables.h keeps it) and shared by all threads. A
 * writer is plain data: begin, add and end may write into one buffer or each into
 * another, so a long list can be streamed.
 *
 *     struct vd_table_writer w = {.table = table, .now_ms = now};
 *     vd_table_begin(&w, out, &meta);
 *     vd_table_add(&w, out, &scratch, body);      any number
 *     vd_table_end(&w, out);
 *
 * Bodies are those of the store, in the version of the table's kind. Nothing here
 * can fail: what an object does not have is an empty cell, and so is what would take a row beyond
 * VD_TABLE_ROW_LEN_MAX or VD_TABLE_ROW_WORK_MAX.
 */
#ifndef VD_KUBE_TABLE_TABLE_H
#define VD_KUBE_TABLE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/slice.h"
#include "kinds/kind.h"
#include "kinds/kinds.h"
#include "kube/list_meta.h"
#include "kube/partial.h"

/* The table of one kind; immutable, reference counted. */
struct vd_table;

/* One reference; takes one of the kind. A column whose path is malformed stays
 * empty: whoever accepts a definition checks its paths. */
struct vd_table *vd_table_new(struct vd_kind *kind) VD_MUST_USE;
/* Of the Scale of whatever kind: its name, and the replicas that are wanted and there. It has no
 * kind. */
struct vd_table *vd_table_new_scale(void) VD_MUST_USE;
struct vd_table *vd_table_ref(struct vd_table *table);
void vd_table_unref(struct vd_table *table); /* NULL allowed */

const struct vd_kind *vd_table_kind(const struct vd_table *table);

/* About how many bytes are searched for the row of an object of so many bytes. */
uint64_t vd_table_row_work(const struct vd_table *table, size_t body_len);

/* The columnDefinitions, a JSON array. */
struct vd_slice vd_table_columns(const struct vd_table *table);

/* What a row carries beside its cells: the query's includeObject. */
enum vd_table_object {
    VD_TABLE_METADATA, /* PartialObjectMetadata */
    VD_TABLE_OBJECT,   /* the whole object */
    VD_TABLE_NONE,     /* null */
};

struct vd_table_writer {
    const struct vd_table *table;
    enum vd_meta_version version;
    enum vd_table_object object;
    int64_t now_ms; /* ages are counted to here; a watch sets it before each event */
    bool headed;    /* columns were sent: later documents of a watch have null */
    bool started;   /* a comma comes before the next row */
};

/* A list, in parts. `scratch` is reset by each call that takes it. */
void vd_table_begin(struct vd_table_writer *w, struct vd_buf *out, const struct vd_list_meta *meta);
void vd_table_add(struct vd_table_writer *w, struct vd_buf *out, struct vd_arena *scratch,
                  struct vd_slice body);
void vd_table_end(struct vd_table_writer *w, struct vd_buf *out);

/* A table of one row, with the object's own resourceVersion: the answer to GET and
 * the object of a watch event. Only the first one of a writer has columns. */
void vd_table_write_one(struct vd_table_writer *w, struct vd_buf *out, struct vd_arena *scratch,
                        struct vd_slice body);

/* The table of a bookmark, whose row has an object with a resourceVersion and nothing
 * else. A watch that is told where its initial events end is never one of Tables. */
void vd_table_write_bookmark(struct vd_table_writer *w, struct vd_buf *out,
                             struct vd_arena *scratch, uint64_t revision);

#endif
