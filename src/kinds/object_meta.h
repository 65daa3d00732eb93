/*
 * metadata of a decoded object: names, labels, finalizers, owners.
 *
 * vd_meta_check() looks at the types once, when an object comes in. The readers
 * then find a value or nothing: what is missing, null or of another type is an
 * empty text, 0 or false. What they give is borrowed from the document.
 *
 * The writers make metadata if there is none; an object whose metadata is
 * something else has to be refused first, by vd_meta_check(). They copy what
 * they are given into the arena. An empty value takes the field away.
 */
#ifndef VD_KINDS_OBJECT_META_H
#define VD_KINDS_OBJECT_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"
#include "store/key.h"
#include "json/document.h"

/* VD_ERR_INVALID when the object is none, or a field of its metadata that the
 * server reads has the wrong type; the sentence names the field. Null stands for
 * "not there" everywhere but inside labels, annotations and lists. */
int vd_meta_check(const struct vd_json *object, struct vd_error *error) VD_MUST_USE;

/* A null for the value of a label or an annotation is the empty string, as Go reads it. */
void vd_meta_fill_texts(struct vd_json *object);

/* Takes out maps and lists of the metadata that have nothing in them, as Kubernetes does: who
 * removes the last label writes what was there before the first. */
void vd_meta_drop_empty(struct vd_json *object);

/* --- reading --- */

/* The text of metadata.<field>. */
struct vd_slice vd_meta_text(const struct vd_json *object, struct vd_slice field);

static inline struct vd_slice vd_meta_name(const struct vd_json *object)
{
    return vd_meta_text(object, VD_SLICE("name"));
}

static inline struct vd_slice vd_meta_generate_name(const struct vd_json *object)
{
    return vd_meta_text(object, VD_SLICE("generateName"));
}

static inline struct vd_slice vd_meta_namespace(const struct vd_json *object)
{
    return vd_meta_text(object, VD_SLICE("namespace"));
}

static inline struct vd_slice vd_meta_resource_version(const struct vd_json *object)
{
    return vd_meta_text(object, VD_SLICE("resourceVersion"));
}

static inline struct vd_slice vd_meta_creation_timestamp(const struct vd_json *object)
{
    return vd_meta_text(object, VD_SLICE("creationTimestamp"));
}

static inline struct vd_slice vd_meta_deletion_timestamp(const struct vd_json *object)
{
    return vd_meta_text(object, VD_SLICE("deletionTimestamp"));
}

static inline bool vd_meta_is_deleting(const struct vd_json *object)
{
    return vd_meta_deletion_timestamp(object).n > 0;
}

/* metadata.uid; none (all zeros) if it is missing or no uid at all. */
struct vd_uid vd_meta_uid(const struct vd_json *object);

int64_t vd_meta_generation(const struct vd_json *object);

/* False if there is no such label (annotation). */
bool vd_meta_label(const struct vd_json *object, struct vd_slice key, struct vd_slice *value);
bool vd_meta_annotation(const struct vd_json *object, struct vd_slice key, struct vd_slice *value);

/* The maps and lists themselves, for VD_JSON_EACH; NULL if they are not there. */
const struct vd_json *vd_meta_labels(const struct vd_json *object);
const struct vd_json *vd_meta_annotations(const struct vd_json *object);
const struct vd_json *vd_meta_finalizers(const struct vd_json *object);
const struct vd_json *vd_meta_owners(const struct vd_json *object);

/* The bytes of the annotations, keys and values, which VD_ANNOTATIONS_LEN_MAX bounds. */
size_t vd_meta_annotations_len(const struct vd_json *annotations);

bool vd_meta_has_finalizer(const struct vd_json *object, struct vd_slice name);

struct vd_owner {
    struct vd_slice api_version;
    struct vd_slice kind;
    struct vd_slice name;
    struct vd_slice uid;
    bool controller;
    bool block_owner_deletion;
};

/* One item of vd_meta_owners(). */
struct vd_owner vd_owner_read(const struct vd_json *item);

/* The owner that is the object's controller; false if it has none. */
bool vd_meta_controller(const struct vd_json *object, struct vd_owner *out);

/* --- writing --- */

void vd_meta_set_text(struct vd_arena *a, struct vd_json *object, struct vd_slice field,
                      struct vd_slice text);

static inline void vd_meta_set_name(struct vd_arena *a, struct vd_json *object,
                                    struct vd_slice name)
{
    vd_meta_set_text(a, object, VD_SLICE("name"), name);
}

static inline void vd_meta_set_namespace(struct vd_arena *a, struct vd_json *object,
                                         struct vd_slice namespace)
{
    vd_meta_set_text(a, object, VD_SLICE("namespace"), namespace);
}

static inline void vd_meta_set_resource_version(struct vd_arena *a, struct vd_json *object,
                                                struct vd_slice version)
{
    vd_meta_set_text(a, object, VD_SLICE("resourceVersion"), version);
}

/* A uid of zeros takes it away. */
void vd_meta_set_uid(struct vd_arena *a, struct vd_json *object, struct vd_uid uid);

/* 0 takes it away. */
void vd_meta_set_generation(struct vd_arena *a, struct vd_json *object, int64_t generation);

void vd_meta_set_creation_timestamp(struct vd_arena *a, struct vd_json *object, int64_t ms);

/* With deletionGracePeriodSeconds, which is always there while an object is
 * being deleted. */
void vd_meta_set_deletion(struct vd_arena *a, struct vd_json *object, int64_t ms, int64_t grace_s);

/* An empty value is a value here. */
void vd_meta_set_label(struct vd_arena *a, struct vd_json *object, struct vd_slice key,
                       struct vd_slice value);
void vd_meta_set_annotation(struct vd_arena *a, struct vd_json *object, struct vd_slice key,
                            struct vd_slice value);

/* False if the object did not have it. A map that gets empty goes too. */
bool vd_meta_remove_label(struct vd_json *object, struct vd_slice key);
bool vd_meta_remove_annotation(struct vd_json *object, struct vd_slice key);

/* False if it was there already. */
bool vd_meta_add_finalizer(struct vd_arena *a, struct vd_json *object, struct vd_slice name);

/* All of that name. False if there was none. A list that gets empty goes too. */
bool vd_meta_remove_finalizer(struct vd_json *object, struct vd_slice name);

/* Appends an owner, or replaces the one with its uid. */
void vd_meta_set_owner(struct vd_arena *a, struct vd_json *object, const struct vd_owner *owner);

/*
 * What an update takes over from the stored object, before it is checked: the uid
 * and the grace period if the client sent none; the generation and the times
 * whatever it sent, so that a client can neither set nor unset them. New values
 * live in the arena.
 */
void vd_meta_inherit(struct vd_arena *arena, struct vd_json *object, const struct vd_json *old);

#endif
