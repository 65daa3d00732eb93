/* "Did you mean ...?": the known word that is nearest to a mistyped one. */
#ifndef VD_BASE_NEAR_MISS_H
#define VD_BASE_NEAR_MISS_H

#include <stddef.h>

struct vd_near_miss {
    const char *typed;
    const char *best; /* NULL: none is near */
    size_t distance;  /* a word must be nearer than this */
};

struct vd_near_miss vd_near_miss(const char *typed);

/* Considers a word that exists; `word` must outlive *near. */
void vd_near_miss_try(struct vd_near_miss *near, const char *word);

#endif
