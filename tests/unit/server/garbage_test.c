#include "controller_bench.h"

#include "server/garbage.h"

/* The part that is tested, on a controller of its own. */
struct started {
    struct vd_controller *controller;
    struct vd_garbage *part;
};

static struct started start(struct bench *b)
{
    struct started s = {.controller = controller_new(b, "garbage")};
    s.part = vd_garbage_new(s.controller);
    vd_controller_start(s.controller);
    return s;
}

static void stop(struct started s)
{
    vd_controller_stop(s.controller);
    vd_garbage_free(s.part);
    free(s.controller);
}

/* Object number n has this uid. */
static void uid_text(char out[40], int n)
{
    snprintf(out, 40, "00000000-0000-4000-8000-%012d", n);
}

/* A reference to object number `owner`, a ConfigMap named "o<owner>". */
static const char *owned_by(char *out, size_t len, int owner, bool blocks)
{
    char uid[40];
    uid_text(uid, owner);
    snprintf(out, len,
             "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"o%d\",\"uid\":\"%s\""
             ",\"blockOwnerDeletion\":%s}",
             owner, uid, blocks ? "true" : "false");
    return out;
}

/* ConfigMap "o<n>" in "default", with further metadata and the references. */
static void put_object(struct bench *b, int n, const char *more, const char *owners)
{
    char text[1024], uid[40];
    uid_text(uid, n);
    snprintf(text, sizeof text,
             "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"o%d\","
             "\"namespace\":\"default\",\"uid\":\"%s\"%s%s%s%s}}",
             n, uid, more, owners ? ",\"ownerReferences\":[" : "", owners ? owners : "",
             owners ? "]" : "");
    put_text(b, "configmaps", text);
}

static bool gone(struct bench *b, int n)
{
    char name[16];
    snprintf(name, sizeof name, "o%d", n);
    return absent(b, "configmaps", "default", name);
}

static bool has(struct bench *b, int n, const char *part)
{
    char name[16];
    snprintf(name, sizeof name, "o%d", n);
    return shows(b, "configmaps", "default", name, part);
}

static void drop(struct bench *b, int n)
{
    char name[16];
    snprintf(name, sizeof name, "o%d", n);
    assert_int_equal(remove_object(b, "configmaps", "default", name), VD_OK);
}

/* Everything that was to be done so far has been: jobs are run in order. */
static void settle(struct bench *b, int n)
{
    char ref[256];
    put_object(b, n, "", owned_by(ref, sizeof ref, n + 1, false));
    await(b, gone(b, n));
}

#define DELETING(finalizer)                                                                        \
    ",\"deletionTimestamp\":\"2026-11-15T10:00:00Z\",\"finalizers\":[\"" finalizer "\"]"

/* Its owner is gone, or waits for it: what Git owns stays, without that owner. */
static void what_git_owns_is_no_garbage(void **state)
{
    struct bench b;
    char absent_owner[256], waiting_owner[256];
    (void)state;
    bench_open(&b, 0);
    owned_by(absent_owner, sizeof absent_owner, 1, false);
    owned_by(waiting_owner, sizeof waiting_owner, 2, true);
#define MARK ",\"annotations\":{\"vedette.dev/git-repository\":\"a/b\"}"
    put_object(&b, 2, DELETING("foregroundDeletion"), NULL);
    put_object(&b, 10, MARK, absent_owner);
    put_object(&b, 11, MARK, waiting_owner);
    put_object(&b, 12, ",\"labels\":{\"vedette.dev/git-repository\":\"a\"}", absent_owner);
    struct started g = start(&b);
    await(&b, gone(&b, 2) && gone(&b, 12) && has(&b, 10, "git-repository") &&
                  has(&b, 11, "git-repository") && !has(&b, 10, "ownerReferences") &&
                  !has(&b, 11, "ownerReferences"));
    stop(g);
    bench_close(&b);
}

static void dependents_go_with_their_last_owner(void **state)
{
    struct bench b;
    char one[256], both[512], two[256];
    (void)state;
    bench_open(&b, 0);
    put_object(&b, 1, "", NULL);
    put_object(&b, 2, "", NULL);
    owned_by(one, sizeof one, 1, false);
    owned_by(two, sizeof two, 2, false);
    snprintf(both, sizeof both, "%s,%s", one, two);
    put_object(&b, 10, "", one);
    struct started g = start(&b);
    put_object(&b, 11, "", both);
    put_object(&b, 12, ",\"finalizers\":[\"example.com/hold\"]", one);
    settle(&b, 900);
    assert_true(has(&b, 10, NULL) && has(&b, 11, NULL) && has(&b, 12, NULL));
    drop(&b, 1);
    await(&b, gone(&b, 10) && has(&b, 12, "deletionTimestamp"));
    await(&b, has(&b, 11, "\"name\":\"o2\"") && !has(&b, 11, "\"name\":\"o1\""));
    drop(&b, 2);
    await(&b, gone(&b, 11));
    stop(g);
    bench_close(&b);
}

