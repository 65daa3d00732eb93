/* See guarantees.h. */
#include "guarantees.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "store/snapshot.h"

enum { BREACHES_SHOWN_MAX = 20 };

/* One line for people; the count for the test. */
static size_t VD_PRINTF(2, 3) breach(const char *promise, const char *format, ...)
{
    static size_t shown;
    if (shown++ >= BREACHES_SHOWN_MAX)
        return 1;
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "BREACH of %s: ", promise);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return 1;
}

#define U(number) ((unsigned long long)(number))

size_t check_ordered(const struct history *history, const struct stream *stream)
{
    (void)history;
    size_t bad = 0;
    for (size_t s = 0; s < stream->segments.n; s++) {
        const struct segment *g = &stream->segments.p[s];
        uint64_t last = g->from;
        for (size_t i = g->sights_live; i < g->sights_end; i++) {
            if (stream->sights.p[i].revision <= last)
                bad += breach("Ordered", "stream %d shows revision %llu after %llu", stream->id,
                              U(stream->sights.p[i].revision), U(last));
            last = stream->sights.p[i].revision;
        }
    }
    return bad;
}

/* Parts that follow each other by resuming are one stream; a snapshot starts anew. */
size_t check_unique(const struct history *history, const struct stream *stream)
{
    (void)history;
    size_t bad = 0;
    uint64_t newest = 0;
    for (size_t s = 0; s < stream->segments.n; s++) {
        const struct segment *g = &stream->segments.p[s];
        if (g->snapshot)
            newest = 0;
        for (size_t i = g->sights_live; i < g->sights_end; i++) {
            if (stream->sights.p[i].revision <= newest)
                bad += breach("Unique", "stream %d shows revision %llu again", stream->id,
                              U(stream->sights.p[i].revision));
            newest = stream->sights.p[i].revision;
        }
    }
    return bad;
}

static bool is_seen(const struct stream *stream, const struct segment *g, uint64_t revision)
{
    for (size_t i = g->sights_live; i < g->sights_end; i++)
        if (stream->sights.p[i].revision == revision)
            return true;
    return false;
}

/* Both run in revision order, so the next sight is the one to compare with; the
 * slow search is only for telling what went wrong. */
size_t check_reliable(const struct history *history, const struct stream *stream)
{
    size_t bad = 0;
    for (size_t s = 0; s < stream->segments.n; s++) {
        const struct segment *g = &stream->segments.p[s];
        size_t next = g->sights_live;
        struct sight expected;
        for (size_t i = history_after(history, g->from); i < history->facts.n; i++) {
            const struct fact *fact = &history->facts.p[i];
            if (fact->revision > g->upto)
                break;
            if (!want_expects(&stream->want, history, fact, &expected))
                continue;
            if (next < g->sights_end && stream->sights.p[next].revision == fact->revision)
                next++;
            else if (!is_seen(stream, g, fact->revision))
                bad += breach("Reliable", "stream %d passed %llu without revision %llu of %s",
                              stream->id, U(g->upto), U(fact->revision), fact->path);
        }
    }
    return bad;
}

static const struct fact *fact_at(const struct history *history, uint64_t revision)
{
    size_t at = history_after(history, revision);
    bool found = at > 0 && history->facts.p[at - 1].revision == revision;
    return found ? &history->facts.p[at - 1] : NULL;
}

size_t check_filtered(const struct history *history, const struct stream *stream)
{
    size_t bad = 0;
    for (size_t s = 0; s < stream->segments.n; s++) {
        const struct segment *g = &stream->segments.p[s];
        for (size_t i = g->sights_live; i < g->sights_end; i++) {
            const struct sight *seen = &stream->sights.p[i];
            const struct fact *fact = fact_at(history, seen->revision);
            struct sight expected;
            if (!fact)
                bad += breach("Filtered", "stream %d shows revision %llu, which never was",
                              stream->id, U(seen->revision));
            else if (!want_expects(&stream->want, history, fact, &expected))
                bad += breach("Filtered", "stream %d shows revision %llu, which does not match",
                              stream->id, U(seen->revision));
            else if (expected.type != seen->type || strcmp(expected.path, seen->path) != 0 ||
                     strcmp(expected.value, seen->value) != 0)
                bad += breach("Filtered", "stream %d shows revision %llu as %s %s=%s, not %s %s=%s",
                              stream->id, U(seen->revision), vd_delivery_name(seen->type),
                              seen->path, seen->value, vd_delivery_name(expected.type),
                              expected.path, expected.value);
        }
    }
    return bad;
}

/* The objects of a snapshot, compared one by one with what was shown. */
struct comparison {
    const struct stream *stream;
    const struct segment *segment;
    size_t next;
    size_t bad;
};

static void compare_object(void *arg, const struct fact *fact)
{
    struct comparison *c = arg;
    if (!want_matches(&c->stream->want, fact))
        return;
    const struct sight *seen = c->next < c->segment->sights_live ? &c->stream->sights.p[c->next]
                                                                 : NULL;
    c->next++;
    if (!seen || strcmp(seen->path, fact->path) != 0 || strcmp(seen->value, fact->value) != 0 ||
        seen->revision != fact->revision || seen->type != VD_ADDED)
        c->bad += breach("Atomic", "stream %d: the snapshot at %llu shows %s=%s in place of %s=%s",
                         c->stream->id, U(c->segment->from), seen ? seen->path : "nothing",
                         seen ? seen->value : "", fact->path, fact->value);
}

