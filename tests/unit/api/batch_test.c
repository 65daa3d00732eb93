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

/* A replacement of a namespace creates it, or not. */
static void a_namespace_is_replaced_with_its_objects(void **state)
{
    static struct batch_trial t;
    (void)state;
    for (int i = 0; i < 2; i++) {
        add(&t, VD_WRITE_REPLACE, "configmaps", "m", NAMED("m"))->w.namespace = VD_SLICE("hall");
        add(&t, VD_WRITE_REPLACE, "namespaces", "hall", NAMED("hall"));
        assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
        expect(t.members.p[1], i ? VD_WRITE_UNCHANGED : VD_WRITE_CREATED);
        assert_true(i || t.members.p[1]->w.revision < t.members.p[0]->w.revision);
        release_batch(&t);
    }
    /* One that is refused for itself is not missed by others. */
    add(&t, VD_WRITE_REPLACE, "configmaps", "m", NAMED("m"))->w.namespace = VD_SLICE("attic");
    add(&t, VD_WRITE_REPLACE, "namespaces", "attic", NAMED("Attic"));
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    expect(t.members.p[0], VD_WRITE_WITHHELD);
    expect_refusal(t.members.p[1], VD_REFUSED_NAME_DIFFERS);
    release_batch(&t);
    /* What is there is not replaced in a namespace that goes. */
    add(&t, VD_WRITE_REPLACE, "configmaps", "m", NAMED("m"))->w.namespace = VD_SLICE("hall");
    add(&t, VD_WRITE_DELETE, "namespaces", "hall", NULL);
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    expect_refusal(t.members.p[0], VD_REFUSED_NAMESPACE_TERMINATING);
    release_batch(&t);
}

/* The order of the events, by the members' numbers. */
static void expect_order(struct batch_trial *t, const size_t *order)
{
    assert_int_equal(perform_batch(t), VD_BATCH_DONE);
    assert_int_equal(t->members.p[order[0]]->w.revision, t->b.revision_first);
    for (size_t i = 1; i < t->members.n; i++)
        assert_int_equal(t->members.p[order[i]]->w.revision,
                         t->members.p[order[i - 1]]->w.revision + 1);
    assert_int_equal(t->members.p[order[t->members.n - 1]]->w.revision, t->b.revision);
    release_batch(t);
}

static struct trial *in_hall(struct trial *member)
{
    member->w.namespace = VD_SLICE("hall");
    return member;
}

/* As the caller has it, but for what is in a namespace, and the namespace. */
static void events_are_in_order(void **state)
{
    static struct batch_trial t;
    (void)state;
    add(&t, VD_WRITE_REPLACE, "configmaps", "a", NAMED("a"));
    in_hall(add(&t, VD_WRITE_REPLACE, "configmaps", "b", NAMED("b")));
    add(&t, VD_WRITE_REPLACE, "gadgets", "c", NAMED("c"));
    in_hall(add(&t, VD_WRITE_REPLACE, "gadgets", "d", NAMED("d")));
    add(&t, VD_WRITE_REPLACE, "namespaces", "hall", NAMED("hall"));
    add(&t, VD_WRITE_REPLACE, "configmaps", "e", NAMED("e"));
    expect_order(&t, (size_t[]){0, 4, 1, 2, 3, 5});
    add(&t, VD_WRITE_DELETE, "configmaps", "a", NULL);
    add(&t, VD_WRITE_DELETE, "namespaces", "hall", NULL);
    in_hall(add(&t, VD_WRITE_DELETE, "configmaps", "b", NULL));
    add(&t, VD_WRITE_DELETE, "gadgets", "c", NULL);
    in_hall(add(&t, VD_WRITE_DELETE, "gadgets", "d", NULL));
    add(&t, VD_WRITE_DELETE, "configmaps", "e", NULL);
    expect_order(&t, (size_t[]){0, 2, 3, 4, 1, 5});
}

/* ---- deletions ---- */

