/*
 * The JSON parser and writer for scripts: `json_tool < CASES > RESULTS`.
 *
 * CASES is a run of documents, each as a decimal length, a newline, and so many
 * bytes. For each a line comes back: "refused", or "ok " and the document
 * written compactly.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "json/parse.h"
#include "json/write.h"

int main(void)
{
    struct vd_arena arena = {0};
    struct vd_buf line = {0};
    char head[32];
    while (fgets(head, sizeof head, stdin)) {
        size_t n = strtoul(head, NULL, 10);
        char *text = vd_malloc(n);
        if (fread(text, 1, n, stdin) != n)
            return 2;
        struct vd_json *v;
        vd_buf_reset(&line);
        vd_arena_reset(&arena);
        if (vd_json_parse(&arena, vd_slice(text, n), NULL, &v, NULL) == VD_OK) {
            vd_buf_add_text(&line, "ok ");
            vd_json_write(&line, v);
        } else {
            vd_buf_add_text(&line, "refused");
        }
        puts(vd_buf_text(&line));
        free(text);
    }
    vd_buf_release(&line);
    vd_arena_release(&arena);
    return 0;
}
