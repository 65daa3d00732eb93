/* The configuration: which value wins, what is refused, and where the message says it is. */
#include "check.h"

#include <string.h>

#include "base/limits.h"
#include "base/log_line.h"
#include "server/config.h"

static int read_yaml(struct vd_config *config, const char *text, struct vd_error *error)
{
    return vd_config_read_yaml(config, "v.yaml", vd_slice_of(text), error);
}

static size_t index_of(const char *name)
{
    size_t i = vd_setting_find(vd_slice_of(name));
    assert_true(i < VD_SETTINGS_N);
    return i;
}

/* ---- the table ---- */

static void the_table_is_sound(void **state)
{
    char a[VD_SETTING_NAME_MAX], b[VD_SETTING_NAME_MAX];
    (void)state;
    for (size_t i = 0; i < VD_SETTINGS_N; i++) {
        const struct vd_setting *s = &vd_settings[i];
        assert_non_null(s->name);
        assert_true(s->value && s->help && s->initial);
        assert_int_equal(s->type == VD_SETTING_CHOICE, s->choices != NULL);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(vd_setting_flag(s, a), vd_setting_flag(&vd_settings[k], b));
            assert_string_not_equal(vd_setting_variable(s, a),
                                    vd_setting_variable(&vd_settings[k], b));
            assert_int_not_equal(s->field, vd_settings[k].field);
        }
    }
}

static void groups_stand_together(void **state)
{
    (void)state;
    for (size_t i = 0; i < VD_SETTINGS_N; i++) {
        const char *dot = strchr(vd_settings[i].name, '.');
        size_t n = dot ? (size_t)(dot - vd_settings[i].name) + 1 : 0;
        for (size_t k = i + 2; dot && k < VD_SETTINGS_N; k++)
            if (strncmp(vd_settings[i].name, vd_settings[k].name, n) == 0)
                assert_int_equal(strncmp(vd_settings[i].name, vd_settings[k - 1].name, n), 0);
    }
}

static void names_follow_from_one(void **state)
{
    const struct vd_setting *s = &vd_settings[index_of("watch.bookmark-period")];
    char room[VD_SETTING_NAME_MAX];
    (void)state;
    assert_string_equal(vd_setting_flag(s, room), "watch-bookmark-period");
    assert_string_equal(vd_setting_variable(s, room), "VEDETTE_WATCH_BOOKMARK_PERIOD");
}

static void defaults_are_those_of_the_limits(void **state)
{
    struct vd_config c;
    struct vd_error error;
    (void)state;
    vd_config_init(&c);
    assert_int_equal(c.window_events, VD_WINDOW_EVENTS_DEFAULT);
    assert_int_equal(c.window_age_ms, VD_WINDOW_AGE_S_DEFAULT * UINT64_C(1000));
    assert_int_equal(c.tail_events, VD_TAIL_EVENTS_DEFAULT);
    assert_int_equal(c.tail_bytes, VD_TAIL_BYTES_DEFAULT);
    assert_string_equal(c.listen, "127.0.0.1:8080");
    assert_string_equal(c.tls_listen, "127.0.0.1:6443");
    assert_int_equal(c.watch_bookmark_period_ms, 60000);
    assert_int_equal(c.log_level, VD_LOG_INFO);
    assert_true(c.anonymous_health);
    assert_int_equal(c.access_log, VD_CONFIG_AUTO);
    assert_int_equal(c.log_format, VD_CONFIG_LOG_AUTO);
    assert_null(c.tls_cert);
    assert_ok(vd_config_check(&c, &error), &error);
    assert_int_equal(c.warnings.n, 0);
    vd_config_release(&c);
}

/* ---- values ---- */

