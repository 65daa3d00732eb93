/* src/store/proposal.h: conditions on objects that a proposal does not change. */
#include "group_check.h"

/* A check changes nothing itself; if it does not hold, its proposal is refused. */
static void a_check_is_a_condition_on_another_object(void **state)
{
    struct setting *t = *state;
    uint64_t revision = put(t->store, "things", "ns", "home", "open");
    static const struct {
        const char *home; /* what the proposal before makes of it; NULL: nothing */
        bool absent;      /* the check is that there is no such object */
        int code;
    } cases[] = {
        {NULL, true, VD_ERR_EXISTS},
        {NULL, false, VD_OK},
        {"open", false, VD_OK}, /* no change, no new revision */
        {"shut", false, VD_ERR_CONFLICT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct probe *probes[2] = {probe_new(), probe_new()};
        char name[16];
        snprintf(name, sizeof name, "x%zu", i);
        probe_wish(probes[0], "home", VD_WHEN_ANY, cases[i].home ? cases[i].home : "open");
        struct vd_wish *check = probe_wish(
            probes[1], "home", cases[i].absent ? VD_WHEN_ABSENT : VD_WHEN_REVISION, NULL);
        check->action = VD_CHECK;
        check->revision = revision;
        probe_wish(probes[1], name, VD_WHEN_ABSENT, "v");
        run_as_one_group(t, probes, 2);
        assert_int_equal(probes[1]->outcome.code, cases[i].code);
        assert_int_equal(probes[1]->outcome.changed, cases[i].code == VD_OK);
        assert_now(t, name, cases[i].code ? "not-found" : "v");
        probe_free(probes[0]);
        probe_free(probes[1]);
    }
    /* Checks alone say whether they hold; one for a name that never was leaves no trace. */
    struct vd_store_stats before, after;
    struct vd_outcome outcome;
    struct vd_wish check = {
        .action = VD_CHECK, .when = VD_WHEN_ABSENT, .key = test_key("things", "ns", "never")};
    vd_store_stats(t->store, &before);
    assert_int_equal(vd_store_commit(t->store, &check, 1, &outcome), VD_OK);
    assert_false(outcome.changed);
    check.when = VD_WHEN_PRESENT;
    assert_int_equal(vd_store_commit(t->store, &check, 1, &outcome), VD_ERR_NOT_FOUND);
    vd_store_stats(t->store, &after);
    assert_int_equal(after.revision, before.revision);
    assert_int_equal(after.objects, before.objects);
    assert_now(t, "home", "shut");
}

/* The code of a proposal that creates an object if no thing has changed since the revision, behind
 * another one of the same group that makes `home` of the first thing (NULL: there is none). */
static int code_behind(struct setting *t, const char *resource, uint64_t revision, const char *home)
{
    struct probe *probes[2] = {probe_new(), probe_new()};
    struct vd_wish *check = probe_wish(probes[1], "x", VD_WHEN_RESOURCE_UNCHANGED, NULL);
    check->action = VD_CHECK;
    check->revision = revision;
    check->key = (struct vd_key){.resource = vd_slice_of(resource)};
    probe_wish(probes[1], "made", VD_WHEN_ABSENT, "v");
    probe_wish(probes[0], home ? "home" : "none", home ? VD_WHEN_ANY : VD_WHEN_PRESENT,
               home ? home : "v");
    run_as_one_group(t, probes, 2);
    int code = probes[1]->outcome.code;
    assert_now(t, "made", code ? "not-found" : "v");
    if (!code)
        del(t->store, "things", "ns", "made");
    probe_free(probes[0]);
    probe_free(probes[1]);
    return code;
}

/* The condition sees every change of every object of a resource, and no others. */
static void a_check_is_a_condition_on_a_resource(void **state)
{
    struct setting *t = *state;
    uint64_t first = put(t->store, "things", "ns", "home", "open");
    uint64_t second = put(t->store, "others", "ns", "a", "v");
    assert_int_equal(code_behind(t, "never", 0, NULL), VD_OK);
    assert_int_equal(code_behind(t, "others", second, "open"), VD_OK);
    assert_int_equal(code_behind(t, "others", first, NULL), VD_ERR_CONFLICT);
    assert_int_equal(code_behind(t, "things", first, NULL), VD_ERR_CONFLICT); /* "made" is gone */
    uint64_t now = vd_store_revision(t->store);
    assert_int_equal(code_behind(t, "things", now, "shut"), VD_ERR_CONFLICT);
    now = vd_store_revision(t->store);
    assert_int_equal(code_behind(t, "things", now, "shut"), VD_OK); /* that was no change */
    now = vd_store_revision(t->store);
    assert_int_equal(code_behind(t, "things", now, NULL), VD_OK);
}

static void a_condition_on_a_resource_names_nothing_else(void **state)
{
    struct setting *t = *state;
    struct vd_outcome outcome;
    struct vd_wish wish = {
        .action = VD_CHECK, .when = VD_WHEN_RESOURCE_UNCHANGED, .key = test_key("things", "", "x")};
    assert_int_equal(vd_store_commit(t->store, &wish, 1, &outcome), VD_ERR_INVALID);
    wish.key.name = VD_SLICE("");
    assert_int_equal(vd_store_commit(t->store, &wish, 1, &outcome), VD_OK);
    wish.action = VD_DELETE;
    assert_int_equal(vd_store_commit(t->store, &wish, 1, &outcome), VD_ERR_INVALID);
}

/* When vd_store_settle() returns, what was proposed before has been answered, and nothing was added
 * to the log. */
static void a_store_settles(void **state)
{
    enum { N = 32 };
    struct setting *t = *state;
    struct probe *probes[N];
    struct vd_store_stats stats;
    for (size_t i = 0; i < N; i++) {
        probes[i] = probe_new();
        probe_wish(probes[i], "home", VD_WHEN_ANY, i % 2 ? "open" : "shut");
        vd_store_propose(t->store, vd_admitted_of(&probes[i]->proposal));
    }
    vd_store_settle(t->store);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(atomic_load(&probes[i]->calls), 1);
        probe_wait(probes[i]);
        probe_free(probes[i]);
    }
    vd_store_stats(t->store, &stats);
    assert_int_equal(stats.objects, 1);
    assert_int_equal(stats.refused, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(a_check_is_a_condition_on_another_object),
        ON_BOTH(a_check_is_a_condition_on_a_resource),
        ON_BOTH(a_condition_on_a_resource_names_nothing_else),
        ON_BOTH(a_store_settles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
