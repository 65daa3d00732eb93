/* See heap_trim.h. */
#include "server/heap_trim.h"

#include <stdio.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>

enum { IDLE_MIN = 16777216 }; /* less than this is not worth the walk through the heap */

/* "size resident shared ..." in pages; 0 where that is not to be had. */
static size_t resident_bytes(void)
{
    unsigned long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    bool read = fscanf(file, "%lu %lu", &size, &resident) == 2;
    fclose(file);
    return read ? resident * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Resident bytes that nobody has allocated. The code and the stacks are among them; they are
 * what stays after a trim. */
static size_t idle_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    size_t resident = resident_bytes(), used = info.uordblks + info.hblkhd;
    return resident > used ? resident - used : 0;
}

bool vd_heap_trim_look(struct vd_heap_trim *trim)
{
    size_t worth = trim->idle_kept + IDLE_MIN, now = idle_bytes();
    bool stays = now >= worth && trim->idle_before >= worth;
    if (stays) {
        malloc_trim(0);
        trim->idle_kept = now = idle_bytes();
    }
    trim->idle_before = now;
    return stays;
}
#else
bool vd_heap_trim_look(struct vd_heap_trim *trim)
{
    (void)trim;
    return false;
}
#endif
