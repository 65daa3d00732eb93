/* src/api/write.h: writes without a wire, from what is sent to what is stored, and the reasons why
 * they are refused. */
#include "write_setting.h"

#include "base/container_of.h"

#define GADGET_OF(rest) "{\"metadata\":{\"name\":\"g\"" rest "}"

static void a_new_object_is_furnished(void **state)
{
    struct vd_arena *a = *state;
    uint64_t revision = write_it(VD_WRITE_CREATE, "gadgets", "", GADGET_OF("},\"spec\":{}"),
                                 VD_WRITE_CREATED);
    struct vd_json *object = stored(a, "gadgets", "g");
    assert_true(revision > 0);
    assert_json(vd_json_get(object, VD_SLICE("spec")), "{\"size\":1}");
    assert_slice(vd_json_text(vd_json_get(object, VD_SLICE("apiVersion"))), "example.com/v1");
    assert_slice(vd_meta_namespace(object), "room");
    assert_int_equal(vd_meta_generation(object), 1);
    struct vd_json *manager = vd_json_at(vd_json_dig(object, "metadata", "managedFields", NULL), 0);
    assert_slice(vd_json_text(vd_json_get(manager, VD_SLICE("manager"))), "tester");
}

static void names_are_made(void **state)
{
    struct vd_arena *a = *state;
    struct trial t;
    prepare(&t, VD_WRITE_CREATE, "gadgets", "", "{\"metadata\":{\"generateName\":\"made-\"}}");
    perform(&t);
    expect(&t, VD_WRITE_CREATED);
    assert_true(vd_slice_starts_with(t.w.name, VD_SLICE("made-")) && t.w.name.n > 5);
    assert_non_null(stored(a, "gadgets", t.w.name.p));
    release_trial(&t);
}

static void what_is_wrong_is_listed(void **state)
{
    struct trial t;
    (void)state;
    prepare(&t, VD_WRITE_CREATE, "gadgets", "",
            GADGET_OF("},\"spec\":{\"size\":0,\"color\":\"green\"}"));
    perform(&t);
    expect_refusal(&t, VD_REFUSED_INVALID);
    assert_slice(t.w.refusal.kind, "Gadget");
    assert_slice(t.w.refusal.name, "g");
    assert_int_equal(t.w.refusal.violations_n, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct vd_violation *v = &t.w.refusal.violations[i];
        bool size = vd_slice_is(v->field, "spec.size");
        assert_slice(v->field, size ? "spec.size" : "spec.color");
        assert_slice(vd_violation_value(v), size ? "0" : "\"green\"");
        assert_true(vd_slice_starts_with(vd_violation_text(v), size ? VD_SLICE("spec.size in body")
                                                                    : VD_SLICE("supported")));
    }
    release_trial(&t);
}

static void unknown_fields_are_warned_of_or_refused(void **state)
{
    struct trial t;
    (void)state;
    prepare(&t, VD_WRITE_CREATE, "gadgets", "", GADGET_OF("},\"spec\":{\"other\":1}"));
    t.w.validation = VD_FIELDS_STRICT;
    perform(&t);
    expect_refusal(&t, VD_REFUSED_BAD_REQUEST);
    release_trial(&t);
    prepare(&t, VD_WRITE_CREATE, "gadgets", "", GADGET_OF("},\"spec\":{\"other\":1}"));
    perform(&t);
    expect(&t, VD_WRITE_CREATED);
    assert_int_equal(t.w.warnings.n, 1);
    assert_slice(t.w.warnings.p[0], "unknown field \"spec.other\"");
    release_trial(&t);
}