static size_t check_snapshot(const struct history *history, const struct stream *stream,
                             const struct segment *g)
{
    struct comparison c = {stream, g, g->sights_from, 0};
    if (!history_is_whole(history, g->from))
        c.bad += breach("Atomic", "stream %d: a snapshot at %llu, inside a batch", stream->id,
                        U(g->from));
    if (g->upto < g->from) /* broken off before its end: there is nothing to compare */
        return c.bad;
    history_state(history, stream->want.resource, g->from, compare_object, &c);
    if (c.next < g->sights_live)
        c.bad += breach("Atomic", "stream %d: the snapshot at %llu shows %zu objects too many",
                        stream->id, U(g->from), g->sights_live - c.next);
    return c.bad;
}

size_t check_atomic(const struct history *history, const struct stream *stream)
{
    size_t bad = 0;
    for (size_t i = 0; i < stream->bookmarks.n; i++)
        if (!history_is_whole(history, stream->bookmarks.p[i].revision))
            bad += breach("Atomic", "stream %d: a bookmark at %llu, inside a batch", stream->id,
                          U(stream->bookmarks.p[i].revision));
    for (size_t s = 0; s < stream->segments.n; s++)
        if (stream->segments.p[s].snapshot)
            bad += check_snapshot(history, stream, &stream->segments.p[s]);
    return bad;
}

size_t check_resumable(const struct history *history, const struct stream *stream)
{
    (void)history;
    size_t bad = 0;
    for (size_t s = 1; s < stream->segments.n; s++) {
        const struct segment *last = &stream->segments.p[s - 1], *g = &stream->segments.p[s];
        if (last->expired && !g->snapshot)
            bad += breach("Resumable", "stream %d went on at %llu after it had expired", stream->id,
                          U(g->from));
        if (!g->snapshot && g->from != last->upto)
            bad += breach("Resumable", "stream %d stood at %llu and went on at %llu", stream->id,
                          U(last->upto), U(g->from));
    }
    return bad;
}

size_t check_bookmarkable(const struct history *history, const struct stream *stream)
{
    (void)history;
    size_t bad = 0;
    for (size_t b = 0; b < stream->bookmarks.n; b++) {
        const struct mark *mark = &stream->bookmarks.p[b];
        for (size_t s = 0; s < stream->segments.n; s++) {
            const struct segment *g = &stream->segments.p[s];
            /* The part that the bookmark belongs to. */
            if (mark->sights < g->sights_from || mark->sights > g->sights_end ||
                mark->revision > g->upto || mark->revision < g->from)
                continue;
            for (size_t i = g->sights_live; i < g->sights_end; i++)
                if ((stream->sights.p[i].revision <= mark->revision) != (i < mark->sights))
                    bad += breach("Bookmarkable",
                                  "stream %d shows revision %llu on the wrong side of the "
                                  "bookmark at %llu",
                                  stream->id, U(stream->sights.p[i].revision), U(mark->revision));
        }
    }
    return bad;
}

size_t check_stream(const struct history *history, const struct stream *stream)
{
    return check_ordered(history, stream) + check_unique(history, stream) +
           check_reliable(history, stream) + check_filtered(history, stream) +
           check_atomic(history, stream) + check_resumable(history, stream) +
           check_bookmarkable(history, stream);
}

static bool is_deletion(const struct fact *fact)
{
    return fact->type == VD_EVENT_DELETED;
}

size_t check_durable(const struct history *history, const struct fact *acknowledged, size_t n)
{
    size_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        const struct fact *promised = &acknowledged[i];
        const struct fact *fact = fact_at(history, promised->revision);
        if (!fact)
            bad += breach("Durable", "the acknowledged revision %llu (%s=%s) is gone",
                          U(promised->revision), promised->path, promised->value);
        else if (strcmp(fact->path, promised->path) != 0 ||
                 strcmp(fact->resource, promised->resource) != 0 ||
                 is_deletion(fact) != is_deletion(promised) ||
                 (!is_deletion(fact) && strcmp(fact->value, promised->value) != 0))
            bad += breach("Durable", "revision %llu is %s=%s, but %s=%s was acknowledged",
                          U(promised->revision), fact->path, fact->value, promised->path,
                          promised->value);
    }
    return bad;
}

/* The store's own objects as a stream of one snapshot. */
static size_t check_kind(const struct history *history, struct vd_store *store,
                         const char *resource)
{
    struct stream stream = {.id = -1};
    struct vd_snapshot snapshot;
    struct vd_event *events[64];
    struct vd_error error;
    size_t n, bad = 0;
    snprintf(stream.want.resource, WORD_MAX, "%s", resource);
    if (vd_snapshot_open(&snapshot, store, vd_slice_of(resource), VD_SLICE(""), 0, VD_SLICE(""),
                         &error))
        return breach("Durable", "cannot list %s: %s", resource, error.text);
    stream_begin(&stream, true, snapshot.revision);
    while (!snapshot.done && !bad) {
        if (vd_snapshot_next(&snapshot, events, 64, &n, &error))
            bad += breach("Durable", "cannot list %s: %s", resource, error.text);
        for (size_t i = 0; !bad && i < n; i++) {
            struct vd_delivery as_added = {VD_ADDED, events[i], events[i]->body};
            stream_see(&stream, sight_of(&as_added), false);
            vd_event_unref(events[i]);
        }
    }
    stream_pass(&stream, snapshot.revision);
    vd_snapshot_release(&snapshot);
    bad += check_atomic(history, &stream);
    stream_release(&stream);
    return bad;
}

size_t check_state(const struct history *history, struct vd_store *store)
{
    return check_kind(history, store, "alphas") + check_kind(history, store, "betas");
}
