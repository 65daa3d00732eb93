/*
 * What is wrong with the files of a repository, for the person who wrote them.
 *
 *     struct vd_git_report report = {0};
 *     vd_git_report_add(&report, VD_GIT_ERROR, path, at, VD_SLICE("spec.price"), "must be %s", x);
 *     vd_git_report_sort(&report);
 *     vd_git_report_write_text(&out, &report);
 *
 * A finding is an error or a warning at a place in a file. An error is a reason to refuse the push;
 * a warning is only told. Findings are kept up to a number and VD_GIT_REPORT_LEN_MAX bytes, errors
 * and warnings each, and the rest is counted: a hostile push cannot make a report larger than
 * that. All texts are copied, and long ones are cut.
 *
 * Pure, one thread at a time.
 */
#ifndef VD_GIT_REPORT_H
#define VD_GIT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/slice.h"
#include "base/vec.h"
#include "json/yaml_position.h"

/* What is said of a field that the schema of the kind does not have, by a push and by lint. */
#define VD_GIT_UNKNOWN_FIELD "the kind has no such field"

enum vd_git_severity { VD_GIT_ERROR, VD_GIT_WARNING, VD_GIT_SEVERITY_COUNT };

/* "error" or "warning". */
const char *vd_git_severity_name(enum vd_git_severity severity);

struct vd_git_finding {
    enum vd_git_severity severity;
    struct vd_slice path;       /* of the file; empty: of the whole repository */
    struct vd_yaml_position at; /* {0, 0}: of the whole file */
    struct vd_slice field;      /* "spec.media[0].fileRef.name"; empty: of no field */
    struct vd_slice reason;     /* one sentence without a full stop */
    size_t order;               /* the how-manieth it was, for findings at one place */
};

/* `= {0}` is an empty report, with the limits of limits.h. */
struct vd_git_report {
    VD_VEC(struct vd_git_finding) findings;
    struct vd_slice prefix;                         /* stands before all paths; borrowed */
    bool (*takes)(void *arg, struct vd_slice path); /* NULL: all; others are not even counted */
    void *takes_arg;
    size_t kept_max;                     /* findings of a severity; 0: VD_GIT_FINDINGS_MAX */
    size_t found[VD_GIT_SEVERITY_COUNT]; /* kept or not */
    size_t forbidden;                    /* of the errors, those for want of a right */
    size_t kept[VD_GIT_SEVERITY_COUNT];
    size_t bytes[VD_GIT_SEVERITY_COUNT]; /* of the texts of those that are kept */
    struct vd_arena arena;
};

void vd_git_report_release(struct vd_git_report *r);

/* Adds a finding; all texts are copied. */
void vd_git_report_add(struct vd_git_report *r, enum vd_git_severity severity, struct vd_slice path,
                       struct vd_yaml_position at, struct vd_slice field, const char *format, ...)
    VD_PRINTF(6, 7);

/* The same with a reason that is text already. */
void vd_git_report_add_text(struct vd_git_report *r, enum vd_git_severity severity,
                            struct vd_slice path, struct vd_yaml_position at, struct vd_slice field,
                            struct vd_slice reason);

/* Whether there is a reason to refuse. */
static inline bool vd_git_report_has_errors(const struct vd_git_report *r)
{
    return r->found[VD_GIT_ERROR] > 0;
}

/* How many findings of the severity were not kept. */
static inline size_t vd_git_report_left_out(const struct vd_git_report *r,
                                            enum vd_git_severity severity)
{
    return r->found[severity] - r->kept[severity];
}

/* Whether an error more would only be counted. */
bool vd_git_report_is_full(const struct vd_git_report *r);

/* Orders the findings by path, line and column. Call it before writing. */
void vd_git_report_sort(struct vd_git_report *r);

/*
 * A line for each finding, "path:line:column: field: reason", with "warning: " in front of the
 * field of a warning, and a line that counts those that were left out. Nothing for an empty report.
 * Control characters and bytes that are not UTF-8 are written as escapes: a file's name cannot
 * steer a terminal.
 */
void vd_git_report_write_text(struct vd_buf *out, const struct vd_git_report *r);

/* One object: {"errors": 2, "warnings": 0, "findings": [{"path", "line", "column", "field",
 * "reason", "severity"}]}, with a newline behind it. `errors` and `warnings` count those that were
 * left out, too. */
void vd_git_report_write_json(struct vd_buf *out, const struct vd_git_report *r);

/* Workflow commands of GitHub, "::error file=..,line=..,col=..::field: reason", a line each, with
 * the escapes of the text and those of GitHub. */
void vd_git_report_write_github(struct vd_buf *out, const struct vd_git_report *r);

#endif
