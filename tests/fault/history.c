/* See history.h. */
#include "history.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

static void word(char out[WORD_MAX], struct vd_slice text)
{
    assert(text.n < WORD_MAX);
    memset(out, 0, WORD_MAX);
    memcpy(out, text.p, text.n);
}

void history_release(struct history *history)
{
    VD_VEC_RELEASE(&history->facts);
}

static void body_word(char out[WORD_MAX], const struct vd_body *body, const char *key)
{
    char mark[32];
    int n = snprintf(mark, sizeof mark, "\"%s\":\"", key);
    memset(out, 0, WORD_MAX);
    const char *at = body ? memmem(body->bytes, body->len, mark, (size_t)n) : NULL;
    if (!at)
        return;
    at += n;
    const char *end = memchr(at, '"', (size_t)(body->bytes + body->len - at));
    word(out, vd_slice(at, (size_t)(end - at)));
}

struct fact fact_of(const struct vd_event *event)
{
    struct fact fact = {.revision = event->revision, .type = event->type, .more = event->more};
    word(fact.resource, vd_entry_resource(event->entry));
    word(fact.path, vd_entry_path(event->entry));
    body_word(fact.color, event->body, "color");
    body_word(fact.value, event->body, "value");
    return fact;
}

void history_add(struct history *history, struct fact fact)
{
    size_t n = history->facts.n;
    assert(n == 0 || history->facts.p[n - 1].revision < fact.revision);
    fact.before = 0;
    for (size_t i = n; i > 0 && !fact.before; i--)
        if (strcmp(history->facts.p[i - 1].path, fact.path) == 0 &&
            strcmp(history->facts.p[i - 1].resource, fact.resource) == 0)
            fact.before = i;
    *VD_VEC_PUSH(&history->facts) = fact;
}

size_t history_after(const struct history *history, uint64_t revision)
{
    size_t from = 0, to = history->facts.n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (history->facts.p[middle].revision > revision)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

bool history_is_whole(const struct history *history, uint64_t revision)
{
    size_t after = history_after(history, revision);
    return after == 0 || !history->facts.p[after - 1].more;
}

static int by_path(const void *a, const void *b)
{
    return strcmp((*(struct fact *const *)a)->path, (*(struct fact *const *)b)->path);
}

void history_state(const struct history *history, const char *resource, uint64_t revision,
                   void (*show)(void *arg, const struct fact *fact), void *arg)
{
    VD_VEC(struct fact *) newest = {0};
    for (size_t i = history_after(history, revision); i > 0; i--) {
        struct fact *fact = &history->facts.p[i - 1];
        bool known = strcmp(fact->resource, resource) != 0;
        for (size_t k = 0; k < newest.n && !known; k++)
            known = strcmp(newest.p[k]->path, fact->path) == 0;
        if (!known)
            *VD_VEC_PUSH(&newest) = fact;
    }
    if (newest.n)
        qsort(newest.p, newest.n, sizeof *newest.p, by_path);
    for (size_t i = 0; i < newest.n; i++)
        if (newest.p[i]->type != VD_EVENT_DELETED)
            show(arg, newest.p[i]);
    VD_VEC_RELEASE(&newest);
}

/* ---- streams ---- */

struct vd_filter *want_filter(const struct want *want)
{
    struct vd_filter_spec spec = {.resource = vd_slice_of(want->resource),
                                  .namespace = vd_slice_of(want->namespace),
                                  .name = vd_slice_of(want->name)};
    struct vd_error error;
    char text[64];
    snprintf(text, sizeof text, "color=%s", want->color);
    if (want->color[0] && vd_selector_parse(&spec.labels, vd_slice_of(text), &error))
        abort();
    struct vd_filter *filter = vd_filter_new(&spec);
    vd_selector_unref(spec.labels);
    return filter;
}

struct sight sight_of(const struct vd_delivery *delivery)
{
    struct sight sight = {.revision = delivery->event->revision, .type = (uint8_t)delivery->type};
    word(sight.path, vd_entry_path(delivery->event->entry));
    body_word(sight.value, delivery->body, "value");
    return sight;
}

void stream_release(struct stream *stream)
{
    VD_VEC_RELEASE(&stream->sights);
    VD_VEC_RELEASE(&stream->segments);
    VD_VEC_RELEASE(&stream->bookmarks);
}

void stream_begin(struct stream *stream, bool snapshot, uint64_t from)
{
    *VD_VEC_PUSH(&stream->segments) = (struct segment){
        .snapshot = snapshot,
        .from = from,
        .upto = snapshot ? 0 : from, /* nothing is passed before a snapshot is whole */
        .sights_from = stream->sights.n,
        .sights_live = stream->sights.n,
        .sights_end = stream->sights.n,
    };
}

static struct segment *current(struct stream *stream)
{
    assert(stream->segments.n);
    return &stream->segments.p[stream->segments.n - 1];
}

void stream_see(struct stream *stream, struct sight sight, bool live)
{
    *VD_VEC_PUSH(&stream->sights) = sight;
    current(stream)->sights_end = stream->sights.n;
    if (!live)
        current(stream)->sights_live = stream->sights.n;
}

void stream_pass(struct stream *stream, uint64_t upto)
{
    current(stream)->upto = upto;
}

void stream_bookmark(struct stream *stream, uint64_t revision)
{
    *VD_VEC_PUSH(&stream->bookmarks) = (struct mark){revision, stream->sights.n};
}

bool want_matches(const struct want *want, const struct fact *fact)
{
    const char *slash = strchr(fact->path, '/');
    size_t namespace_len = (size_t)(slash - fact->path);
    return (!want->resource[0] || strcmp(want->resource, fact->resource) == 0) &&
           (!want->namespace[0] || (strlen(want->namespace) == namespace_len &&
                                    memcmp(want->namespace, fact->path, namespace_len) == 0)) &&
           (!want->name[0] || strcmp(want->name, slash + 1) == 0) &&
           (!want->color[0] || strcmp(want->color, fact->color) == 0);
}

bool want_expects(const struct want *want, const struct history *history, const struct fact *fact,
                  struct sight *out)
{
    const struct fact *before = fact->before ? &history->facts.p[fact->before - 1] : NULL;
    bool is = fact->type != VD_EVENT_DELETED && want_matches(want, fact);
    bool was = before && before->type != VD_EVENT_DELETED && want_matches(want, before);
    if (!is && !was)
        return false;
    *out = (struct sight){.revision = fact->revision,
                          .type = !was ? VD_ADDED
                                  : is ? VD_MODIFIED
                                       : VD_DELETED};
    memcpy(out->path, fact->path, WORD_MAX);
    memcpy(out->value, is ? fact->value : before->value, WORD_MAX);
    return true;
}