static void chains_are_followed(void **state)
{
    enum { CHAIN = 50 };
    struct bench b;
    char ref[256];
    (void)state;
    bench_open(&b, 0);
    struct started g = start(&b);
    put_object(&b, 1, "", NULL);
    for (int i = 2; i <= CHAIN; i++)
        put_object(&b, i, "", owned_by(ref, sizeof ref, i - 1, false));
    drop(&b, 1);
    await(&b, vd_store_count(b.store, VD_SLICE("configmaps")) == 0);
    stop(g);
    bench_close(&b);
}

/* References to what is not there, never was, is somebody else now, is elsewhere. */
static void owners_are_checked_where_they_are_said_to_be(void **state)
{
    struct bench b;
    char ref[256];
    (void)state;
    bench_open(&b, 0);
    put_text(&b, "configmaps",
             "{\"metadata\":{\"name\":\"o1\",\"namespace\":\"other\","
             "\"uid\":\"00000000-0000-4000-8000-000000000001\"}}");
    put_object(&b, 2, "", NULL);
    struct started g = start(&b);
    put_object(&b, 10, "", owned_by(ref, sizeof ref, 1, false)); /* in another namespace */
    put_object(&b, 11, "", owned_by(ref, sizeof ref, 77, false));
    put_object(&b, 12, "",
               "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"o2\","
               "\"uid\":\"00000000-0000-4000-8000-000000000099\"}");
    put_object(&b, 13, "",
               "{\"apiVersion\":\"example.com/v9\",\"kind\":\"Unheard\",\"name\":\"u\","
               "\"uid\":\"00000000-0000-4000-8000-000000000098\"}");
    /* The core group may be spelled as one without a name. */
    put_object(&b, 14, "",
               "{\"apiVersion\":\"/v1\",\"kind\":\"ConfigMap\",\"name\":\"o2\","
               "\"uid\":\"00000000-0000-4000-8000-000000000002\"}");
    put_object(&b, 15, "",
               "{\"apiVersion\":\"/v1\",\"kind\":\"ConfigMap\",\"name\":\"o2\","
               "\"uid\":\"00000000-0000-4000-8000-000000000097\"}");
    await(&b, gone(&b, 10) && gone(&b, 11) && gone(&b, 12) && gone(&b, 15));
    settle(&b, 900);
    assert_true(has(&b, 13, NULL) && has(&b, 14, NULL));
    stop(g);
    bench_close(&b);
}

/* To Kubernetes a uid is any text; an object here has none but its own. */
static void a_uid_that_is_none_is_that_of_an_absent_owner(void **state)
{
#define REF(kind, uid)                                                                             \
    "{\"apiVersion\":\"v1\",\"kind\":\"" kind "\",\"name\":\"o1\",\"uid\":\"" uid "\"}"
    struct bench b;
    char both[512], ref[256];
    (void)state;
    bench_open(&b, 0);
    put_object(&b, 1, "", NULL);
    put_object(&b, 10, "", REF("ConfigMap", "some-text"));
    put_object(&b, 11, "", REF("Unknown", "some-text"));
    struct started g = start(&b);
    await(&b, gone(&b, 10));
    put_object(&b, 12, "", REF("ConfigMap", "other-text"));
    snprintf(both, sizeof both, "%s,%s", REF("ConfigMap", "some-text"),
             owned_by(ref, sizeof ref, 1, false));
    put_object(&b, 13, "", both);
    await(&b, gone(&b, 12));
    await(&b, has(&b, 13, "ownerReferences") && !has(&b, 13, "some-text"));
    settle(&b, 900);
    assert_true(has(&b, 1, NULL) && has(&b, 11, "some-text"));
    put_object(&b, 11, "", REF("ConfigMap", "third-text"));
    await(&b, gone(&b, 11));
    drop(&b, 1);
    await(&b, gone(&b, 13));
    stop(g);
    bench_close(&b);
#undef REF
}

static void a_cluster_scoped_owner_is_found(void **state)
{
    struct bench b;
    const char *uid = "00000000-0000-4000-8000-000000000005";
    char text[512];
    (void)state;
    bench_open(&b, 0);
    snprintf(text, sizeof text,
             "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"n\","
             "\"uid\":\"%s\"}}",
             uid);
    put_text(&b, "namespaces", text);
    struct started g = start(&b);
    snprintf(text, sizeof text,
             "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"name\":\"n\",\"uid\":\"%s\"}", uid);
    put_object(&b, 10, "", text);
    settle(&b, 900);
    assert_true(has(&b, 10, NULL));
    assert_int_equal(remove_object(&b, "namespaces", "", "n"), VD_OK);
    await(&b, gone(&b, 10));
    stop(g);
    bench_close(&b);
}