static void values_are_read(void **state)
{
    struct vd_config c;
    struct vd_error error;
    (void)state;
    vd_config_init(&c);
    assert_ok(read_yaml(&c,
                        "# comment\n"
                        "data: /srv/v\n"
                        "store: memory\n"
                        "listen: off\n"
                        "tls-listen: '[::]:0'\n"
                        "tls-hosts: [a.example, 10.0.0.1]\n"
                        "threads: 3\n"
                        "window: {age: 1h30m, events: 5}\n"
                        "tail:\n"
                        "  bytes: 1GiB\n"
                        "log:\n"
                        "  level: debug\n"
                        "  format: json\n"
                        "access-log: false\n",
                        &error),
              &error);
    assert_string_equal(c.data, "/srv/v");
    assert_int_equal(c.store, VD_CONFIG_STORE_MEMORY);
    assert_null(c.listen);
    assert_string_equal(c.tls_listen, "[::]:0");
    assert_int_equal(c.tls_hosts.n, 2);
    assert_string_equal(c.tls_hosts.items[1], "10.0.0.1");
    assert_int_equal(c.threads, 3);
    assert_int_equal(c.window_age_ms, 5400000);
    assert_int_equal(c.window_events, 5);
    assert_int_equal(c.tail_bytes, UINT64_C(1) << 30);
    assert_int_equal(c.log_level, VD_LOG_DEBUG);
    assert_int_equal(c.log_format, VD_LOG_JSON);
    assert_int_equal(c.access_log, VD_CONFIG_OFF);
    vd_config_release(&c);
}

static void an_empty_file_changes_nothing(void **state)
{
    struct vd_config c;
    struct vd_error error;
    (void)state;
    vd_config_init(&c);
    assert_ok(read_yaml(&c, "", &error), &error);
    assert_ok(read_yaml(&c, "# nothing\n", &error), &error);
    for (size_t i = 0; i < VD_SETTINGS_N; i++)
        assert_null(c.entries[i].origin);
    vd_config_release(&c);
}

static void mistakes_in_the_file_have_a_place(void **state)
{
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"data: x\nlisten: here\n", "v.yaml:2:1: listen wants HOST:PORT with a numeric host"},
        {"listen: 1.2.3.4:65536\n", "v.yaml:1:1: listen wants HOST:PORT"},
        {"listem: off\n", "v.yaml:1:1: there is no setting 'listem' (did you mean 'listen'?)"},
        {"xyzzy: 1\n", "v.yaml:1:1: there is no setting 'xyzzy'"},
        {"watch:\n  timeout-mx: 1h\n",
         "v.yaml:2:3: there is no setting 'watch.timeout-mx' (did you mean 'watch.timeout-max'?)"},
        {"watch.timeout-max: 1h\n", "v.yaml:1:1: 'watch.timeout-max' is two keys"},
        {"\nwatch: 1h\n", "v.yaml:2:1: watch is a group of settings"},
        {"data: {a: b}\n", "v.yaml:1:1: data wants one value (DIR), not object"},
        {"data: [a]\n", "data wants one value (DIR), not array"},
        {"data:\n", "v.yaml:1:1: data wants one value (DIR), not null"},
        {"data: \"a\\nb\"\n", "data wants one line of UTF-8 text"},
        {"store: disk\n", "v.yaml:1:1: store wants sqlite or memory, not 'disk'"},
        {"log: {level: loud}\n", "log.level wants debug, info, warn or error, not 'loud'"},
        {"access-log: maybe\n", "access-log wants on, off or auto, not 'maybe'"},
        {"threads: 257\n", "threads wants 0 to 256, not '257'"},
        {"threads: many\n", "threads wants a number, not 'many'"},
        {"window: {age: 59s}\n", "window.age wants 1m to 3650d, not '59s'"},
        {"window: {age: 5}\n", "window.age wants a time such as 24h, 1m30s or 500ms, not '5'"},
        {"tail: {bytes: 64MB}\n", "tail.bytes wants a size such as 64MiB or 1GiB, not '64MB'"},
        {"tail: {bytes: 1}\n", "tail.bytes wants 1.0 MiB to 1.0 TiB, not '1'"},
        {"kubernetes-version: 1.32\n", "kubernetes-version wants a version of Kubernetes"},
        {"kubernetes-version: v1.32\n", "kubernetes-version wants a version of Kubernetes"},
        {"tls-hosts: [a, '']\n", "tls-hosts wants items with commas between them"},
        {"- a\n", "v.yaml:1:1: the file must be a map of settings, not array"},
        {"data: a\ndata: b\n", "v.yaml:2:1: "},
        {"data: a\n---\nstore: memory\n", "v.yaml:3:1: a second document"},
        {"data: [\n", "v.yaml:"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_config c;
        struct vd_error error;
        vd_config_init(&c);
        if (!read_yaml(&c, cases[i].text, &error))
            fail_msg("%s was taken", cases[i].text);
        assert_says(&error, cases[i].says);
        vd_config_release(&c);
    }
}

