/* src/kinds/field_tracking.c: the record of who set what, beside the document of an object. */
#include "kinds/field_tracking.h"

#include "backtick.h"
#include "json_check.h"
#include "kinds/builtin.h"
#include "kinds/kinds.h"

#define T1 "1970-01-01T00:00:05Z"
#define ENTRY(manager, fields)                                                                     \
    "{`manager`:`" manager "`,`operation`:`Update`,`apiVersion`:`v1`,`time`:`" T1                  \
    "`,`fieldsType`:`FieldsV1`,`fieldsV1`:" fields "}"
#define OBJECT(more) "{`metadata`:{`name`:`c`" more "},`data`:{`a`:`1`}}"

static struct vd_kinds *kinds;
static struct vd_kind_set *set;

static int open_kinds(void **state)
{
    kinds = vd_kinds_new_builtin();
    set = vd_kinds_snapshot(kinds);
    return arena_setup(state);
}

static int close_kinds(void **state)
{
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
    return arena_teardown(state);
}

static const struct vd_kind *config_maps(void)
{
    return vd_kind_set_stored(set, VD_SLICE("configmaps"));
}

/* The record travels as bytes, wherever it stands among the members, whoever wrote it. */
static void a_stored_body_is_parsed_without_its_record(void **state)
{
    static const struct {
        const char *body, *document, *managed;
    } cases[] = {
        {OBJECT(""), OBJECT(""), ""},
        {OBJECT(",`managedFields`:[" ENTRY("m", "{}") "]"), OBJECT(""), "[" ENTRY("m", "{}") "]"},
        {"{`metadata`:{`managedFields`:[],`name`:`c`},`data`:{`a`:`1`}}", OBJECT(""), "[]"},
        {"{`metadata`:{`managedFields`:[]},`data`:{}}", "{`metadata`:{},`data`:{}}", "[]"},
        {"{`metadata`:{`managedFields` : [1],`name`:`c`},`data`:{`a`:`1`}}", OBJECT(""), "[1]"},
    };
    struct vd_arena *a = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *document = NULL;
        struct vd_slice managed;
        struct vd_error error;
        assert_ok(
            vd_body_parse(a, vd_slice_of(backtick(a, cases[i].body)), &document, &managed, &error),
            &error);
        assert_json(document, backtick(a, cases[i].document));
        assert_slice(managed, backtick(a, cases[i].managed));
        vd_managed_put_back(a, document, managed);
        struct vd_buf text = {0};
        vd_json_write(&text, document);
        struct vd_json *again = NULL;
        struct vd_slice same;
        assert_ok(vd_body_parse(a, vd_buf_slice(&text), &again, &same, &error), &error);
        assert_slice(same, backtick(a, cases[i].managed));
        vd_buf_release(&text);
    }
}

static void a_write_is_tracked_where_there_is_a_record(void **state)
{
#define RECORD "[" ENTRY("m", "{`f:data`:{`.`:{},`f:a`:{}}}") "]"
    static const struct {
        const char *old, *object, *stored, *given;
        bool needs_manager, differs;
        const char *managed;
    } cases[] = {
        /* a new object, whatever the client has sent */
        {NULL, OBJECT(""), "", "[" ENTRY("x", "{}") "]", true, true,
         "[" ENTRY("u", "{`f:data`:{`.`:{},`f:a`:{}}}") "]"},
        {NULL, "{`metadata`:{`name`:`c`}}", "", NULL, false, false, ""},
        /* nothing has changed */
        {OBJECT(""), OBJECT(""), RECORD, NULL, false, false, RECORD},
        {OBJECT(""), OBJECT(""), RECORD, RECORD, false, false, RECORD},
        /* one has become another's */
        {OBJECT(""), "{`metadata`:{`name`:`c`},`data`:{`a`:`2`}}", RECORD, NULL, true, true,
         "[" ENTRY("m", "{`f:data`:{}}") "," ENTRY("u", "{`f:data`:{`f:a`:{}}}") "]"},
        /* none is begun */
        {OBJECT(""), "{`metadata`:{`name`:`c`},`data`:{`a`:`2`}}", "", NULL, false, true, ""},
        /* the client wants it wiped */
        {OBJECT(""), OBJECT(""), RECORD, "[]", false, false, ""},
    };
    struct vd_arena *a = *state;
    struct vd_managed_who who = {
        .manager = VD_SLICE("u"), .api_version = VD_SLICE("v1"), .time = VD_SLICE(T1)};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_field_tracking t;
        struct vd_slice managed = vd_slice_of(backtick(a, cases[i].stored));
        vd_field_tracking_begin(&t, a, config_maps(),
                                cases[i].old ? json_of(a, backtick(a, cases[i].old)) : NULL,
                                json_of(a, backtick(a, cases[i].object)), managed,
                                cases[i].given ? json_of(a, backtick(a, cases[i].given)) : NULL);
        assert_int_equal(vd_field_tracking_needs_manager(&t), cases[i].needs_manager);
        if (cases[i].needs_manager)
            vd_managed_update(&t.record, &who, &t.changes);
        assert_int_equal(vd_field_tracking_end(&t, &managed), cases[i].differs);
        assert_slice(managed, backtick(a, cases[i].managed));
    }
}

static void the_server_tracks_what_it_writes(void **state)
{
    struct vd_arena *a = *state;
    struct vd_json *object = json_of(a, backtick(a, OBJECT("")));
    struct vd_buf text = {0};
    vd_field_tracking_server(a, config_maps(), NULL, object, 5000);
    vd_json_write(&text, object);
    assert_string_equal(vd_buf_text(&text),
                        backtick(a, OBJECT(",`resourceVersion`:``,`managedFields`:[" ENTRY(
                                        VD_MANAGER_SERVER, "{`f:data`:{`.`:{},`f:a`:{}}}") "]")));
    vd_buf_release(&text);
}

#define kinds_test(f) cmocka_unit_test_setup_teardown(f, open_kinds, close_kinds)

int main(void)
{
    const struct CMUnitTest tests[] = {
        kinds_test(a_stored_body_is_parsed_without_its_record),
        kinds_test(a_write_is_tracked_where_there_is_a_record),
        kinds_test(the_server_tracks_what_it_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
