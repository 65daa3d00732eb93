/* Watches over HTTP: the forms that they come in. */
#include "face_check.h"

#include "base/base64.h"

#define INITIAL                                                                                    \
    "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&"           \
    "timeoutSeconds=60"
#define AS(kind) "Accept: application/json;as=" kind ";v=v1;g=meta.k8s.io\r\n"

/* Receives up to the end of the line that has this; the line. */
static char *line_with(struct client *c, const char *text)
{
    struct vd_buf *in = &c->in;
    for (;;) {
        const char *found = in->n ? strstr(vd_buf_text(in), text) : NULL;
        const char *end = found ? strchr(found, '\n') : NULL;
        if (end) {
            const char *begin = found;
            while (begin > in->p && begin[-1] != '\n')
                begin--;
            return strndup(begin, (size_t)(end - begin));
        }
        if (!client_receive(c))
            fail_msg("it ended without %s: %s", text, vd_buf_text(in));
    }
}

static void leave(struct client *c)
{
    client_vanish(c);
    wait_for_connections(&face.server, 0);
}

/* What client-go 1.32 and 1.33 begin a list with. */
static void the_end_of_initial_events_has_a_blueprint(void **state)
{
    static const struct {
        const char *accept, *list;
    } cases[] = {
        {"", "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[]}\n"},
        {AS("PartialObjectMetadata"),
         "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\","
         "\"metadata\":{},\"items\":[]}\n"},
        {"Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json\r\n",
         "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[]}\n"},
    };
    static const char key[] = "\"kubernetes.io/initial-events-list-blueprint\":\"";
    (void)state;
    put_config("a", "c", "web", "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client c;
        struct vd_buf list = {0};
        client_open(&c, &face.server);
        face_send(&c, "GET", "/api/v1/configmaps?watch=1&" INITIAL, cases[i].accept, "");
        char *line = line_with(&c, "\"k8s.io/initial-events-end\":\"true\"");
        char *from = strstr(line, key);
        assert_non_null(from);
        from += sizeof key - 1;
        struct vd_slice text = vd_slice(from, strcspn(from, "\""));
        assert_int_equal(vd_base64_decode(&list, text, VD_BASE64_STANDARD), 0);
        assert_slice(vd_buf_slice(&list), cases[i].list);
        vd_buf_release(&list);
        free(line);
        leave(&c);
    }
}

/* A client that lists by watching looks for the end in the object, which a Table has in its rows.
 */
static void a_watch_list_is_never_one_of_tables(void **state)
{
    static const char table[] = AS("Table");
    static const char both[] = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,"
                               "application/json;as=Table;v=v1beta1;g=meta.k8s.io,"
                               "application/json\r\n";
    static const struct {
        const char *query;
        bool table;
    } cases[] = {
        {INITIAL, false},
        {"allowWatchBookmarks=true", false},
        {"allowWatchBookmarks=true&resourceVersion=0", false},
        {"allowWatchBookmarks=true&resourceVersion=1", true},
        {"allowWatchBookmarks=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
         true},
        {"resourceVersion=0", true},
        {"sendInitialEvents=true&resourceVersionMatch=NotOlderThan", true},
    };
    (void)state;
    put_config("a", "b", "web", "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[256];
        struct client c;
        snprintf(path, sizeof path, "/api/v1/configmaps?watch=1&timeoutSeconds=60&%s",
                 cases[i].query);
        if (!cases[i].table) {
            struct answer a = face_ask("GET", path, table, "", 406);
            assert_non_null(strstr(vd_buf_text(&a.body), "\"reason\":\"NotAcceptable\""));
            answer_release(&a);
        }
        client_open(&c, &face.server);
        face_send(&c, "GET", path, both, "");
        client_expect(&c, "\r\n\r\n");
        char name[16];
        snprintf(name, sizeof name, "c-%zu", i);
        put_config("a", name, "web", "");
        char *line = line_with(&c, "\"type\"");
        if (!strstr(line, cases[i].table ? "\"Table\"" : "\"kind\":\"ConfigMap\""))
            fail_msg("%s: %s", path, line);
        free(line);
        leave(&c);
    }
}

static void the_old_paths_have_every_form(void **state)
{
    static const char *const paths[] = {
        "/api/v1/watch/configmaps?timeoutSeconds=60",
        "/api/v1/watch/namespaces/a/configmaps?timeoutSeconds=60",
        "/api/v1/watch/namespaces/a/configmaps/c?timeoutSeconds=60",
    };
    static const struct {
        const char *accept, *begin, *shows;
    } forms[] = {
        {"", "{\"type\":\"ADDED\",\"object\":{\"kind\":\"ConfigMap\",", "\"name\":\"c\""},
        {AS("Table"), "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Table\",",
         "\"rows\":[{\"cells\":[\"c\","},
        {AS("PartialObjectMetadata"),
         "{\"type\":\"ADDED\",\"object\":{\"kind\":\"PartialObjectMetadata\",", "\"name\":\"c\""},
    };
    (void)state;
    put_config("a", "c", "web", "");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
            struct client c;
            client_open(&c, &face.server);
            face_send(&c, "GET", paths[i], forms[k].accept, "");
            char *line = line_with(&c, "\"ADDED\"");
            if (strncmp(line, forms[k].begin, strlen(forms[k].begin)) != 0 ||
                !strstr(line, forms[k].shows))
                fail_msg("%s: %s", paths[i], line);
            free(line);
            leave(&c);
        }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_face, close_face)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_end_of_initial_events_has_a_blueprint),
        TEST(a_watch_list_is_never_one_of_tables),
        TEST(the_old_paths_have_every_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
