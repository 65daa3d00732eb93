/* src/api/batch.h: writes that are made together or not at all. */

#include "batch_trial.h"
#include "kinds/git_ownership.h"
#include "store/commit.h"

enum { MANY = 64 };

/* ---- together ---- */

/* Every commit that is told has either all of the batch in it, or nothing. */
static struct {
    struct vd_subscriber listener;
    size_t commits, events;
} heard;

static void on_commit(struct vd_subscriber *listener, struct vd_commit *commit)
{
    (void)listener;
    heard.commits++;
    heard.events += commit->n;
}

static void all_becomes_visible_at_once(void **state)
{
    struct vd_arena *a = *state;
    static struct batch_trial t;
    write_it(VD_WRITE_CREATE, "configmaps", "", NAMED("old"), VD_WRITE_CREATED);
    write_it(VD_WRITE_CREATE, "configmaps", "", NAMED("same"), VD_WRITE_CREATED);
    write_it(VD_WRITE_CREATE, "configmaps", "", NAMED("gone"), VD_WRITE_CREATED);
    heard.commits = heard.events = 0;
    heard.listener.committed = on_commit;
    vd_store_subscribe(setting.store, &heard.listener);
    add(&t, VD_WRITE_CREATE, "gadgets", "", NAMED("g"));
    add(&t, VD_WRITE_UPDATE, "configmaps", "old",
        "{\"metadata\":{\"name\":\"old\"},\"data\":{\"a\":\"b\"}}");
    add(&t, VD_WRITE_UPDATE, "configmaps", "same", NAMED("same"));
    add(&t, VD_WRITE_DELETE, "configmaps", "gone", NULL);
    assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
    vd_store_unsubscribe(setting.store, &heard.listener);
    static const enum vd_write_result results[] = {VD_WRITE_CREATED, VD_WRITE_UPDATED,
                                                   VD_WRITE_UNCHANGED, VD_WRITE_DELETED};
    for (size_t i = 0; i < t.members.n; i++)
        expect(t.members.p[i], results[i]);
    assert_true(t.b.changed);
    assert_int_equal(heard.commits, 1);
    assert_int_equal(heard.events, 3);
    assert_non_null(stored(a, "gadgets", "g"));
    assert_json(vd_json_get(stored(a, "configmaps", "old"), VD_SLICE("data")), "{\"a\":\"b\"}");
    assert_null(stored(a, "configmaps", "gone"));
    release_batch(&t);
}

static void what_is_so_already_is_no_event(void **state)
{
    static struct batch_trial t;
    (void)state;
    write_it(VD_WRITE_CREATE, "configmaps", "", NAMED("same"), VD_WRITE_CREATED);
    uint64_t revision = vd_store_revision(setting.store);
    add(&t, VD_WRITE_UPDATE, "configmaps", "same", NAMED("same"));
    assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
    assert_false(t.b.changed);
    assert_int_equal(vd_store_revision(setting.store), revision);
    release_batch(&t);
}

/* More than one turn of the loop makes. */
static void many_are_made(void **state)
{
    static struct batch_trial t;
    static char documents[MANY][64];
    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        snprintf(documents[i], sizeof documents[i], NAMED("m-%zu"), i);
        add(&t, VD_WRITE_CREATE, "configmaps", "", documents[i]);
    }
    uint64_t before = vd_store_revision(setting.store);
    assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
    assert_int_equal(t.b.revision, before + MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(t.members.p[i]->w.revision, before + 1 + i);
    release_batch(&t);
}

/* ---- or not at all ---- */

