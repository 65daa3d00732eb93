/* Who may change what: every wish that a face can make, against objects that Git owns
 * and objects that it does not. */
#include <semaphore.h>

#include "fixture.h"
#include "json_check.h"
#include "kinds/admission.h"
#include "widget_kinds.h"
#include "json/revision_hole.h"

#define KIND(annotations, kind, plural)                                                            \
    "metadata: {annotations: {" annotations "}}\n"                                                 \
    "spec:\n"                                                                                      \
    "  group: example.com\n"                                                                       \
    "  scope: Cluster\n"                                                                           \
    "  names: {kind: " kind ", plural: " plural "}\n"                                              \
    "  versions:\n"                                                                                \
    "  - {name: v1, served: true, storage: true, subresources: {status: {}}}\n"

static struct {
    struct vd_store *store;
    struct vd_kinds *kinds;
    struct vd_kind_set *set;
} world;

static int open_world(void **state)
{
    struct vd_error error;
    assert_ok(vd_store_open_in(&world.store, NULL, NULL, &error), &error);
    world.kinds = vd_kinds_new(NULL);
    put_kind(world.kinds, KIND("", "Free", "frees"), false);
    put_kind(world.kinds, KIND("vedette.dev/spec-owner: git", "Owned", "owneds"), false);
    world.set = vd_kinds_snapshot(world.kinds);
    return arena_setup(state);
}

static int close_world(void **state)
{
    vd_kind_set_unref(world.set);
    vd_kinds_free(world.kinds);
    vd_store_close(world.store);
    return arena_teardown(state);
}

static const struct vd_kind *kind_of(const char *plural)
{
    return vd_kind_set_resource(world.set, VD_SLICE("example.com"), VD_SLICE("v1"),
                                vd_slice_of(plural));
}

/* ---- proposals that wait for their answer ---- */

struct waiting {
    sem_t answered;
    enum vd_code code;
    uint64_t revision;
};

static void done(struct vd_proposal *p, const struct vd_outcome *outcome)
{
    struct waiting *w = p->arg;
    w->code = outcome->code;
    w->revision = outcome->revision;
    sem_post(&w->answered);
}

/* Proposes, unless it is a dry run; true if that was admitted, and then it must have worked. */
static bool propose(struct vd_arena *a, const struct vd_admission *admission, bool dry_run,
                    const struct vd_wish *wish, uint64_t *revision, struct vd_git_claim *claim)
{
    struct waiting w;
    struct vd_proposal p = {wish, 1, done, &w, NULL};
    sem_init(&w.answered, 0, 0);
    struct vd_admitted *admitted = vd_admission_admit(admission, &p, a, claim);
    if (admitted && !dry_run) {
        vd_store_propose(world.store, admitted);
        sem_wait(&w.answered);
        assert_int_equal(w.code, VD_OK);
        *revision = w.revision;
    }
    sem_destroy(&w.answered);
    return admitted != NULL;
}

static struct vd_template template_of(struct vd_arena *a, const char *text)
{
    struct vd_buf body = {0};
    struct vd_error error;
    size_t hole = 0;
    assert_ok(vd_revision_hole_write(&body, json_of(a, text), &hole, &error), &error);
    struct vd_template made = {vd_arena_copy(a, vd_buf_slice(&body)), (uint32_t)hole};
    vd_buf_release(&body);
    return made;
}

#define MARK                                                                                       \
    "\"annotations\":{\"vedette.dev/git-repository\":\"shop/catalog\",\"vedette.dev/git-path\":"   \
    "\"a/o.md\",\"vedette.dev/git-commit\":\"0a1b2c\"}"
#define OBJECT(metadata, rest)                                                                     \
    "{\"apiVersion\":\"example.com/v1\",\"kind\":\"X\",\"metadata\":{\"name\":\"o\"," metadata     \
    ",\"resourceVersion\":\"\"}" rest "}"
#define SPEC      ",\"spec\":{\"size\":1}"
#define DELETING  ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""
#define FINALIZED ",\"finalizers\":[\"e.x/f\"]"

