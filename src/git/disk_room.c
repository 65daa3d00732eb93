/* See disk_room.h. */
#include "git/disk_room.h"

#include <inttypes.h>
#include <sys/statvfs.h>

#include "base/limits.h"

enum { KEPT_PART = 10 }; /* at most one in so many bytes of the disk is kept */

struct vd_disk_room vd_disk_room(const char *folder)
{
    struct statvfs disk;
    if (statvfs(folder, &disk) || !disk.f_blocks)
        return (struct vd_disk_room){.free = UINT64_MAX};
    uint64_t part = (uint64_t)disk.f_blocks * disk.f_frsize / KEPT_PART;
    return (struct vd_disk_room){
        .free = (uint64_t)disk.f_bavail * disk.f_frsize,
        .kept = part < VD_GIT_DISK_KEPT_LEN ? part : VD_GIT_DISK_KEPT_LEN,
    };
}

int vd_disk_room_check(const struct vd_disk_room *room, struct vd_error *error)
{
    if (vd_disk_room_left(room))
        return VD_OK;
    return vd_error_set(error, VD_ERR_FULL,
                        "no space left: %" PRIu64 " bytes are free on the server's disk, and "
                        "%" PRIu64 " are kept for the store: make room there",
                        room->free, room->kept);
}