static void deletions_are_told_apart(void **state)
{
    static struct batch_trial t;
    (void)state;
    write_it(VD_WRITE_CREATE, "gadgets", "",
             "{\"metadata\":{\"name\":\"kept\",\"finalizers\":["
             "\"a.b/c\"]}}",
             VD_WRITE_CREATED);
    write_it(VD_WRITE_CREATE, "gadgets", "", NAMED("goes"), VD_WRITE_CREATED);
    for (int i = 0; i < 2; i++) {
        add(&t, VD_WRITE_DELETE, "gadgets", "kept", NULL)->w.may_be_absent = true;
        add(&t, VD_WRITE_DELETE, "gadgets", "goes", NULL)->w.may_be_absent = true;
        add(&t, VD_WRITE_DELETE, "gadgets", "never", NULL)->w.may_be_absent = true;
        assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
        expect(t.members.p[0], i ? VD_WRITE_UNCHANGED : VD_WRITE_MARKED);
        expect(t.members.p[1], i ? VD_WRITE_ABSENT : VD_WRITE_DELETED);
        expect(t.members.p[2], VD_WRITE_ABSENT);
        assert_int_equal(t.b.changed, i == 0);
        assert_int_equal(t.b.revision - t.b.revision_first, i ? 0 : 1);
        release_batch(&t);
    }
    /* What is being deleted is not replaced. */
    add(&t, VD_WRITE_REPLACE, "gadgets", "kept", NAMED("kept"));
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    expect_refusal(t.members.p[0], VD_REFUSED_EXISTS);
    assert_true(t.members.p[0]->w.refusal.deleting);
    assert_slice(t.members.p[0]->w.refusal.text,
                 "it is being deleted and waits for its finalizers a.b/c");
    release_batch(&t);
}

/* ---- a status that tells of the rest ---- */

static const struct vd_write_batch *counted;

static bool make_counted(struct vd_write *w, const struct vd_json *old, struct vd_json **out)
{
    const size_t *counts = counted->counts;
    *out = vd_write_pruned_copy(w, old);
    struct vd_json *status = vd_json_object(w->arena);
    bool ready = counts[VD_WRITE_CREATED] == 1 && counts[VD_WRITE_UNCHANGED] == 1 &&
                 counts[VD_WRITE_DELETED] == 1;
    vd_json_set(w->arena, status, VD_SLICE("ready"), vd_json_bool(w->arena, ready));
    vd_json_set(w->arena, *out, VD_SLICE("status"), status);
    vd_meta_set_resource_version(w->arena, *out, VD_SLICE(""));
    return true;
}

static void a_status_can_tell_of_the_others(void **state)
{
    static const struct vd_write_ops ops = {.make = make_counted};
    static struct batch_trial t;
    struct vd_arena *a = *state;
    write_it(VD_WRITE_CREATE, "gadgets", "", NAMED("repository"), VD_WRITE_CREATED);
    write_it(VD_WRITE_CREATE, "configmaps", "", NAMED("same"), VD_WRITE_CREATED);
    write_it(VD_WRITE_CREATE, "configmaps", "", NAMED("gone"), VD_WRITE_CREATED);
    counted = &t.b;
    struct trial *status = add(&t, VD_WRITE_PATCH, "gadgets", "repository", NULL);
    status->w.part = VD_PART_STATUS;
    status->w.ops = &ops;
    add(&t, VD_WRITE_REPLACE, "configmaps", "new", NAMED("new"));
    add(&t, VD_WRITE_REPLACE, "configmaps", "same", NAMED("same"));
    add(&t, VD_WRITE_DELETE, "configmaps", "gone", NULL);
    assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
    expect(t.members.p[0], VD_WRITE_UPDATED);
    assert_int_equal(status->w.revision, t.b.revision_first);
    release_batch(&t);
    assert_json(vd_json_get(stored(a, "gadgets", "repository"), VD_SLICE("status")),
                "{\"ready\":true}");
}

/* ---- rights ---- */

#define RBAC "rbac.authorization.k8s.io"
#define ROLE(verbs)                                                                                \
    "{\"metadata\":{\"name\":\"r\"},\"rules\":[{\"apiGroups\":[\"\"],\"resources\":"               \
    "[\"configmaps\"],\"verbs\":[" verbs "]}]}"
#define BINDING_OF(meta, name)                                                                     \
    "{\"metadata\":{" meta "},\"subjects\":[{\"kind\":\"User\",\"apiGroup\":"                      \
    "\"" RBAC "\",\"name\":\"eve\"}],\"roleRef\":{\"apiGroup\":\"" RBAC "\",\"kind\":\"Role\","    \
    "\"name\":\"" name "\"}}"
#define BINDING(name) BINDING_OF("\"name\":\"b\"", name)

