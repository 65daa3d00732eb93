/*
 * The checkers themselves: a good record passes, and each kind of bad record is
 * caught by the promise that it breaks. A checker that cannot complain proves
 * nothing.
 */
#include "guarantees.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

/* Revisions 2 to 7: a, b; then the batch 4-5 (a again, c); b turns blue; a goes. */
static void tell_history(struct history *history)
{
    static const struct fact facts[] = {
        {2, VD_EVENT_CREATED, false, "alphas", "n1/a", "red", "1", 0},
        {3, VD_EVENT_CREATED, false, "alphas", "n1/b", "red", "2", 0},
        {4, VD_EVENT_UPDATED, true, "alphas", "n1/a", "red", "3", 0},
        {5, VD_EVENT_CREATED, false, "alphas", "n1/c", "blue", "4", 0},
        {6, VD_EVENT_UPDATED, false, "alphas", "n1/b", "blue", "5", 0},
        {7, VD_EVENT_DELETED, false, "alphas", "n1/a", "red", "3", 0},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        history_add(history, facts[i]);
}

/* A watcher of red alphas: a snapshot at 3, then on to 5, a break, and on to 7. */
static void tell_stream(struct stream *stream)
{
    *stream = (struct stream){.id = 1, .want = {.resource = "alphas", .color = "red"}};
    stream_begin(stream, true, 3);
    stream_see(stream, (struct sight){2, VD_ADDED, "n1/a", "1"}, false);
    stream_see(stream, (struct sight){3, VD_ADDED, "n1/b", "2"}, false);
    stream_pass(stream, 3);
    stream_bookmark(stream, 3);
    stream_see(stream, (struct sight){4, VD_MODIFIED, "n1/a", "3"}, true);
    stream_pass(stream, 5);
    stream_bookmark(stream, 5);
    stream_begin(stream, false, 5);
    stream_see(stream, (struct sight){6, VD_DELETED, "n1/b", "2"}, true);
    stream_see(stream, (struct sight){7, VD_DELETED, "n1/a", "3"}, true);
    stream_pass(stream, 7);
    stream_bookmark(stream, 7);
}

static void swap_last_sights(struct stream *s)
{
    struct sight sight = s->sights.p[3];
    s->sights.p[3] = s->sights.p[4];
    s->sights.p[4] = sight;
}

static void repeat_over_the_resume(struct stream *s)
{
    s->sights.p[3] = s->sights.p[2];
}

static void leave_one_out(struct stream *s)
{
    s->sights.n = 4;
    s->segments.p[1].sights_end = 4;
    s->bookmarks.n = 2;
}

static void say_modified_for_leaving(struct stream *s)
{
    s->sights.p[3].type = VD_MODIFIED;
}

static void show_the_new_bytes_on_leaving(struct stream *s)
{
    snprintf(s->sights.p[3].value, WORD_MAX, "5");
}

static void show_what_does_not_match(struct stream *s)
{
    s->sights.p[2] = (struct sight){5, VD_ADDED, "n1/c", "4"};
}

static void bookmark_inside_the_batch(struct stream *s)
{
    s->bookmarks.p[1].revision = 4;
}

static void snapshot_inside_the_batch(struct stream *s)
{
    s->segments.p[0].from = 4;
}

static void snapshot_without_an_object(struct stream *s)
{
    s->segments.p[0].sights_live = 1;
}

static void resume_behind_a_gap(struct stream *s)
{
    s->segments.p[1].from = 6;
}

static void resume_after_expiry(struct stream *s)
{
    s->segments.p[0].expired = true;
}

static void event_before_a_bookmark_that_covers_it_not(struct stream *s)
{
    s->bookmarks.p[2] = (struct mark){6, 5};
}

static void event_behind_a_bookmark_that_covers_it(struct stream *s)
{
    s->bookmarks.p[2] = (struct mark){7, 4};
}

static void a_good_record_passes(void **state)
{
    (void)state;
    struct history history = {0};
    struct stream stream;
    tell_history(&history);
    tell_stream(&stream);
    assert_int_equal(check_stream(&history, &stream), 0);
    stream_release(&stream);
    history_release(&history);
}

typedef size_t checker(const struct history *history, const struct stream *stream);

static void each_broken_promise_is_caught(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*spoil)(struct stream *stream);
        checker *check;
    } cases[] = {
        {"order", swap_last_sights, check_ordered},
        {"repeat", repeat_over_the_resume, check_unique},
        {"omission", leave_one_out, check_reliable},
        {"wrong type", say_modified_for_leaving, check_filtered},
        {"wrong bytes", show_the_new_bytes_on_leaving, check_filtered},
        {"no match", show_what_does_not_match, check_filtered},
        {"bookmark in a batch", bookmark_inside_the_batch, check_atomic},
        {"snapshot in a batch", snapshot_inside_the_batch, check_atomic},
        {"incomplete snapshot", snapshot_without_an_object, check_atomic},
        {"gap", resume_behind_a_gap, check_resumable},
        {"resume after expiry", resume_after_expiry, check_resumable},
        {"bookmark too low", event_before_a_bookmark_that_covers_it_not, check_bookmarkable},
        {"bookmark too high", event_behind_a_bookmark_that_covers_it, check_bookmarkable},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct history history = {0};
        struct stream stream;
        tell_history(&history);
        tell_stream(&stream);
        cases[i].spoil(&stream);
        if (cases[i].check(&history, &stream) == 0)
            fail_msg("%s: not caught", cases[i].name);
        stream_release(&stream);
        history_release(&history);
    }
}

static void lost_and_changed_writes_are_caught(void **state)
{
    (void)state;
    struct history history = {0};
    tell_history(&history);
    struct fact good[] = {history.facts.p[0], history.facts.p[5]};
    assert_int_equal(check_durable(&history, good, 2), 0);
    struct fact lost = good[0], changed = good[0], undeleted = good[1];
    lost.revision = 8;
    snprintf(changed.value, WORD_MAX, "other");
    undeleted.type = VD_EVENT_UPDATED;
    assert_int_equal(check_durable(&history, &lost, 1), 1);
    assert_int_equal(check_durable(&history, &changed, 1), 1);
    assert_int_equal(check_durable(&history, &undeleted, 1), 1);
    history_release(&history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_record_passes),
        cmocka_unit_test(each_broken_promise_is_caught),
        cmocka_unit_test(lost_and_changed_writes_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
