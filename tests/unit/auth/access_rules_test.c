/* src/auth/access_rules.c: rules that follow the log, and what they do when they cannot. */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "auth/access_rules.h"
#include "base/buf.h"
#include "fixture.h"
#include "kinds/object_meta.h"
#include "json/parse.h"
#include "json/revision_hole.h"

#define ROLES    "clusterroles.rbac.authorization.k8s.io"
#define BINDINGS "clusterrolebindings.rbac.authorization.k8s.io"

/* The loop does not run: the test takes each step itself. */
struct setting {
    char *folder; /* NULL: the store is in memory */
    struct vd_store *store;
    struct vd_loop loop;
    struct vd_access_rules *rules;
    size_t changes;
};

static void changed(void *arg)
{
    ((struct setting *)arg)->changes++;
}

static void store_open(struct setting *t)
{
    struct vd_error error;
    struct vd_store_options options = {.manual_compaction = true};
    struct vd_folder folder = {.path = t->folder};
    assert_ok(vd_store_open_in(&t->store, &folder, &options, &error), &error);
}

static void store_close(struct setting *t)
{
    vd_store_close(t->store);
}

static int setup_in(void **state, char *folder)
{
    struct setting *t = calloc(1, sizeof *t);
    struct vd_error error;
    t->folder = folder;
    assert_ok(vd_loop_init(&t->loop, 0, &error), &error);
    store_open(t);
    *state = t;
    return 0;
}

static int setup(void **state)
{
    return setup_in(state, NULL);
}

static int setup_on_disk(void **state)
{
    return setup_in(state, temp_folder_new());
}

static int teardown(void **state)
{
    struct setting *t = *state;
    vd_loop_stop(&t->loop); /* which runs what was posted */
    vd_access_rules_free(t->rules);
    store_close(t);
    vd_loop_release(&t->loop);
    if (t->folder)
        temp_folder_remove(t->folder);
    free(t);
    return 0;
}

static int load(struct setting *t, struct vd_error *error)
{
    t->rules = vd_access_rules_new(&(struct vd_access_rules_options){
        .store = t->store, .loop = &t->loop, .changed = changed, .arg = t});
    return vd_access_rules_load(t->rules, error);
}

static void put_text(struct setting *t, const char *kind, const char *text)
{
    struct vd_arena arena = {0};
    struct vd_buf body = {0};
    struct vd_json *object = NULL;
    struct vd_error error;
    struct vd_outcome outcome;
    size_t hole = 0;
    assert_ok(vd_json_parse(&arena, vd_slice_of(text), NULL, &object, &error), &error);
    assert_ok(vd_revision_hole_write(&body, object, &hole, &error), &error);
    struct vd_wish wish = {.key = {vd_slice_of(kind), VD_SLICE(""), vd_meta_name(object)},
                           .body = {vd_buf_slice(&body), (uint32_t)hole}};
    assert_ok(vd_store_commit(t->store, &wish, 1, &outcome), &outcome.error);
    vd_buf_release(&body);
    vd_arena_release(&arena);
}

/* A ClusterRole that allows this verb on configmaps, and a binding of that name to the user NAME.
 */
static void grant(struct setting *t, const char *name, const char *verb)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRole\","
             "\"metadata\":{\"name\":\"%s\"},\"rules\":[{\"apiGroups\":[\"\"],\"resources\":"
             "[\"configmaps\"],\"verbs\":[\"%s\"]}]}",
             name, verb);
    put_text(t, ROLES, text);
    snprintf(text, sizeof text,
             "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRoleBinding\","
             "\"metadata\":{\"name\":\"%s\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"%s\","
             "\"apiGroup\":\"rbac.authorization.k8s.io\"}],\"roleRef\":{\"kind\":\"ClusterRole\","
             "\"name\":\"%s\",\"apiGroup\":\"rbac.authorization.k8s.io\"}}",
             name, name, name);
    put_text(t, BINDINGS, text);
}

static bool may(struct setting *t, const char *name, const char *verb)
{
    struct vd_user *user = vd_user_new(&(struct vd_identity){.name = vd_slice_of(name)});
    struct vd_rbac *rbac = vd_access_rules_now(t->rules);
    struct vd_access access = {.user = user,
                               .verb = vd_slice_of(verb),
                               .resource = VD_SLICE("configmaps"),
                               .namespace = VD_SLICE("default")};
    bool allowed = vd_rbac_allows(rbac, &access);
    vd_rbac_unref(rbac);
    vd_user_unref(user);
    return allowed;
}

/* All steps that are due. */
static void follow(struct setting *t)
{
    for (int i = 0; vd_access_rules_step(t->rules); i++)
        assert_true(i < 100000);
}

static void changes_are_in_force_after_a_step(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    grant(t, "ann", "get");
    assert_ok(load(t, &error), &error);
    assert_true(may(t, "ann", "get"));
    assert_false(may(t, "ann", "list"));
    for (int i = 0; i < 3000; i++) /* a long stretch that is no matter of rules */
        put(t->store, "configmaps", "default", "x", i % 2 ? "a" : "b");
    grant(t, "ann", "list");
    assert_false(vd_access_rules_step(t->rules)); /* is not read through */
    assert_true(may(t, "ann", "list"));
    assert_false(may(t, "ann", "get"));
    del(t->store, BINDINGS, "", "ann");
    follow(t);
    assert_false(may(t, "ann", "list"));
    size_t changes = t->changes;
    put(t->store, "configmaps", "default", "x", "c");
    follow(t);
    assert_int_equal(t->changes, changes); /* nothing of them has changed */
}