/* Once more each round, as the collector is sometimes behind and sometimes not. */
static void foreground_deletion_waits_for_those_that_block(void **state)
{
    enum { ROUNDS = 20 };
    struct bench b;
    char ref[256];
    (void)state;
    bench_open(&b, 0);
    struct started g = start(&b);
    for (int i = 0; i < ROUNDS * 10; i += 10) {
        put_object(&b, i + 1, "", NULL);
        put_object(&b, i + 2, ",\"finalizers\":[\"example.com/hold\"]",
                   owned_by(ref, sizeof ref, i + 1, true));
        put_object(&b, i + 3, "", owned_by(ref, sizeof ref, i + 1, false));
        put_object(&b, i + 4, "", owned_by(ref, sizeof ref, i + 2, true));
        put_object(&b, i + 1, DELETING("foregroundDeletion"), NULL);
        /* The second has a dependent of its own, which goes first. */
        await(&b, gone(&b, i + 3) && gone(&b, i + 4) && has(&b, i + 2, "deletionTimestamp"));
        await(&b, !has(&b, i + 2, "foregroundDeletion"));
        settle(&b, 900);
        assert_true(has(&b, i + 1, "foregroundDeletion"));
        drop(&b, i + 2);
        await(&b, gone(&b, i + 1));
    }
    stop(g);
    bench_close(&b);
}

static void foreground_deletion_of_a_circle_ends(void **state)
{
    struct bench b;
    char ref[256];
    (void)state;
    bench_open(&b, 0);
    put_object(&b, 1, "", owned_by(ref, sizeof ref, 2, true));
    put_object(&b, 2, "", owned_by(ref, sizeof ref, 1, true));
    struct started g = start(&b);
    put_object(&b, 1, DELETING("foregroundDeletion"), owned_by(ref, sizeof ref, 2, true));
    await(&b, gone(&b, 1) && gone(&b, 2));
    stop(g);
    bench_close(&b);
}

static void other_finalizers_keep_an_owner(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    struct started g = start(&b);
    put_object(&b, 1, DELETING("foregroundDeletion\",\"example.com/hold"), NULL);
    await(&b, has(&b, 1, "\"finalizers\":[\"example.com/hold\"]"));
    stop(g);
    bench_close(&b);
}

static void orphans_stay_without_their_owner(void **state)
{
    enum { ORPHANS_N = 150 };
    struct bench b;
    char ref[256];
    (void)state;
    bench_open(&b, 0);
    put_object(&b, 1, "", NULL);
    for (int i = 0; i < ORPHANS_N; i++)
        put_object(&b, 10 + i, "", owned_by(ref, sizeof ref, 1, true));
    put_object(&b, 1, DELETING("orphan"), NULL);
    struct started g = start(&b);
    await(&b, gone(&b, 1));
    settle(&b, 900);
    assert_int_equal(vd_store_count(b.store, VD_SLICE("configmaps")), ORPHANS_N);
    for (int i = 0; i < ORPHANS_N; i++)
        assert_false(has(&b, 10 + i, "ownerReferences"));
    stop(g);
    bench_close(&b);
}

/* What went while nobody looked, in a window too short to read it up. */
static void a_restart_finds_what_was_missed(void **state)
{
    struct bench b;
    char ref[256], more[64];
    (void)state;
    bench_open(&b, 64);
    put_object(&b, 1, "", NULL);
    for (int i = 0; i < 100; i++)
        put_object(&b, 10 + i, "", owned_by(ref, sizeof ref, 1, false));
    for (int i = 0; i < 10; i++)
        stop(start(&b));
    drop(&b, 1);
    for (int i = 0; i < 300; i++) {
        snprintf(more, sizeof more, ",\"labels\":{\"turn\":\"%d\"}", i);
        put_object(&b, 500, more, NULL);
    }
    for (int i = 0; i < 10; i++)
        stop(start(&b));
    struct started g = start(&b);
    await(&b, vd_store_count(b.store, VD_SLICE("configmaps")) == 1);
    stop(g);
    bench_close(&b);
}

/* Owners and dependents come and go and change while the collector works. */
static void bursts_and_conflicts_are_survived(void **state)
{
    struct bench b;
    char ref[256], more[64];
    (void)state;
    bench_open(&b, 64);
    struct started g = start(&b);
    for (int i = 1; i <= 60; i++) {
        put_object(&b, i, "", NULL);
        for (int k = 0; k < 10; k++) {
            snprintf(more, sizeof more, ",\"labels\":{\"k\":\"%d\"}", k);
            put_object(&b, 1000 + i * 10 + k % 3, more, owned_by(ref, sizeof ref, i, false));
        }
        drop(&b, i);
        put_object(&b, 1000 + i * 10, more, owned_by(ref, sizeof ref, i, true));
    }
    await(&b, vd_store_count(b.store, VD_SLICE("configmaps")) == 0);
    stop(g);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_git_owns_is_no_garbage),
        cmocka_unit_test(dependents_go_with_their_last_owner),
        cmocka_unit_test(chains_are_followed),
        cmocka_unit_test(owners_are_checked_where_they_are_said_to_be),
        cmocka_unit_test(a_uid_that_is_none_is_that_of_an_absent_owner),
        cmocka_unit_test(a_cluster_scoped_owner_is_found),
        cmocka_unit_test(foreground_deletion_waits_for_those_that_block),
        cmocka_unit_test(foreground_deletion_of_a_circle_ends),
        cmocka_unit_test(other_finalizers_keep_an_owner),
        cmocka_unit_test(orphans_stay_without_their_owner),
        cmocka_unit_test(a_restart_finds_what_was_missed),
        cmocka_unit_test(bursts_and_conflicts_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
