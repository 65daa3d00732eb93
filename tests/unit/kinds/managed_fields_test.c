/* src/kinds/managed_fields.c: the record of who set what. */
#include "kinds/managed_fields.h"

#include <stdio.h>

#include "backtick.h"
#include "base/limits.h"
#include "json_check.h"

#define ENTRY(manager, operation, time, fields)                                                    \
    "{`manager`:`" manager "`,`operation`:`" operation "`,`apiVersion`:`v1`,`time`:`" time         \
    "`,`fieldsType`:`FieldsV1`,`fieldsV1`:" fields "}"
#define T1 "2026-11-15T00:00:01Z"
#define T2 "2026-11-15T00:00:02Z"
#define T3 "2026-11-15T00:00:03Z"

static const struct vd_field_set *set_of(struct vd_arena *a, const char *text)
{
    const struct vd_field_set *set = NULL;
    assert_true(vd_field_set_read(a, vd_slice_of(backtick(a, text)), &set));
    return set;
}

static void assert_written(struct vd_arena *a, const struct vd_managed *m, const char *want)
{
    struct vd_buf out = {0};
    vd_managed_write(&out, m);
    assert_string_equal(vd_buf_text(&out), backtick(a, want));
    vd_buf_release(&out);
}

struct update {
    const char *before, *manager, *subresource, *added, *modified, *removed, *after;
};

static void updates_the_record(void **state)
{
    static const struct update cases[] = {
        /* the first entry */
        {"", "u", "", "{`f:a`:{}}", "{}", "{}", "[" ENTRY("u", "Update", T3, "{`f:a`:{}}") "]"},
        /* its own fields again: only the time is new */
        {"[" ENTRY("u", "Update", T1, "{`f:a`:{},`f:b`:{}}") "]", "u", "", "{}", "{`f:a`:{}}", "{}",
         "[" ENTRY("u", "Update", T3, "{`f:a`:{},`f:b`:{}}") "]"},
        {"[" ENTRY("u", "Update", T3, "{`f:a`:{},`f:b`:{}}") "]", "u", "", "{}", "{`f:a`:{}}", "{}",
         "[" ENTRY("u", "Update", T3, "{`f:a`:{},`f:b`:{}}") "]"},
        /* nothing happened */
        {"[" ENTRY("u", "Update", T1, "{`f:a`:{}}") "]", "u", "", "{}", "{}", "{}",
         "[" ENTRY("u", "Update", T1, "{`f:a`:{}}") "]"},
        /* from another, who keeps the rest, and from one who has nothing else */
        {"[" ENTRY("m", "Apply", T2, "{`f:a`:{},`f:b`:{}}") "," ENTRY("o", "Update", T2,
                                                                      "{`f:a`:{}}") "]",
         "u", "", "{}", "{`f:a`:{}}", "{}",
         "[" ENTRY("m", "Apply", T2, "{`f:b`:{}}") "," ENTRY("u", "Update", T3, "{`f:a`:{}}") "]"},
        /* what is gone is nobody's, and takes no time */
        {"[" ENTRY("u", "Update", T1, "{`f:a`:{},`f:b`:{}}") "]", "u", "", "{}", "{}", "{`f:a`:{}}",
         "[" ENTRY("u", "Update", T1, "{`f:b`:{}}") "]"},
        {"[" ENTRY("u", "Update", T1, "{`f:a`:{}}") "]", "u", "", "{}", "{}", "{`f:a`:{}}", ""},
        /* the entry of another door is another's */
        {"[" ENTRY("u", "Update", T1, "{`f:a`:{}}") "]", "u", "status", "{`f:s`:{}}", "{}", "{}",
         "[" ENTRY("u", "Update", T1,
                   "{`f:a`:{}}") ",{`manager`:`u`,`operation`:`Update`,"
                                 "`apiVersion`:`v1`,`time`:`" T3
                                 "`,`fieldsType`:`FieldsV1`,`fieldsV1`:{`f:s`:{}},"
                                 "`subresource`:`status`}]"},
        /* by time, then by name */
        {"[" ENTRY("a", "Update", T1, "{`f:x`:{}}") "," ENTRY("b", "Update", T2, "{`f:y`:{}}") "]",
         "a", "", "{`f:z`:{}}", "{}", "{}",
         "[" ENTRY("b", "Update", T2, "{`f:y`:{}}") "," ENTRY("a", "Update", T3,
                                                              "{`f:x`:{},`f:z`:{}}") "]"},
    };
    (void)state;
    struct vd_arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct update *u = &cases[i];
        struct vd_managed m;
        struct vd_managed_who who = {vd_slice_of(u->manager), VD_SLICE("v1"),
                                     vd_slice_of(u->subresource), VD_SLICE(T3)};
        struct vd_field_changes c = {set_of(&a, u->added), set_of(&a, u->modified),
                                     set_of(&a, u->removed)};
        vd_managed_read(&m, &a, vd_slice_of(backtick(&a, u->before)));
        vd_managed_update(&m, &who, &c);
        assert_written(&a, &m, u->after);
        assert_int_equal(m.changed, strcmp(u->before, u->after) != 0);
    }
    vd_arena_release(&a);
}

