/* src/git/manifest*.c: the manifests of files, what is refused, and objects of their kinds. */
#include "git/manifest.h"

#include "base/limits.h"
#include "check.h"
#include "kinds/builtin.h"
#include "json/write.h"
#include "json/yaml_read.h"

static struct vd_repository_config config;

/* The manifests of a file as lines "apiVersion kind namespace/name", then the report. */
static void check_file(const char *path, struct vd_slice text, const char *want)
{
    struct vd_git_file file = {vd_slice_of(path), text};
    struct vd_git_manifests manifests = {0};
    struct vd_git_report report = {0};
    struct vd_arena arena = {0};
    struct vd_buf out = {0};
    bool ok = vd_git_file_read(&file, &config, &arena, &manifests, &report);
    assert_int_equal(ok, !vd_git_report_has_errors(&report));
    for (size_t i = 0; i < manifests.list.n; i++) {
        const struct vd_git_manifest *m = &manifests.list.p[i];
        vd_buf_addf(&out, "%.*s|%.*s|%.*s %.*s/%.*s%s\n", VD_FMT(m->group), VD_FMT(m->version),
                    VD_FMT(m->kind), VD_FMT(m->namespace), VD_FMT(m->name),
                    m->has_body ? " with a body" : "");
    }
    vd_git_report_sort(&report);
    vd_git_report_write_text(&out, &report);
    if (strcmp(vd_buf_text(&out), want) != 0)
        fail_msg("%s\ngot  %s\nwant %s", path, vd_buf_text(&out), want);
    VD_VEC_RELEASE(&manifests.list);
    vd_buf_release(&out);
    vd_git_report_release(&report);
    vd_arena_release(&arena);
}

static void files_of_all_types_are_read(void **state)
{
    (void)state;
    check_file("a.md",
               VD_SLICE("---\napiVersion: shop.dev/v1\nkind: Product\nmetadata: {name: shoe}\n"
                        "---\n# Shoe\n"),
               "shop.dev|v1|Product /shoe with a body\n");
    check_file("a.yaml",
               VD_SLICE("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: m}\n"
                        "---\napiVersion: v1\nkind: Secret\nmetadata: {name: b}\n"),
               "|v1|ConfigMap m/a\n|v1|Secret /b\n");
    check_file(
        "a.json",
        VD_SLICE("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}"),
        "|v1|ConfigMap /a\n");
    check_file("list.yaml",
               VD_SLICE("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n"
                        "  metadata: {name: a}\n"),
               "|v1|A /a\n");
}

static void other_files_are_ignored(void **state)
{
    (void)state;
    check_file("README.md", VD_SLICE("# Hello\n\n---\n"), "");
    check_file("picture.png", VD_SLICE("\x89PNG\0"), "");
    check_file("empty.yaml", VD_SLICE(""), "");
    check_file("binary.md", VD_SLICE("\0\0\0"), "");
    check_file("values.yaml", VD_SLICE("# top\nreplicas: 3\n"),
               "values.yaml:2:1: warning: ignored: the document has neither apiVersion nor kind; "
               "exclude the file in .vedette.yaml if it is no manifest\n");
    check_file("data.json", VD_SLICE("[1, 2]"),
               "data.json:1:1: warning: ignored: the document is no map; exclude the file in "
               ".vedette.yaml if it is no manifest\n");
    check_file("page.md", VD_SLICE("---\ntitle: x\n---\nbody"),
               "page.md:2:1: warning: ignored: the document has neither apiVersion nor kind; "
               "exclude the file in .vedette.yaml if it is no manifest\n");
}

