/* For tests of and with JSON documents: texts in, assertions on values. */
#ifndef VD_TESTS_JSON_CHECK_H
#define VD_TESTS_JSON_CHECK_H

#include "check.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "json/parse.h"
#include "json/write.h"

/* The document that `text`, which outlives it, spells. */
static inline struct vd_json *json_of(struct vd_arena *a, const char *text)
{
    struct vd_error error;
    struct vd_json *v = NULL;
    if (vd_json_parse(a, vd_slice_of(text), NULL, &v, &error) != VD_OK)
        fail_msg("%s: %s", text, error.text);
    return v;
}

/* The value is written as exactly this text. */
#define assert_json(v, text)                                                                       \
    do {                                                                                           \
        struct vd_buf out_ = {0};                                                                  \
        vd_json_write(&out_, (v));                                                                 \
        assert_slice(vd_buf_slice(&out_), (text));                                                 \
        vd_buf_release(&out_);                                                                     \
    } while (0)

/* A group of tests with a fresh arena in *state for each. */
static inline int arena_setup(void **state)
{
    *state = vd_calloc(1, sizeof(struct vd_arena));
    return 0;
}

static inline int arena_teardown(void **state)
{
    vd_arena_release(*state);
    free(*state);
    return 0;
}

#define arena_test(f) cmocka_unit_test_setup_teardown(f, arena_setup, arena_teardown)

#endif
