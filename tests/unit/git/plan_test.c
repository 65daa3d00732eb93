/* src/git/plan.c and its neighbours: from manifests to operations. */
#include "git/plan.h"

#include "base/buf.h"
#include "check.h"
#include "kinds/builtin.h"
#include "kinds/kinds.h"

enum { OBJECTS_MAX = 16 };

/* An object that the store has. */
struct stored {
    const char *kind, *namespace, *name, *repository, *branch, *path;
    bool deleting;
};

struct setting {
    struct vd_kinds *kinds;
    struct vd_kind_set *set;
    struct vd_arena arena;
    struct vd_repository_config config;
    struct vd_git_report report;
    struct vd_git_manifests files[2 * OBJECTS_MAX];
    size_t files_n;
    struct vd_plan_manifest old_list[OBJECTS_MAX], new_list[OBJECTS_MAX];
    size_t old_n, new_n;
    const struct stored *stored;
    size_t stored_n;
    struct vd_plan plan;
};

static int open_setting(void **state)
{
    struct setting *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->kinds = vd_kinds_new_builtin();
    t->set = vd_kinds_snapshot(t->kinds);
    *state = t;
    return 0;
}

static int close_setting(void **state)
{
    struct setting *t = *state;
    vd_plan_release(&t->plan);
    for (size_t i = 0; i < t->files_n; i++)
        VD_VEC_RELEASE(&t->files[i].list);
    vd_git_report_release(&t->report);
    vd_arena_release(&t->arena);
    vd_kind_set_unref(t->set);
    vd_kinds_free(t->kinds);
    free(t);
    return 0;
}

static void find(struct vd_plan *plan, const struct vd_plan_identity *identity,
                 struct vd_plan_stored *out)
{
    struct setting *t = plan->arg;
    for (size_t i = 0; i < t->stored_n; i++) {
        const struct stored *s = &t->stored[i];
        if (vd_slice_is(identity->kind, s->kind) && vd_slice_is(identity->name, s->name) &&
            vd_slice_is(identity->namespace, s->namespace))
            *out = (struct vd_plan_stored){
                .exists = true,
                .deleting = s->deleting,
                .finalizers = VD_SLICE("example.com/wait"),
                .repository = vd_slice_of(s->repository),
                .branch = vd_slice_of(s->branch),
                .path = vd_slice_of(s->path),
            };
    }
}

/* Adds the manifests of a file to one side. */
static void add(struct setting *t, bool is_new, const char *branch, const char *path,
                const char *text)
{
    struct vd_git_manifests *m = &t->files[t->files_n++];
    struct vd_git_file file = {vd_slice_of(path), vd_slice_of(text)};
    assert_true(vd_git_file_read(&file, &t->config, &t->arena, m, &t->report));
    for (size_t i = 0; i < m->list.n; i++) {
        struct vd_git_manifest *one = &m->list.p[i];
        const struct vd_kind *kind = vd_kind_set_kind(t->set, one->group, one->version, one->kind);
        assert_non_null(kind);
        assert_true(vd_git_manifest_complete(one, kind, VD_SLICE("shop"), &t->arena, &t->report));
        struct vd_plan_manifest made = {one, kind, vd_slice_of(branch)};
        if (is_new)
            t->new_list[t->new_n++] = made;
        else
            t->old_list[t->old_n++] = made;
    }
}

static void add_old(struct setting *t, const char *path, const char *text)
{
    add(t, false, "main", path, text);
}

static void add_new(struct setting *t, const char *path, const char *text)
{
    add(t, true, "main", path, text);
}

static void store(struct setting *t, const struct stored *stored, size_t n)
{
    t->stored = stored;
    t->stored_n = n;
}

static bool make(struct setting *t)
{
    t->plan.namespace = VD_SLICE("shop");
    t->plan.name = VD_SLICE("catalog");
    t->plan.find = find;
    t->plan.arg = t;
    return vd_plan_make(&t->plan, t->old_list, t->old_n, t->new_list, t->new_n, &t->report);
}