/* Nobody gives away what he does not have, through a role of the same batch neither. */
static void a_binding_is_judged_by_the_role_of_the_batch(void **state)
{
    static struct batch_trial t;
    struct vd_gatekeeper *all = setting.env.gatekeeper;
    (void)state;
    setting.env.gatekeeper = gatekeeper_for_all("\"get\"");
    add_of(&t, VD_WRITE_REPLACE, RBAC, "rolebindings", "b", BINDING("r"));
    add_of(&t, VD_WRITE_REPLACE, RBAC, "roles", "r", ROLE("\"get\",\"delete\""));
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    expect_refusal(t.members.p[0], VD_REFUSED_FORBIDDEN);
    expect_refusal(t.members.p[1], VD_REFUSED_FORBIDDEN);
    release_batch(&t);
    add_of(&t, VD_WRITE_REPLACE, RBAC, "rolebindings", "b", BINDING("other"));
    add_of(&t, VD_WRITE_REPLACE, RBAC, "roles", "r", ROLE("\"get\""));
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    expect_refusal(t.members.p[0], VD_REFUSED_ROLE_NOT_FOUND);
    expect(t.members.p[1], VD_WRITE_WITHHELD);
    release_batch(&t);
    add_of(&t, VD_WRITE_REPLACE, RBAC, "rolebindings", "b", BINDING("r"));
    add_of(&t, VD_WRITE_REPLACE, RBAC, "roles", "r", ROLE("\"get\""));
    assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
    expect(t.members.p[0], VD_WRITE_CREATED);
    release_batch(&t);
    add_of(&t, VD_WRITE_REPLACE, RBAC, "rolebindings", "b",
           BINDING_OF("\"name\":\"b\",\"labels\":{\"a\":\"b\"}", "r"));
    add_of(&t, VD_WRITE_DELETE, RBAC, "roles", "r", NULL);
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    expect_refusal(t.members.p[0], VD_REFUSED_ROLE_NOT_FOUND);
    release_batch(&t);
    vd_gatekeeper_free(setting.env.gatekeeper);
    setting.env.gatekeeper = all;
}

/* Somebody else may have granted what the role allows, and bound it. What is new is judged by the
 * role as it stays. */
static void roles_that_stay_as_they_are_are_not_judged(void **state)
{
    static struct batch_trial t;
    struct vd_gatekeeper *all = setting.env.gatekeeper;
    (void)state;
    for (int i = 0; i < 2; i++) {
        add_of(&t, VD_WRITE_REPLACE, RBAC, "roles", "r", ROLE("\"get\",\"delete\""));
        add_of(&t, VD_WRITE_REPLACE, RBAC, "rolebindings", "b", BINDING("r"));
        assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
        expect(t.members.p[0], i == 0 ? VD_WRITE_CREATED : VD_WRITE_UNCHANGED);
        expect(t.members.p[1], i == 0 ? VD_WRITE_CREATED : VD_WRITE_UNCHANGED);
        release_batch(&t);
        if (i == 0)
            setting.env.gatekeeper = gatekeeper_for_all("\"get\"");
    }
    add_of(&t, VD_WRITE_REPLACE, RBAC, "rolebindings", "c", BINDING_OF("\"name\":\"c\"", "r"));
    add_of(&t, VD_WRITE_REPLACE, RBAC, "roles", "r", ROLE("\"get\",\"delete\""));
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    expect_refusal(t.members.p[0], VD_REFUSED_FORBIDDEN);
    expect(t.members.p[1], VD_WRITE_WITHHELD);
    release_batch(&t);
    vd_gatekeeper_free(setting.env.gatekeeper);
    setting.env.gatekeeper = all;
}

/* Each member is asked for, by the verb that it comes to. */
static void rights_are_asked_for_each(void **state)
{
    static struct batch_trial t;
    struct vd_gatekeeper *all = setting.env.gatekeeper;
    (void)state;
    write_it(VD_WRITE_CREATE, "configmaps", "", NAMED("same"), VD_WRITE_CREATED);
    write_it(VD_WRITE_CREATE, "configmaps", "", NAMED("there"), VD_WRITE_CREATED);
    setting.env.gatekeeper = gatekeeper_for_all("\"create\"");
    add(&t, VD_WRITE_REPLACE, "configmaps", "new", NAMED("new"))->w.checks_rights = true;
    add(&t, VD_WRITE_REPLACE, "configmaps", "there",
        "{\"metadata\":{\"name\":\"there\"},\"data\":{\"a\":\"b\"}}")
        ->w.checks_rights = true;
    add(&t, VD_WRITE_DELETE, "configmaps", "there", NULL)->w.checks_rights = true;
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    expect(t.members.p[0], VD_WRITE_WITHHELD);
    expect_refusal(t.members.p[1], VD_REFUSED_NOT_ALLOWED);
    assert_slice(t.members.p[1]->w.refusal.access.verb, "update");
    expect_refusal(t.members.p[2], VD_REFUSED_NOT_ALLOWED);
    assert_slice(t.members.p[2]->w.refusal.access.verb, "delete");
    release_batch(&t);
    add(&t, VD_WRITE_REPLACE, "configmaps", "same", NAMED("same"))->w.checks_rights = true;
    assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
    expect(t.members.p[0], VD_WRITE_UNCHANGED);
    release_batch(&t);
    vd_gatekeeper_free(setting.env.gatekeeper);
    setting.env.gatekeeper = all;
}

