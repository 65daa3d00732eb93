/* Streams without a wire: what they share, how they wait, and why they end. */
#include "api/stream.h"

#include "api/read.h"
#include "api_fixture.h"
#include "check.h"
#include "gatekeeper_fixture.h"

enum { STREAMS = 3 };

static struct api_fixture api;
static struct vd_filter *filter;
static _Atomic size_t encodings; /* by all streams */

static struct client {
    struct vd_api_stream stream;
    enum vd_stream_start start;
    uint64_t revision;
    size_t waits; /* bytes that the client has not taken */
    bool awaited; /* it is to be told when they have left */
    bool initial_end;
    enum vd_stream_end why;
    _Atomic size_t events, bookmarks, ended;
} clients[STREAMS];

static struct client *client_of(const struct vd_api_stream *s)
{
    return (struct client *)(uintptr_t)s;
}

static enum vd_frame_result encode(struct vd_api_stream *s, struct vd_event_frame *frame,
                                   struct vd_buf *out, const struct vd_deliveries *d, bool served,
                                   bool on_loop)
{
    (void)s, (void)d, (void)served, (void)on_loop;
    encodings++;
    vd_event_frame_begin(frame, out);
    vd_buf_add_text(out, "events");
    vd_event_frame_end(frame);
    return VD_FRAME_GOOD;
}

static void send_events(struct vd_api_stream *s, const struct vd_event_frame *frame,
                        const struct vd_deliveries *d)
{
    assert_int_equal(frame->parts.n, 1);
    client_of(s)->events += d->list.n;
}

static void bookmark(struct vd_api_stream *s, uint64_t revision, bool initial_end)
{
    assert_true(revision > 0);
    client_of(s)->initial_end |= initial_end;
    client_of(s)->bookmarks++;
}

static size_t backlog(const struct vd_api_stream *s)
{
    return client_of(s)->waits;
}

static void await_drain(struct vd_api_stream *s)
{
    client_of(s)->awaited = true;
}

static struct vd_access access_of(const struct vd_api_stream *s)
{
    return (struct vd_access){.user = api.user,
                              .verb = VD_SLICE("watch"),
                              .group = s->kind->group,
                              .resource = s->kind->plural};
}

static void ended(struct vd_api_stream *s, const struct vd_stream_ending *ending)
{
    client_of(s)->why = ending->why;
    client_of(s)->ended++;
}

static const struct vd_stream_ops ops = {.encode = encode,
                                         .send = send_events,
                                         .bookmark = bookmark,
                                         .backlog = backlog,
                                         .await_drain = await_drain,
                                         .access = access_of,
                                         .ended = ended};

static void open_client(void *arg)
{
    struct client *c = arg;
    struct vd_error error;
    struct vd_stream_options o = {.ops = &ops,
                                  .kind = api.kind,
                                  .kinds_generation = vd_kind_set_generation(api.kinds),
                                  .filter = filter,
                                  .start = c->start,
                                  .revision = c->revision,
                                  .bookmark_ms = 60000};
    assert_ok(vd_api_stream_open(&c->stream, &api.api, &o, &error), &error);
}

static void leave(void *arg)
{
    vd_api_stream_leave(&((struct client *)arg)->stream);
}

static void stop_reading(void *arg)
{
    ((struct client *)arg)->waits = 1 << 20;
}

static void drain(void *arg)
{
    struct client *c = arg;
    assert_true(c->awaited);
    c->waits = 0;
    vd_api_stream_drained(&c->stream);
}

static int set_up(void **state)
{
    struct vd_arena arena = {0};
    struct vd_error error;
    (void)state;
    api_open(&api, 0);
    encodings = 0;
    for (size_t i = 0; i < STREAMS; i++)
        clients[i] = (struct client){.start = VD_STREAM_SNAPSHOT};
    assert_ok(vd_api_filter(&filter, &(struct vd_selection){.kind = api.kind}, &arena, &error),
              &error);
    vd_arena_release(&arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    vd_filter_unref(filter);
    api_close(&api);
    return 0;
}

/* Opens it, and waits until it has been told that the snapshot is over. */
static void open_synced(struct client *c)
{
    api_do(&api, open_client, c);
    api_wait_for(&c->bookmarks, 1);
    assert_true(c->initial_end);
}

static void equal_streams_share_one_encoding(void **state)
{
    (void)state;
    for (size_t i = 0; i < STREAMS; i++)
        open_synced(&clients[i]);
    assert_int_equal(encodings, 0);
    api_put(&api, "a", "");
    for (size_t i = 0; i < STREAMS; i++)
        api_wait_for(&clients[i].events, 1);
    assert_int_equal(encodings, 1);
    for (size_t i = 0; i < STREAMS; i++)
        api_do(&api, leave, &clients[i]);
}

static void a_snapshot_comes_first(void **state)
{
    (void)state;
    api_put(&api, "a", "");
    api_put(&api, "b", "");
    open_synced(&clients[0]);
    assert_int_equal(clients[0].events, 2);
    api_do(&api, leave, &clients[0]);
}

static void one_that_does_not_read_takes_no_more_and_loses_nothing(void **state)
{
    (void)state;
    open_synced(&clients[0]);
    open_synced(&clients[1]);
    api_do(&api, stop_reading, &clients[0]);
    for (int i = 0; i < 5; i++)
        api_put(&api, "a", "");
    api_wait_for(&clients[1].events, 5);
    assert_int_equal(clients[0].events, 0);
    api_do(&api, drain, &clients[0]);
    api_wait_for(&clients[0].events, 5);
    api_do(&api, leave, &clients[0]);
    api_do(&api, leave, &clients[1]);
}

static void one_whose_right_is_taken_away_ends(void **state)
{
    (void)state;
    open_synced(&clients[0]);
    struct vd_rbac *rules = rules_for_all("\"get\"");
    vd_gatekeeper_fix(api.env.gatekeeper, rules);
    vd_rbac_unref(rules);
    api_wait_for(&clients[0].ended, 1);
    assert_int_equal(clients[0].why, VD_STREAM_END_FORBIDDEN);
}

static void drain_all(void *arg)
{
    (void)arg;
    vd_api_streams_drain(&api.api, 10);
}

static void streams_end_in_time_when_the_server_stops(void **state)
{
    (void)state;
    for (size_t i = 0; i < STREAMS; i++)
        open_synced(&clients[i]);
    api_do(&api, drain_all, NULL);
    for (size_t i = 0; i < STREAMS; i++) {
        api_wait_for(&clients[i].ended, 1);
        assert_int_equal(clients[i].why, VD_STREAM_END_TIMEOUT);
        assert_int_equal(clients[i].bookmarks, 2); /* the last one says where to go on */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_streams_share_one_encoding, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_snapshot_comes_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_does_not_read_takes_no_more_and_loses_nothing,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_whose_right_is_taken_away_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(streams_end_in_time_when_the_server_stops, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
