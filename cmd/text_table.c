/* See text_table.h. */
#include "text_table.h"

#include <string.h>

#include "terminal.h"

void vd_text_table_add(struct vd_text_table *table, struct vd_slice text)
{
    size_t *width = &table->widths[table->cells.n % table->columns];
    *VD_VEC_PUSH(&table->cells) = text.n ? vd_arena_copy(&table->arena, text) : VD_SLICE("-");
    *width = text.n > *width ? text.n : *width;
}

/* The last column is not filled up with spaces. */
static void add_cell(struct vd_buf *line, const struct vd_text_table *table, size_t column,
                     struct vd_slice text)
{
    size_t head = strlen(table->heads[column]), width = table->widths[column];
    if (column + 1 < table->columns)
        vd_buf_addf(line, "%-*.*s  ", (int)(head > width ? head : width), VD_FMT(text));
    else
        vd_buf_add_slice(line, text);
}

void vd_text_table_print(const struct vd_text_table *table)
{
    struct vd_buf line = {0};
    for (size_t c = 0; c < table->columns; c++)
        add_cell(&line, table, c, vd_slice_of(table->heads[c]));
    vd_print_heading(vd_buf_text(&line));
    for (size_t row = 0; row + table->columns <= table->cells.n; row += table->columns) {
        vd_buf_reset(&line);
        for (size_t c = 0; c < table->columns; c++)
            add_cell(&line, table, c, table->cells.p[row + c]);
        printf("%s\n", vd_buf_text(&line));
    }
    vd_buf_release(&line);
}

void vd_text_table_release(struct vd_text_table *table)
{
    VD_VEC_RELEASE(&table->cells);
    vd_arena_release(&table->arena);
}
