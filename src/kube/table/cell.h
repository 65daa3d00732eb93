/*
 * The cell of a table: one value of an object, as Kubernetes' printers show it.
 *
 * What is not there is null, as for custom resources in Kubernetes. In the tables
 * of built-in kinds, which Kubernetes fills from typed objects, it is the type's
 * empty value instead: "" for a text, "<unknown>" for an age.
 */
#ifndef VD_KUBE_TABLE_CELL_H
#define VD_KUBE_TABLE_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/slice.h"
#include "kinds/kind.h"
#include "kube/table/jsonpath.h"
#include "json/document.h"

struct vd_table_path {
    const struct vd_jsonpath *path; /* NULL: see whole */
    bool whole;                     /* ".": the object itself; else NULL leads nowhere */
};

/* A column ready for use: immutable, so threads may share it. */
struct vd_table_column {
    const struct vd_column *column; /* borrowed from the kind */
    const struct vd_table_path *paths;
    bool typed; /* of a built-in kind */
};

/* Compiles the paths of a column into the arena. One that is malformed leads
 * nowhere: its cells are empty, and the table still serves. */
void vd_table_column_init(struct vd_table_column *out, struct vd_arena *a,
                          const struct vd_column *column, bool native);

/* The object of a row while its cells are made. */
struct vd_table_source {
    struct vd_slice body;           /* from the store: compact and valid */
    int64_t now_ms;                 /* for ages */
    struct vd_arena *scratch;       /* holds what has to be decoded */
    const struct vd_json *document; /* the body, once a cell needed all of it; start with NULL */
    uint64_t work;                  /* bytes that were searched for the cells; start with 0 */
};

/* Adds the cell as a JSON value: null when the row has taken VD_TABLE_ROW_WORK_MAX already. A text
 * has at most VD_TABLE_CELL_LEN_MAX bytes. */
void vd_table_cell_write(struct vd_buf *out, const struct vd_table_column *column,
                         struct vd_table_source *source);

#endif
