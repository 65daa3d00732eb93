/* Lists over HTTP: compressed, in pieces, and never too much of one in a turn. */
#include "face_check.h"

#include <zlib.h>

static const char list[] = "/api/v1/namespaces/a/configmaps";

/* n objects, every hundredth with another label, in one commit. */
static void fill(size_t n)
{
    struct vd_wish *wishes = vd_calloc(n, sizeof *wishes);
    char(*names)[16] = vd_calloc(n, sizeof *names);
    struct vd_buf *bodies = vd_calloc(n, sizeof *bodies);
    struct vd_outcome outcome;
    for (size_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "c-%05zu", i);
        vd_buf_addf(&bodies[i],
                    "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\","
                    "\"namespace\":\"a\",\"labels\":{\"app\":\"%s\"},\"resourceVersion\":\"\"}}",
                    names[i], i % 100 ? "web" : "db");
        wishes[i] = (struct vd_wish){
            .key = test_key("configmaps", "a", names[i]),
            .body = {vd_buf_slice(&bodies[i]), (uint32_t)(bodies[i].n - 3)},
        };
    }
    assert_ok(vd_store_commit(face.store, wishes, n, &outcome), &outcome.error);
    for (size_t i = 0; i < n; i++)
        vd_buf_release(&bodies[i]);
    free(bodies);
    free(names);
    free(wishes);
}

