/*
 * How much git may write to the disk. A part of the disk is kept for the store, whose log has to
 * grow: VD_GIT_DISK_KEPT_LEN, or a tenth of a disk that is smaller than ten times that. Nobody but
 * git is bound to it.
 *
 * The call is statvfs(2), which does not wait for the disk. Any thread.
 */
#ifndef VD_GIT_DISK_ROOM_H
#define VD_GIT_DISK_ROOM_H

#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"

struct vd_disk_room {
    uint64_t free; /* bytes that the server may write */
    uint64_t kept; /* of which git leaves these */
};

/* Of the disk that has this folder. A disk that does not tell has room without end. */
struct vd_disk_room vd_disk_room(const char *folder);

/* Bytes that git may write. */
static inline uint64_t vd_disk_room_left(const struct vd_disk_room *room)
{
    return room->free > room->kept ? room->free - room->kept : 0;
}

/* VD_ERR_FULL, with the numbers, if git may write no more. */
int vd_disk_room_check(const struct vd_disk_room *room, struct vd_error *error) VD_MUST_USE;

#endif
