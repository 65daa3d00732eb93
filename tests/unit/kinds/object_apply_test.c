/* src/kinds/object_apply.c: managers that apply and update one object in turn. */
#include "kinds/object_apply.h"

#include "apply_schema.h"
#include "backtick.h"
#include "json_check.h"
#include "json/compare.h"

struct world {
    struct vd_arena arena;
    struct vd_schema *schema;
    struct vd_json *object; /* NULL: none yet */
    struct vd_slice managed;
    struct vd_slice time, conflict;
    struct vd_slice subresource;
};

static int setup(void **state)
{
    struct world *w = vd_calloc(1, sizeof *w);
    w->schema = apply_schema();
    w->managed = VD_SLICE("");
    w->time = VD_SLICE("2026-11-15T00:00:00Z");
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    vd_schema_unref(w->schema);
    vd_arena_release(&w->arena);
    free(w);
    return 0;
}

static struct vd_managed_who who_of(struct world *w, const char *manager)
{
    return (struct vd_managed_who){vd_slice_of(manager), VD_SLICE("v1"), w->subresource, w->time};
}

static void keep(struct world *w, const struct vd_managed *m)
{
    struct vd_buf out = {0};
    vd_managed_write(&out, m);
    w->managed = vd_arena_copy(&w->arena, vd_buf_slice(&out));
    vd_buf_release(&out);
}

static bool apply(struct world *w, const char *manager, const char *config, bool force)
{
    struct vd_managed m;
    vd_managed_read(&m, &w->arena, w->managed);
    struct vd_apply apply = {
        .root = vd_schema_root(w->schema),
        .live = w->object,
        .config = json_of(&w->arena, backtick(&w->arena, config)),
        .who = who_of(w, manager),
        .force = force,
        .managed = &m,
    };
    if (vd_object_apply(&w->arena, &apply) == VD_ERR_CONFLICT) {
        w->conflict = vd_apply_conflict_text(&w->arena, &apply);
        return false;
    }
    w->object = apply.object;
    keep(w, &m);
    return true;
}

static void update(struct world *w, const char *manager, const char *object)
{
    struct vd_managed m;
    struct vd_managed_who who = who_of(w, manager);
    struct vd_json *new = json_of(&w->arena, backtick(&w->arena, object));
    struct vd_json *old = w->object ? w->object : vd_json_object(&w->arena);
    struct vd_field_changes c = vd_object_compare(&w->arena, vd_schema_root(w->schema), old, new);
    vd_managed_read(&m, &w->arena, w->managed);
    vd_managed_update(&m, &who, &c);
    w->object = new;
    keep(w, &m);
}

static void assert_object(struct world *w, const char *want)
{
    struct vd_json *expected = json_of(&w->arena, backtick(&w->arena, want));
    struct vd_buf got = {0};
    vd_json_write(&got, w->object);
    if (!vd_json_eq(w->object, expected))
        fail_msg("got %s\nwant %s", vd_buf_text(&got), want);
    vd_buf_release(&got);
}

/* "m1 Apply {...}\nm2 Update {...}" with backticks. */
static void assert_managers(struct world *w, const char *want)
{
    struct vd_managed m;
    struct vd_buf got = {0};
    vd_managed_read(&m, &w->arena, w->managed);
    for (size_t i = 0; i < m.n; i++) {
        vd_buf_addf(&got, "%s%.*s%s%.*s %s ", i ? "\n" : "", VD_FMT(m.p[i].manager),
                    m.p[i].subresource.n ? "/" : "", VD_FMT(m.p[i].subresource),
                    m.p[i].applied ? "Apply" : "Update");
        vd_field_set_write(&got, vd_managed_fields_of(&m, &m.p[i]));
    }
    if (strcmp(vd_buf_text(&got), backtick(&w->arena, want)) != 0)
        fail_msg("got\n%s\nwant\n%s", vd_buf_text(&got), want);
    vd_buf_release(&got);
}

static void assert_conflict(struct world *w, const char *manager, const char *config,
                            const char *want)
{
    struct vd_slice before = w->managed;
    struct vd_json *object = w->object;
    assert_false(apply(w, manager, config, false));
    assert_string_equal(w->conflict.p, backtick(&w->arena, want));
    assert_ptr_equal(w->object, object);
    assert_true(vd_slice_eq(w->managed, before));
}

static void creates_and_takes_out_what_is_no_longer_applied(void **state)
{
    struct world *w = *state;
    assert_true(apply(w, "m", "{`spec`:{`a`:1,`map`:{`x`:1,`y`:2}}}", false));
    assert_object(w, "{`spec`:{`a`:1,`map`:{`x`:1,`y`:2}}}");
    assert_managers(w, "m Apply {`f:spec`:{`f:a`:{},`f:map`:{`f:x`:{},`f:y`:{}}}}");
    assert_true(apply(w, "m", "{`spec`:{`map`:{`y`:3}}}", false));
    assert_object(w, "{`spec`:{`map`:{`y`:3}}}");
    assert_managers(w, "m Apply {`f:spec`:{`f:map`:{`f:y`:{}}}}");
    /* A described object goes with the last of it. */
    assert_true(apply(w, "m", "{`any`:1}", false));
    assert_object(w, "{`any`:1}");
    assert_true(apply(w, "m", "{}", false));
    assert_object(w, "{}");
    assert_managers(w, "");
}

