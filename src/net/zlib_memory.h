/* The memory of zlib's streams comes from base/alloc.h, which never fails. */
#ifndef VD_NET_ZLIB_MEMORY_H
#define VD_NET_ZLIB_MEMORY_H

#include <stdlib.h>

#include "base/alloc.h"

/* For zalloc and zfree of a z_stream. */
static inline void *vd_zlib_take_memory(void *arg, unsigned n, unsigned size)
{
    (void)arg;
    return vd_realloc(NULL, n, size);
}

static inline void vd_zlib_give_memory(void *arg, void *p)
{
    (void)arg;
    free(p);
}

#endif