/* The plan is this: "create a, delete b". */
static void assert_plan(struct setting *t, const char *want)
{
    static const char *const names[] = {"create", "replace", "move", "adopt", "delete"};
    struct vd_buf got = {0}, said = {0};
    bool good = make(t);
    for (size_t i = 0; i < t->plan.operations.n; i++) {
        const struct vd_plan_operation *o = &t->plan.operations.p[i];
        vd_buf_addf(&got, "%s%s %.*s%s", i ? ", " : "", names[o->action],
                    VD_FMT(o->source->manifest->name), o->is_foreign ? " (foreign)" : "");
    }
    vd_git_report_write_text(&said, &t->report);
    if (!good)
        fail_msg("refused: %s", vd_buf_text(&said));
    assert_string_equal(vd_buf_text(&got), want);
    vd_buf_release(&got);
    vd_buf_release(&said);
}

/* The plan is refused, with these lines. */
static void assert_refused(struct setting *t, const char *want)
{
    struct vd_buf said = {0};
    assert_false(make(t));
    vd_git_report_sort(&t->report);
    vd_git_report_write_text(&said, &t->report);
    assert_string_equal(vd_buf_text(&said), want);
    vd_buf_release(&said);
}

#define MAP(name)           "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " name "\n"
#define MAP_OF(name, space) MAP(name) "  namespace: " space "\n"
#define CATEGORY(name)                                                                             \
    "apiVersion: catalog.gitstore.dev/v1beta1\nkind: CategoryTaxonomy\nmetadata:\n  name: " name   \
    "\nspec:\n  title: T\n"
#define CHILD(name, parent) CATEGORY(name) "  parentRef: {name: " parent "}\n"
#define PRODUCT(name, category)                                                                    \
    "apiVersion: catalog.gitstore.dev/v1beta1\nkind: Product\nmetadata:\n  name: " name            \
    "\nspec:\n  categoryRef: {name: " category "}\n"
#define SPACE(name) "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: " name "\n"

static void objects_come_change_and_go(void **state)
{
    static const struct stored stored[] = {
        {"ConfigMap", "shop", "b", "shop/catalog", "main", "b.yaml", false},
        {"ConfigMap", "shop", "c", "shop/catalog", "main", "c.yaml", false},
    };
    struct setting *t = *state;
    store(t, stored, 2);
    add_new(t, "a.yaml", MAP("a"));
    add_old(t, "b.yaml", MAP("b") "data: {x: y}\n");
    add_new(t, "b.yaml", MAP("b"));
    add_old(t, "c.yaml", MAP("c"));
    add_old(t, "d.yaml", MAP("d")); /* the store has it no more */
    assert_plan(t, "create a, replace b, delete c");
}

static void a_file_that_moves_takes_its_object_along(void **state)
{
    static const struct stored stored[] = {
        {"ConfigMap", "shop", "a", "shop/catalog", "main", "old/a.yaml", false},
    };
    struct setting *t = *state;
    store(t, stored, 1);
    add_old(t, "old/a.yaml", MAP("a"));
    add_new(t, "new/a.yaml", MAP("a"));
    assert_plan(t, "move a");
}

static void another_name_is_another_object(void **state)
{
    static const struct stored stored[] = {
        {"ConfigMap", "shop", "a", "shop/catalog", "main", "a.yaml", false},
    };
    struct setting *t = *state;
    store(t, stored, 1);
    add_old(t, "a.yaml", MAP("a"));
    add_new(t, "a.yaml", MAP("b"));
    assert_plan(t, "create b, delete a");
}

static void two_manifests_for_one_object_are_refused(void **state)
{
    static const struct stored stored[] = {
        {"ConfigMap", "shop", "b", "shop/catalog", "main", "unchanged.yaml", false},
    };
    struct setting *t = *state;
    store(t, stored, 1);
    add_new(t, "a.yaml", MAP("a"));
    add_new(t, "also.yaml", "---\n" MAP("x") "---\n" MAP_OF("a", "shop"));
    add_new(t, "b.yaml", MAP("b"));
    assert_refused(t, "also.yaml:10:3: metadata.name: a.yaml:4 describes the same object; remove "
                      "one of them\n"
                      "b.yaml:4:3: metadata.name: unchanged.yaml describes the same object; remove "
                      "one of them\n");
}

