/* src/api/write/replace.c: an object is made, whether there is one or not. */
#include "write_setting.h"

#include "kinds/git_ownership.h"

#define MARKS(path, commit)                                                                        \
    "\"annotations\":{\"vedette.dev/git-repository\":\"room/shop\",\"vedette.dev/git-path\":"      \
    "\"" path "\",\"vedette.dev/git-commit\":\"" commit "\"}"

static const struct vd_slice ignored[] = {{VD_GIT_COMMIT, sizeof VD_GIT_COMMIT - 1}};

/* Gives the document that the write has, as a manifest would be. */
static bool make_document(struct vd_write *w, const struct vd_json *old, struct vd_json **out)
{
    (void)old;
    return *out != NULL && w->kind != NULL;
}

static bool stamp_ready(struct vd_write *w, struct vd_json *object)
{
    struct vd_json *status = vd_json_get(object, VD_SLICE("status"));
    if (!status) {
        status = vd_json_object(w->arena);
        vd_json_set(w->arena, object, VD_SLICE("status"), status);
    }
    vd_json_set(w->arena, status, VD_SLICE("ready"), vd_json_bool(w->arena, true));
    return true;
}

static bool make_ready(struct vd_write *w, const struct vd_json *old, struct vd_json **out)
{
    *out = vd_write_pruned_copy(w, old);
    vd_meta_set_resource_version(w->arena, *out, VD_SLICE(""));
    return stamp_ready(w, *out);
}

static const struct vd_write_ops ready_ops = {.make = make_ready, .done = on_written};
static const struct vd_write_ops replace_ops = {.make = make_document, .done = on_written};
static const struct vd_write_ops stamp_ops = {
    .make = make_document, .stamp = stamp_ready, .done = on_written};

static void prepare_replacement(struct trial *t, const char *resource, const char *name,
                                const char *document)
{
    prepare(t, VD_WRITE_REPLACE, resource, name, document);
    t->w.ops = &replace_ops;
    t->w.author = VD_AUTHOR_GIT;
    t->w.manager = VD_SLICE("vedette-git");
    t->w.annotations_ignored = ignored;
    t->w.annotations_ignored_n = 1;
}

static uint64_t replace(const char *resource, const char *name, const char *document,
                        enum vd_write_result result)
{
    struct trial t;
    prepare_replacement(&t, resource, name, document);
    perform(&t);
    expect(&t, result);
    uint64_t revision = t.w.revision;
    release_trial(&t);
    return revision;
}

static void expect_refused(const char *resource, const char *name, const char *document,
                           enum vd_refusal_reason reason)
{
    struct trial t;
    prepare_replacement(&t, resource, name, document);
    perform(&t);
    expect_refusal(&t, reason);
    release_trial(&t);
}

static void it_is_created_or_replaced(void **state)
{
    struct vd_arena *a = *state;
    replace("gadgets", "g", "{\"metadata\":{\"name\":\"g\",\"labels\":{\"a\":\"b\"}},\"spec\":{}}",
            VD_WRITE_CREATED);
    const struct vd_json *g = stored(a, "gadgets", "g");
    assert_json(vd_json_get(g, VD_SLICE("spec")), "{\"size\":1}");
    assert_int_equal(vd_meta_generation(g), 1);
    assert_slice(
        vd_json_text(vd_json_get(vd_json_first(vd_json_dig(g, "metadata", "managedFields", NULL)),
                                 VD_SLICE("manager"))),
        "vedette-git");
    replace("gadgets", "g", "{\"metadata\":{\"name\":\"g\"},\"spec\":{\"size\":2}}",
            VD_WRITE_UPDATED);
    const struct vd_json *now = stored(a, "gadgets", "g");
    assert_int_equal(vd_meta_generation(now), 2);
    assert_null(vd_meta_labels(now));
    assert_true(vd_uid_eq(vd_meta_uid(g), vd_meta_uid(now)));
    assert_true(vd_slice_eq(vd_meta_creation_timestamp(g), vd_meta_creation_timestamp(now)));
    uint64_t revision = vd_store_revision(setting.store);
    replace("gadgets", "g", "{\"metadata\":{\"name\":\"g\"},\"spec\":{\"size\":2}}",
            VD_WRITE_UNCHANGED);
    assert_int_equal(vd_store_revision(setting.store), revision);
    expect_refused("gadgets", "g", "{\"metadata\":{\"name\":\"h\"},\"spec\":{\"size\":2}}",
                   VD_REFUSED_NAME_DIFFERS);
    expect_refused("gadgets", "x", "{\"metadata\":{\"name\":\"h\"},\"spec\":{\"size\":2}}",
                   VD_REFUSED_NAME_DIFFERS);
    expect_refused("gadgets", "g", "{\"metadata\":{\"name\":\"g\"},\"spec\":{\"size\":0}}",
                   VD_REFUSED_INVALID);
    expect_refused("gadgets", "x", "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"size\":0}}",
                   VD_REFUSED_INVALID);
}

