/*
 * What watchers must see, computed from the whole log in a slow and simple way.
 *
 * A *trace* is what one watcher was told, in order. The model replays the log over
 * an array of objects, decides for a *view* what each change looks like, and checks
 * a trace against that, by the names of the guarantees. It shares no code with
 * src/watch: labels are read from the objects' values, which spell them out.
 */
#ifndef VD_TESTS_WATCH_MODEL_H
#define VD_TESTS_WATCH_MODEL_H

#include "watch_fixture.h"

enum {
    MODEL_KINDS = 2,
    MODEL_SPACES = 3,
    MODEL_NAMES = 5,
    MODEL_OBJECTS = MODEL_KINDS * MODEL_SPACES * MODEL_NAMES,
    MODEL_APPS = 3,  /* none, web, db */
    MODEL_TIERS = 3, /* none, 1, 2 */
    MODEL_LABEL_CASES = 8,
    MODEL_FIELD_CASES = 4,
};

/* The key of an object by its number; numbers are in path order within a resource. */
struct vd_key watch_model_key(unsigned object);

/* A body of the object that spells out its labels in its value. */
struct vd_template watch_model_body(struct vd_buf *room, unsigned object, unsigned app,
                                    unsigned tier, unsigned number);

/* What a watcher watches; -1: any. */
struct view {
    int resource, namespace, name;
    unsigned labels, fields; /* numbers of the label and field selectors that watch_model.c lists */
};
struct filter_texts view_texts(const struct view *view);

enum mark_type {
    MARK_START,        /* the stream begins after `revision` */
    MARK_SNAPSHOT,     /* the stream begins with the state as of `revision` */
    MARK_ITEM,         /* an object of that snapshot */
    MARK_SNAPSHOT_END, /* the last object of the snapshot was given */
    MARK_EVENT,        /* a delivery: `word` is its type */
    MARK_UPTO,         /* deliveries reach up to here: `word` says whether whole */
    MARK_BOOKMARK,     /* the revision that vd_watcher_bookmark() gives */
    MARK_EXPIRED,      /* the stream ended; it stood at `revision`, the floor is in `hash` */
    MARK_FAILED,       /* it ended with another code, in `word` */
};

struct mark {
    uint8_t type;
    uint8_t word;
    uint64_t revision;
    uint64_t hash; /* of the key and every byte of the body */
};

struct trace {
    VD_VEC(struct mark) marks;
};

/* The hash that stands for a key and a body. */
uint64_t mark_hash(const struct vd_entry *entry, struct vd_slice body);

struct model_event {
    uint64_t revision;
    bool more; /* more events of the batch follow */
    bool live;
    unsigned object, app, tier;
    uint64_t hash;        /* of the object as the event leaves it */
    uint64_t hash_before; /* of what it replaced, with this event's revision in it */
    long before;          /* the number of the event that it replaced; -1: none */
};

struct watch_model {
    VD_VEC(struct model_event) events;
    long newest[MODEL_OBJECTS];            /* each object's newest event; -1: it does not exist */
    struct vd_body *bodies[MODEL_OBJECTS]; /* the bodies of the objects that exist */
};

void watch_model_init(struct watch_model *model);
void watch_model_release(struct watch_model *model);

/* Adds the log's next event to the model. */
void watch_model_add(struct watch_model *model, const struct vd_event *event);

/* Whether the trace, which ends when all up to `last` was read, is what the view
 * must see. If not, prints which guarantee is broken, and where. */
bool watch_model_check(const struct watch_model *model, const struct view *view,
                       const struct trace *trace, uint64_t last, const char *who);

#endif
