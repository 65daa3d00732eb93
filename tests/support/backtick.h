/* JSON in C: texts with ` where JSON has ", so that a test shows what it means. */
#ifndef VD_TESTS_BACKTICK_H
#define VD_TESTS_BACKTICK_H

#include "base/arena.h"
#include "base/slice.h"

/* A copy of `text` in the arena, NUL-terminated, with quotes for backticks. */
static inline char *backtick(struct vd_arena *a, const char *text)
{
    struct vd_slice from = vd_slice_of(text);
    char *copy = vd_arena_alloc(a, from.n + 1);
    for (size_t i = 0; i <= from.n; i++)
        copy[i] = (char)(text[i] == '`' ? '"' : text[i]);
    return copy;
}

#endif
