/* One line on a terminal that says how far the work has come; nothing elsewhere. */
#ifndef VD_CMD_PROGRESS_H
#define VD_CMD_PROGRESS_H

#include <stdbool.h>

#include "store/progress.h"

struct vd_progress_line {
    struct vd_progress progress; /* give this to the work */
    bool on;
    bool drawn;
    uint64_t next_ns;
};

void vd_progress_line_init(struct vd_progress_line *line);

/* What to pass to the work: NULL when stderr is no terminal. */
const struct vd_progress *vd_progress_of(const struct vd_progress_line *line);

/* Erases the line. To be called before anything else is printed. */
void vd_progress_line_end(struct vd_progress_line *line);

#endif