/* The changes that are the API's to make. NULL: absent. */
static const struct {
    const char *what;
    const char *before, *after;
    bool allowed; /* for the API */
} cases[] = {
    {"create", NULL, OBJECT(MARK, SPEC), false},
    {"delete", OBJECT(MARK, SPEC), NULL, false},
    {"mark as deleting", OBJECT(MARK FINALIZED, SPEC), OBJECT(MARK FINALIZED DELETING, SPEC),
     false},
    {"end a deletion", OBJECT(MARK DELETING FINALIZED, SPEC), NULL, true},
    {"change spec", OBJECT(MARK, SPEC), OBJECT(MARK, ",\"spec\":{\"size\":2}"), false},
    {"remove spec", OBJECT(MARK, SPEC), OBJECT(MARK, ""), false},
    {"add data", OBJECT(MARK, SPEC), OBJECT(MARK, SPEC ",\"data\":{}"), false},
    {"add a label", OBJECT(MARK, SPEC), OBJECT(MARK ",\"labels\":{\"a\":\"b\"}", SPEC), false},
    {"remove a label", OBJECT(MARK ",\"labels\":{\"a\":\"b\"}", SPEC), OBJECT(MARK, SPEC), false},
    {"labels, but none", OBJECT(MARK, SPEC), OBJECT(MARK ",\"labels\":{}", SPEC), true},
    {"take the mark off", OBJECT(MARK, SPEC), OBJECT("\"generation\":1", SPEC), false},
    {"put the mark on", OBJECT("\"generation\":1", SPEC), OBJECT(MARK, SPEC), false},
    {"move the mark", OBJECT(MARK, SPEC),
     OBJECT("\"annotations\":{\"vedette.dev/git-repository\":\"mine/own\"}", SPEC), false},
    {"status", OBJECT(MARK, SPEC), OBJECT(MARK, SPEC ",\"status\":{\"a\":1}"), true},
    {"remove status", OBJECT(MARK, SPEC ",\"status\":{\"a\":1}"), OBJECT(MARK, SPEC), true},
    {"finalizers", OBJECT(MARK, SPEC), OBJECT(MARK FINALIZED, SPEC), true},
    {"owners", OBJECT(MARK, SPEC), OBJECT(MARK ",\"ownerReferences\":[{\"uid\":\"u\"}]", SPEC),
     true},
    {"managed fields", OBJECT(MARK, SPEC), OBJECT(MARK ",\"managedFields\":[{}]", SPEC), true},
};

/* Brings the world into the state before, as the server may, and gives its revision. */
static uint64_t prepare(struct vd_arena *a, const char *plural, const char *before)
{
    struct vd_admission admission = {.store = world.store, .author = VD_AUTHOR_SERVER};
    struct vd_wish wish = {.key = {kind_of(plural)->resource, VD_SLICE(""), VD_SLICE("o")}};
    struct vd_event *event = NULL;
    uint64_t revision = 0;
    bool exists = !vd_store_get(world.store, &wish.key, 0, &event, NULL);
    vd_event_unref(event);
    if (before)
        wish.body = template_of(a, before);
    else
        wish.action = VD_DELETE;
    if (before || exists)
        assert_true(propose(a, &admission, false, &wish, &revision, NULL));
    return revision;
}

static bool try(struct vd_arena *a, const char *plural, size_t i, enum vd_author author,
                bool dry_run, struct vd_git_claim *claim)
{
    uint64_t revision = prepare(a, plural, cases[i].before);
    struct vd_admission admission = {
        .store = world.store, .author = author, .subject = {.kind = kind_of(plural)}};
    struct vd_wish wish = {.action = cases[i].after ? VD_PUT : VD_DELETE,
                           .when = cases[i].before ? VD_WHEN_REVISION : VD_WHEN_ABSENT,
                           .revision = revision,
                           .key = {kind_of(plural)->resource, VD_SLICE(""), VD_SLICE("o")}};
    if (cases[i].after)
        wish.body = template_of(a, cases[i].after);
    uint64_t newest = vd_store_revision(world.store);
    bool admitted = propose(a, &admission, dry_run, &wish, &revision, claim);
    if (!admitted || dry_run)
        assert_int_equal(vd_store_revision(world.store), newest);
    return admitted;
}

static void only_the_pipeline_changes_what_git_owns(void **state)
{
    static const char *const plurals[] = {"frees", "owneds"};
    struct vd_arena *a = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; k < 2; k++) {
            struct vd_git_claim claim = {.name = VD_SLICE("")};
            for (int dry_run = 1; dry_run >= 0; dry_run--) {
                if (try(a, plurals[k], i, VD_AUTHOR_API, dry_run, &claim) != cases[i].allowed)
                    fail_msg("%s of one of %s", cases[i].what, plurals[k]);
                if (!cases[i].allowed) {
                    assert_slice(claim.name, "o");
                    assert_slice(claim.repository, "shop/catalog");
                    assert_slice(claim.path, "a/o.md");
                    assert_slice(claim.commit, "0a1b2c");
                }
            }
            assert_true(try(a, plurals[k], i, VD_AUTHOR_GIT, false, &claim));
            assert_true(try(a, plurals[k], i, VD_AUTHOR_SERVER, false, &claim));
        }
    }
}

