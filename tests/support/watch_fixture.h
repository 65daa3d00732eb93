/*
 * What tests of the watch layer share: events made by hand, filters and batches
 * from texts, and deliveries as text.
 */
#ifndef VD_TESTS_WATCH_FIXTURE_H
#define VD_TESTS_WATCH_FIXTURE_H

#include "fixture.h"
#include "store/collection.h"
#include "watch/cursor.h"

/* An event as the store would make it; `json` NULL: its body is lost to damage. */
struct vd_event *test_event(const struct vd_collection *collection, const char *namespace,
                            const char *name, enum vd_event_type type, uint64_t revision,
                            const char *json);

/* A filter; NULL or "": everything. Selectors that do not parse end the test. */
struct filter_texts {
    const char *resource, *namespace, *name, *labels, *fields;
};
struct vd_filter *test_filter(struct filter_texts texts);

/* One change of a batch; `value` NULL deletes. */
struct test_change {
    const char *resource, *namespace, *name, *labels, *value;
};

/* Commits the changes as one atomic batch and gives the revision of the last. */
uint64_t put_batch(struct vd_store *store, const struct test_change *changes, size_t n);

/*
 * Adds "+5 ns/x=one " for each: '+' ADDED, '~' MODIFIED, '-' DELETED, revision, path and value. A
 * body that carries another revision than its delivery shows as "+5(4)", a lost one as "ns/x=?".
 * The resource is not shown: for several, see deliveries_add_bytes().
 */
void deliveries_add_text(struct vd_buf *out, const struct vd_deliveries *deliveries);
void delivery_add_text(struct vd_buf *out, const struct vd_delivery *delivery);

/* Adds a line for each: type, revision, resource, path and every byte of the body. */
void deliveries_add_bytes(struct vd_buf *out, const struct vd_deliveries *deliveries);

/* The resourceVersion in a body, 0 if it has none. */
uint64_t body_revision(const struct vd_body *body);

#endif
