/*
 * What happened, as a test recorded it: the facts of the log, and what each
 * stream was shown. The guarantees (guarantees.h) are checked over this, so
 * nothing here asks the store a second time.
 *
 * Objects are few on purpose, so that writers collide: two kinds, two namespaces,
 * ten names. Every write carries a value that no other write carries.
 */
#ifndef VD_TESTS_HISTORY_H
#define VD_TESTS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "store/admitted.h"
#include "store/folder.h"
#include "watch/filter.h"

enum { WORD_MAX = 24 };

/* One event of the log. Fixed size: it goes through a pipe as it is. */
struct fact {
    uint64_t revision;
    uint8_t type; /* enum vd_event_type */
    bool more;
    char resource[WORD_MAX];
    char path[WORD_MAX];  /* namespace/name */
    char color[WORD_MAX]; /* the label "color", or empty */
    char value[WORD_MAX];
    size_t before; /* 1 + the place of the object's fact before; 0: none */
};

struct history {
    VD_VEC(struct fact) facts; /* in revision order */
};

void history_release(struct history *history);

/* A fact from an event, for one that is not in a history yet. */
struct fact fact_of(const struct vd_event *event);

/* Adds the next fact; its revision must be the greatest. */
void history_add(struct history *history, struct fact fact);

/* The place of the first fact behind a revision. */
size_t history_after(const struct history *history, uint64_t revision);

/* Whether a revision is where an atomic batch ends (or lies between batches). */
bool history_is_whole(const struct history *history, uint64_t revision);

/* Calls `show` for every object that exists at a revision, in path order. */
void history_state(const struct history *history, const char *resource, uint64_t revision,
                   void (*show)(void *arg, const struct fact *fact), void *arg);

/* ---- streams ---- */

/* What a stream asks for; empty words ask for everything. */
struct want {
    char resource[WORD_MAX];
    char namespace[WORD_MAX];
    char name[WORD_MAX];
    char color[WORD_MAX];
};

struct vd_filter *want_filter(const struct want *want);

/* One delivery that a stream was shown. Fixed size, like a fact. */
struct sight {
    uint64_t revision;
    uint8_t type; /* enum vd_delivery_type */
    char path[WORD_MAX];
    char value[WORD_MAX];
};

struct sight sight_of(const struct vd_delivery *delivery);

/* Where a part of a stream starts and what it passed. */
struct segment {
    bool snapshot; /* starts with the objects as of `from` */
    bool expired;  /* ended with "expired"; the next one starts with a snapshot */
    uint64_t from;
    uint64_t upto; /* passed */
    size_t sights_from;
    size_t sights_live; /* where the snapshot's objects end */
    size_t sights_end;
};

struct mark {
    uint64_t revision;
    size_t sights; /* how many sights came before it */
};

struct stream {
    int id;
    struct want want;
    VD_VEC(struct sight) sights;
    VD_VEC(struct segment) segments;
    VD_VEC(struct mark) bookmarks;
};

void stream_release(struct stream *stream);

/* A new part begins: resumed behind a revision, or with a snapshot of one. */
void stream_begin(struct stream *stream, bool snapshot, uint64_t from);

/* Deliveries of the current part; `live` is false for a snapshot's objects. */
void stream_see(struct stream *stream, struct sight sight, bool live);

/* The current part has passed a revision. */
void stream_pass(struct stream *stream, uint64_t upto);

void stream_bookmark(struct stream *stream, uint64_t revision);

/* Whether a fact's object matches, and what the stream must be shown of a fact:
 * true and the sight, or false. */
bool want_matches(const struct want *want, const struct fact *fact);
bool want_expects(const struct want *want, const struct history *history, const struct fact *fact,
                  struct sight *out);

#endif
