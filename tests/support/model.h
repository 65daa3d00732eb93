/*
 * The store as a list of all versions there ever were, searched from end to end: slow, but simple
 * enough to be obviously right. Tests compare the real store with it.
 *
 * States and logs are compared as text. A list is "path=value@revision " for each
 * object; a log is "revision:type:path=value<before " for each event, where
 * "<-" says that there was no object before.
 */
#ifndef VD_TESTS_MODEL_H
#define VD_TESTS_MODEL_H

#include "base/buf.h"
#include "base/vec.h"
#include "store/store.h"

struct model_version {
    uint64_t revision;
    enum vd_event_type type;
    bool more; /* more versions of the same batch follow */
    char resource[16];
    char path[32]; /* "namespace/name" */
    char value[32];
};

struct model {
    VD_VEC(struct model_version) versions; /* by revision */
    uint64_t first;                        /* the revision of the empty store */
    uint64_t floor;
};

void model_init(struct model *m, uint64_t first);
void model_release(struct model *m);

/* The newest revision; and the end of the batch that a revision is in. */
uint64_t model_newest(const struct model *m);
uint64_t model_batch_end(const struct model *m, uint64_t revision);

/* The object as of a revision, or NULL when it did not exist. */
const struct model_version *model_at(const struct model *m, const char *resource, const char *path,
                                     uint64_t revision);

/* Adds a version that was written. value NULL: a deletion, which keeps the last value. */
void model_add(struct model *m, uint64_t revision, const char *resource, const char *path,
               const char *value, bool more);

/* Moves the model's floor to where the store's is after a compaction up to `target`. */
void model_compact(struct model *m, uint64_t target);

/* Adds the objects of a resource under a prefix whose paths come after `after`; returns their
 * number. */
size_t model_list(const struct model *m, const char *resource, const char *prefix,
                  const char *after, uint64_t revision, struct vd_buf *out);

/* Adds the events of a resource ("": of all) with after < revision <= upto. */
void model_log(const struct model *m, const char *resource, uint64_t after, uint64_t upto,
               struct vd_buf *out);

/* The same text of what the store gave. Bodies that do not carry their event's
 * revision are marked with "!". */
void model_show_object(struct vd_buf *out, const struct vd_event *event);
void model_show_change(struct vd_buf *out, const struct vd_change *change);

#endif
