/* What every cmocka test includes: the library in its required order, and a
 * few assertions in the project's own types. */
#ifndef VD_TESTS_CHECK_H
#define VD_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka comes after the four above; it says so itself. */
#include <cmocka.h>

#include "base/error.h"
#include "base/slice.h"

#ifdef __clang_analyzer__
/* A check that fails does not return; cmocka's header does not say so. */
#include <stdlib.h>
#undef assert_true
#undef assert_false
#undef assert_non_null
#undef assert_null
#undef assert_int_equal
#undef assert_int_not_equal
#undef assert_ptr_equal
#undef fail_msg
#define assert_true(c)             ((c) ? (void)0 : abort())
#define assert_false(c)            ((c) ? abort() : (void)0)
#define assert_non_null(c)         ((c) ? (void)0 : abort())
#define assert_null(c)             ((c) ? abort() : (void)0)
#define assert_int_equal(a, b)     ((a) == (b) ? (void)0 : abort())
#define assert_int_not_equal(a, b) ((a) != (b) ? (void)0 : abort())
#define assert_ptr_equal(a, b)     ((a) == (b) ? (void)0 : abort())
#define fail_msg(...)              (print_error(__VA_ARGS__), abort())
#endif

/* The slice holds exactly this text. */
#define assert_slice(slice, text)                                                                  \
    do {                                                                                           \
        struct vd_slice slice_ = (slice), want_ = vd_slice_of(text);                               \
        if (!vd_slice_eq(slice_, want_))                                                           \
            fail_msg("got \"%.*s\", want \"%.*s\"", VD_FMT(slice_), VD_FMT(want_));                \
    } while (0)

/* The call returned VD_OK; if not, the error's sentence is shown. */
#define assert_ok(call, error)                                                                     \
    do {                                                                                           \
        int code_ = (call);                                                                        \
        if (code_ != VD_OK)                                                                        \
            fail_msg("%s: %s: %s", #call, vd_code_name(code_), (error)->text);                     \
    } while (0)

/* The call returned this code. */
#define assert_code(call, code)                                                                    \
    do {                                                                                           \
        int got_ = (call);                                                                         \
        if (got_ != (int)(code))                                                                   \
            fail_msg("%s: got %s, want %s", #call, vd_code_name(got_), vd_code_name(code));        \
    } while (0)

/* The error's sentence contains this text. */
#define assert_says(error, part)                                                                   \
    do {                                                                                           \
        const char *part_ = (part);                                                                \
        assert_non_null(part_);                                                                    \
        if (!strstr((error)->text, part_))                                                         \
            fail_msg("\"%s\" does not say \"%s\"", (error)->text, part_);                          \
    } while (0)

#endif
