/* src/kinds/served_form.c: stored bytes in the form of every version. */
#include "kinds/served_form.h"

#include "backtick.h"
#include "check.h"
#include "json_check.h"
#include "kinds/builtin.h"
#include "widget_kinds.h"

static void assert_shown(struct vd_arena *a, const struct vd_kind *kind, const char *body,
                         const char *want)
{
    struct vd_buf room = {0};
    struct vd_slice stored = vd_slice_of(backtick(a, body));
    struct vd_effort effort = {0};
    struct vd_slice shown;
    struct vd_error error;
    assert_ok(vd_served_form_make(kind, stored, VD_WRITTEN_NOW, &room, &effort, &shown, &error),
              &error);
    assert_slice(shown, backtick(a, want));
    vd_buf_release(&room);
}

static void another_version_has_another_api_version(void **state)
{
    struct vd_arena a = {0};
    struct vd_kinds *kinds = vd_kinds_new(NULL);
    struct vd_error error;
    struct vd_json *document = NULL;
    (void)state;
    assert_ok(vd_yaml_read(&a, vd_slice_of(WIDGET_YAML), &document, &error), &error);
    assert_ok(vd_kinds_put(kinds, document, false, &error), &error);
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    const struct vd_kind *v2 = vd_kind_set_resource(set, VD_SLICE("example.com"), VD_SLICE("v2"),
                                                    VD_SLICE("widgets"));
    static const struct {
        const char *body, *want;
    } rows[] = {
        {"{`apiVersion`:`example.com/v2`,`kind`:`Widget`}",
         "{`apiVersion`:`example.com/v2`,`kind`:`Widget`}"},
        {"{`apiVersion`:`example.com/v1`,`kind`:`Widget`,`spec`:{`apiVersion`:`example.com/v1`}}",
         "{`apiVersion`:`example.com/v2`,`kind`:`Widget`,`spec`:{`apiVersion`:`example.com/v1`}}"},
        {"{`kind`:`Widget`,`a\\u0000`:[1,{}],`apiVersion`:`example.com/v1`}",
         "{`kind`:`Widget`,`a\\u0000`:[1,{}],`apiVersion`:`example.com/v2`}"},
        {"{`metadata`:{}}", "{`metadata`:{}}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_shown(&a, v2, rows[i].body, rows[i].want);
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
    vd_arena_release(&a);
}

/* Both groups of events have one storage, in the words of the older. */
static void events_are_shown_in_the_words_of_their_group(void **state)
{
    struct vd_arena a = {0};
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    static const char body[] = "{`apiVersion`:`v1`,`kind`:`Event`,`involvedObject`:{`name`:`a`},"
                               "`message`:`m`}";
    (void)state;
    assert_shown(&a, vd_kind_set_resource(set, VD_SLICE(""), VD_SLICE("v1"), VD_SLICE("events")),
                 body, body);
    assert_shown(
        &a,
        vd_kind_set_resource(set, VD_SLICE("events.k8s.io"), VD_SLICE("v1"), VD_SLICE("events")),
        body,
        "{`apiVersion`:`events.k8s.io/v1`,`kind`:`Event`,`regarding`:{`name`:`a`},"
        "`note`:`m`}");
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
    vd_arena_release(&a);
}

/* What was written before the schema was as it is. */
static void older_objects_are_brought_up_to_date(void **state)
{
    static const char definition[] =
        "{`metadata`:{`resourceVersion`:`10`},`spec`:{`group`:`example.com`,`scope`:`Cluster`,"
        "`names`:{`kind`:`Thing`,`plural`:`things`},`versions`:[{`name`:`v1`,`served`:true,"
        "`storage`:true,`schema`:{`openAPIV3Schema`:{`type`:`object`,`properties`:{`a`:{`type`:"
        "`string`,`default`:`x`},`b`:{`type`:`string`}}}}}]}}";
    static const struct {
        const char *body;
        uint64_t written;
        const char *want;
    } rows[] = {
        {"{`apiVersion`:`example.com/v1`,`b`:`y`,`gone`:{}}", 11,
         "{`apiVersion`:`example.com/v1`,`b`:`y`,`gone`:{}}"},
        {"{`apiVersion`:`example.com/v1`,`b`:`y`,`gone`:{}}", 10,
         "{`apiVersion`:`example.com/v1`,`b`:`y`,`a`:`x`}"},
        {"{`apiVersion`:`example.com/v1beta1`,`a`:`z`}", 9,
         "{`apiVersion`:`example.com/v1`,`a`:`z`}"},
        {"damaged", 9, "damaged"},
    };
    struct vd_arena a = {0};
    struct vd_kinds *kinds = vd_kinds_new(NULL);
    struct vd_error error;
    (void)state;
    assert_ok(vd_kinds_put(kinds, json_of(&a, backtick(&a, definition)), false, &error), &error);
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_buf room = {0};
        struct vd_effort effort = {.on_loop = true};
        struct vd_slice shown;
        assert_ok(vd_served_form_make(vd_kind_set_stored(set, VD_SLICE("things.example.com")),
                                      vd_slice_of(backtick(&a, rows[i].body)), rows[i].written,
                                      &room, &effort, &shown, &error),
                  &error);
        assert_slice(shown, backtick(&a, rows[i].want));
        vd_buf_release(&room);
    }
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
    vd_arena_release(&a);
}

static void a_deletion_shows_what_was_there_before(void **state)
{
    struct vd_event update = {.type = VD_EVENT_UPDATED, .revision = 9, .previous = 5};
    struct vd_event deletion = {.type = VD_EVENT_DELETED, .revision = 9, .previous = 5};
    (void)state;
    assert_int_equal(vd_served_form_written(&update, false), 9);
    assert_int_equal(vd_served_form_written(&update, true), 5);
    assert_int_equal(vd_served_form_written(&deletion, false), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_version_has_another_api_version),
        cmocka_unit_test(events_are_shown_in_the_words_of_their_group),
        cmocka_unit_test(older_objects_are_brought_up_to_date),
        cmocka_unit_test(a_deletion_shows_what_was_there_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