static void what_others_own_is_refused_by_name(void **state)
{
    static const struct stored stored[] = {
        {"ConfigMap", "shop", "a", "", "", "", false},
        {"ConfigMap", "shop", "b", "shop/other", "main", "o/b.yaml", false},
        {"ConfigMap", "shop", "c", "shop/catalog", "release", "c.yaml", false},
        {"ConfigMap", "shop", "d", "shop/catalog", "main", "d.yaml", true},
        {"ConfigMap", "shop", "e", "shop/other", "main", "e.yaml", false},
    };
    struct setting *t = *state;
    store(t, stored, 5);
    add_new(t, "a.yaml", MAP("a"));
    add_new(t, "b.yaml", MAP("b"));
    add_new(t, "c.yaml", MAP("c"));
    add_new(t, "d.yaml", MAP("d"));
    add_old(t, "e.yaml", MAP("e")); /* another has it now: nothing to delete */
    assert_refused(
        t, "a.yaml:4:3: metadata.name: there is such an object already, and it belongs to the API; "
           "`vedette repo adopt` takes it into the repository\n"
           "b.yaml:4:3: metadata.name: the object belongs to repository shop/other, which has it "
           "from o/b.yaml\n"
           "c.yaml:4:3: metadata.name: the object belongs to branch release, which has it from "
           "c.yaml\n"
           "d.yaml:4:3: metadata.name: the object is being deleted and waits for its finalizers "
           "(example.com/wait); push again when it is gone\n");
}

static void a_push_that_adopts_takes_what_is_the_apis(void **state)
{
    static const struct stored stored[] = {
        {"ConfigMap", "shop", "a", "", "", "", false},
        {"ConfigMap", "shop", "b", "shop/catalog", "main", "b.yaml", false},
        {"ConfigMap", "shop", "d", "", "", "", false}, /* which no manifest names */
    };
    struct setting *t = *state;
    store(t, stored, 3);
    t->plan.adopts = true;
    add_new(t, "a.yaml", MAP("a"));
    add_new(t, "b.yaml", MAP("b"));
    add_new(t, "c.yaml", MAP("c"));
    assert_plan(t, "adopt a, replace b, create c");
    assert_int_equal(vd_plan_count(&t->plan, VD_PLAN_ADOPT), 1);
}

static void a_push_that_adopts_takes_nothing_else(void **state)
{
    static const struct stored stored[] = {
        {"ConfigMap", "shop", "a", "", "", "", true},
        {"ConfigMap", "shop", "b", "shop/other", "main", "o/b.yaml", false},
    };
    struct setting *t = *state;
    store(t, stored, 2);
    t->plan.adopts = true;
    add_new(t, "a.yaml", MAP("a"));
    add_new(t, "b.yaml", MAP("b"));
    assert_refused(
        t, "a.yaml:4:3: metadata.name: the object is being deleted and waits for its finalizers "
           "(example.com/wait); push again when it is gone\n"
           "b.yaml:4:3: metadata.name: the object belongs to repository shop/other, which has it "
           "from o/b.yaml\n");
}

static void a_branch_hands_over_in_one_push(void **state)
{
    static const struct stored stored[] = {
        {"ConfigMap", "shop", "a", "shop/catalog", "main", "a.yaml", false},
        {"ConfigMap", "shop", "b", "shop/catalog", "main", "b.yaml", false},
    };
    struct setting *t = *state;
    store(t, stored, 2);
    add(t, false, "main", "a.yaml", MAP("a"));
    add(t, false, "main", "b.yaml", MAP("b"));
    add(t, true, "release", "a.yaml", MAP("a"));
    assert_plan(t, "move a, delete b");
}

static void two_branches_do_not_share_an_object(void **state)
{
    struct setting *t = *state;
    add(t, true, "main", "a.yaml", MAP("a"));
    add(t, true, "release", "a.yaml", MAP("a"));
    assert_refused(t, "a.yaml:4:3: metadata.name: a.yaml:4 of branch main describes the same "
                      "object; remove one of them\n");
}

static struct vd_json *list_of(struct setting *t, const char *text)
{
    struct vd_json *list = vd_json_array(&t->arena);
    vd_json_append(list, vd_json_string(&t->arena, vd_slice_of(text)));
    return list;
}

