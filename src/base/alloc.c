/* See alloc.h: allocation either works or ends the process with one line. */
#include "base/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static VD_NORETURN void out_of_memory(size_t size)
{
    fprintf(stderr, "vedette: out of memory: could not allocate %zu bytes\n", size);
    abort();
}

static size_t checked_product(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        out_of_memory(SIZE_MAX);
    return count * size;
}

void *vd_malloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        out_of_memory(size);
    return p;
}

void *vd_calloc(size_t count, size_t size)
{
    size_t total = checked_product(count, size);
    void *p = calloc(1, total ? total : 1);
    if (!p)
        out_of_memory(total);
    return p;
}

void *vd_realloc(void *p, size_t count, size_t size)
{
    size_t total = checked_product(count, size);
    void *q = realloc(p, total ? total : 1);
    if (!q)
        out_of_memory(total);
    return q;
}

void *vd_memdup(const void *p, size_t n)
{
    void *q = vd_malloc(n);
    if (n)
        memcpy(q, p, n);
    return q;
}

char *vd_strdup(const char *text)
{
    return vd_memdup(text, strlen(text) + 1);
}