/* What others have said of the object stays, whatever the maker says. */
static void what_others_say_stays(void **state)
{
    struct vd_arena *a = *state;
    struct trial t;
    write_it(VD_WRITE_CREATE, "gadgets", "",
             "{\"metadata\":{\"name\":\"g\",\"finalizers\":[\"a.b/c\"],\"ownerReferences\":["
             "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"o\",\"uid\":\"u\"}]},"
             "\"spec\":{\"size\":1}}",
             VD_WRITE_CREATED);
    struct vd_json *before = stored(a, "gadgets", "g");
    prepare(&t, VD_WRITE_PATCH, "gadgets", "g", NULL);
    t.w.part = VD_PART_STATUS;
    t.w.ops = &ready_ops;
    perform(&t);
    expect(&t, VD_WRITE_UPDATED);
    release_trial(&t);
    replace("gadgets", "g",
            "{\"metadata\":{\"name\":\"g\",\"uid\":\"0f1e2d3c-4b5a-4697-8877-665544332211\","
            "\"resourceVersion\":\"1\",\"generation\":77,\"finalizers\":[\"x.y/z\"]},"
            "\"spec\":{\"size\":5},\"status\":{\"ready\":false}}",
            VD_WRITE_UPDATED);
    const struct vd_json *now = stored(a, "gadgets", "g");
    assert_json(vd_json_get(now, VD_SLICE("spec")), "{\"size\":5}");
    assert_json(vd_json_get(now, VD_SLICE("status")), "{\"ready\":true}");
    assert_json(vd_meta_finalizers(now), "[\"a.b/c\"]");
    assert_int_equal(vd_json_count(vd_meta_owners(now)), 1);
    assert_true(vd_uid_eq(vd_meta_uid(before), vd_meta_uid(now)));
    assert_int_equal(vd_meta_generation(now), 2);
    assert_int_equal(vd_json_count(vd_json_dig(now, "metadata", "managedFields", NULL)), 3);
}