static void all_that_is_wrong_is_told(void **state)
{
    struct vd_arena *a = *state;
    static struct batch_trial t;
    write_it(VD_WRITE_CREATE, "configmaps", "", NAMED("there"), VD_WRITE_CREATED);
    uint64_t revision = vd_store_revision(setting.store);
    add(&t, VD_WRITE_CREATE, "gadgets", "", NAMED("good"));
    add(&t, VD_WRITE_CREATE, "gadgets", "",
        "{\"metadata\":{\"name\":\"bad\"},\"spec\":{\"size\":0,\"color\":\"green\"}}");
    add(&t, VD_WRITE_CREATE, "configmaps", "", NAMED("there"));
    add(&t, VD_WRITE_DELETE, "configmaps", "missing", NULL);
    add(&t, VD_WRITE_CREATE, "gadgets", "",
        "{\"metadata\":{\"name\":\"worse\"},\"spec\":{\"size\":\"x\"}}");
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    assert_int_equal(t.b.refused, 4);
    expect(t.members.p[0], VD_WRITE_WITHHELD);
    expect_refusal(t.members.p[1], VD_REFUSED_INVALID);
    assert_int_equal(t.members.p[1]->w.refusal.violations_n, 2);
    expect_refusal(t.members.p[2], VD_REFUSED_EXISTS);
    expect_refusal(t.members.p[3], VD_REFUSED_NOT_FOUND);
    expect_refusal(t.members.p[4], VD_REFUSED_INVALID);
    assert_int_equal(vd_store_revision(setting.store), revision);
    assert_null(stored(a, "gadgets", "good"));
    release_batch(&t);
}

static void one_conflict_refuses_all(void **state)
{
    struct vd_arena *a = *state;
    static struct batch_trial t;
    uint64_t first = write_it(VD_WRITE_CREATE, "configmaps", "", NAMED("m"), VD_WRITE_CREATED);
    uint64_t second = write_it(VD_WRITE_UPDATE, "configmaps", "m",
                               "{\"metadata\":{\"name\":\"m\"},\"data\":{\"a\":\"1\"}}",
                               VD_WRITE_UPDATED);
    char text[128];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"m\",\"resourceVersion\":\"%llu\"},\"data\":{\"a\":\"2\"}}",
             (unsigned long long)first);
    add(&t, VD_WRITE_CREATE, "gadgets", "", NAMED("g"));
    add(&t, VD_WRITE_UPDATE, "configmaps", "m", text);
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    expect(t.members.p[0], VD_WRITE_WITHHELD);
    expect_refusal(t.members.p[1], VD_REFUSED_CONFLICT);
    assert_int_equal(t.members.p[1]->w.refusal.current, second);
    assert_null(stored(a, "gadgets", "g"));
    release_batch(&t);
}

/* Somebody else writes between what a member reads and what is proposed. Two batches that change
 * one object in the same turn do that to each other. */
static void the_slower_batch_is_made_again(void **state)
{
    static const struct vd_write_ops ops = {.make = count_up};
    static struct batch_trial t[2];
    struct vd_arena *a = *state;
    write_it(VD_WRITE_CREATE, "gadgets", "", "{\"metadata\":{\"name\":\"g\"},\"spec\":{}}",
             VD_WRITE_CREATED);
    for (size_t i = 0; i < 2; i++) {
        add(&t[i], VD_WRITE_PATCH, "gadgets", "g", NULL)->w.ops = &ops;
        add(&t[i], VD_WRITE_CREATE, "configmaps", "", i ? NAMED("one") : NAMED("zero"));
        start_batch(&t[i]);
    }
    wait_for_done();
    wait_for_done();
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(t[i].b.result, VD_BATCH_DONE);
    assert_json(vd_json_get(stored(a, "gadgets", "g"), VD_SLICE("spec")), "{\"size\":3}");
    release_batch(&t[0]);
    release_batch(&t[1]);
}

static void an_object_is_changed_once(void **state)
{
    static struct batch_trial t;
    (void)state;
    add(&t, VD_WRITE_CREATE, "configmaps", "", NAMED("m"));
    add(&t, VD_WRITE_CREATE, "configmaps", "", NAMED("n"));
    add(&t, VD_WRITE_CREATE, "configmaps", "", NAMED("m"));
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    expect_refusal(t.members.p[0], VD_REFUSED_BAD_REQUEST);
    expect(t.members.p[1], VD_WRITE_WITHHELD);
    expect_refusal(t.members.p[2], VD_REFUSED_BAD_REQUEST);
    release_batch(&t);
}

/* ---- the state that it would make ---- */

