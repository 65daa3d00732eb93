/*
 * Watchers that write down what they are given, for tests of the registry.
 *
 * The text is that of deliveries_add_text(), with "| " at a snapshot's end and
 * "!expired " when the watcher ended. What the registry promises of every call of
 * deliver() is checked on the way.
 */
#ifndef VD_TESTS_WATCHER_RECORD_H
#define VD_TESTS_WATCHER_RECORD_H

#include "cursor_setting.h"
#include "watch/registry.h"

/* What the group's first watcher leaves for the others: a text. */
struct record_shared {
    struct vd_shared shared;
    struct vd_buf text;
};

struct record {
    struct vd_watcher watcher; /* first: the registry gives a pointer to it */
    struct record *prev, *next;
    struct vd_buf text;
    enum vd_take answer;    /* what deliver() answers next... */
    enum vd_take then;      /* ...and after that */
    struct record *resumes; /* another one that it resumes from inside deliver() */
    size_t calls, ended;    /* of deliver() and ended() */
    size_t found_shared;    /* calls in which somebody had left a text */
    uint64_t upto;          /* how far the last deliveries reached */
    bool whole;
};

/* Texts that records have left for their groups, and how many of them are freed. */
extern size_t record_shared_made, record_shared_freed;

enum { FROM_NOW = 0 };
#define FROM_SNAPSHOT UINT64_MAX

/* A new watcher that takes everything, in the registry; from a revision, from now,
 * or with a snapshot. */
struct record *record_new(struct vd_registry *registry, struct vd_store *store,
                          struct filter_texts texts, uint64_t from);

/* Takes the record's watcher out of the registry, if it is in there, and frees the record. */
void record_free(struct record *record);

/* Frees all records that a test has left, because it failed or had no more use for them. */
void records_free(void);

/* The text so far; it starts anew afterwards. Borrowed until the next delivery. */
const char *record_take(struct record *record);

#endif