/* Each is refused for a reason that a face can tell from the others. */
static void refusals_have_reasons(void **state)
{
    static const struct {
        enum vd_write_verb verb;
        const char *name, *document;
        enum vd_refusal_reason reason;
    } cases[] = {
        {VD_WRITE_CREATE, "", GADGET_OF("}"), VD_REFUSED_EXISTS},
        {VD_WRITE_CREATE, "", GADGET_OF(",\"resourceVersion\":\"1\"}"), VD_REFUSED_BAD_REQUEST},
        {VD_WRITE_CREATE, "", GADGET_OF(",\"namespace\":\"hall\"}"), VD_REFUSED_NAMESPACE_DIFFERS},
        {VD_WRITE_UPDATE, "h", GADGET_OF("}"), VD_REFUSED_NOT_FOUND},
        {VD_WRITE_UPDATE, "g", "{\"metadata\":{\"name\":\"h\"}}", VD_REFUSED_NAME_DIFFERS},
        {VD_WRITE_UPDATE, "g", "{\"apiVersion\":\"v7\",\"metadata\":{\"name\":\"g\"}}",
         VD_REFUSED_API_VERSION_DIFFERS},
        {VD_WRITE_UPDATE, "g", GADGET_OF("}"), VD_REFUSED_VERSION_REQUIRED},
        {VD_WRITE_UPDATE, "g", GADGET_OF(",\"resourceVersion\":\"x\"}"), VD_REFUSED_BAD_REQUEST},
        {VD_WRITE_UPDATE, "g", GADGET_OF(",\"uid\":\"x\"}"), VD_REFUSED_UID_DIFFERS},
        {VD_WRITE_APPLY, "h",
         "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Gadget\",\"metadata\":{\"uid\":\"x\"}}",
         VD_REFUSED_NO_OBJECT_OF_UID},
        {VD_WRITE_DELETE, "h", NULL, VD_REFUSED_NOT_FOUND},
    };
    (void)state;
    write_it(VD_WRITE_CREATE, "gadgets", "", GADGET_OF("}"), VD_WRITE_CREATED);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trial t;
        prepare(&t, cases[i].verb, "gadgets", cases[i].name, cases[i].document);
        perform(&t);
        if (t.w.result != VD_WRITE_REFUSED || t.w.refusal.reason != cases[i].reason)
            fail_msg("case %zu: %s, reason %d and not %d: %.*s", i, result_name(t.w.result),
                     (int)t.w.refusal.reason, (int)cases[i].reason, VD_FMT(t.w.refusal.text));
        release_trial(&t);
    }
}

static void a_namespace_must_be_there_and_stay(void **state)
{
    struct trial t;
    (void)state;
    prepare(&t, VD_WRITE_CREATE, "gadgets", "", GADGET_OF("}"));
    t.w.namespace = VD_SLICE("hall");
    perform(&t);
    expect_refusal(&t, VD_REFUSED_NAMESPACE_NOT_FOUND);
    assert_slice(t.w.refusal.name, "hall");
    release_trial(&t);
    write_it(VD_WRITE_DELETE, "namespaces", "room", NULL, VD_WRITE_MARKED);
    prepare(&t, VD_WRITE_CREATE, "gadgets", "", GADGET_OF("}"));
    perform(&t);
    expect_refusal(&t, VD_REFUSED_NAMESPACE_TERMINATING);
    release_trial(&t);
}

/* ---- updates ---- */

static void update_at(struct trial *t, uint64_t revision, const char *spec)
{
    char text[256];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"g\",\"resourceVersion\":\"%llu\"},\"spec\":%s}",
             (unsigned long long)revision, spec);
    prepare(t, VD_WRITE_UPDATE, "gadgets", "g", text);
    perform(t);
}

static void an_update_means_its_version(void **state)
{
    struct vd_arena *a = *state;
    struct trial t;
    uint64_t first = write_it(VD_WRITE_CREATE, "gadgets", "", GADGET_OF("}"), VD_WRITE_CREATED);
    update_at(&t, first, "{\"size\":2}");
    expect(&t, VD_WRITE_UPDATED);
    uint64_t second = t.w.revision;
    release_trial(&t);
    assert_true(second > first);
    assert_int_equal(vd_meta_generation(stored(a, "gadgets", "g")), 2);
    update_at(&t, first, "{\"size\":3}");
    expect_refusal(&t, VD_REFUSED_CONFLICT);
    assert_int_equal(t.w.refusal.current, second);
    release_trial(&t);
    update_at(&t, second, "{\"size\":2}");
    expect(&t, VD_WRITE_UNCHANGED);
    assert_int_equal(t.w.revision, second);
    release_trial(&t);
}

/* Of two that were read at one version, the slower one is made again. */
static void patches_are_made_again(void **state)
{
    enum { PATCHES = 8 };
    static const struct vd_write_ops ops = {.make = count_up, .done = on_written};
    struct vd_arena *a = *state;
    struct trial t[PATCHES];
    write_it(VD_WRITE_CREATE, "gadgets", "", GADGET_OF("},\"spec\":{}"), VD_WRITE_CREATED);
    for (size_t i = 0; i < PATCHES; i++) {
        prepare(&t[i], VD_WRITE_PATCH, "gadgets", "g", NULL);
        t[i].w.ops = &ops;
        t[i].task.run = run_trial;
    }
    for (size_t i = 0; i < PATCHES; i++)
        vd_loop_post(&setting.loop, &t[i].task);
    for (size_t i = 0; i < PATCHES; i++)
        wait_for_done();
    for (size_t i = 0; i < PATCHES; i++) {
        expect(&t[i], VD_WRITE_UPDATED);
        release_trial(&t[i]);
    }
    assert_json(vd_json_get(stored(a, "gadgets", "g"), VD_SLICE("spec")), "{\"size\":9}");
}