static void files_that_cannot_be_read_are_named(void **state)
{
    (void)state;
    check_file("a.md", VD_SLICE("---\nkind: A\n"),
               "a.md:1:1: the front matter has no end; end it with a line that is exactly ---\n");
    check_file("a.md", VD_SLICE("---\nkind: A\n--- \n"),
               "a.md:3:1: the front matter ends here, but the line is not exactly --- ; remove "
               "what else is in it, or indent it if it belongs to a value\n");
    check_file("a.yaml", VD_SLICE("kind: A\nx: \xff\n"),
               "a.yaml:2:4: the file is not UTF-8; save it as UTF-8\n");
    check_file("a.yaml", VD_SLICE("kind: A\0\n"),
               "a.yaml: the file is binary; exclude it in .vedette.yaml if it is no manifest\n");
    check_file("a.json", VD_SLICE("\xFF\xFE{\0}\0"),
               "a.json: the file is UTF-16; save it as UTF-8\n");
    check_file("a.md",
               VD_SLICE("version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 7\n"),
               "a.md: the file is a pointer of Git LFS, without its content; take it out of LFS, "
               "or exclude it in .vedette.yaml\n");
    check_file("a.md", VD_SLICE("---\napiVersion: v1\nkind: A\nmetadata: {name: a}\n---\n\xff"),
               "a.md:6:1: the file is not UTF-8; save it as UTF-8\n");
    check_file("a.md", VD_SLICE("---\nkind: List\nitems: [{kind: A}]\n---\n"),
               "a.md:1:1: items: front matter describes one object, not a list\n");
}

static void entries_that_are_no_files_are_named(void **state)
{
    (void)state;
    struct vd_git_report report = {0};
    struct vd_buf out = {0};
    assert_true(vd_git_entry_check(VD_SLICE("a"), 0100644, 7, 0, &report));
    assert_true(vd_git_entry_check(VD_SLICE("a"), 0100755, 7, 7, &report));
    assert_false(vd_git_entry_check(VD_SLICE("b"), 0120000, 7, 0, &report));
    assert_false(vd_git_entry_check(VD_SLICE("c"), 0160000, 0, 0, &report));
    assert_false(vd_git_entry_check(VD_SLICE("d"), 0100644, 8, 7, &report));
    assert_false(
        vd_git_entry_check(VD_SLICE("e"), 0100644, VD_GIT_FILE_LEN_DEFAULT + 1, 0, &report));
    vd_git_report_write_text(&out, &report);
    assert_string_equal(
        vd_buf_text(&out),
        "b: warning: ignored: symbolic links are not followed\n"
        "c: warning: ignored: submodules are not read\n"
        "d: the file has 8 bytes; manifests have at most 7. Split it, or exclude "
        "it in .vedette.yaml\n"
        "e: the file has 10485761 bytes; manifests have at most 10485760. Split it, "
        "or exclude it in .vedette.yaml\n");
    vd_buf_release(&out);
    vd_git_report_release(&report);
}

static void fields_of_the_server_are_refused_by_name(void **state)
{
    (void)state;
    check_file("a.yaml",
               VD_SLICE("apiVersion: v1\n"
                        "kind: ConfigMap\n"
                        "metadata:\n"
                        "  name: a\n"
                        "  uid: x\n"
                        "  resourceVersion: '1'\n"
                        "  generation: 1\n"
                        "  creationTimestamp: x\n"
                        "  deletionTimestamp: x\n"
                        "  selfLink: x\n"
                        "  managedFields: []\n"
                        "  ownerReferences: []\n"
                        "  finalizers: []\n"
                        "  generateName: a-\n"
                        "  color: red\n"
                        "  annotations:\n"
                        "    vedette.dev/git-commit: x\n"
                        "    vedette.dev/other: x\n"
                        "    vedette.dev/override: x\n"
                        "    vedette.dev/override-user: x\n"
                        "    vedette.dev/reset: x\n"
                        "    vedette.dev/spec-owner: git\n"
                        "status: {}\n"),
               "|v1|ConfigMap /a\n" /* the rest is looked at, too */
               "a.yaml:5:3: metadata.uid: Forbidden: is set by the server, not by authors; remove "
               "it\n"
               "a.yaml:6:3: metadata.resourceVersion: Forbidden: is set by the server, not by "
               "authors; remove it\n"
               "a.yaml:7:3: metadata.generation: Forbidden: is set by the server, not by authors; "
               "remove it\n"
               "a.yaml:8:3: metadata.creationTimestamp: Forbidden: is set by the server, not by "
               "authors; remove it\n"
               "a.yaml:9:3: metadata.deletionTimestamp: Forbidden: is set by the server, not by "
               "authors; remove it\n"
               "a.yaml:10:3: metadata.selfLink: Forbidden: is set by the server, not by authors; "
               "remove it\n"
               "a.yaml:11:3: metadata.managedFields: Forbidden: is set by the server, not by "
               "authors; remove it\n"
               "a.yaml:12:3: metadata.ownerReferences: Forbidden: is set by controllers, not by "
               "authors; remove it\n"
               "a.yaml:13:3: metadata.finalizers: Forbidden: is set by controllers, not by "
               "authors; remove it\n"
               "a.yaml:14:3: metadata.generateName: Forbidden: a manifest describes one object; "
               "write metadata.name instead\n"
               "a.yaml:15:3: metadata.color: Forbidden: unknown field\n"
               "a.yaml:17:5: metadata.annotations[vedette.dev/git-commit]: Forbidden: annotations "
               "and labels vedette.dev/git-* are set by the server\n"
               "a.yaml:19:5: metadata.annotations[vedette.dev/override]: Forbidden: is set over "
               "the API, by whoever overrides Git in an emergency; remove it\n"
               "a.yaml:20:5: metadata.annotations[vedette.dev/override-user]: Forbidden: is set by "
               "the server, not by authors; remove it\n"
               "a.yaml:23:1: status: Forbidden: is written by controllers, not by authors; remove "
               "it\n");
}

