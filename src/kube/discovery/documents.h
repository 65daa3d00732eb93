/*
 * The documents about the API - discovery and OpenAPI - ready to send.
 *
 * A document is made once for each generation of the registry, when somebody
 * first asks for it, and then shared by all loops as immutable bytes.
 *
 *     enum vd_document_form form;
 *     if (!vd_document_form_of(path, &accept, arena, &form))
 *         answer 406
 *     struct vd_document *d = vd_documents_get(documents, set, path, form);
 *     if (!d)
 *         answer 404
 *     if (vd_document_matches_etag(d, if_none_match))
 *         answer 304, with d->etag
 *     send d->body with d->content_type, d->etag and "Vary: Accept"
 *     vd_document_unref(d);
 *
 * OpenAPI version 3 addresses carry ?hash=: see vd_document_redirects. When the
 * hash is right, the answer to that address never changes.
 */
#ifndef VD_KUBE_DISCOVERY_DOCUMENTS_H
#define VD_KUBE_DISCOVERY_DOCUMENTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/bytes.h"
#include "base/refcount.h"
#include "base/slice.h"
#include "kinds/kinds.h"
#include "net/media_type.h"

struct vd_documents;

enum vd_document_form {
    VD_DOCUMENT_JSON,
    VD_DOCUMENT_YAML,               /* of discovery that is not aggregated */
    VD_DOCUMENT_AGGREGATED,         /* of /api and /apis */
    VD_DOCUMENT_AGGREGATED_V2BETA1, /* the same as 1.26 to 1.29 want it */
    VD_DOCUMENT_PROTOBUF,           /* of /openapi/v2 */
};

enum { VD_DOCUMENT_HASH_LEN = 64 }; /* hexadecimal digits of SHA-256 */

/* Immutable. */
struct vd_document {
    struct vd_refcount refs;
    struct vd_bytes *body;
    struct vd_slice content_type;
    struct vd_slice etag; /* the hash in quotes */
    struct vd_slice hash; /* of the body: SHA-256 in hexadecimal */

    char etag_text[VD_DOCUMENT_HASH_LEN + 2];
    struct vd_slice key;    /* path and form, in `key_text` */
    struct vd_kind **kinds; /* references: it holds as long as these are all of its version */
    size_t kinds_n;
    char key_text[];
};

/* `server_version` ("v1.32.4") is shown in OpenAPI documents and copied. */
struct vd_documents *vd_documents_new(struct vd_slice server_version) VD_MUST_USE;

/* NULL is harmless. Documents that are still referenced stay. */
void vd_documents_free(struct vd_documents *documents);

/* Whether the path, without its query, is that of a document, if perhaps of a
 * group that does not exist. */
bool vd_document_is_path(struct vd_slice path);

/* The form that the client wants of the document at `path`. False: it takes none
 * that there is. */
bool vd_document_form_of(struct vd_slice path, const struct vd_accept *accept, struct vd_arena *a,
                         enum vd_document_form *form) VD_MUST_USE;

/*
 * The document at `path`, one reference; NULL if there is none in this form.
 * Thread-safe. The first call of a generation makes the document while others
 * wait: some milliseconds for the largest. Documents of a set that is older than
 * the newest one seen are made anew each time.
 */
struct vd_document *vd_documents_get(struct vd_documents *documents, const struct vd_kind_set *set,
                                     struct vd_slice path, enum vd_document_form form) VD_MUST_USE;

struct vd_document *vd_document_ref(struct vd_document *document);
void vd_document_unref(struct vd_document *document); /* NULL allowed */

/*
 * Of an OpenAPI version 3 document: whether the client must be sent elsewhere
 * (301), as `hash`, the value of its query's hash, is not the document's. The
 * address is added to `location`. An empty hash is no question.
 */
bool vd_document_redirects(const struct vd_document *document, struct vd_slice path,
                           struct vd_slice hash, struct vd_buf *location);

/* Whether the value of an If-None-Match header names the document: answer 304. */
bool vd_document_matches_etag(const struct vd_document *document, struct vd_slice if_none_match);

#endif