static void status_is_written_alone(void **state)
{
    struct vd_arena *a = *state;
    struct trial t;
    write_it(VD_WRITE_CREATE, "gadgets", "",
             GADGET_OF("},\"spec\":{\"size\":4},\"status\":{\"ready\":true}"), VD_WRITE_CREATED);
    assert_null(vd_json_get(stored(a, "gadgets", "g"), VD_SLICE("status")));
    struct vd_slice version = vd_meta_resource_version(stored(a, "gadgets", "g"));
    char text[256];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"g\",\"resourceVersion\":\"%.*s\"},\"spec\":{\"size\":5},"
             "\"status\":{\"ready\":true}}",
             VD_FMT(version));
    prepare(&t, VD_WRITE_UPDATE, "gadgets", "g", text);
    t.w.part = VD_PART_STATUS;
    perform(&t);
    expect(&t, VD_WRITE_UPDATED);
    release_trial(&t);
    struct vd_json *object = stored(a, "gadgets", "g");
    assert_json(vd_json_get(object, VD_SLICE("spec")), "{\"size\":4}");
    assert_json(vd_json_get(object, VD_SLICE("status")), "{\"ready\":true}");
    assert_int_equal(vd_meta_generation(object), 1);
}

/* ---- apply ---- */

#define CONFIG(rest)                                                                               \
    "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Gadget\",\"metadata\":{\"name\":\"g\"}," rest "}"

static void apply_by(struct trial *t, const char *manager, bool force, const char *config)
{
    prepare(t, VD_WRITE_APPLY, "gadgets", "g", config);
    t->w.manager = vd_slice_of(manager);
    t->w.force = force;
    perform(t);
}

static void others_fields_are_not_applied_over(void **state)
{
    struct vd_arena *a = *state;
    struct trial t;
    apply_by(&t, "one", false, CONFIG("\"spec\":{\"size\":2}"));
    expect(&t, VD_WRITE_CREATED);
    release_trial(&t);
    apply_by(&t, "two", false, CONFIG("\"spec\":{\"size\":3}"));
    expect_refusal(&t, VD_REFUSED_APPLY_CONFLICT);
    assert_int_equal(t.w.refusal.conflicts_n, 1);
    assert_slice(t.w.refusal.conflicts[0].path, ".spec.size");
    release_trial(&t);
    apply_by(&t, "two", true, CONFIG("\"spec\":{\"size\":3}"));
    expect(&t, VD_WRITE_UPDATED);
    release_trial(&t);
    assert_json(vd_json_get(stored(a, "gadgets", "g"), VD_SLICE("spec")), "{\"size\":3}");
    apply_by(&t, "two", true, CONFIG("\"spec\":{\"size\":3}"));
    expect(&t, VD_WRITE_UNCHANGED);
    release_trial(&t);
}

static void rights_can_be_checked_here(void **state)
{
    struct trial t;
    (void)state;
    struct vd_rbac *rules = rules_for_all("\"patch\"");
    vd_gatekeeper_fix(setting.env.gatekeeper, rules);
    vd_rbac_unref(rules);
    prepare(&t, VD_WRITE_CREATE, "gadgets", "", GADGET_OF("}"));
    t.w.checks_rights = true;
    perform(&t);
    expect_refusal(&t, VD_REFUSED_NOT_ALLOWED);
    assert_slice(t.w.refusal.access.verb, "create");
    release_trial(&t);
    apply_by(&t, "one", false, CONFIG("\"spec\":{}")); /* which creates */
    expect_refusal(&t, VD_REFUSED_NOT_ALLOWED);
    assert_slice(t.w.refusal.access.verb, "create");
    release_trial(&t);
}

/* ---- deletion ---- */