static void nulls_of_generated_manifests_are_harmless(void **state)
{
    (void)state;
    check_file("a.yaml",
               VD_SLICE("apiVersion: v1\nkind: A\nmetadata:\n  creationTimestamp: null\n"
                        "  name: a\n  labels:\nstatus:\n"),
               "|v1|A /a\n");
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    check_file("a.yaml", VD_SLICE("kind: A\nspec: {}\n"),
               "a.yaml:1:1: apiVersion: Required value\n"
               "a.yaml:1:1: metadata.name: Required value\n");
    check_file("a.yaml", VD_SLICE("apiVersion: 1\nkind: ''\nmetadata: {name: 7, labels: {a: 1}}\n"),
               "a.yaml:1:1: apiVersion: Invalid value: 1: must be a text\n"
               "a.yaml:2:1: kind: Required value\n"
               "a.yaml:3:12: metadata.name: Invalid value: 7: must be a text\n"
               "a.yaml:3:30: metadata.labels[a]: Invalid value: 1: must be a text; write it in "
               "quotes\n");
    check_file("a.yaml", VD_SLICE("apiVersion: v1\nkind: A\nmetadata: []\n"),
               "a.yaml:3:1: metadata: Invalid value: []: must be a map\n");
}

static void the_configuration_gives_namespace_and_labels(void **state)
{
    (void)state;
    struct vd_repository_config c = {0};
    struct vd_git_file file = {VD_SLICE("a.yaml"),
                               VD_SLICE("apiVersion: v1\nkind: A\nmetadata:\n  name: a\n"
                                        "  labels: {team: own}\n")};
    struct vd_git_manifests manifests = {0};
    struct vd_git_report report = {0};
    struct vd_arena arena = {0};
    struct vd_buf out = {0};
    assert_true(vd_repository_config_read(
        &c, VD_SLICE("defaultNamespace: shop\nlabels: {team: web, tier: x}\n"), &report));
    assert_true(vd_git_file_read(&file, &c, &arena, &manifests, &report));
    vd_repository_config_release(&c);
    assert_int_equal(manifests.list.n, 1);
    assert_true(vd_slice_is(manifests.list.p[0].namespace, "shop"));
    vd_json_write(&out, manifests.list.p[0].document);
    assert_string_equal(vd_buf_text(&out),
                        "{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"a\","
                        "\"labels\":{\"team\":\"own\",\"tier\":\"x\"}}}");
    VD_VEC_RELEASE(&manifests.list);
    vd_buf_release(&out);
    vd_git_report_release(&report);
    vd_arena_release(&arena);
}

/* --- objects of their kinds --- */

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
    "          spec: {type: object, properties: {title: {type: string}}}\n";