/* Flips a bit of the body of the role `name`, behind the store's back. */
static void damage(struct setting *t, const char *name)
{
    struct vd_buf path = {0}, bytes = {0};
    char room[65536];
    char mark[64];
    store_close(t);
    vd_buf_addf(&path, "%s/log.db", t->folder);
    int fd = open(vd_buf_text(&path), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    for (ssize_t n; (n = read(fd, room, sizeof room)) > 0;)
        vd_buf_add(&bytes, room, (size_t)n);
    snprintf(mark, sizeof mark, "{\"name\":\"%s\"},\"rules\"", name);
    const char *at = memmem(bytes.p, bytes.n, mark, strlen(mark));
    if (!at) { /* the revision may stand between */
        snprintf(mark, sizeof mark, "{\"name\":\"%s\"", name);
        at = memmem(bytes.p, bytes.n, mark, strlen(mark));
    }
    assert_non_null(at);
    assert_int_equal(pwrite(fd, "X", 1, at - bytes.p + 10), 1);
    close(fd);
    vd_buf_release(&path);
    vd_buf_release(&bytes);
    store_open(t);
}

static void a_damaged_role_is_left_out_and_the_rest_works(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    grant(t, "ann", "get");
    grant(t, "bob", "get");
    grant(t, "cid", "get");
    damage(t, "bob");
    assert_ok(load(t, &error), &error);
    assert_true(may(t, "ann", "get"));
    assert_false(may(t, "bob", "get"));
    assert_true(may(t, "cid", "get"));
    assert_int_equal(vd_access_rules_left_out(t->rules), 1);
    assert_true(vd_access_rules_are_current(t->rules));
    grant(t, "bob", "list"); /* in its place */
    follow(t);
    assert_true(may(t, "bob", "list"));
    assert_int_equal(vd_access_rules_left_out(t->rules), 0);
}

static void a_role_that_makes_no_sense_grants_nothing(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    grant(t, "ann", "get");
    assert_ok(load(t, &error), &error);
    put_text(t, ROLES,
             "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRole\","
             "\"metadata\":{\"name\":\"ann\"},\"rules\":7}");
    follow(t);
    assert_false(may(t, "ann", "get"));
    assert_int_equal(vd_access_rules_left_out(t->rules), 1);
    del(t->store, ROLES, "", "ann");
    follow(t);
    assert_int_equal(vd_access_rules_left_out(t->rules), 0);
}

/* More roles than a step takes, and the rules so far behind that all have to be loaded again. */
static void fall_behind(struct setting *t)
{
    char name[32];
    struct vd_error error;
    for (int i = 0; i < 600; i++) {
        snprintf(name, sizeof name, "user-%03d", i);
        grant(t, name, "get");
    }
    assert_ok(load(t, &error), &error);
    grant(t, "user-599", "list");
    del(t->store, BINDINGS, "", "user-000");
    assert_ok(vd_store_compact(t->store, vd_store_revision(t->store), &error), &error);
}

static void rules_that_fell_behind_are_loaded_again(void **state)
{
    struct setting *t = *state;
    fall_behind(t);
    follow(t);
    assert_true(may(t, "user-300", "get"));
    assert_true(may(t, "user-599", "list"));
    assert_false(may(t, "user-000", "get"));
    assert_true(vd_access_rules_are_current(t->rules));
}

static void a_load_that_fails_leaves_the_old_rules_and_is_told(void **state)
{
    struct setting *t = *state;
    struct vd_error error;
    fall_behind(t);
    assert_true(vd_access_rules_step(t->rules)); /* the log has expired: a load begins, ... */
    assert_true(vd_access_rules_step(t->rules)); /* ... and has the first piece of it, ... */
    put(t->store, "configmaps", "default", "x", "a");
    put(t->store, "configmaps", "default", "x", "b");
    assert_ok(vd_store_compact(t->store, vd_store_revision(t->store), &error), &error);
    size_t changes = t->changes;
    assert_false(vd_access_rules_step(t->rules)); /* ... when the window passes its revision */
    assert_false(vd_access_rules_are_current(t->rules));
    assert_int_equal(t->changes, changes); /* what was loaded of it is not in force */
    assert_true(may(t, "user-300", "get"));
    assert_true(may(t, "user-599", "get"));
    assert_true(may(t, "user-000", "get"));
    follow(t); /* as the timer would have it do */
    assert_true(vd_access_rules_are_current(t->rules));
    assert_true(may(t, "user-300", "get"));
    assert_true(may(t, "user-599", "list"));
    assert_false(may(t, "user-000", "get"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(changes_are_in_force_after_a_step),
        cmocka_unit_test_setup_teardown(a_damaged_role_is_left_out_and_the_rest_works,
                                        setup_on_disk, teardown),
        TEST(a_role_that_makes_no_sense_grants_nothing),
        TEST(rules_that_fell_behind_are_loaded_again),
        TEST(a_load_that_fails_leaves_the_old_rules_and_is_told),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