/* What refuses thousands of members is told of the first ones at length. */
static void refusals_are_bounded(void **state)
{
    static struct batch_trial t;
    struct vd_buf document = {0};
    (void)state;
    vd_buf_add_text(&document, "{\"metadata\":{\"name\":\"m\"},\"spec\":{\"color\":\"");
    for (size_t i = 0; i < 4096; i++)
        vd_buf_add_char(&document, 'x');
    vd_buf_add_text(&document, "\"}}");
    for (size_t i = 0; i < 3000; i++)
        add(&t, VD_WRITE_REPLACE, "gadgets", "m", vd_buf_text(&document));
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    assert_int_equal(t.b.refused, 3000);
    size_t n = t.members.n;
    expect_refusal(t.members.p[0], VD_REFUSED_INVALID);
    assert_int_equal(t.members.p[0]->w.refusal.violations_n, 1);
    expect_refusal(t.members.p[n - 1], VD_REFUSED_INVALID);
    assert_int_equal(t.members.p[n - 1]->w.refusal.violations_n, 0);
    assert_slice(t.members.p[n - 1]->w.refusal.text,
                 "too much is wrong with the batch to say all of it");
    release_batch(&t);
    vd_buf_release(&document);
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

static void run_again(struct vd_task *task)
{
    vd_write_batch_restart(&VD_CONTAINER_OF(task, struct batch_trial, task)->b);
}

/* Somebody writes an object of a kind that the caller has looked through. */
static void a_condition_that_has_ceased_to_hold_stops_the_batch(void **state)
{
    struct vd_arena *a = *state;
    static struct batch_trial t;
    struct vd_batch_condition condition = {VD_SLICE("gadgets.example.com"),
                                           vd_store_revision(setting.store)};
    write_it(VD_WRITE_CREATE, "configmaps", "", NAMED("g"), VD_WRITE_CREATED);
    write_it(VD_WRITE_CREATE, "gadgets", "", NAMED("new"), VD_WRITE_CREATED);
    uint64_t revision = vd_store_revision(setting.store);
    t.b.conditions = &condition;
    t.b.conditions_n = 1;
    add(&t, VD_WRITE_DELETE, "configmaps", "g", NULL);
    add(&t, VD_WRITE_CREATE, "configmaps", "", NAMED("h"));
    assert_int_equal(perform_batch(&t), VD_BATCH_OUTDATED);
    assert_int_equal(vd_store_revision(setting.store), revision);
    write_it(VD_WRITE_UPDATE, "configmaps", "g",
             "{\"metadata\":{\"name\":\"g\"},\"data\":{\"a\":\"b\"}}", VD_WRITE_UPDATED);
    condition.revision = revision;
    t.task.run = run_again;
    vd_loop_post(&setting.loop, &t.task);
    wait_for_done();
    assert_int_equal(t.b.result, VD_BATCH_DONE);
    expect(t.members.p[0], VD_WRITE_DELETED);
    expect(t.members.p[1], VD_WRITE_CREATED);
    assert_null(stored(a, "configmaps", "g"));
    assert_non_null(stored(a, "configmaps", "h"));
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
        write_test(a_namespace_is_replaced_with_its_objects),
        write_test(events_are_in_order),
        write_test(deletions_are_told_apart),
        write_test(a_status_can_tell_of_the_others),
        write_test(a_binding_is_judged_by_the_role_of_the_batch),
        write_test(roles_that_stay_as_they_are_are_not_judged),
        write_test(rights_are_asked_for_each),
        write_test(refusals_are_bounded),
        write_test(a_dry_run_changes_nothing),
        write_test(members_that_workers_make_are_waited_for),
        write_test(what_git_owns_is_named),
        write_test(a_condition_that_has_ceased_to_hold_stops_the_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
