/*
 * The promises of docs/guarantees.md as checkers over a recorded history.
 *
 * Each checker looks for breaches of one promise, reports every breach through
 * `breach` and returns how many it found. They are independent: one bad record
 * may breach several promises.
 */
#ifndef VD_TESTS_GUARANTEES_H
#define VD_TESTS_GUARANTEES_H

#include "history.h"

/* A stream delivers events in revision order. */
size_t check_ordered(const struct history *history, const struct stream *stream);

/* Within one stream no event is delivered twice, also over a resume. */
size_t check_unique(const struct history *history, const struct stream *stream);

/* No event that matches is left out between revisions that a stream has passed. */
size_t check_reliable(const struct history *history, const struct stream *stream);

/* What is shown is shown as what the filter makes of it: ADDED, MODIFIED, DELETED
 * with the right bytes; nothing is shown that does not match. */
size_t check_filtered(const struct history *history, const struct stream *stream);

/* No snapshot and no bookmark falls inside an atomic batch, and a snapshot shows
 * exactly the state at its revision, in path order. */
size_t check_atomic(const struct history *history, const struct stream *stream);

/* A resumed part starts where the last one stood; one that expired is followed by
 * a snapshot. */
size_t check_resumable(const struct history *history, const struct stream *stream);

/* Everything up to a bookmark came before it, everything behind it afterwards. */
size_t check_bookmarkable(const struct history *history, const struct stream *stream);

/* All of the above. */
size_t check_stream(const struct history *history, const struct stream *stream);

/* Every acknowledged write is in the log at its revision with its value. Whether
 * it created or updated is the log's to say; that it deleted, or not, is not. */
size_t check_durable(const struct history *history, const struct fact *acknowledged, size_t n);

/* The newest state of the store is what the log adds up to. */
size_t check_state(const struct history *history, struct vd_store *store);

#endif