static void finalizers_keep_an_object(void **state)
{
    struct vd_arena *a = *state;
    struct trial t;
    write_it(VD_WRITE_CREATE, "gadgets", "", GADGET_OF(",\"finalizers\":[\"example.com/hold\"]}"),
             VD_WRITE_CREATED);
    write_it(VD_WRITE_DELETE, "gadgets", "g", NULL, VD_WRITE_MARKED);
    struct vd_json *object = stored(a, "gadgets", "g");
    assert_true(vd_meta_is_deleting(object));
    prepare(&t, VD_WRITE_CREATE, "gadgets", "", GADGET_OF("}"));
    perform(&t);
    expect_refusal(&t, VD_REFUSED_EXISTS);
    assert_true(t.w.refusal.deleting);
    release_trial(&t);
    char text[256];
    snprintf(text, sizeof text, "{\"metadata\":{\"name\":\"g\",\"resourceVersion\":\"%.*s\"}}",
             VD_FMT(vd_meta_resource_version(object)));
    write_it(VD_WRITE_UPDATE, "gadgets", "g", text, VD_WRITE_DELETED);
    assert_null(stored(a, "gadgets", "g"));
}

static void deletions_have_preconditions(void **state)
{
    struct trial t;
    (void)state;
    write_it(VD_WRITE_CREATE, "gadgets", "", GADGET_OF("}"), VD_WRITE_CREATED);
    prepare(&t, VD_WRITE_DELETE, "gadgets", "g", NULL);
    t.w.preconditions.uid = VD_SLICE("another");
    perform(&t);
    expect_refusal(&t, VD_REFUSED_UID_PRECONDITION);
    assert_slice(t.w.refusal.wanted, "another");
    release_trial(&t);
    prepare(&t, VD_WRITE_DELETE, "gadgets", "g", NULL);
    t.w.preconditions.version = VD_SLICE("");
    perform(&t);
    expect_refusal(&t, VD_REFUSED_VERSION_PRECONDITION);
    release_trial(&t);
    write_it(VD_WRITE_DELETE, "gadgets", "g", NULL, VD_WRITE_DELETED);
}

/* ---- trials, and those who leave ---- */

static void a_dry_run_leaves_nothing(void **state)
{
    static const struct {
        enum vd_write_verb verb;
        const char *name, *document;
        enum vd_write_result result;
    } cases[] = {
        {VD_WRITE_CREATE, "", "{\"metadata\":{\"name\":\"other\"}}", VD_WRITE_CREATED},
        {VD_WRITE_CREATE, "", GADGET_OF("}"), VD_WRITE_REFUSED},
        {VD_WRITE_DELETE, "g", NULL, VD_WRITE_DELETED},
    };
    struct vd_arena *a = *state;
    write_it(VD_WRITE_CREATE, "gadgets", "", GADGET_OF("}"), VD_WRITE_CREATED);
    uint64_t revision = vd_store_revision(setting.store);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trial t;
        prepare(&t, cases[i].verb, "gadgets", cases[i].name, cases[i].document);
        t.w.dry_run = true;
        perform(&t);
        expect(&t, cases[i].result);
        release_trial(&t);
    }
    assert_int_equal(vd_store_revision(setting.store), revision);
    assert_non_null(stored(a, "gadgets", "g"));
    assert_null(stored(a, "gadgets", "other"));
}

static void start_and_cancel(struct vd_task *task)
{
    struct trial *t = VD_CONTAINER_OF(task, struct trial, task);
    vd_write_start(&t->w);
    vd_write_cancel(&t->w);
}

static void what_was_proposed_stands(void **state)
{
    struct vd_arena *a = *state;
    struct trial t;
    prepare(&t, VD_WRITE_CREATE, "gadgets", "", GADGET_OF("}"));
    t.task.run = start_and_cancel;
    vd_loop_post(&setting.loop, &t.task);
    wait_for_done();
    expect(&t, VD_WRITE_CANCELLED);
    assert_non_null(stored(a, "gadgets", "g"));
    release_trial(&t);
}

/* A worker makes a large one, and calls what the caller needs to keep before. */
static size_t left_n;

static void on_detach(struct vd_write *w)
{
    (void)w;
    left_n++;
}

static void large_writes_leave_the_loop(void **state)
{
    static const struct vd_write_ops ops = {.detach = on_detach, .done = on_written};
    struct vd_arena *a = *state;
    struct trial t;
    left_n = 0;
    prepare(&t, VD_WRITE_CREATE, "gadgets", "", GADGET_OF("},\"spec\":{\"size\":7}"));
    t.w.ops = &ops;
    t.w.len = 4 << 20;
    perform(&t);
    expect(&t, VD_WRITE_CREATED);
    assert_int_equal(left_n, 1);
    release_trial(&t);
    assert_json(vd_json_get(stored(a, "gadgets", "g"), VD_SLICE("spec")), "{\"size\":7}");
    prepare(&t, VD_WRITE_CREATE, "gadgets", "", GADGET_OF("},\"spec\":{\"size\":0}"));
    t.w.ops = &ops;
    t.w.len = 4 << 20;
    t.task.run = start_and_cancel;
    vd_loop_post(&setting.loop, &t.task);
    wait_for_done();
    expect(&t, VD_WRITE_CANCELLED);
    release_trial(&t);
}

