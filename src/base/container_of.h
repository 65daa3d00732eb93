/*
 * From a member to the struct that it is part of.
 *
 *     struct job { struct vd_task task; ... };
 *     struct job *job = VD_CONTAINER_OF(task, struct job, task);
 *
 * This is the only way in which the program goes from a pointer that it is handed back to what the
 * pointer is embedded in; the member need not be the first.
 */
#ifndef VD_BASE_CONTAINER_OF_H
#define VD_BASE_CONTAINER_OF_H

#include <stddef.h>

#define VD_CONTAINER_OF(pointer, type, member)                                                     \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