static void objects_of_a_kind_that_git_owns_need_no_mark(void **state)
{
    static const struct {
        const char *before, *after;
        bool allowed;
    } plain[] = {
        {NULL, OBJECT("\"generation\":1", SPEC), false},
        {OBJECT("\"generation\":1", SPEC), NULL, false},
        {OBJECT("\"generation\":1", SPEC), OBJECT("\"generation\":2", ""), false},
        {OBJECT("\"generation\":1", SPEC), OBJECT("\"generation\":1", SPEC ",\"status\":{}"), true},
    };
    struct vd_arena *a = *state;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        for (int owned = 0; owned < 2; owned++) {
            const char *plural = owned ? "owneds" : "frees";
            struct vd_git_claim claim = {.name = VD_SLICE("")};
            uint64_t revision = prepare(a, plural, plain[i].before);
            struct vd_admission admission = {.store = world.store,
                                             .subject = {.kind = kind_of(plural)}};
            struct vd_wish wish = {.action = plain[i].after ? VD_PUT : VD_DELETE,
                                   .when = plain[i].before ? VD_WHEN_REVISION : VD_WHEN_ABSENT,
                                   .revision = revision,
                                   .key = {kind_of(plural)->resource, VD_SLICE(""), VD_SLICE("o")}};
            if (plain[i].after)
                wish.body = template_of(a, plain[i].after);
            bool admitted = propose(a, &admission, false, &wish, &revision, &claim);
            assert_int_equal(admitted, !owned || plain[i].allowed);
            assert_slice(claim.name, admitted ? "" : "o");
            assert_slice(claim.repository, "");
        }
    }
}

/* One that may not is enough, wherever it stands; and a condition is no change. */
static void a_proposal_is_judged_whole(void **state)
{
    struct vd_arena *a = *state;
    struct vd_git_claim claim;
    struct vd_slice frees = kind_of("frees")->resource;
    uint64_t marked = prepare(a, "frees", OBJECT(MARK, SPEC));
    struct vd_admission admission = {.store = world.store, .subject = {.kind = kind_of("frees")}};
    struct vd_wish wishes[] = {
        {.action = VD_CHECK,
         .when = VD_WHEN_REVISION,
         .revision = marked,
         .key = {frees, VD_SLICE(""), VD_SLICE("o")}},
        {.when = VD_WHEN_ABSENT,
         .key = {frees, VD_SLICE(""), VD_SLICE("p")},
         .body = template_of(a, OBJECT("\"generation\":1", SPEC))},
        {.action = VD_DELETE,
         .when = VD_WHEN_REVISION,
         .revision = marked,
         .key = {frees, VD_SLICE(""), VD_SLICE("o")}},
    };
    struct waiting w;
    struct vd_proposal p = {wishes, 3, done, &w, NULL};
    assert_null(vd_admission_admit(&admission, &p, a, &claim));
    assert_slice(claim.name, "o");
    assert_int_equal(claim.at, 2);
    assert_int_equal(vd_store_revision(world.store), marked);
    sem_init(&w.answered, 0, 0);
    p.n = 2;
    struct vd_admitted *admitted = vd_admission_admit(&admission, &p, a, &claim);
    assert_non_null(admitted);
    vd_store_propose(world.store, admitted);
    sem_wait(&w.answered);
    assert_int_equal(w.code, VD_OK);
    sem_destroy(&w.answered);
}

/* An atomic batch over several kinds: each wish is judged as one of its own kind, by the version
 * that it was made from, which is not read again. */
static void a_batch_has_a_subject_for_each_wish(void **state)
{
    struct vd_arena *a = *state;
    struct vd_git_claim claim;
    const struct vd_kind *free = kind_of("frees"), *owned = kind_of("owneds");
    uint64_t was = prepare(a, "owneds", OBJECT("\"generation\":1", SPEC));
    struct vd_key key = {owned->resource, VD_SLICE(""), VD_SLICE("o")};
    struct vd_event *before = NULL;
    assert_int_equal(vd_store_get(world.store, &key, 0, &before, NULL), VD_OK);
    struct vd_wish wishes[] = {
        {.when = VD_WHEN_ABSENT,
         .key = {free->resource, VD_SLICE(""), VD_SLICE("q")},
         .body = template_of(a, OBJECT("\"generation\":1", SPEC))},
        {.when = VD_WHEN_REVISION,
         .revision = was,
         .key = key,
         .body = template_of(a, OBJECT("\"generation\":1", SPEC ",\"status\":{\"a\":1}"))},
    };
    struct vd_wish_subject subjects[] = {{free, NULL}, {owned, before}};
    struct vd_admission admission = {.subjects = subjects};
    struct vd_proposal p = {wishes, 2, NULL, NULL, NULL};
    assert_non_null(vd_admission_admit(&admission, &p, a, &claim)); /* and no store was asked */
    wishes[1].body = template_of(a, OBJECT("\"generation\":1", ""));
    assert_null(vd_admission_admit(&admission, &p, a, &claim));
    assert_int_equal(claim.at, 1);
    assert_slice(claim.name, "o");
    wishes[1].body = template_of(a, OBJECT("\"generation\":1", SPEC));
    subjects[0].kind = owned;
    assert_null(vd_admission_admit(&admission, &p, a, &claim));
    assert_int_equal(claim.at, 0);
    assert_slice(claim.name, "q");
    vd_event_unref(before);
}