static void unpack(const struct vd_buf *packed, struct vd_buf *out)
{
    z_stream z = {0};
    int rc = inflateInit2(&z, 15 + 16);
    assert_int_equal(rc, Z_OK);
    z.next_in = (unsigned char *)packed->p;
    z.avail_in = (unsigned)packed->n;
    while (rc == Z_OK) {
        vd_buf_reserve(out, 65536);
        z.next_out = (unsigned char *)out->p + out->n;
        z.avail_out = 65536;
        rc = inflate(&z, Z_NO_FLUSH);
        out->n += 65536 - z.avail_out;
    }
    assert_int_equal(rc, Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    inflateEnd(&z);
    vd_buf_add(out, "", 1);
    out->n--;
}

static void large_lists_are_compressed_where_that_is_allowed(void **state)
{
    static const struct {
        const char *query, *fields;
        bool zipped;
    } cases[] = {
        {"", "Accept-Encoding: gzip\r\n", true},
        {"", "Accept-Encoding: deflate\r\nAccept-Encoding: br, gzip;q=0.5\r\n", true},
        {"", "", false},
        {"", "Accept-Encoding: gzip;q=0, *;q=0\r\n", false},
        {"", "Accept-Encoding: gzip\r\nAccept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n",
         true},
        {"", "Accept-Encoding: gzip\r\nAccept: application/yaml\r\n", true},
        {"?limit=2000", "Accept-Encoding: gzip\r\n", true},
        {"?limit=10", "Accept-Encoding: gzip\r\n", false},
        {"?labelSelector=app%3Ddb", "Accept-Encoding: gzip\r\n", false},
    };
    (void)state;
    fill(3000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char target[256], fields[256];
        const char *accept = strstr(cases[i].fields, "Accept: ");
        snprintf(target, sizeof target, "%s%s", list, cases[i].query);
        snprintf(fields, sizeof fields, "%s", accept ? accept : "");
        struct answer plain = face_ask("GET", target, fields, "", 200);
        struct answer a = face_ask("GET", target, cases[i].fields, "", 200);
        struct vd_buf body = {0};
        const char *head = vd_buf_text(&a.head);
        assert_null(strstr(vd_buf_text(&plain.head), "Content-Encoding"));
        assert_int_equal(strstr(head, "Content-Encoding: gzip\r\n") != NULL, cases[i].zipped);
        assert_int_equal(strstr(head, "Vary: Accept-Encoding\r\n") != NULL, cases[i].zipped);
        if (cases[i].zipped) {
            assert_true(a.body.n * 4 < plain.body.n);
            unpack(&a.body, &body);
        } else {
            vd_buf_add_slice(&body, vd_buf_slice(&a.body));
        }
        assert_int_equal(body.n, plain.body.n);
        assert_memory_equal(body.p, plain.body.p, plain.body.n);
        vd_buf_release(&body);
        answer_release(&a);
        answer_release(&plain);
    }
}

/* ---- whether ---- */

/* Two other users who come in every turn: pieces are small then. */
static struct {
    struct vd_turn_hook hook;
    struct vd_lane lanes[2];
} crowd;

static bool come_in(struct vd_turn_hook *hook)
{
    (void)hook;
    for (size_t i = 0; i < 2; i++)
        if (vd_turnstile_enter(&face.api_loop.turnstile, &crowd.lanes[i]))
            vd_turnstile_leave(&face.api_loop.turnstile, &crowd.lanes[i]);
    return false;
}

static void add_crowd(struct server *s, void *arg)
{
    (void)arg;
    crowd.hook = (struct vd_turn_hook){.run = come_in};
    vd_loop_hook(&s->loops[0], &crowd.hook);
}

/* One object whose data is so long. */
static void put_padded(size_t pad)
{
    struct vd_buf text = {0};
    struct vd_wish wish = {.key = test_key("configmaps", "b", "c")};
    struct vd_outcome outcome;
    vd_buf_add_text(&text, "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"data\":{\"k\":\"");
    for (size_t i = 0; i < pad; i++)
        vd_buf_add_char(&text, 'x');
    vd_buf_add_text(&text, "\"},\"metadata\":{\"name\":\"c\",\"namespace\":\"b\","
                           "\"resourceVersion\":\"\"}}");
    wish.body = (struct vd_template){vd_buf_slice(&text), (uint32_t)(text.n - 3)};
    assert_ok(vd_store_commit(face.store, &wish, 1, &outcome), &outcome.error);
    vd_buf_release(&text);
}

/* The length of the answer; whether it is compressed must go by that alone. */
static size_t compressed_by_length(const char *target)
{
    struct answer plain = face_ask("GET", target, "", "", 200);
    struct answer a = face_ask("GET", target, "Accept-Encoding: gzip\r\n", "", 200);
    size_t len = plain.body.n;
    assert_int_equal(strstr(vd_buf_text(&a.head), "Content-Encoding: gzip") != NULL,
                     len > VD_GZIP_BODY_LEN_MIN);
    answer_release(&plain);
    answer_release(&a);
    return len;
}

static void compression_does_not_go_by_how_busy_the_server_is(void **state)
{
    static const char padded[] = "/api/v1/namespaces/b/configmaps";
    char few[128], page[128];
    (void)state;
    fill(3000); /* each a hundred bytes or so */
    on_loop(&face.server, add_crowd, NULL);
    snprintf(few, sizeof few, "%s?labelSelector=app%%3Ddb", list);
    snprintf(page, sizeof page, "%s?limit=2999", list);
    assert_true(compressed_by_length(few) < VD_GZIP_BODY_LEN_MIN);
    assert_true(compressed_by_length(list) > VD_GZIP_BODY_LEN_MIN);
    assert_true(compressed_by_length(page) > VD_GZIP_BODY_LEN_MIN);
    put_padded(0);
    size_t pad = VD_GZIP_BODY_LEN_MIN - compressed_by_length(padded);
    for (size_t more = 0; more < 2; more++) {
        put_padded(pad + more);
        assert_int_equal(compressed_by_length(padded), VD_GZIP_BODY_LEN_MIN + more);
    }
}

static void large_objects_are_compressed_too(void **state)
{
    struct vd_buf text = {0}, body = {0};
    struct vd_wish wish = {.key = test_key("configmaps", "a", "big")};
    struct vd_outcome outcome;
    (void)state;
    vd_buf_add_text(&text, "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"data\":{\"k\":\"");
    for (int i = 0; i < 50000; i++)
        vd_buf_addf(&text, "%d ", i);
    vd_buf_add_text(&text, "\"},\"metadata\":{\"name\":\"big\",\"namespace\":\"a\","
                           "\"resourceVersion\":\"\"}}");
    wish.body = (struct vd_template){vd_buf_slice(&text), (uint32_t)(text.n - 3)};
    assert_ok(vd_store_commit(face.store, &wish, 1, &outcome), &outcome.error);
    struct answer a = face_ask("GET", "/api/v1/namespaces/a/configmaps/big",
                               "Accept-Encoding: gzip\r\n", "", 200);
    assert_non_null(strstr(vd_buf_text(&a.head), "Content-Encoding: gzip\r\n"));
    unpack(&a.body, &body);
    assert_non_null(strstr(vd_buf_text(&body), " 49999 "));
    answer_release(&a);
    vd_buf_release(&body);
    vd_buf_release(&text);
}

static void a_watch_is_never_compressed(void **state)
{
    struct client c;
    (void)state;
    fill(3000);
    client_open(&c, &face.server);
    face_send(&c, "GET", "/api/v1/namespaces/a/configmaps?watch=1&timeoutSeconds=60",
              "Accept-Encoding: gzip\r\n", "");
    client_expect(&c, "\r\n\r\n");
    client_expect(&c, "\"name\":\"c-02999\"");
    client_vanish(&c);
    wait_for_connections(&face.server, 0);
}

/* ---- turns ---- */

static struct {
    struct vd_turn_hook hook;
    _Atomic size_t n;
} turns;

static bool count_turn(struct vd_turn_hook *hook)
{
    (void)hook;
    atomic_fetch_add(&turns.n, 1);
    return false;
}

static void add_hook(struct server *s, void *arg)
{
    (void)arg;
    turns.hook.run = count_turn;
    vd_loop_hook(&s->loops[0], &turns.hook);
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

/* 20,000 objects are looked at for a few: not in one turn. */
static void a_selective_list_lets_others_have_their_turn(void **state)
{
    static const struct {
        const char *query, *fields;
        size_t items;
    } cases[] = {
        {"?labelSelector=app%3Dnone", "", 0},
        {"?labelSelector=app%3Dnone", "Accept-Encoding: gzip\r\n", 0},
        {"?labelSelector=app%3Ddb", "", 200},
        {"?labelSelector=app%3Ddb", "Accept-Encoding: gzip\r\n", 200},
        {"?labelSelector=app%3Ddb&limit=190", "", 190},
        {"?labelSelector=app%3Dnone&limit=5", "", 0},
        {"?labelSelector=app%3Ddb&pretty=true", "", 200},
    };
    (void)state;
    fill(20000);
    on_loop(&face.server, add_hook, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char target[256];
        snprintf(target, sizeof target, "%s%s", list, cases[i].query);
        size_t before = atomic_load(&turns.n);
        struct answer a = face_ask("GET", target, cases[i].fields, "", 200);
        assert_true(atomic_load(&turns.n) - before >= 2); /* its last turn may still be running */
        assert_int_equal(count_of(vd_buf_text(&a.body), "\"c-"), cases[i].items);
        assert_non_null(strstr(vd_buf_text(&a.body), "ConfigMapList"));
        answer_release(&a);
    }
}

/* The client leaves while its list is looked for. */
static void who_leaves_stops_the_search(void **state)
{
    (void)state;
    fill(20000);
    for (int i = 0; i < 20; i++) {
        struct client c;
        client_open(&c, &face.server);
        face_send(&c, "GET",
                  i % 2 ? "/api/v1/configmaps?labelSelector=app%3Dnone"
                        : "/api/v1/configmaps?labelSelector=app%3Dnone&limit=1",
                  "", "");
        client_vanish(&c);
    }
    wait_for_connections(&face.server, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_face, close_face)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(large_lists_are_compressed_where_that_is_allowed),
        TEST(compression_does_not_go_by_how_busy_the_server_is),
        TEST(large_objects_are_compressed_too),
        TEST(a_watch_is_never_compressed),
        TEST(a_selective_list_lets_others_have_their_turn),
        TEST(who_leaves_stops_the_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
