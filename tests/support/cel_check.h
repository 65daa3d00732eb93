/* For tests of CEL: expressions in, results as text. */
#ifndef VD_TESTS_CEL_CHECK_H
#define VD_TESTS_CEL_CHECK_H

#include <string.h>

#include "json_check.h"

#include "cel/program.h"

struct cel_case {
    const char *expression;
    const char *want; /* the error that it ends with */
};

/* Stands in for the formats of src/kinds: a text of more than 5 bytes is too long for every
 * format. */
static inline size_t cel_format_faults(const char *format, struct vd_slice text,
                                       struct vd_arena *arena, struct vd_slice faults[4])
{
    (void)format;
    faults[0] = vd_arena_copy(arena, VD_SLICE("is too long"));
    return text.n > 5;
}

static const struct vd_cel_host cel_host = {cel_format_faults};

/* Evaluates with `self` of any type; the result is good until the arena goes. */
static inline struct vd_cel_value cel_eval(struct vd_arena *a, const char *expression,
                                           const char *self, uint64_t *cost)
{
    struct vd_cel_env env = {vd_cel_type_of(VD_CEL_DYN), false, false};
    struct vd_cel_program *program = NULL;
    struct vd_buf issues = {0};
    if (!vd_cel_compile(a, vd_slice_of(expression), &env, &program, &issues))
        fail_msg("%s: %s", expression, vd_buf_text(&issues));
    struct vd_cel_run run = {.arena = a, .host = &cel_host, .cost_max = 1000000};
    run.self = vd_cel_of_json(&run, json_of(a, self ? self : "{}"), NULL);
    struct vd_cel_value v = vd_cel_eval(program, &run);
    if (cost)
        *cost = run.cost;
    vd_cel_run_release(&run);
    vd_cel_program_release(program);
    vd_buf_release(&issues);
    return v;
}

/* Each expression is true. */
#define assert_true_rows(a, rows, self)                                                            \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < sizeof(rows) / sizeof *(rows); i_++) {                            \
            struct vd_cel_value v_ = cel_eval((a), (rows)[i_], (self), NULL);                      \
            if (v_.kind == VD_CEL_ERROR)                                                           \
                fail_msg("%s: error: %.*s", (rows)[i_], VD_FMT(v_.s));                             \
            if (v_.kind != VD_CEL_BOOL || !v_.truth)                                               \
                fail_msg("%s: is not true", (rows)[i_]);                                           \
        }                                                                                          \
    } while (0)

/* Each expression ends with an error that begins so. */
#define assert_error_rows(a, rows, self)                                                           \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < sizeof(rows) / sizeof *(rows); i_++) {                            \
            struct vd_cel_value v_ = cel_eval((a), (rows)[i_].expression, (self), NULL);           \
            if (v_.kind != VD_CEL_ERROR)                                                           \
                fail_msg("%s: is no error", (rows)[i_].expression);                                \
            if (!vd_slice_starts_with(v_.s, vd_slice_of((rows)[i_].want)))                         \
                fail_msg("%s: got %.*s, want %s", (rows)[i_].expression, VD_FMT(v_.s),             \
                         (rows)[i_].want);                                                         \
        }                                                                                          \
    } while (0)

#endif
