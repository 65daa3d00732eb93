/*
 * PartialObjectMetadata: an object without its spec, for clients that watch names,
 * labels and owners only.
 *
 *     {"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{...}}
 *
 * metadata is copied from the stored bytes as it stands there; nothing is decoded.
 * Bodies are those of the store (json/span.h says what that means). Pure functions.
 *
 *     struct vd_partial_list list;
 *     vd_partial_list_begin(&list, out, VD_META_V1, &meta);
 *     vd_partial_list_add(&list, out, body);      any number, into any buffer
 *     vd_partial_list_end(&list, out);
 */
#ifndef VD_KUBE_PARTIAL_H
#define VD_KUBE_PARTIAL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"
#include "kube/list_meta.h"

/* The versions of meta.k8s.io in which Tables and partial objects are asked for. */
enum vd_meta_version {
    VD_META_V1,
    VD_META_V1BETA1,
};

/* "meta.k8s.io/v1" and so on. */
const char *vd_meta_version_name(enum vd_meta_version version);

/* The object at metadata in the bytes of an object; "{}" if there is none. */
struct vd_slice vd_partial_metadata(struct vd_slice body);

/* Adds the partial object of a body: the answer to GET and the object of a watch
 * event. A bookmark is an object too, and loses nothing. */
void vd_partial_write(struct vd_buf *out, enum vd_meta_version version, struct vd_slice body);

struct vd_partial_list {
    enum vd_meta_version version;
    bool started; /* a comma comes before the next item */
};

void vd_partial_list_begin(struct vd_partial_list *list, struct vd_buf *out,
                           enum vd_meta_version version, const struct vd_list_meta *meta);
void vd_partial_list_add(struct vd_partial_list *list, struct vd_buf *out, struct vd_slice body);
void vd_partial_list_end(struct vd_partial_list *list, struct vd_buf *out);

#endif