static void what_git_owns_is_named(void **state)
{
    struct trial t;
    (void)state;
    prepare(&t, VD_WRITE_CREATE, "configmaps", "",
            "{\"metadata\":{\"name\":\"m\",\"annotations\":{\"vedette.dev/git-repository\":\"a/b\","
            "\"vedette.dev/git-path\":\"m.yaml\"}}}");
    perform(&t);
    expect_refusal(&t, VD_REFUSED_OWNED_BY_GIT);
    assert_slice(t.w.refusal.claim.repository, "a/b");
    assert_slice(t.w.refusal.claim.path, "m.yaml");
    release_trial(&t);
}

/* Two writes that are started in one turn. */
struct pair {
    struct trial first, second;
    struct vd_task task;
};

static void start_pair(struct vd_task *task)
{
    struct pair *p = VD_CONTAINER_OF(task, struct pair, task);
    vd_write_start(&p->first.w);
    vd_write_start(&p->second.w);
}

/* Its first attempt would have finished the deletion, as another write does; the next one creates.
 */
static void an_apply_that_lost_to_a_deletion_creates(void **state)
{
    struct pair p = {.task = {.run = start_pair}};
    struct trial t;
    char text[128];
    prepare(&t, VD_WRITE_APPLY, "gadgets", "g",
            "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Gadget\",\"metadata\":{\"name\":\"g\","
            "\"finalizers\":[\"example.com/hold\"]}}");
    perform(&t);
    assert_int_equal(t.w.result, VD_WRITE_CREATED);
    release_trial(&t);
    write_it(VD_WRITE_DELETE, "gadgets", "g", NULL, VD_WRITE_MARKED);
    snprintf(text, sizeof text, "{\"metadata\":{\"name\":\"g\",\"resourceVersion\":\"%.*s\"}}",
             VD_FMT(vd_meta_resource_version(stored(*state, "gadgets", "g"))));
    prepare(&p.first, VD_WRITE_UPDATE, "gadgets", "g", text);
    prepare(&p.second, VD_WRITE_APPLY, "gadgets", "g",
            "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Gadget\",\"metadata\":{\"name\":\"g\"},"
            "\"spec\":{\"size\":5}}");
    vd_loop_post(&setting.loop, &p.task);
    wait_for_done();
    wait_for_done();
    assert_int_equal(p.first.w.result, VD_WRITE_DELETED);
    assert_int_equal(p.second.w.result, VD_WRITE_CREATED);
    release_trial(&p.first);
    release_trial(&p.second);
}

static void a_dry_run_tells_that_nothing_changes(void **state)
{
    struct trial t;
    (void)state;
    write_it(VD_WRITE_CREATE, "configmaps", "", "{\"metadata\":{\"name\":\"c\"}}",
             VD_WRITE_CREATED);
    prepare(&t, VD_WRITE_UPDATE, "configmaps", "c", "{\"metadata\":{\"name\":\"c\"}}");
    t.w.dry_run = true;
    perform(&t);
    assert_int_equal(t.w.result, VD_WRITE_UNCHANGED);
    release_trial(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        write_test(a_new_object_is_furnished),
        write_test(names_are_made),
        write_test(what_is_wrong_is_listed),
        write_test(unknown_fields_are_warned_of_or_refused),
        write_test(refusals_have_reasons),
        write_test(a_namespace_must_be_there_and_stay),
        write_test(an_update_means_its_version),
        write_test(patches_are_made_again),
        write_test(status_is_written_alone),
        write_test(others_fields_are_not_applied_over),
        write_test(rights_can_be_checked_here),
        write_test(finalizers_keep_an_object),
        write_test(deletions_have_preconditions),
        write_test(a_dry_run_leaves_nothing),
        write_test(what_was_proposed_stands),
        write_test(large_writes_leave_the_loop),
        write_test(what_git_owns_is_named),
        write_test(an_apply_that_lost_to_a_deletion_creates),
        write_test(a_dry_run_tells_that_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
