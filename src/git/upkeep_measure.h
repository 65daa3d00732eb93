/*
 * Whether a repository needs upkeep (git/upkeep.h), by a look at the names in its folder, as
 * `git gc --auto` does it: the packs are counted, and the objects outside of packs are estimated
 * from one of their 256 folders.
 *
 * The file `vedette-upkeep` in the repository is empty; the last upkeep was when it was last
 * touched.
 *
 * All functions wait for the disk: for a thread that may.
 */
#ifndef VD_GIT_UPKEEP_MEASURE_H
#define VD_GIT_UPKEEP_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vd_upkeep_measure {
    bool exists;    /* else there is no such folder, or it cannot be read */
    size_t packs;   /* that are not kept as they are */
    size_t loose;   /* objects outside of packs, about */
    bool is_untidy; /* more than one pack, or objects outside of them */
    bool is_large;  /* more of them than limits.h allows: it is due */
    bool is_due;    /* that, or it is untidy, and the last upkeep was VD_GIT_UPKEEP_AGE_MS ago */
};

/* Makes the file if there is none yet. */
void vd_upkeep_measure_take(struct vd_upkeep_measure *out, const char *root, const char *uid,
                            int64_t now_ms);

/* There was an upkeep just now. */
void vd_upkeep_measure_mark(const char *root, const char *uid);

#endif
