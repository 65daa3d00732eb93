/* How a test looks at the metrics. */
#ifndef VD_TESTS_METRICS_CHECK_H
#define VD_TESTS_METRICS_CHECK_H

#include "check.h"

#include <string.h>

#include "base/buf.h"
#include "base/metrics.h"

/* Whether a scrape has this line. */
static inline bool metrics_have(const char *line)
{
    struct vd_buf text = {0}, wanted = {0};
    vd_metrics_write(&text);
    vd_buf_addf(&wanted, "\n%s\n", line);
    bool found = strstr(vd_buf_text(&text), vd_buf_text(&wanted)) != NULL;
    if (!found)
        print_error("no line: %s\n", line);
    vd_buf_release(&text);
    vd_buf_release(&wanted);
    return found;
}

#endif
