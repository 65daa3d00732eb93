/* src/git/lint.c: a whole tree, checked without a server. */
#include "git/lint.h"

#include "base/limits.h"
#include "check.h"
#include "json/write.h"

static const char definition[] =
    "apiVersion: apiextensions.k8s.io/v1\n"
    "kind: CustomResourceDefinition\n"
    "metadata: {name: pages.example.com}\n"
    "spec:\n"
    "  group: example.com\n"
    "  names: {plural: pages, singular: page, kind: Page, listKind: PageList}\n"
    "  scope: Namespaced\n"
    "  versions:\n"
    "  - name: v1\n"
    "    served: true\n"
    "    storage: true\n"
    "    schema:\n"
    "      openAPIV3Schema:\n"
    "        type: object\n"
    "        properties:\n"
    "          body: {type: string}\n"
    "          spec:\n"
    "            type: object\n"
    "            properties:\n"
    "              color: {type: string, default: red}\n"
    "  - name: v0\n"
    "    served: false\n"
    "    storage: false\n"
    "    schema: {openAPIV3Schema: {type: object}}\n";

#define PAGE "apiVersion: example.com/v1\nkind: Page\nmetadata: {name: a}\n"

struct tree_file {
    const char *path, *text;
};

static void check_tree(const struct tree_file *files, size_t n, const char *want)
{
    struct vd_git_lint *l = vd_git_lint_new(VD_SLICE("home"));
    struct vd_git_report report = {0};
    struct vd_buf out = {0};
    for (size_t i = 0; i < n; i++) {
        struct vd_slice path = vd_slice_of(files[i].path), text = vd_slice_of(files[i].text);
        if (vd_slice_is(path, ".vedette.yaml"))
            assert_true(vd_git_lint_configure(l, text, &report));
        else if (vd_git_lint_wants(l, path, 0100644, text.n, &report))
            vd_git_lint_add(l, path, text, &report);
    }
    vd_git_lint_check(l, &report);
    vd_git_report_sort(&report);
    vd_git_report_write_text(&out, &report);
    if (strcmp(vd_buf_text(&out), want) != 0)
        fail_msg("got  %s\nwant %s", vd_buf_text(&out), want);
    vd_buf_release(&out);
    vd_git_report_release(&report);
    vd_git_lint_free(l);
}

#define CHECK_TREE(files, want) check_tree(files, sizeof(files) / sizeof *(files), want)

static void a_definition_holds_for_files_before_it(void **state)
{
    (void)state;
    static const struct tree_file files[] = {
        {"a.yaml", PAGE "spec: {color: 7, size: 1}\n"},
        {"z.yaml", definition},
    };
    CHECK_TREE(files, "a.yaml:4:8: spec.color: Invalid value: \"integer\": spec.color in body must "
                      "be of type string: \"integer\"\n"
                      "a.yaml:4:18: spec.size: the kind has no such field\n");
}

static void complete_objects_have_namespace_body_and_defaults(void **state)
{
    (void)state;
    struct vd_git_lint *l = vd_git_lint_new(VD_SLICE("home"));
    struct vd_git_report report = {0};
    struct vd_buf out = {0};
    vd_git_lint_add(l, VD_SLICE("a.md"), VD_SLICE("---\n" PAGE "spec: {}\n---\nx"), &report);
    vd_git_lint_add(l, VD_SLICE("d.yaml"), vd_slice_of(definition), &report);
    vd_git_lint_check(l, &report);
    assert_false(vd_git_report_has_errors(&report));
    assert_int_equal(vd_git_lint_file_count(l), 2);
    vd_json_write(&out, vd_git_lint_manifests(l)->list.p[0].document);
    assert_string_equal(vd_buf_text(&out),
                        "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Page\",\"metadata\":{"
                        "\"name\":\"a\",\"namespace\":\"home\"},\"spec\":{\"color\":\"red\"},"
                        "\"body\":\"x\"}");
    vd_buf_release(&out);
    vd_git_report_release(&report);
    vd_git_lint_free(l);
}

