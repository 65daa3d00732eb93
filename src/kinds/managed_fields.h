/*
 * metadata.managedFields: who set which fields of an object.
 *
 * There is one entry for each manager, operation, API version and subresource (for an
 * applier whatever the version). An Update takes what it changes from everybody else; an
 * Apply (object_apply.h) shares what it leaves alone. Entries that own nothing go.
 *
 *     struct vd_managed m;
 *     ok = vd_managed_read(&m, &arena, stored);
 *     vd_managed_update(&m, &who, &changes);
 *     vd_managed_write(&out, &m);
 *
 * An entry's fields stay the bytes that they are stored as until somebody has to take
 * something from them or give something to them; what did not change is written as it
 * was. Nearly every write is a known manager changing fields that it owns already: then
 * no set is read, and only the entry's time is new.
 */
#ifndef VD_KINDS_MANAGED_FIELDS_H
#define VD_KINDS_MANAGED_FIELDS_H

#include "kinds/field_set.h"
#include "kinds/object_fields.h"

enum { VD_UPDATE_MANAGERS_MAX = 10 }; /* as in Kubernetes: older ones become ancient-changes */

struct vd_managed_entry {
    struct vd_slice manager;
    struct vd_slice api_version;
    struct vd_slice time;        /* RFC 3339, UTC; may be empty */
    struct vd_slice subresource; /* may be empty */
    bool applied;                /* Apply, not Update */

    /* Private: see vd_managed_fields_of(). */
    struct vd_slice whole;  /* the entry as it is stored; empty: it has changed */
    struct vd_slice fields; /* its fieldsV1; empty: see `set` */
    const struct vd_field_set *set;
    bool is_read;
};

struct vd_managed {
    struct vd_arena *arena;
    struct vd_managed_entry *p;
    size_t n, cap;
    bool changed; /* since it was read */
};

/* Who writes, and when. */
struct vd_managed_who {
    struct vd_slice manager;
    struct vd_slice api_version;
    struct vd_slice subresource;
    struct vd_slice time;
};

/* Reads a list that vd_managed_write() made; empty bytes are none. Everything is borrowed
 * from `json` and the arena. */
void vd_managed_read(struct vd_managed *m, struct vd_arena *a, struct vd_slice json);

/* Reads a list that a client has sent. False: it is none that can be kept. */
bool vd_managed_take(struct vd_managed *m, struct vd_arena *a,
                     const struct vd_json *list) VD_MUST_USE;

/* Does a client that sends this list want the record wiped? [] and [{}] say so. */
bool vd_managed_is_reset(const struct vd_json *list);

/* Whether two lists that vd_managed_write() made say the same but for the times of their entries.
 */
bool vd_managed_is_same(struct vd_arena *a, struct vd_slice one, struct vd_slice other);

/* Adds the list; nothing if there are no entries. */
void vd_managed_write(struct vd_buf *out, const struct vd_managed *m);

/* The changes are this manager's, and were not asked about. */
void vd_managed_update(struct vd_managed *m, const struct vd_managed_who *who,
                       const struct vd_field_changes *changes);

/* ---- for object_apply.c ---- */

/* The entry of this manager, or NULL. */
struct vd_managed_entry *vd_managed_find(struct vd_managed *m, const struct vd_managed_who *who,
                                         bool applied);

/* The entry's set, read if it has not been. */
const struct vd_field_set *vd_managed_fields_of(struct vd_managed *m, struct vd_managed_entry *e);

/* A new entry; pointers to others are no longer good. */
struct vd_managed_entry *vd_managed_add(struct vd_managed *m, const struct vd_managed_who *who,
                                        bool applied);

/* Gives the entry another set; an empty one stays until vd_managed_tidy(). */
void vd_managed_set(struct vd_managed *m, struct vd_managed_entry *e,
                    const struct vd_field_set *set);

void vd_managed_stamp(struct vd_managed *m, struct vd_managed_entry *e, struct vd_slice time);

/* Drops entries that own nothing and puts the others in order. */
void vd_managed_tidy(struct vd_managed *m);

#endif