/* A change of many fields takes the way through sets. */
static void updates_many_fields(void **state)
{
    (void)state;
    struct vd_arena a = {0};
    struct vd_managed m;
    struct vd_buf set = {0};
    struct vd_managed_who who = {VD_SLICE("u"), VD_SLICE("v1"), VD_SLICE(""), VD_SLICE(T3)};
    for (int i = 0; i < 100; i++)
        vd_buf_addf(&set, "%s`f:k%d`:{}", i ? "," : "{", i);
    vd_buf_add_char(&set, '}');
    struct vd_field_changes c = {.modified = set_of(&a, vd_buf_text(&set))};
    vd_managed_read(
        &m, &a,
        vd_slice_of(backtick(&a, "[" ENTRY("o", "Update", T1, "{`f:k7`:{},`f:other`:{}}") "]")));
    vd_managed_update(&m, &who, &c);
    assert_int_equal(m.n, 2);
    assert_int_equal(vd_field_set_count(vd_managed_fields_of(&m, &m.p[0])), 1);
    assert_int_equal(vd_field_set_count(vd_managed_fields_of(&m, &m.p[1])), 100);
    vd_buf_release(&set);
    vd_arena_release(&a);
}

/* Ten Update managers, and the oldest become one. */
static void ages_update_managers(void **state)
{
    (void)state;
    struct vd_arena a = {0};
    struct vd_managed m;
    vd_managed_read(&m, &a, VD_SLICE(""));
    for (int i = 0; i < 14; i++) {
        char name[8], time[32], fields[32];
        snprintf(name, sizeof name, "m%02d", i);
        snprintf(time, sizeof time, "2026-11-15T00:00:%02dZ", i);
        snprintf(fields, sizeof fields, "{`f:k%02d`:{}}", i);
        struct vd_managed_who who = {vd_arena_copy(&a, vd_slice_of(name)), VD_SLICE("v1"),
                                     VD_SLICE(""), vd_arena_copy(&a, vd_slice_of(time))};
        struct vd_field_changes c = {.added = set_of(&a, fields)};
        vd_managed_update(&m, &who, &c);
        assert_true(m.n <= VD_UPDATE_MANAGERS_MAX);
    }
    assert_int_equal(m.n, VD_UPDATE_MANAGERS_MAX);
    assert_true(vd_slice_is(m.p[0].manager, "ancient-changes"));
    assert_true(vd_slice_is(m.p[0].time, "2026-11-15T00:00:04Z"));
    assert_int_equal(vd_field_set_count(vd_managed_fields_of(&m, &m.p[0])), 5);
    assert_true(vd_slice_is(m.p[9].manager, "m13"));
    vd_arena_release(&a);
}

static void takes_what_clients_send(void **state)
{
    static const struct {
        const char *list, *want; /* NULL: it cannot be kept */
        bool reset;
    } cases[] = {
        {"[]", NULL, true},
        {"[{}]", NULL, true},
        {"[{},{}]", NULL, false},
        {"[{`manager`:`m`}]", NULL, false},
        {"[{`manager`:`m`,`operation`:`Delete`,`apiVersion`:`v1`,`fieldsType`:`FieldsV1`}]", NULL,
         false},
        {"[{`manager`:`m`,`operation`:`Apply`,`apiVersion`:`v1`,`fieldsType`:`FieldsV2`}]", NULL,
         false},
        {"[" ENTRY("m", "Apply", T1, "{`f:a`:1}") "]", NULL, false},
        {"[" ENTRY("m", "Apply", T1, "`f:a`") "]", NULL, false},
        /* in our spelling and order, without what owns nothing */
        {"[{`fieldsV1`:{`f:b`:{},`f:a`:{`.`:{}}},`time`:`" T2
         "`,`manager`:`u`,`operation`:`Update`,"
         "`apiVersion`:`v1`,`fieldsType`:`FieldsV1`}," ENTRY("e", "Update", T1, "{}") "," ENTRY(
             "m", "Apply", T3, "{`f:a`:{}}") "]",
         "[" ENTRY("m", "Apply", T3, "{`f:a`:{}}") "," ENTRY("u", "Update", T2,
                                                             "{`f:a`:{},`f:b`:{}}") "]",
         false},
        {"[" ENTRY("u", "Update", "2026-11-15T00:00:01.000Z", "{`f:a`:{}}") "]",
         "[" ENTRY("u", "Update", T1, "{`f:a`:{}}") "]", false},
        /* two of one manager: the last counts */
        {"[" ENTRY("u", "Update", T1, "{`f:a`:{}}") "," ENTRY("u", "Update", T2, "{`f:b`:{}}") "]",
         "[" ENTRY("u", "Update", T2, "{`f:b`:{}}") "]", false},
    };
    (void)state;
    struct vd_arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_managed m;
        struct vd_json *list = json_of(&a, backtick(&a, cases[i].list));
        assert_int_equal(vd_managed_is_reset(list), cases[i].reset);
        bool taken = vd_managed_take(&m, &a, list);
        if (taken != (cases[i].want != NULL))
            fail_msg("%s: taken %d", cases[i].list, taken);
        if (taken)
            assert_written(&a, &m, cases[i].want);
    }
    assert_false(vd_managed_is_reset(NULL));
    vd_arena_release(&a);
}

static void leaves_long_lists_alone(void **state)
{
    (void)state;
    struct vd_arena a = {0};
    struct vd_managed m;
    struct vd_json *list = vd_json_array(&a);
    for (int i = 0; i <= VD_MANAGED_ENTRIES_MAX; i++) {
        struct vd_json *entry = json_of(&a, backtick(&a, ENTRY("m", "Apply", T1, "{`f:a`:{}}")));
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        vd_json_set(&a, entry, VD_SLICE("manager"), vd_json_string(&a, vd_slice_of(name)));
        if (i == VD_MANAGED_ENTRIES_MAX)
            assert_true(vd_managed_take(&m, &a, list));
        vd_json_append(list, entry);
    }
    assert_false(vd_managed_take(&m, &a, list));
    vd_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_the_record),      cmocka_unit_test(updates_many_fields),
        cmocka_unit_test(ages_update_managers),    cmocka_unit_test(takes_what_clients_send),
        cmocka_unit_test(leaves_long_lists_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
