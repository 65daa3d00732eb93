/* See progress.h. The line is drawn at most ten times a second, and not at all if the work takes
 * less than a tenth of a second. */
#include "progress.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/terminal.h"
#include "terminal.h"

#define INTERVAL_NS UINT64_C(100000000)

static void draw(void *arg, const char *what, uint64_t done, uint64_t total)
{
    struct vd_progress_line *line = arg;
    uint64_t now_ns = vd_clock_mono_ns(vd_clock_system());
    if (now_ns < line->next_ns)
        return;
    line->next_ns = now_ns + INTERVAL_NS;
    line->drawn = true;
    if (total)
        fprintf(stderr, "\r\033[K%s %d%%", what,
                (int)((double)(done < total ? done : total) * 100 / (double)total));
    else
        fprintf(stderr, "\r\033[K%s ...", what);
    fflush(stderr);
}

void vd_progress_line_init(struct vd_progress_line *line)
{
    *line = (struct vd_progress_line){
        .progress = {draw, line},
        .on = vd_terminal_is_capable(stderr),
        .next_ns = vd_clock_mono_ns(vd_clock_system()) + INTERVAL_NS,
    };
}

const struct vd_progress *vd_progress_of(const struct vd_progress_line *line)
{
    return line->on ? &line->progress : NULL;
}

void vd_progress_line_end(struct vd_progress_line *line)
{
    if (line->drawn)
        fputs("\r\033[K", stderr);
    line->drawn = false;
}