static void an_ignored_annotation_alone_is_no_change(void **state)
{
    struct vd_arena *a = *state;
    uint64_t first = replace("configmaps", "m",
                             "{\"metadata\":{\"name\":\"m\"," MARKS("m.yaml", "1111") "}}",
                             VD_WRITE_CREATED);
    uint64_t same = replace("configmaps", "m",
                            "{\"metadata\":{\"name\":\"m\"," MARKS("m.yaml", "2222") "}}",
                            VD_WRITE_UNCHANGED);
    assert_int_equal(first, same);
    struct vd_slice commit;
    assert_true(
        vd_meta_annotation(stored(a, "configmaps", "m"), vd_slice_of(VD_GIT_COMMIT), &commit));
    assert_slice(commit, "1111");
    replace("configmaps", "m", "{\"metadata\":{\"name\":\"m\"," MARKS("n.yaml", "3333") "}}",
            VD_WRITE_UPDATED);
    assert_true(
        vd_meta_annotation(stored(a, "configmaps", "m"), vd_slice_of(VD_GIT_COMMIT), &commit));
    assert_slice(commit, "3333");
    /* It may come, too: then something else has changed with it. */
    write_it(VD_WRITE_CREATE, "configmaps", "", "{\"metadata\":{\"name\":\"n\"}}",
             VD_WRITE_CREATED);
    replace("configmaps", "n",
            "{\"metadata\":{\"name\":\"n\",\"annotations\":{\"vedette.dev/git-commit\":\"1\"}}}",
            VD_WRITE_UNCHANGED);
    replace("configmaps", "n", "{\"metadata\":{\"name\":\"n\"," MARKS("n.yaml", "1") "}}",
            VD_WRITE_UPDATED);
}

/* It is called for a change, and for no other. */
static void a_change_is_stamped(void **state)
{
    static const struct {
        const char *document;
        enum vd_write_result result;
    } steps[] = {
        {"{\"metadata\":{\"name\":\"g\"},\"spec\":{\"size\":1}}", VD_WRITE_CREATED},
        {"{\"metadata\":{\"name\":\"g\"},\"spec\":{\"size\":1}}", VD_WRITE_UNCHANGED},
        {"{\"metadata\":{\"name\":\"g\"},\"spec\":{\"size\":2}}", VD_WRITE_UPDATED},
    };
    struct vd_arena *a = *state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct trial t;
        prepare_replacement(&t, "gadgets", "g", steps[i].document);
        t.w.ops = &stamp_ops;
        perform(&t);
        expect(&t, steps[i].result);
        release_trial(&t);
        assert_json(vd_json_get(stored(a, "gadgets", "g"), VD_SLICE("status")), "{\"ready\":true}");
    }
    assert_int_equal(vd_meta_generation(stored(a, "gadgets", "g")), 2);
}

static void what_is_being_deleted_is_not_replaced(void **state)
{
    struct trial t;
    (void)state;
    write_it(VD_WRITE_CREATE, "gadgets", "",
             "{\"metadata\":{\"name\":\"g\",\"finalizers\":[\"a.b/c\",\"d.e/f\"]}}",
             VD_WRITE_CREATED);
    write_it(VD_WRITE_DELETE, "gadgets", "g", NULL, VD_WRITE_MARKED);
    prepare_replacement(&t, "gadgets", "g",
                        "{\"metadata\":{\"name\":\"g\"},\"spec\":{\"size\":1}}");
    perform(&t);
    expect_refusal(&t, VD_REFUSED_EXISTS);
    assert_true(t.w.refusal.deleting);
    assert_slice(t.w.refusal.text, "it is being deleted and waits for its finalizers a.b/c, d.e/f");
    release_trial(&t);
    write_it(VD_WRITE_DELETE, "gadgets", "g", NULL, VD_WRITE_UNCHANGED);
}

/* Only the author Git changes what Git owns; the user's rights are another matter. */
static void the_author_owns(void **state)
{
    struct trial t;
    (void)state;
    replace("configmaps", "m", "{\"metadata\":{\"name\":\"m\"," MARKS("m.yaml", "1") "}}",
            VD_WRITE_CREATED);
    prepare_replacement(
        &t, "configmaps", "m",
        "{\"metadata\":{\"name\":\"m\"," MARKS("m.yaml", "1") "},"
                                                              "\"data\":{\"a\":\"b\"}}");
    t.w.author = VD_AUTHOR_API;
    perform(&t);
    expect_refusal(&t, VD_REFUSED_OWNED_BY_GIT);
    assert_slice(t.w.refusal.claim.repository, "room/shop");
    release_trial(&t);
}