/* What only the server sets in metadata stays, whoever owns what else is in it. */
static void never_takes_out_identity(void **state)
{
    struct world *w = *state;
    assert_true(apply(w, "m", "{`metadata`:{`name`:`n`,`labels`:{`l`:`1`}}}", false));
    vd_json_set(&w->arena, vd_json_get(w->object, VD_SLICE("metadata")), VD_SLICE("uid"),
                vd_json_string(&w->arena, VD_SLICE("u")));
    assert_true(apply(w, "m", "{`metadata`:{`name`:`n`}}", false));
    assert_object(w, "{`metadata`:{`name`:`n`,`uid`:`u`}}");
    assert_managers(w, "");
}

static void refuses_conflicts_and_can_be_forced(void **state)
{
    struct world *w = *state;
    assert_true(apply(w, "m1", "{`spec`:{`a`:1,`b`:1}}", false));
    assert_conflict(w, "m2", "{`spec`:{`a`:2}}",
                    "Apply failed with 1 conflict: conflict with `m1`: .spec.a");
    assert_conflict(w, "m2", "{`spec`:{`a`:2,`b`:2,`c`:`new`}}",
                    "Apply failed with 2 conflicts: conflicts with `m1`:\n- .spec.a\n- .spec.b");
    update(w, "u", "{`spec`:{`a`:1,`b`:3}}");
    assert_conflict(w, "m2", "{`spec`:{`a`:2,`b`:2}}",
                    "Apply failed with 2 conflicts: conflicts with `m1`:\n- .spec.a\n"
                    "conflicts with `u` using v1:\n- .spec.b");
    w->subresource = VD_SLICE("status");
    update(w, "u", "{`spec`:{`a`:1,`b`:4}}");
    w->subresource = VD_SLICE("");
    assert_conflict(w, "m2", "{`spec`:{`b`:2}}",
                    "Apply failed with 1 conflict: conflict with `u` with subresource `status` "
                    "using v1: .spec.b");
    assert_true(apply(w, "m2", "{`spec`:{`a`:2,`b`:2}}", true));
    assert_object(w, "{`spec`:{`a`:2,`b`:2}}");
    assert_managers(w, "m2 Apply {`f:spec`:{`f:a`:{},`f:b`:{}}}");
}

static void shares_what_is_equal(void **state)
{
    struct world *w = *state;
    assert_true(apply(w, "m1", "{`spec`:{`a`:1,`b`:1}}", false));
    assert_true(apply(w, "m2", "{`spec`:{`a`:1}}", false));
    assert_managers(w, "m1 Apply {`f:spec`:{`f:a`:{},`f:b`:{}}}\nm2 Apply {`f:spec`:{`f:a`:{}}}");
    /* Giving up a shared field leaves it to the other. */
    assert_true(apply(w, "m1", "{`spec`:{`b`:1}}", false));
    assert_object(w, "{`spec`:{`a`:1,`b`:1}}");
    assert_true(apply(w, "m2", "{}", false));
    assert_object(w, "{`spec`:{`b`:1}}");
    assert_managers(w, "m1 Apply {`f:spec`:{`f:b`:{}}}");
}

static void merges_lists_by_item(void **state)
{
    struct world *w = *state;
    assert_true(
        apply(w, "m1", "{`spec`:{`set`:[`a`,`b`],`ports`:[{`port`:1,`name`:`x`}]}}", false));
    assert_true(apply(w, "m2",
                      "{`spec`:{`set`:[`b`,`c`],`ports`:[{`port`:1,`extra`:`e`},"
                      "{`port`:2}]}}",
                      false));
    assert_object(w, "{`spec`:{`set`:[`a`,`b`,`c`],`ports`:[{`port`:1,`name`:`x`,`extra`:`e`},"
                     "{`port`:2}]}}");
    assert_conflict(w, "m2", "{`spec`:{`ports`:[{`port`:1,`name`:`y`}]}}",
                    "Apply failed with 1 conflict: conflict with `m1`: "
                    ".spec.ports[port=1,protocol=`TCP`].name");
    /* The item stays while m1 has it; what m2 had in it goes. */
    assert_true(apply(w, "m2", "{`spec`:{`set`:[`c`]}}", false));
    assert_object(w, "{`spec`:{`set`:[`a`,`b`,`c`],`ports`:[{`port`:1,`name`:`x`}]}}");
    assert_true(apply(w, "m1", "{`spec`:{`set`:[`a`]}}", false));
    assert_object(w, "{`spec`:{`set`:[`a`,`c`]}}");
    assert_managers(w, "m1 Apply {`f:spec`:{`f:set`:{`v:\\`a\\``:{}}}}\n"
                       "m2 Apply {`f:spec`:{`f:set`:{`v:\\`c\\``:{}}}}");
}

