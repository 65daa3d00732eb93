/* The files of kinds/, as the build put them in: see tools/embed.sh. */
#ifndef VD_KINDS_BUILTIN_FILES_H
#define VD_KINDS_BUILTIN_FILES_H

#include <stddef.h>

#include "base/slice.h"

struct vd_builtin_file {
    const char *name; /* without its folder */
    struct vd_slice text;
};

extern const struct vd_builtin_file vd_builtin_files[];
extern const size_t vd_builtin_file_count;

#endif