/* The verb is create or update, by what is there. */
static void rights_go_by_what_is_there(void **state)
{
    struct vd_gatekeeper *all = setting.env.gatekeeper;
    struct trial t;
    (void)state;
    setting.env.gatekeeper = gatekeeper_for_all("\"create\"");
    for (int i = 0; i < 3; i++) {
        prepare_replacement(
            &t, "gadgets", "g",
            i < 2 ? "{\"metadata\":{\"name\":\"g\"," MARKS("a", "1") "},\"spec\":{\"size\":1}}"
                  : "{\"metadata\":{\"name\":\"g\"," MARKS("b", "1") "},\"spec\":{\"size\":1}}");
        t.w.checks_rights = true;
        perform(&t);
        if (i < 2) {
            expect(&t, i == 0 ? VD_WRITE_CREATED : VD_WRITE_UNCHANGED);
        } else { /* it moves */
            expect_refusal(&t, VD_REFUSED_NOT_ALLOWED);
            assert_slice(t.w.refusal.access.verb, "update");
        }
        release_trial(&t);
    }
    vd_gatekeeper_free(setting.env.gatekeeper);
    setting.env.gatekeeper = all;
}

/* A worker makes a long one, of nothing and of what is there. */
static void a_worker_replaces(void **state)
{
    struct vd_arena *a = *state;
    for (int i = 1; i <= 2; i++) {
        char text[128];
        struct trial t;
        snprintf(text, sizeof text, "{\"metadata\":{\"name\":\"g\"},\"spec\":{\"size\":%d}}", i);
        prepare_replacement(&t, "gadgets", "g", text);
        t.w.len = 4 << 20;
        t.w.ops = &stamp_ops;
        perform(&t);
        expect(&t, i == 1 ? VD_WRITE_CREATED : VD_WRITE_UPDATED);
        release_trial(&t);
    }
    assert_json(vd_json_get(stored(a, "gadgets", "g"), VD_SLICE("spec")), "{\"size\":2}");
}

/* Two that find nothing, or the same version, in one turn: one of them is made again. */
static void the_slower_one_is_made_again(void **state)
{
    struct vd_arena *a = *state;
    struct trial t[2];
    for (int i = 0; i < 2; i++) {
        prepare_replacement(&t[i], "gadgets", "g",
                            i ? "{\"metadata\":{\"name\":\"g\"},\"spec\":{\"size\":8}}"
                              : "{\"metadata\":{\"name\":\"g\"},\"spec\":{\"size\":7}}");
        t[i].task.run = run_trial;
    }
    vd_loop_post(&setting.loop, &t[0].task);
    vd_loop_post(&setting.loop, &t[1].task);
    wait_for_done();
    wait_for_done();
    expect(&t[0], VD_WRITE_CREATED);
    expect(&t[1], VD_WRITE_UPDATED);
    assert_json(vd_json_get(stored(a, "gadgets", "g"), VD_SLICE("spec")), "{\"size\":8}");
    release_trial(&t[0]);
    release_trial(&t[1]);
}

static void what_may_be_absent_is_deleted_without_it(void **state)
{
    struct trial t;
    (void)state;
    uint64_t revision = vd_store_revision(setting.store);
    prepare(&t, VD_WRITE_DELETE, "gadgets", "none", NULL);
    t.w.may_be_absent = true;
    perform(&t);
    expect(&t, VD_WRITE_ABSENT);
    release_trial(&t);
    assert_int_equal(vd_store_revision(setting.store), revision);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        write_test(it_is_created_or_replaced),
        write_test(what_others_say_stays),
        write_test(an_ignored_annotation_alone_is_no_change),
        write_test(a_change_is_stamped),
        write_test(what_is_being_deleted_is_not_replaced),
        write_test(the_author_owns),
        write_test(rights_go_by_what_is_there),
        write_test(a_worker_replaces),
        write_test(the_slower_one_is_made_again),
        write_test(what_may_be_absent_is_deleted_without_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