static void updates_take_what_they_change(void **state)
{
    struct world *w = *state;
    assert_true(apply(w, "m1", "{`spec`:{`a`:1,`map`:{`x`:1}}}", false));
    w->time = VD_SLICE("2026-11-15T00:00:05Z");
    update(w, "u", "{`spec`:{`a`:2,`map`:{`x`:1,`y`:1}}}");
    assert_managers(w, "m1 Apply {`f:spec`:{`f:map`:{`f:x`:{}}}}\n"
                       "u Update {`f:spec`:{`f:a`:{},`f:map`:{`f:y`:{}}}}");
    assert_conflict(w, "m1", "{`spec`:{`a`:1,`map`:{`x`:1}}}",
                    "Apply failed with 1 conflict: conflict with `u` using v1: .spec.a");
    /* Agreeing with it is no conflict. */
    assert_true(apply(w, "m1", "{`spec`:{`a`:2}}", false));
    assert_object(w, "{`spec`:{`a`:2,`map`:{`y`:1}}}");
    /* What an update takes out is nobody's. */
    update(w, "u", "{`spec`:{`map`:{`y`:1}}}");
    assert_managers(w, "u Update {`f:spec`:{`f:map`:{`f:y`:{}}}}");
}

static void an_object_without_a_record_was_there_before(void **state)
{
    struct world *w = *state;
    w->object = json_of(&w->arena,
                        backtick(&w->arena, "{`metadata`:{`name`:`n`,`labels`:{`l`:`1`}},"
                                            "`spec`:{`a`:1,`b`:1}}"));
    assert_conflict(w, "m", "{`spec`:{`a`:2}}",
                    "Apply failed with 1 conflict: conflict with `before-first-apply` using v1: "
                    ".spec.a");
    assert_true(apply(w, "m", "{`spec`:{`a`:1}}", false));
    assert_managers(w, "m Apply {`f:spec`:{`f:a`:{}}}\n"
                       "before-first-apply Update {`f:metadata`:{`f:labels`:{`.`:{},`f:l`:{}}},"
                       "`f:spec`:{`.`:{},`f:a`:{},`f:b`:{}}}");
}

/* What client-side apply leaves behind: a = 1 and b = 1. */
#define LAST                                                                                       \
    "`metadata`:{`annotations`:{`" VD_LAST_APPLIED                                                 \
    "`:`{\\`apiVersion\\`:\\`v1\\`,\\`spec\\`:{\\`a\\`:1,\\`b\\`:1}}`}}"

/* kubectl comes from client-side apply: what it set there it may set here. */
static void kubectl_owns_what_its_annotation_says(void **state)
{
    struct world *w = *state;
    update(w, "kubectl-client-side-apply", "{" LAST ",`spec`:{`a`:1,`b`:1,`c`:`x`}}");
    assert_conflict(w, "other", "{`spec`:{`a`:2}}",
                    "Apply failed with 1 conflict: conflict with `kubectl-client-side-apply` "
                    "using v1: .spec.a");
    assert_conflict(w, "kubectl", "{`spec`:{`a`:2,`c`:`y`}}",
                    "Apply failed with 1 conflict: conflict with `kubectl-client-side-apply` "
                    "using v1: .spec.c");
    /* Somebody has changed b since. */
    update(w, "edit", "{" LAST ",`spec`:{`a`:1,`b`:5,`c`:`x`}}");
    assert_conflict(w, "kubectl", "{`spec`:{`a`:2,`b`:2}}",
                    "Apply failed with 1 conflict: conflict with `edit` using v1: .spec.b");
    assert_true(apply(w, "kubectl", "{`spec`:{`a`:2}}", false));
    assert_object(w, "{" LAST ",`spec`:{`a`:2,`b`:5,`c`:`x`}}");
}

static void nothing_new_changes_nothing(void **state)
{
    struct world *w = *state;
    const char *config = "{`spec`:{`a`:1,`ports`:[{`port`:1}]}}";
    assert_true(apply(w, "m", config, false));
    struct vd_slice before = w->managed;
    w->time = VD_SLICE("2026-11-15T01:00:00Z");
    assert_true(apply(w, "m", config, false));
    assert_true(vd_slice_eq(w->managed, before));
    /* A new value is a new time, though the fields are the same. */
    assert_true(apply(w, "m", "{`spec`:{`a`:2,`ports`:[{`port`:1}]}}", false));
    assert_non_null(strstr(w->managed.p, "01:00:00Z"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(creates_and_takes_out_what_is_no_longer_applied),
        TEST(never_takes_out_identity),
        TEST(refuses_conflicts_and_can_be_forced),
        TEST(shares_what_is_equal),
        TEST(merges_lists_by_item),
        TEST(updates_take_what_they_change),
        TEST(an_object_without_a_record_was_there_before),
        TEST(kubectl_owns_what_its_annotation_says),
        TEST(nothing_new_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