static void an_object_is_described_once(void **state)
{
    (void)state;
    static const struct tree_file files[] = {
        {"a.yaml", PAGE},
        {"b.yaml", PAGE "---\napiVersion: example.com/v1\nkind: Page\n"
                        "metadata: {name: a, namespace: other}\n"},
        {"c.yaml",
         "apiVersion: example.com/v1\nkind: Page\nmetadata: {name: a, namespace: home}\n"},
        {"d.yaml", definition},
        {"e.yaml", definition},
    };
    CHECK_TREE(
        files,
        "b.yaml:3:12: metadata.name: a.yaml:3 describes the same object; remove one of them\n"
        "c.yaml:3:12: metadata.name: a.yaml:3 describes the same object; remove one of them\n"
        "e.yaml:3:12: metadata.name: d.yaml:3 describes the same object; remove one of "
        "them\n");
}

static void kinds_that_cannot_be_are_named(void **state)
{
    (void)state;
    static const struct tree_file files[] = {
        {"a.yaml", "apiVersion: example.com/v2\nkind: Page\nmetadata: {name: a}\n"},
        {"b.yaml", "apiVersion: authentication.k8s.io/v1\nkind: TokenReview\n"
                   "metadata: {name: a}\n"},
        {"c.yaml", "apiVersion: example.com/v0\nkind: Page\nmetadata: {name: c}\n"},
        {"d.yaml", definition},
        {"e.yaml", "apiVersion: example.com/v1\nkind: Paeg\nmetadata: {name: e}\n"},
    };
    CHECK_TREE(
        files,
        "a.yaml:1:1: apiVersion: there is no kind Page in example.com/v2; did you mean "
        "example.com/v1?\n"
        "b.yaml:2:1: kind: objects of kind TokenReview in authentication.k8s.io/v1 cannot be "
        "stored\n"
        "c.yaml:2:1: kind: objects of kind Page in example.com/v0 are not served\n"
        "e.yaml:2:1: kind: there is no kind Paeg in example.com/v1; add its "
        "CustomResourceDefinition to the tree, or correct apiVersion and kind\n");
}

static void a_definition_of_a_built_in_kind_is_refused(void **state)
{
    (void)state;
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
                           "metadata: {name: leases.coordination.k8s.io}\n"
                           "spec:\n"
                           "  group: coordination.k8s.io\n"
                           "  names: {plural: leases, singular: lease, kind: Lease, listKind: "
                           "LeaseList}\n"
                           "  scope: Namespaced\n"
                           "  versions:\n"
                           "  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: "
                           "{type: object}}}\n");
    struct vd_git_lint *l = vd_git_lint_new(VD_SLICE("home"));
    struct vd_git_report report = {0};
    vd_git_lint_add(l, VD_SLICE("a.yaml"), vd_buf_slice(&text), &report);
    vd_git_lint_check(l, &report);
    assert_true(vd_git_report_has_errors(&report));
    vd_buf_release(&text);
    vd_git_report_release(&report);
    vd_git_lint_free(l);
}

static void an_object_that_is_too_large_is_named(void **state)
{
    (void)state;
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "---\n" PAGE "---\n");
    while (text.n < VD_BODY_LEN_MAX)
        vd_buf_add_text(&text, "A line of text that is repeated\n");
    struct vd_git_lint *l = vd_git_lint_new(VD_SLICE("home"));
    struct vd_git_report report = {0};
    vd_git_lint_add(l, VD_SLICE("d.yaml"), vd_slice_of(definition), &report);
    vd_git_lint_add(l, VD_SLICE("a.md"), vd_buf_slice(&text), &report);
    vd_git_lint_check(l, &report);
    assert_int_equal(report.found[VD_GIT_ERROR], 1);
    assert_non_null(strstr(report.findings.p[0].reason.p, "objects have at most 3145728"));
    vd_buf_release(&text);
    vd_git_report_release(&report);
    vd_git_lint_free(l);
}

static void built_in_kinds_need_no_definition(void **state)
{
    (void)state;
    static const struct tree_file files[] = {
        {".vedette.yaml", "labels: {team: web}\n"},
        {"a.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"},
        {"b.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: b}\n"},
        {"c.yaml", "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\n"
                   "metadata: {name: a}\nroleRef: {kind: Role, name: x}\n"},
    };
    CHECK_TREE(files, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_definition_holds_for_files_before_it),
        cmocka_unit_test(complete_objects_have_namespace_body_and_defaults),
        cmocka_unit_test(an_object_is_described_once),
        cmocka_unit_test(kinds_that_cannot_be_are_named),
        cmocka_unit_test(a_definition_of_a_built_in_kind_is_refused),
        cmocka_unit_test(an_object_that_is_too_large_is_named),
        cmocka_unit_test(built_in_kinds_need_no_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