/* ---- which wins ---- */

static void later_origins_win(void **state)
{
    char listen[] = "VEDETTE_LISTEN=127.0.0.1:2", level[] = "VEDETTE_LOG_LEVEL=warn";
    char empty[] = "VEDETTE_DATA=", other[] = "HOME=/";
    char *environment[] = {other, listen, level, empty, NULL};
    const char *flags[VD_SETTINGS_N] = {0};
    struct vd_config c;
    struct vd_error error;
    (void)state;
    flags[index_of("log.level")] = "error";
    vd_config_init(&c);
    assert_ok(read_yaml(&c, "data: file\nlisten: 127.0.0.1:1\nlog: {level: debug}\n", &error),
              &error);
    assert_ok(vd_config_load(&c, &(struct vd_config_origins){NULL, environment, flags}, &error),
              &error);
    assert_string_equal(c.data, "file");
    assert_string_equal(c.listen, "127.0.0.1:2");
    assert_int_equal(c.log_level, VD_LOG_ERROR);
    assert_string_equal(c.entries[index_of("data")].origin, "v.yaml:1:1");
    assert_string_equal(c.entries[index_of("listen")].origin, "VEDETTE_LISTEN");
    assert_string_equal(c.entries[index_of("log.level")].origin, "--log-level");
    assert_null(c.entries[index_of("tls-listen")].origin);
    vd_config_release(&c);
}

static void mistakes_elsewhere_have_a_name(void **state)
{
    char threads[] = "VEDETTE_THREADS=x";
    char *environment[] = {threads, NULL};
    const char *flags[VD_SETTINGS_N] = {0};
    struct vd_config c;
    struct vd_error error;
    (void)state;
    vd_config_init(&c);
    assert_code(vd_config_load(&c, &(struct vd_config_origins){NULL, environment, NULL}, &error),
                VD_ERR_INVALID);
    assert_says(&error, "VEDETTE_THREADS wants a number, not 'x'");
    flags[index_of("window.age")] = "1";
    assert_code(vd_config_load(&c, &(struct vd_config_origins){.flags = flags}, &error),
                VD_ERR_INVALID);
    assert_says(&error, "--window-age wants a time");
    assert_code(vd_config_load(&c, &(struct vd_config_origins){.file = "/nowhere/v.yaml"}, &error),
                VD_ERR_NOT_FOUND);
    assert_says(&error, "/nowhere/v.yaml");
    vd_config_release(&c);
}

static void the_environment_may_hold_more(void **state)
{
    char near[] = "VEDETTE_LISTN=x", far[] = "VEDETTE_SERVICE_HOST=10.0.0.1";
    char *environment[] = {near, far, NULL};
    struct vd_config c;
    struct vd_error error;
    (void)state;
    vd_config_init(&c);
    assert_ok(vd_config_read_environment(&c, environment, &error), &error);
    assert_int_equal(c.warnings.n, 1);
    assert_non_null(strstr(c.warnings.p[0], "did you mean VEDETTE_LISTEN?"));
    vd_config_release(&c);
}

/* ---- the whole ---- */

