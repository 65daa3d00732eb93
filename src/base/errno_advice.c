/* See errno_advice.h. */
#include "base/errno_advice.h"

#include <errno.h>

const char *vd_errno_advice(int number)
{
    switch (number) {
    case ENOENT:
        return ": check the path";
    case ENOTDIR:
        return ": a part of the path is not a folder; check it";
    case EISDIR:
        return ": name a file, not a folder";
    case EACCES:
    case EPERM:
        return ": give this user the right, or run as one who has it";
    case EROFS:
        return ": choose a place that can be written";
    case ENOSPC:
    case EDQUOT:
        return ": make room on the disk";
    case EMFILE:
    case ENFILE:
        return ": raise the limit of open files (ulimit -n)";
    case ELOOP:
        return ": remove the link, or name what it leads to";
    case EADDRINUSE:
        return ": another program uses it; stop that one, or choose another port";
    case EADDRNOTAVAIL:
        return ": choose an address that this machine has, or 0.0.0.0 for all of them";
    default:
        return "";
    }
}
