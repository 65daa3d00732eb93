/* src/base/log.c: order, levels, and what happens when the writer is slow. */
#include "base/log.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "check.h"

/* Collects lines; while `held`, its write does not return. */
struct sink {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t changed;
    struct vd_buf text;
    size_t lines;
    bool held;
    bool waiting; /* a write is being held */
};

static void sink_write(void *arg, const char *line, size_t n)
{
    struct sink *sink = arg;
    pthread_mutex_lock(&sink->lock);
    while (sink->held) {
        sink->waiting = true;
        pthread_cond_broadcast(&sink->changed);
        pthread_cond_wait(&sink->changed, &sink->lock);
    }
    vd_buf_add(&sink->text, line, n);
    sink->lines++;
    pthread_cond_broadcast(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
}

static void sink_hold(struct sink *sink, bool held)
{
    pthread_mutex_lock(&sink->lock);
    sink->held = held;
    pthread_cond_broadcast(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
}

static void sink_await_lines(struct sink *sink, size_t lines)
{
    pthread_mutex_lock(&sink->lock);
    while (sink->lines < lines)
        pthread_cond_wait(&sink->changed, &sink->lock);
    pthread_mutex_unlock(&sink->lock);
}

static void sink_await_waiting(struct sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    while (!sink->waiting)
        pthread_cond_wait(&sink->changed, &sink->lock);
    pthread_mutex_unlock(&sink->lock);
}

static int64_t zero_wall_ms(const struct vd_clock *clock)
{
    (void)clock;
    return 0;
}

static const struct vd_clock zero_clock = {.wall_ms = zero_wall_ms};

static void start(struct sink *sink, enum vd_log_level level)
{
    *sink = (struct sink){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    const struct vd_log_options options = {
        .level = level, .write = sink_write, .arg = sink, .clock = &zero_clock};
    vd_log_start(&options);
}

#define HEAD "time=1970-01-01T00:00:00.000Z "

static void stop_writes_what_is_queued_in_order(void **state)
{
    (void)state;
    struct sink sink;
    start(&sink, VD_LOG_INFO);
    vd_log_info("one");
    vd_log_warn("two", VD_F_U64("n", 2));
    vd_log_error("three", VD_F_STR("a", "b"), VD_F_BOOL("c", true));
    vd_log_stop();
    assert_string_equal(vd_buf_text(&sink.text),
                        HEAD "level=info msg=one\n" HEAD "level=warn msg=two n=2\n" HEAD
                             "level=error msg=three a=b c=true\n");
    vd_buf_release(&sink.text);
}

static unsigned evaluated;

static const char *count_evaluation(void)
{
    evaluated++;
    return "x";
}

static void events_below_the_level_cost_nothing(void **state)
{
    (void)state;
    struct sink sink;
    start(&sink, VD_LOG_WARN);
    evaluated = 0;
    vd_log_debug("no", VD_F_STR("x", count_evaluation()));
    vd_log_info("no", VD_F_STR("x", count_evaluation()));
    vd_log_warn("yes", VD_F_STR("x", count_evaluation()));
    vd_log_stop();
    assert_int_equal(sink.lines, 1);
    assert_int_equal(evaluated, 1);
    vd_buf_release(&sink.text);
}

static void json_lines_are_whole_objects(void **state)
{
    (void)state;
    struct sink sink = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    const struct vd_log_options options = {
        .format = VD_LOG_JSON, .write = sink_write, .arg = &sink, .clock = &zero_clock};
    vd_log_start(&options);
    vd_log_info("one", VD_F_I64("n", -1));
    vd_log_stop();
    assert_string_equal(vd_buf_text(&sink.text),
                        "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"info\",\"msg\":\"one\","
                        "\"n\":-1}\n");
    vd_buf_release(&sink.text);
}

/* One line is in the writer's hands, the ring is full, and `lost` more are logged. */
static void overfill(struct sink *sink, size_t lost)
{
    sink_hold(sink, true);
    vd_log_info("first");
    sink_await_waiting(sink);
    for (size_t i = 0; i < VD_LOG_QUEUE_MAX + lost; i++)
        vd_log_info("more", VD_F_U64("i", i));
    sink_hold(sink, false);
    sink_await_lines(sink, 1 + VD_LOG_QUEUE_MAX);
}

static void a_full_queue_drops_lines_and_the_next_one_tells(void **state)
{
    (void)state;
    struct sink sink;
    start(&sink, VD_LOG_INFO);
    overfill(&sink, 5);
    vd_log_info("next");
    vd_log_info("last");
    vd_log_stop();
    assert_int_equal(sink.lines, 1 + VD_LOG_QUEUE_MAX + 2);
    assert_non_null(strstr(vd_buf_text(&sink.text), "msg=more i=4095\n"));
    assert_null(strstr(vd_buf_text(&sink.text), "i=4096"));
    assert_true(vd_slice_ends_with(
        vd_buf_slice(&sink.text),
        VD_SLICE("level=info msg=next dropped=5\n" HEAD "level=info msg=last\n")));
    vd_buf_release(&sink.text);
}

static void stop_tells_of_drops_that_no_line_followed(void **state)
{
    (void)state;
    struct sink sink;
    start(&sink, VD_LOG_INFO);
    overfill(&sink, 3);
    vd_log_stop();
    assert_true(
        vd_slice_ends_with(vd_buf_slice(&sink.text),
                           VD_SLICE("level=warn msg=\"log lines were dropped\" dropped=3\n")));
    vd_buf_release(&sink.text);
}

enum { THREADS = 4, EACH = 500 };

static void *log_many(void *name)
{
    for (uint64_t i = 0; i < EACH; i++)
        vd_log_info("work", VD_F_STR("thread", name), VD_F_U64("i", i));
    return NULL;
}

static void lines_of_many_threads_stay_whole(void **state)
{
    (void)state;
    struct sink sink;
    start(&sink, VD_LOG_INFO);
    static char names[THREADS][2] = {"a", "b", "c", "d"};
    pthread_t threads[THREADS];
    for (size_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, log_many, names[t]), 0);
    for (size_t t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    vd_log_stop();
    assert_int_equal(sink.lines, THREADS * EACH);
    uint64_t next[THREADS] = {0};
    struct vd_slice rest = vd_buf_slice(&sink.text), line;
    while (vd_slice_cut(&rest, '\n', &line) && line.n) {
        size_t t = 0;
        for (; t < THREADS; t++) {
            char want[128];
            snprintf(want, sizeof want, HEAD "level=info msg=work thread=%s i=%llu", names[t],
                     (unsigned long long)next[t]);
            if (vd_slice_is(line, want))
                break;
        }
        assert_true(t < THREADS); /* it is the next line of some thread */
        next[t]++;
    }
    vd_buf_release(&sink.text);
}

/* Runs `log` with stderr going to a pipe, and gives what came out. */
static void with_stderr(void (*log)(void), char *out, size_t out_n)
{
    int ends[2], saved = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    log();
    dup2(saved, STDERR_FILENO);
    close(saved);
    ssize_t n = read(ends[0], out, out_n - 1);
    close(ends[0]);
    out[n > 0 ? n : 0] = 0;
}

static void log_directly(void)
{
    vd_log_warn("direct");
}

static void without_a_thread_lines_go_to_stderr_at_once(void **state)
{
    (void)state;
    char out[256];
    with_stderr(log_directly, out, sizeof out);
    assert_non_null(strstr(out, "level=warn msg=direct\n"));
    struct sink sink;
    start(&sink, VD_LOG_INFO);
    vd_log_stop();
    with_stderr(log_directly, out, sizeof out);
    assert_non_null(strstr(out, "level=warn msg=direct\n"));
    assert_int_equal(sink.lines, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_thread_lines_go_to_stderr_at_once),
        cmocka_unit_test(stop_writes_what_is_queued_in_order),
        cmocka_unit_test(events_below_the_level_cost_nothing),
        cmocka_unit_test(json_lines_are_whole_objects),
        cmocka_unit_test(a_full_queue_drops_lines_and_the_next_one_tells),
        cmocka_unit_test(stop_tells_of_drops_that_no_line_followed),
        cmocka_unit_test(lines_of_many_threads_stay_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
