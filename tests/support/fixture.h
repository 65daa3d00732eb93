/*
 * What tests of the store share: a throw-away folder, a clock that the test
 * moves, and short ways to write and read objects.
 *
 * Bodies made here are small JSON documents with a revision's hole, labels and a
 * value: {"metadata":{"name":"a","labels":{...},"resourceVersion":""},"value":"x"}
 */
#ifndef VD_TESTS_FIXTURE_H
#define VD_TESTS_FIXTURE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"
#include "store/admitted.h"
#include "store/commit.h"
#include "store/folder.h"
#include "store/health.h"
#include "store/log_read.h"
#include "store/store.h"

/* A new empty folder under $TMPDIR or /tmp; the caller removes it. */
char *temp_folder_new(void);
void temp_folder_remove(char *folder); /* with all in it; frees the name */

/* A clock that stands still until it is moved. */
struct test_clock {
    struct vd_clock clock;
    _Atomic int64_t wall_ms;
    _Atomic uint64_t mono_ns;
};
void test_clock_init(struct test_clock *clock, int64_t wall_ms);
void test_clock_advance_ms(struct test_clock *clock, int64_t ms);

/* A body as above; `labels` is the inside of the JSON object, NULL for none. */
struct vd_template test_body(struct vd_buf *room, const char *name, const char *labels,
                             const char *value);

struct vd_key test_key(const char *resource, const char *namespace, const char *name);

/* Writes and waits. The code is the outcome's; *outcome may be NULL. */
int test_put(struct vd_store *store, const char *resource, const char *namespace, const char *name,
             const char *labels, const char *value, struct vd_outcome *outcome);
int test_delete(struct vd_store *store, const char *resource, const char *namespace,
                const char *name, struct vd_outcome *outcome);

/* Writes that must succeed; they return the revision. */
uint64_t put(struct vd_store *store, const char *resource, const char *namespace, const char *name,
             const char *value);
uint64_t put_labelled(struct vd_store *store, const char *resource, const char *namespace,
                      const char *name, const char *labels, const char *value);
uint64_t del(struct vd_store *store, const char *resource, const char *namespace, const char *name);

/* The "value" in a body made above, copied into room; "" if there is none. */
const char *body_value(const struct vd_body *body, char room[64]);

#endif
