/*
 * In which form a request is answered: content negotiation as Kubernetes does it.
 *
 *     Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json
 *
 * The client's media ranges are tried, best first; the first one that can be
 * served decides. Bodies are JSON or YAML, watches JSON only. Objects come as they
 * are, as Tables or as PartialObjectMetadata. A client that takes nothing but
 * Kubernetes' protobuf gets JSON: such clients decode by the answer's Content-Type.
 *
 * (src/net/output.h is another thing: bytes on their way to a socket.)
 *
 * Pure functions.
 */
#ifndef VD_KUBE_OUTPUT_H
#define VD_KUBE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"
#include "kube/partial.h"
#include "kube/table/table.h"
#include "net/media_type.h"
#include "net/url.h"

enum vd_output_encoding {
    VD_OUTPUT_JSON,
    VD_OUTPUT_YAML,
};

enum vd_output_form {
    VD_OUTPUT_PLAIN,        /* as it is stored */
    VD_OUTPUT_TABLE,        /* kube/table/table.h */
    VD_OUTPUT_PARTIAL,      /* PartialObjectMetadata: of one object, or of watch events */
    VD_OUTPUT_PARTIAL_LIST, /* PartialObjectMetadataList */
};

/* What is asked for, which decides what it can be given as. */
enum vd_output_scope {
    VD_OUTPUT_OF_OBJECT,
    VD_OUTPUT_OF_LIST,
    VD_OUTPUT_OF_WATCH,
    VD_OUTPUT_OF_DOCUMENT, /* no object of a resource: reviews, discovery, /version */
};

struct vd_kube_output {
    enum vd_output_encoding encoding;
    enum vd_output_form form;
    enum vd_meta_version version; /* of Tables and partial objects */
    enum vd_table_object object;  /* what the rows of a Table carry */
    bool pretty;                  /* JSON for people: indented. Never in a watch */
};

struct vd_kube_output_request {
    const struct vd_accept *accept;   /* all Accept headers; without ranges: JSON */
    const struct vd_url_query *query; /* pretty, includeObject; NULL: none */
    struct vd_slice user_agent;       /* people's programs get indented JSON */
    enum vd_output_scope scope;
    bool no_protobuf; /* of a custom kind: a client that takes nothing else is refused */
    bool no_table;    /* of a watch list: see vd_query_is_watch_list() */
};

/*
 * VD_ERR_NOT_FOUND: nothing the client takes can be served (406, see
 * vd_kube_output_accepted). VD_ERR_INVALID: includeObject of a Table is none of
 * Metadata, Object, None (400); the sentence is Kubernetes'. The arena is for
 * parameters with escapes.
 */
int vd_kube_output_negotiate(struct vd_kube_output *out,
                             const struct vd_kube_output_request *request, struct vd_arena *a,
                             struct vd_error *error) VD_MUST_USE;

/* The media types of a 406, for vd_status_not_acceptable. */
struct vd_slice vd_kube_output_accepted(const struct vd_kube_output_request *request);

/* "application/json" or "application/yaml": exactly that, as some clients compare bytes. */
struct vd_slice vd_kube_output_content_type(const struct vd_kube_output *output);

/* Whether JSON can be sent as it is made; if not, a document has to be whole
 * before vd_kube_output_encode turns it into what was asked for. */
static inline bool vd_kube_output_is_stream(const struct vd_kube_output *output)
{
    return output->encoding == VD_OUTPUT_JSON && !output->pretty;
}

/*
 * Adds a whole JSON document - a list, a Status, discovery - in the chosen
 * encoding, ended by a newline. The form is not looked at. Fails only if the
 * text is no JSON that src/json reads (vd_json_parse), and never for a stream.
 */
int vd_kube_output_encode(struct vd_buf *out, const struct vd_kube_output *output,
                          struct vd_slice json, struct vd_arena *scratch,
                          struct vd_error *error) VD_MUST_USE;

/* How one stored object becomes the body of an answer. */
struct vd_kube_output_source {
    const struct vd_table *table; /* of the object's kind; only needed for a Table */
    int64_t now_ms;               /* likewise */
};

/* Adds one object in the chosen form and encoding, ended by a newline. The form
 * is not VD_OUTPUT_PARTIAL_LIST. `scratch` is reset. */
int vd_kube_output_render(struct vd_buf *out, const struct vd_kube_output *output,
                          const struct vd_kube_output_source *source, struct vd_slice body,
                          struct vd_arena *scratch, struct vd_error *error) VD_MUST_USE;

#endif