static void a_namespace_comes_with_its_objects(void **state)
{
    static struct batch_trial t;
    (void)state;
    add(&t, VD_WRITE_CREATE, "configmaps", "", NAMED("m"))->w.namespace = VD_SLICE("hall");
    add(&t, VD_WRITE_CREATE, "namespaces", "", NAMED("hall"));
    add(&t, VD_WRITE_CREATE, "configmaps", "", NAMED("m"))->w.namespace = VD_SLICE("cellar");
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    assert_int_equal(t.b.refused, 1);
    expect_refusal(t.members.p[2], VD_REFUSED_NAMESPACE_NOT_FOUND);
    release_batch(&t);
    add(&t, VD_WRITE_CREATE, "configmaps", "", NAMED("m"))->w.namespace = VD_SLICE("hall");
    add(&t, VD_WRITE_CREATE, "namespaces", "", NAMED("hall"));
    assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
    release_batch(&t);
    add(&t, VD_WRITE_CREATE, "configmaps", "", NAMED("n"))->w.namespace = VD_SLICE("hall");
    add(&t, VD_WRITE_DELETE, "namespaces", "hall", NULL);
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    expect_refusal(t.members.p[0], VD_REFUSED_NAMESPACE_TERMINATING);
    expect(t.members.p[1], VD_WRITE_WITHHELD);
    release_batch(&t);
}

static void a_dry_run_changes_nothing(void **state)
{
    static struct batch_trial t;
    (void)state;
    write_it(VD_WRITE_CREATE, "configmaps", "", NAMED("there"), VD_WRITE_CREATED);
    uint64_t revision = vd_store_revision(setting.store);
    t.b.dry_run = true;
    add(&t, VD_WRITE_CREATE, "gadgets", "", NAMED("g"));
    add(&t, VD_WRITE_DELETE, "configmaps", "there", NULL);
    assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
    expect(t.members.p[0], VD_WRITE_CREATED);
    expect(t.members.p[1], VD_WRITE_DELETED);
    release_batch(&t);
    t.b.dry_run = true;
    add(&t, VD_WRITE_CREATE, "configmaps", "", NAMED("there"));
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    expect_refusal(t.members.p[0], VD_REFUSED_EXISTS);
    release_batch(&t);
    assert_int_equal(vd_store_revision(setting.store), revision);
}

static void members_that_workers_make_are_waited_for(void **state)
{
    struct vd_arena *a = *state;
    static struct batch_trial t;
    add(&t, VD_WRITE_CREATE, "gadgets", "", NAMED("large"))->w.len = 4 << 20;
    add(&t, VD_WRITE_CREATE, "gadgets", "", NAMED("small"));
    assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
    assert_non_null(stored(a, "gadgets", "large"));
    assert_non_null(stored(a, "gadgets", "small"));
    release_batch(&t);
    t.cancels = true;
    add(&t, VD_WRITE_CREATE, "gadgets", "", NAMED("never"))->w.len = 4 << 20;
    add(&t, VD_WRITE_CREATE, "gadgets", "", NAMED("neither"));
    assert_int_equal(perform_batch(&t), VD_BATCH_CANCELLED);
    assert_null(stored(a, "gadgets", "neither"));
    release_batch(&t);
}

static void what_git_owns_is_named(void **state)
{
    static struct batch_trial t;
    (void)state;
    add(&t, VD_WRITE_CREATE, "gadgets", "", NAMED("g"));
    add(&t, VD_WRITE_CREATE, "configmaps", "",
        "{\"metadata\":{\"name\":\"m\",\"annotations\":{\"vedette.dev/git-repository\":\"a/b\"}}}");
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    expect_refusal(t.members.p[1], VD_REFUSED_OWNED_BY_GIT);
    assert_slice(t.members.p[1]->w.refusal.claim.repository, "a/b");
    release_batch(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        write_test(all_becomes_visible_at_once),
        write_test(what_is_so_already_is_no_event),
        write_test(many_are_made),
        write_test(all_that_is_wrong_is_told),
        write_test(one_conflict_refuses_all),
        write_test(the_slower_batch_is_made_again),
        write_test(an_object_is_changed_once),
        write_test(a_namespace_comes_with_its_objects),
        write_test(a_dry_run_changes_nothing),
        write_test(members_that_workers_make_are_waited_for),
        write_test(what_git_owns_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