static void rules_of_the_whole(void **state)
{
    static const struct {
        const char *text;
        const char *says; /* the error; NULL: none */
        const char *warns;
    } cases[] = {
        {"listen: 0.0.0.0:8080\n", "listen (v.yaml:1:1) is plain HTTP", NULL},
        {"listen: 192.0.2.1:80\n", "use TLS with tls-listen", NULL},
        {"listen: '[::]:80'\n", "use TLS with tls-listen", NULL},
        {"listen: '[::1]:80'\n", NULL, NULL},
        {"listen: 127.0.0.2:80\n", NULL, NULL},
        {"tls-listen: 0.0.0.0:6443\n", NULL, NULL},
        {"listen: off\n", NULL, NULL},
        {"tls-listen: off\n", NULL, NULL},
        {"listen: off\ntls-listen: off\n",
         "listen (v.yaml:1:1) and tls-listen (v.yaml:2:1) are "
         "both off",
         NULL},
        {"tls-cert: a\n", "tls-cert (v.yaml:1:1) is given without tls-key", NULL},
        {"tls-key: a\n", "tls-key (v.yaml:1:1) is given without tls-cert", NULL},
        {"tls-cert: a\ntls-key: b\n", NULL, NULL},
        {"tls-cert: a\ntls-key: b\ntls-listen: off\n", NULL, "is not used: tls-listen is off"},
        {"tls-cert: a\ntls-key: b\ntls-hosts: c\n", NULL, "tls-cert names its own hosts"},
        {"tls-ca: a\n", NULL, "not used without tls-cert"},
        {"data: ''\n", "data (v.yaml:1:1) is empty", NULL},
        {"watch: {timeout-min: 2h}\n", "is more than watch.timeout-max (default)", NULL},
        {"store: memory\n", NULL, NULL},
        {"store: memory\ndata: d\n", NULL, "objects are lost when the server stops"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_config c;
        struct vd_error error;
        vd_config_init(&c);
        assert_ok(read_yaml(&c, cases[i].text, &error), &error);
        int code = vd_config_check(&c, &error);
        if ((code != 0) != (cases[i].says != NULL))
            fail_msg("%s: %s", cases[i].text, code ? error.text : "was taken");
        if (cases[i].says)
            assert_says(&error, cases[i].says);
        assert_int_equal(c.warnings.n, cases[i].warns != NULL);
        if (cases[i].warns && !strstr(c.warnings.p[0], cases[i].warns))
            fail_msg("%s: %s", cases[i].text, c.warnings.p[0]);
        vd_config_release(&c);
    }
}

static void what_is_printed_reads_back(void **state)
{
    struct vd_config a, b;
    struct vd_error error;
    struct vd_buf text = {0};
    (void)state;
    vd_config_init(&a);
    vd_config_init(&b);
    assert_ok(read_yaml(&a,
                        "data: 'yes # it: is'\nlisten: off\ntls-hosts: [a, b]\n"
                        "watch: {bookmark-period: 1m30s}\naccess-log: off\ntls-cert: '123'\n",
                        &error),
              &error);
    vd_config_write(&a, &text);
    assert_non_null(strstr(vd_buf_text(&text), "\nlisten: off # v.yaml:2:1\n"));
    assert_non_null(strstr(vd_buf_text(&text), "\nwatch:\n  bookmark-period: 1m30s # v.yaml:4:9\n"
                                               "  timeout-min: 30m # default\n"));
    assert_ok(read_yaml(&b, vd_buf_text(&text), &error), &error);
    for (size_t i = 0; i < VD_SETTINGS_N; i++)
        assert_string_equal(a.entries[i].text, b.entries[i].text);
    assert_string_equal(b.data, "yes # it: is");
    assert_null(b.listen);
    assert_string_equal(b.tls_cert, "123");
    vd_buf_release(&text);
    vd_config_release(&a);
    vd_config_release(&b);
}

static void all_mistakes_can_be_had(void **state)
{
    const char *flags[VD_SETTINGS_N] = {0};
    char *environment[] = {(char[]){"VEDETTE_THREADS=x"}, (char[]){"VEDETTE_LISTEN=off"}, NULL};
    struct vd_config_origins origins = {.environment = environment, .flags = flags};
    struct vd_config c;
    (void)state;
    flags[index_of("tls-listen")] = "off";
    flags[index_of("store")] = "paper";
    vd_config_init(&c);
    assert_int_equal(vd_config_load_all(&c, &origins), 3);
    assert_string_equal(c.errors.p[0], "VEDETTE_THREADS wants a number, not 'x'");
    assert_string_equal(c.errors.p[1], "--store wants sqlite or memory, not 'paper'");
    assert_non_null(strstr(c.errors.p[2], "are both off"));
    assert_int_equal(c.threads, 0);
    vd_config_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_mistakes_can_be_had),
        cmocka_unit_test(the_table_is_sound),
        cmocka_unit_test(groups_stand_together),
        cmocka_unit_test(names_follow_from_one),
        cmocka_unit_test(defaults_are_those_of_the_limits),
        cmocka_unit_test(values_are_read),
        cmocka_unit_test(an_empty_file_changes_nothing),
        cmocka_unit_test(mistakes_in_the_file_have_a_place),
        cmocka_unit_test(later_origins_win),
        cmocka_unit_test(mistakes_elsewhere_have_a_name),
        cmocka_unit_test(the_environment_may_hold_more),
        cmocka_unit_test(rules_of_the_whole),
        cmocka_unit_test(what_is_printed_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