/* Completes the one manifest of the file and writes its object, then the report. */
static void check_object(struct vd_slice text, const char *want)
{
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    struct vd_git_file file = {VD_SLICE("a.md"), text};
    struct vd_git_manifests manifests = {0};
    struct vd_git_report report = {0};
    struct vd_arena arena = {0};
    struct vd_buf out = {0};
    struct vd_json *document = NULL;
    assert_int_equal(vd_yaml_read(&arena, vd_slice_of(definition), &document, NULL), VD_OK);
    assert_int_equal(vd_kinds_put(kinds, document, false, NULL), VD_OK);
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    assert_true(vd_git_file_read(&file, &config, &arena, &manifests, &report));
    assert_int_equal(manifests.list.n, 1);
    struct vd_git_manifest *m = &manifests.list.p[0];
    const struct vd_kind *kind = vd_kind_set_kind(set, m->group, m->version, m->kind);
    assert_non_null(kind);
    bool ok = vd_git_manifest_complete(m, kind, VD_SLICE("home"), &arena, &report);
    assert_int_equal(ok, !vd_git_report_has_errors(&report));
    if (ok)
        vd_json_write(&out, m->document);
    vd_git_report_write_text(&out, &report);
    assert_string_equal(vd_buf_text(&out), want);
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
    VD_VEC_RELEASE(&manifests.list);
    vd_buf_release(&out);
    vd_git_report_release(&report);
    vd_arena_release(&arena);
}

#define PAGE "---\napiVersion: example.com/v1\nkind: Page\nmetadata: {name: a}\n"
#define OBJECT                                                                                     \
    "{\"apiVersion\":\"example.com/"                                                               \
    "v1\",\"kind\":\"Page\",\"metadata\":{\"name\":\"a\",\"namespace\":\"home\"}"

static void the_body_is_the_object_s_byte_for_byte(void **state)
{
    (void)state;
    check_object(VD_SLICE(PAGE "---\n\r\n# x\t\n\n---\n \n"),
                 OBJECT ",\"body\":\"\\r\\n# x\\t\\n\\n---\\n \\n\"}");
    check_object(VD_SLICE(PAGE "---\n\n"), OBJECT ",\"body\":\"\\n\"}");
    check_object(VD_SLICE(PAGE "---\n"), OBJECT "}");
    check_object(
        VD_SLICE(PAGE "body: x\n---\n"),
        "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Page\",\"metadata\":{\"name\":\"a\","
        "\"namespace\":\"home\"},\"body\":\"x\"}");
    check_object(VD_SLICE(PAGE "body: x\n---\ny"),
                 "a.md:7:1: body: the body is both in the front matter and behind it\n");
}

static void a_kind_without_a_body_refuses_one(void **state)
{
    (void)state;
    check_object(VD_SLICE("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n\nx"),
                 "a.md:6:1: body: objects of kind ConfigMap have no body; remove the text behind "
                 "the front matter, or write the file as YAML\n");
    check_object(VD_SLICE("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n\n"),
                 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\","
                 "\"namespace\":\"home\"}}");
}

static void a_cluster_scoped_object_has_no_namespace(void **state)
{
    (void)state;
    check_object(VD_SLICE("---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n"
                          "  namespace: b\n---\n"),
                 "a.md:6:3: metadata.namespace: objects of kind Namespace are in no namespace; "
                 "remove it\n");
    check_object(VD_SLICE("---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n"),
                 "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"a\"}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_all_types_are_read),
        cmocka_unit_test(other_files_are_ignored),
        cmocka_unit_test(files_that_cannot_be_read_are_named),
        cmocka_unit_test(entries_that_are_no_files_are_named),
        cmocka_unit_test(fields_of_the_server_are_refused_by_name),
        cmocka_unit_test(nulls_of_generated_manifests_are_harmless),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(the_configuration_gives_namespace_and_labels),
        cmocka_unit_test(the_body_is_the_object_s_byte_for_byte),
        cmocka_unit_test(a_kind_without_a_body_refuses_one),
        cmocka_unit_test(a_cluster_scoped_object_has_no_namespace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
