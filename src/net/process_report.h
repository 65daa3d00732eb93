/* The metrics of processes. For process.c. */
#ifndef VD_NET_PROCESS_REPORT_H
#define VD_NET_PROCESS_REPORT_H

#include "net/process.h"

enum { VD_PROCESS_PROGRAM_LEN = 64 }; /* bytes of a program's name in metrics, with its NUL */

struct vd_process_report {
    char program[VD_PROCESS_PROGRAM_LEN];
};

/* It is to be started; then it could not be, or it has ended. */
void vd_process_report_start(struct vd_process_report *report, const struct vd_process_options *o);
void vd_process_report_failure(struct vd_process_report *report);
void vd_process_report_end(struct vd_process_report *report, const struct vd_process_exit *exit);

#endif
