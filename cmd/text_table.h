/*
 * A table on stdout: a heading, and columns as wide as their widest text.
 *
 *     struct vd_text_table table = {.heads = heads, .columns = VD_COUNT(heads)};
 *     vd_text_table_add(&table, text);       once for each cell, row by row
 *     vd_text_table_print(&table);
 *     vd_text_table_release(&table);
 */
#ifndef VD_CMD_TEXT_TABLE_H
#define VD_CMD_TEXT_TABLE_H

#include "base/arena.h"
#include "base/slice.h"
#include "base/vec.h"

enum { VD_TEXT_TABLE_COLUMNS_MAX = 8 };

struct vd_text_table {
    const char *const *heads;
    size_t columns;
    size_t widths[VD_TEXT_TABLE_COLUMNS_MAX]; /* of the widest cell of each column */
    VD_VEC(struct vd_slice) cells;            /* row by row */
    struct vd_arena arena;                    /* of the texts */
};

/* Adds the next cell; the text is copied. An empty one is shown as "-". */
void vd_text_table_add(struct vd_text_table *table, struct vd_slice text);

/* Prints the whole rows. */
void vd_text_table_print(const struct vd_text_table *table);

void vd_text_table_release(struct vd_text_table *table);

#endif
