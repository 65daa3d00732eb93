/* src/git/repository_config.c: what .vedette.yaml says, and which files then count. */
#include "git/repository_config.h"

#include "base/limits.h"
#include "check.h"
#include "git/manifest.h"

static void check_wrong(const char *text, const char *want)
{
    struct vd_repository_config c = {0};
    struct vd_git_report report = {0};
    struct vd_buf out = {0};
    bool ok = vd_repository_config_read(&c, vd_slice_of(text), &report);
    vd_git_report_sort(&report);
    vd_git_report_write_text(&out, &report);
    if (ok || strcmp(vd_buf_text(&out), want) != 0)
        fail_msg("%s\ngot  %s\nwant %s", text, vd_buf_text(&out), want);
    vd_buf_release(&out);
    vd_git_report_release(&report);
    vd_repository_config_release(&c);
}

static void all_fields_are_read(void **state)
{
    (void)state;
    struct vd_repository_config c = {0};
    struct vd_git_report report = {0};
    const char *text = "apiVersion: git.vedette.dev/v1\r\nkind: RepositoryConfig\r\n"
                       "paths: [products/, '*.yaml']\r\nexclude:\r\n- '**/drafts/'\r\n"
                       "defaultNamespace: shop\r\nlabels:\r\n  team: web\r\n  x.io/y: ''\r\n";
    assert_true(vd_repository_config_read(&c, vd_slice_of(text), &report));
    assert_int_equal(c.paths.list.n, 2);
    assert_int_equal(c.exclude.list.n, 1);
    assert_true(vd_slice_is(c.default_namespace, "shop"));
    assert_int_equal(c.labels.n, 2);
    assert_true(vd_slice_is(c.labels.p[1].key, "x.io/y"));
    assert_true(vd_repository_config_takes(&c, VD_SLICE("products/.hidden/a.md")));
    assert_true(vd_repository_config_takes(&c, VD_SLICE("a.yaml")));
    assert_false(vd_repository_config_takes(&c, VD_SLICE("other/a.yaml")));
    assert_false(vd_repository_config_takes(&c, VD_SLICE("products/drafts/a.md")));
    vd_repository_config_release(&c);
    vd_git_report_release(&report);
}

static void an_empty_file_is_no_file(void **state)
{
    (void)state;
    struct vd_repository_config c = {0};
    struct vd_git_report report = {0};
    assert_true(vd_repository_config_read(&c, VD_SLICE("# nothing\n"), &report));
    assert_true(vd_repository_config_takes(&c, VD_SLICE("deep/er/a.yaml")));
    assert_false(vd_repository_config_takes(&c, VD_SLICE(".github/a.yaml")));
    assert_false(vd_repository_config_takes(&c, VD_SLICE("a/.b/c.yaml")));
    vd_repository_config_release(&c);
}

static void mistakes_have_places(void **state)
{
    (void)state;
    check_wrong("path: [a]\nexclude: x\n",
                ".vedette.yaml:1:1: path: unknown field; known are paths, exclude, "
                "defaultNamespace and labels\n"
                ".vedette.yaml:2:1: exclude: must be a list of patterns, not string\n");
    check_wrong("paths:\n- a\n- /b\n- 7\n",
                ".vedette.yaml:3:3: paths[1]: it has an empty part; a pattern begins with a name, "
                "not with /\n"
                ".vedette.yaml:4:3: paths[2]: must be a pattern of paths, not number\n");
    check_wrong("paths: []\n",
                ".vedette.yaml:1:1: paths: is empty; leave it out to take all files\n");
    check_wrong("kind: Config\napiVersion: v1\n",
                ".vedette.yaml:1:1: kind: must be RepositoryConfig\n"
                ".vedette.yaml:2:1: apiVersion: must be git.vedette.dev/v1\n");
    check_wrong("labels:\n  a: 1\n",
                ".vedette.yaml:2:3: labels[a]: must be a text, not number; write it in quotes\n");
    check_wrong("- a\n", ".vedette.yaml:1:1: must be a map, not array\n");
    check_wrong("labels: {}\n---\nlabels: {}\n",
                ".vedette.yaml:1:1: the file has several documents; one is expected\n");
    check_wrong("labels: {}\nlabels: {}\n",
                ".vedette.yaml:2:1: labels: the key is already there; remove one of them\n");
    check_wrong("labels: [\n", ".vedette.yaml:2:1: labels[0]: did not find expected node content, "
                               "while parsing a flow node\n");
    check_wrong("\xff", ".vedette.yaml:1:1: the file is not UTF-8\n");
}

static void names_are_checked(void **state)
{
    (void)state;
    struct vd_repository_config c = {0};
    struct vd_git_report report = {0};
    const char *text = "defaultNamespace: No_Good\nlabels:\n  '-': a\n  b: '-'\n";
    assert_false(vd_repository_config_read(&c, vd_slice_of(text), &report));
    assert_int_equal(report.found[VD_GIT_ERROR], 3);
    vd_repository_config_release(&c);
    vd_git_report_release(&report);
}

static void a_large_file_is_refused(void **state)
{
    (void)state;
    static char text[VD_GIT_CONFIG_LEN_MAX + 2];
    memset(text, '#', sizeof text - 1);
    check_wrong(text, ".vedette.yaml:1:1: the file is too large for a configuration\n");
}

static void names_of_files_say_what_they_are(void **state)
{
    (void)state;
    struct vd_repository_config c = {0};
    static const struct {
        const char *path;
        bool want;
    } cases[] = {
        {"a.md", true},
        {"a/b.markdown", true},
        {"a.YAML", true},
        {"a.yml", true},
        {"a.json", true},
        {"README", false},
        {"a.txt", false},
        {".yaml", false},
        {"a/.json", false},
        {".vedette.yaml", false},
        {"md", false},
        {"a.yaml.bak", false},
        {"a/.vedette.yaml", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (vd_git_path_counts(&c, vd_slice_of(cases[i].path)) != cases[i].want)
            fail_msg("%s", cases[i].path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_fields_are_read),
        cmocka_unit_test(an_empty_file_is_no_file),
        cmocka_unit_test(mistakes_have_places),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(a_large_file_is_refused),
        cmocka_unit_test(names_of_files_say_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
