/*
 * What /readyz and clients are told while the store cannot write, over HTTP, with the store on a
 * simulated disk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "fixture.h"
#include "net_client.h"
#include "server/health.h"
#include "sim_disk.h"

static struct {
    struct sim_disk *disk;
    struct vd_health_endpoint endpoint;
    struct server server;
} t;

static void handle(struct vd_http_service *service, struct vd_exchange *x)
{
    (void)service;
    assert_true(vd_health_answer(&t.endpoint, x));
}

static int setup(void **state)
{
    struct vd_error error;
    (void)state;
    t.disk = sim_disk_new(NULL);
    struct vd_folder folder = {.path = "/a/secret/folder", .vfs = sim_disk_vfs(t.disk)};
    assert_ok(vd_store_open_in(&t.endpoint.store, &folder, NULL, &error), &error);
    put(t.endpoint.store, "things", "ns", "first", "1");
    server_init(&t.server, 1, NULL);
    t.server.route.handle = handle;
    server_start(&t.server);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    server_stop(&t.server);
    vd_store_close(t.endpoint.store);
    return sim_disk_free(t.disk);
}

/* The status of a GET, whose body must have this in it. */
static unsigned get(const char *target, const char *part)
{
    struct client c;
    struct answer a = {0};
    char request[256];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target);
    client_open(&c, &t.server);
    client_send(&c, request);
    client_answer(&c, &a, false);
    unsigned status = a.status;
    if (part && !strstr(vd_buf_text(&a.body), part))
        fail_msg("%s: no \"%s\" in: %s", target, part, vd_buf_text(&a.body));
    answer_release(&a);
    client_close(&c);
    return status;
}

/* Asks for /readyz until it says so; nobody writes meanwhile. */
static void await_ready(void)
{
    struct timespec now, pause = {.tv_nsec = 20 * 1000 * 1000};
    clock_gettime(CLOCK_MONOTONIC, &now);
    time_t deadline = now.tv_sec + TEST_DEADLINE_S;
    while (get("/readyz", NULL) != 200) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        assert_true(now.tv_sec < deadline);
        nanosleep(&pause, NULL);
    }
}

/* Writes something too large for what is left. */
static int fill_up(struct vd_outcome *outcome)
{
    static char value[1000000];
    memset(value, 'x', sizeof value - 1);
    return test_put(t.endpoint.store, "things", "ns", "large", NULL, value, outcome);
}

static void a_full_disk_is_not_ready_until_there_is_room(void **state)
{
    struct vd_outcome outcome;
    (void)state;
    assert_int_equal(get("/readyz?verbose", "[+]store ok"), 200);
    sim_disk_space(t.disk, sim_disk_used(t.disk));
    assert_int_equal(fill_up(&outcome), VD_ERR_FULL);
    assert_int_equal(get("/readyz", "[-]store failed: reason withheld"), 503);
    assert_int_equal(get("/readyz/store", "[-]store failed"), 503);
    assert_int_equal(get("/livez?verbose", "[+]store ok"), 200); /* a restart makes no room */
    assert_int_equal(get("/healthz", "ok"), 200);
    sim_disk_space(t.disk, SIM_SPACE_UNLIMITED);
    await_ready();
    assert_int_equal(fill_up(&outcome), VD_OK);
}

static void it_stays_so_while_the_disk_is_full(void **state)
{
    struct vd_outcome outcome;
    struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    (void)state;
    sim_disk_space(t.disk, sim_disk_used(t.disk));
    assert_int_equal(fill_up(&outcome), VD_ERR_FULL);
    /* Until the store has looked for room once more, by itself. */
    uint64_t writes = sim_disk_calls(t.disk, SIM_WRITE);
    for (int i = 0; i < TEST_DEADLINE_S * 50 && sim_disk_calls(t.disk, SIM_WRITE) == writes; i++)
        nanosleep(&pause, NULL);
    assert_true(sim_disk_calls(t.disk, SIM_WRITE) > writes);
    assert_int_equal(get("/readyz", "[-]store failed"), 503);
}

static void no_message_has_a_path(void **state)
{
    struct vd_outcome outcome;
    struct vd_health health;
    (void)state;
    sim_disk_space(t.disk, sim_disk_used(t.disk));
    assert_int_equal(fill_up(&outcome), VD_ERR_FULL);
    assert_says(&outcome.error, "log.db: database or disk is full");
    assert_null(strstr(outcome.error.text, "secret"));
    sim_disk_space(t.disk, SIM_SPACE_UNLIMITED);
    sim_disk_fail(t.disk, (struct sim_fault){.op = SIM_SYNC, .at = 1, .how = SIM_EIO});
    assert_int_equal(fill_up(&outcome), VD_ERR_IO);
    assert_says(&outcome.error, "log.db");
    assert_null(strstr(outcome.error.text, "secret"));
    assert_int_equal(fill_up(&outcome), VD_ERR_READ_ONLY);
    assert_null(strstr(outcome.error.text, "secret"));
    vd_store_health(t.endpoint.store, &health);
    assert_null(strstr(health.error.text, "secret"));
    assert_int_equal(get("/livez", "[-]store failed"), 503);
}

static void memory_that_runs_short_passes(void **state)
{
    struct vd_outcome outcome;
    struct vd_health health;
    (void)state;
    sqlite3_int64 before = sqlite3_hard_heap_limit64(sqlite3_memory_used());
    int code = fill_up(&outcome);
    sqlite3_hard_heap_limit64(before);
    assert_int_equal(code, VD_ERR_MEMORY);
    vd_store_health(t.endpoint.store, &health);
    assert_true(health.short_of_memory && !health.read_only);
    assert_int_equal(get("/livez", "ok"), 200);
    await_ready();
    assert_int_equal(fill_up(&outcome), VD_OK);
    vd_store_health(t.endpoint.store, &health);
    assert_true(!health.short_of_memory && health.error.code == VD_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_full_disk_is_not_ready_until_there_is_room),
        TEST(it_stays_so_while_the_disk_is_full),
        TEST(no_message_has_a_path),
        TEST(memory_that_runs_short_passes),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