#define WHY   "\"vedette.dev/override\":\"fire\""
#define PLAIN "\"generation\":1"
#define MARKED_WHY                                                                                 \
    "\"annotations\":{\"vedette.dev/git-repository\":\"shop/catalog\",\"vedette.dev/git-path\":"   \
    "\"a/o.md\",\"vedette.dev/git-commit\":\"0a1b2c\"," WHY "}"
#define PLAIN_WHY "\"annotations\":{" WHY "}"
#define OTHER     ",\"spec\":{\"size\":2}"

/* The object asks for it, and the mark stays as it is: then who has the right may do it. */
static void an_override_is_asked_for(void **state)
{
    static const struct {
        const char *what, *before, *after;
        bool owned_kind, allowed;
    } rows[] = {
        {"change spec", OBJECT(MARK, SPEC), OBJECT(MARKED_WHY, OTHER), false, true},
        {"change spec again", OBJECT(MARKED_WHY, SPEC), OBJECT(MARKED_WHY, OTHER), false, true},
        {"no reason", OBJECT(MARK, SPEC), OBJECT(MARK, OTHER), false, false},
        {"take the reason off", OBJECT(MARKED_WHY, SPEC), OBJECT(MARK, SPEC), false, false},
        {"take the mark off", OBJECT(MARK, SPEC), OBJECT(PLAIN_WHY, SPEC), false, false},
        {"put the mark on", OBJECT(PLAIN, SPEC), OBJECT(MARKED_WHY, SPEC), false, false},
        {"create with a mark", NULL, OBJECT(MARKED_WHY, SPEC), false, false},
        {"delete", OBJECT(MARKED_WHY, SPEC), NULL, false, true},
        {"delete without it", OBJECT(MARK, SPEC), NULL, false, false},
        {"mark as deleting", OBJECT(MARKED_WHY FINALIZED, SPEC),
         OBJECT(MARKED_WHY FINALIZED DELETING, SPEC), false, true},
        {"create", NULL, OBJECT(PLAIN_WHY, SPEC), true, true},
        {"create without it", NULL, OBJECT(PLAIN, SPEC), true, false},
        {"create with a mark", NULL, OBJECT(MARKED_WHY, SPEC), true, false},
        {"change spec", OBJECT(PLAIN, SPEC), OBJECT(PLAIN_WHY, OTHER), true, true},
        {"empty reason", OBJECT(PLAIN, SPEC),
         OBJECT("\"annotations\":{\"vedette.dev/override\":\"\"}", OTHER), true, false},
        {"delete", OBJECT(PLAIN_WHY, SPEC), NULL, true, true},
    };
    struct vd_arena *a = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *plural = rows[i].owned_kind ? "owneds" : "frees";
        struct vd_git_claim claim = {.name = VD_SLICE("")};
        uint64_t revision = prepare(a, plural, rows[i].before);
        struct vd_admission admission = {.store = world.store,
                                         .subject = {.kind = kind_of(plural)}};
        struct vd_wish wish = {.action = rows[i].after ? VD_PUT : VD_DELETE,
                               .when = rows[i].before ? VD_WHEN_REVISION : VD_WHEN_ABSENT,
                               .revision = revision,
                               .key = {kind_of(plural)->resource, VD_SLICE(""), VD_SLICE("o")}};
        if (rows[i].after)
            wish.body = template_of(a, rows[i].after);
        if (propose(a, &admission, false, &wish, &revision, &claim))
            fail_msg("%s: without the right", rows[i].what);
        assert_int_equal(vd_git_claim_asks_override(&claim), rows[i].allowed);
        admission.overrides = true;
        if (propose(a, &admission, false, &wish, &revision, &claim) != rows[i].allowed)
            fail_msg("%s of one of %s, with the right", rows[i].what, plural);
        if (rows[i].allowed)
            assert_slice(claim.override, "fire");
    }
}

#define world_test(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(only_the_pipeline_changes_what_git_owns),
        world_test(objects_of_a_kind_that_git_owns_need_no_mark),
        world_test(a_proposal_is_judged_whole),
        world_test(a_batch_has_a_subject_for_each_wish),
        world_test(an_override_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