static void other_namespaces_need_the_scope(void **state)
{
    struct setting *t = *state;
    add_new(t, "a.yaml", MAP_OF("a", "other"));
    add_new(t, "s.yaml", SPACE("new"));
    assert_refused(t, "a.yaml:5:3: metadata.namespace: this repository writes namespace shop: it "
                      "may write others only if spec.scope.namespaces of Repository shop/catalog "
                      "names other\n"
                      "s.yaml:2:1: kind: a Namespace belongs to no namespace: this repository may "
                      "write it only if spec.scope.clusterScoped of Repository shop/catalog names "
                      "namespaces\n");
}

static void the_scope_allows_other_namespaces(void **state)
{
    struct setting *t = *state;
    t->plan.namespaces = list_of(t, "other");
    t->plan.cluster_scoped = list_of(t, "namespaces");
    add_new(t, "a.yaml", MAP_OF("a", "other"));
    add_new(t, "b.yaml", MAP("b"));
    add_new(t, "s.yaml", SPACE("new"));
    assert_plan(t, "create a (foreign), create b, create new (foreign)");
}

/* The scope was larger once. Only the write of an object finds out that it stays as it is. */
static void what_stays_in_its_file_is_judged_when_it_changes(void **state)
{
    static const struct stored stored[] = {
        {"ConfigMap", "other", "a", "shop/catalog", "main", "a.yaml", false},
    };
    struct setting *t = *state;
    store(t, stored, 1);
    add_old(t, "a.yaml", MAP_OF("a", "other"));
    add_new(t, "a.yaml", MAP_OF("a", "other"));
    assert_plan(t, "replace a (foreign)");
    assert_slice(t->plan.operations.p[0].scope_field, "metadata.namespace");
    assert_true(t->plan.operations.p[0].scope_text.n > 0);
}

static void what_moves_needs_the_scope(void **state)
{
    static const struct stored stored[] = {
        {"ConfigMap", "other", "b", "shop/catalog", "main", "b.yaml", false},
        {"ConfigMap", "other", "c", "shop/else", "main", "c.yaml", false},
        {"ConfigMap", "other", "d", "", "", "", false},
    };
    static const char *const paths[] = {"moved.yaml", "c.yaml", "d.yaml"};
    static const char *const texts[] = {MAP_OF("b", "other"), MAP_OF("c", "other"),
                                        MAP_OF("d", "other")};
    struct setting *t = *state;
    store(t, stored, 3);
    t->plan.adopts = true;
    add_old(t, "b.yaml", MAP_OF("b", "other"));
    for (size_t i = 0; i < 3; i++)
        add_new(t, paths[i], texts[i]);
    assert_false(make(t));
    assert_int_equal(t->report.found[VD_GIT_ERROR], 3);
    assert_int_equal(t->plan.operations.n, 0);
}

static void a_repository_does_not_describe_itself(void **state)
{
    struct setting *t = *state;
    add_new(t, "r.yaml",
            "apiVersion: git.vedette.dev/v1\nkind: Repository\nmetadata:\n  name: catalog\n");
    assert_refused(t, "r.yaml:4:3: metadata.name: a repository cannot describe itself\n");
}

static void what_is_referred_to_comes_first(void **state)
{
    struct setting *t = *state;
    add_new(t, "1.yaml", PRODUCT("p", "grandchild"));
    add_new(t, "2.yaml", CHILD("grandchild", "child"));
    add_new(t, "3.yaml", CHILD("child", "root"));
    add_new(t, "4.yaml", CATEGORY("root"));
    add_new(t, "5.yaml", MAP("map"));
    assert_plan(t, "create root, create map, create child, create grandchild, create p");
}

static void what_refers_goes_first(void **state)
{
    static const struct stored stored[] = {
        {"CategoryTaxonomy", "shop", "a", "shop/catalog", "main", "a.yaml", false},
        {"CategoryTaxonomy", "shop", "b", "shop/catalog", "main", "b.yaml", false},
    };
    struct setting *t = *state;
    store(t, stored, 2);
    add_old(t, "a.yaml", CATEGORY("a"));
    add_old(t, "b.yaml", CHILD("b", "a"));
    assert_plan(t, "delete b, delete a");
}

static void circles_keep_the_order_of_files(void **state)
{
    struct setting *t = *state;
    add_new(t, "1.yaml", CHILD("a", "b"));
    add_new(t, "2.yaml", CHILD("b", "a"));
    add_new(t, "3.yaml", CHILD("c", "b"));
    assert_plan(t, "create a, create b, create c");
}

static void a_parent_stays_while_children_do(void **state)
{
    static const struct stored stored[] = {
        {"CategoryTaxonomy", "shop", "a", "shop/catalog", "main", "a.yaml", false},
        {"CategoryTaxonomy", "shop", "gone", "shop/catalog", "main", "gone.yaml", true},
    };
    struct setting *t = *state;
    store(t, stored, 2);
    add_old(t, "a.yaml", CATEGORY("a"));
    add_new(t, "child.yaml", CHILD("child", "a"));
    add_new(t, "p.yaml", PRODUCT("p", "gone"));
    add_old(t, "q.yaml", PRODUCT("q", "gone"));
    add_new(t, "q.yaml", PRODUCT("q", "gone") "  title: as before\n");
    add_new(t, "r.yaml", PRODUCT("r", "a")); /* does not block */
    add_new(t, "self.yaml", CHILD("self", "self"));
    assert_refused(
        t, "child.yaml:7:3: spec.parentRef: refers to CategoryTaxonomy a, which this push deletes\n"
           "p.yaml:6:3: spec.categoryRef: refers to CategoryTaxonomy gone, which is being "
           "deleted\n"
           "self.yaml:7:3: spec.parentRef: refers to the object itself\n");
}

static void referrers_in_the_store_are_named(void **state)
{
    static const struct stored stored[] = {
        {"CategoryTaxonomy", "shop", "a", "shop/catalog", "main", "a.yaml", false},
    };
    const struct vd_plan_manifest *source = NULL;
    struct vd_plan_identity a = {VD_SLICE("catalog.gitstore.dev"), VD_SLICE("CategoryTaxonomy"),
                                 VD_SLICE("shop"), VD_SLICE("a")};
    struct setting *t = *state;
    store(t, stored, 1);
    add_old(t, "a.yaml", CATEGORY("a"));
    assert_plan(t, "delete a");
    assert_true(vd_plan_has(&t->plan, &a));
    assert_true(vd_plan_deletes(&t->plan, &a, &source));
    vd_plan_refuse_deletion(&t->plan, source, VD_SLICE("CategoryTaxonomy b"), &t->report);
    vd_plan_refuse_deletion(&t->plan, source, VD_SLICE("CategoryTaxonomy c"), &t->report);
    struct vd_buf said = {0};
    vd_git_report_write_text(&said, &t->report);
    assert_string_equal(vd_buf_text(&said), "a.yaml: CategoryTaxonomy a cannot be deleted: "
                                            "CategoryTaxonomy b refers to it\n");
    vd_buf_release(&said);
    a.name = VD_SLICE("b");
    assert_false(vd_plan_has(&t->plan, &a));
    assert_false(vd_plan_deletes(&t->plan, &a, NULL));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_setting, close_setting)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(objects_come_change_and_go),
        TEST(a_file_that_moves_takes_its_object_along),
        TEST(another_name_is_another_object),
        TEST(two_manifests_for_one_object_are_refused),
        TEST(what_others_own_is_refused_by_name),
        TEST(a_branch_hands_over_in_one_push),
        TEST(two_branches_do_not_share_an_object),
        TEST(other_namespaces_need_the_scope),
        TEST(the_scope_allows_other_namespaces),
        TEST(what_stays_in_its_file_is_judged_when_it_changes),
        TEST(what_moves_needs_the_scope),
        TEST(a_repository_does_not_describe_itself),
        TEST(what_is_referred_to_comes_first),
        TEST(what_refers_goes_first),
        TEST(circles_keep_the_order_of_files),
        TEST(a_parent_stays_while_children_do),
        TEST(referrers_in_the_store_are_named),
        TEST(a_push_that_adopts_takes_what_is_the_apis),
        TEST(a_push_that_adopts_takes_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
