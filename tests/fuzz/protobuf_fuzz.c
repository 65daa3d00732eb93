/*
 * Any bytes through the decoder of Kubernetes' protobuf bodies.
 *
 * An input that is no body is put into an envelope of a kind that its first
 * byte picks, so that mutations reach the messages whatever they do to the
 * envelope. What is accepted is within the limits, has the kind that the
 * envelope says, and survives writing and parsing; what is refused has a
 * sentence.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "base/limits.h"
#include "kube/protobuf/protobuf.h"
#include "kube/protobuf/schema.h"
#include "json/compare.h"
#include "json/parse.h"
#include "json/write.h"

struct seen {
    size_t calls;
    size_t body_n;
};

static void see_unknown(void *context, const struct vd_protobuf_unknown *unknown)
{
    struct seen *seen = context;
    seen->calls++;
    FUZZ_CHECK(unknown->message[0] && unknown->number > 0 && unknown->offset < seen->body_n);
}

static void check_document(const struct vd_json *document)
{
    struct vd_arena arena = {0};
    struct vd_buf text = {0};
    struct vd_json *again = NULL;
    const struct vd_json_options strict = {.duplicates = VD_JSON_DUPLICATES_REJECT};
    FUZZ_CHECK(vd_json_depth(document) <= VD_JSON_DEPTH_MAX);
    vd_json_write(&text, document);
    FUZZ_CHECK(vd_json_parse(&arena, vd_buf_slice(&text), &strict, &again, NULL) == VD_OK);
    FUZZ_CHECK(vd_json_eq(document, again));
    vd_buf_release(&text);
    vd_arena_release(&arena);
}

static void decode(struct vd_slice body, struct vd_slice api_version, struct vd_slice kind)
{
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_json *document = NULL;
    struct seen seen = {.body_n = body.n};
    size_t unknown = SIZE_MAX;
    const struct vd_protobuf_options options = {.api_version = api_version,
                                                .kind = kind,
                                                .unknown_count = &unknown,
                                                .on_unknown = see_unknown,
                                                .context = &seen};
    int code = vd_protobuf_decode(&arena, body, &options, &document, &error);
    FUZZ_CHECK(seen.calls ==
               (unknown < VD_PROTOBUF_UNKNOWN_MAX ? unknown : VD_PROTOBUF_UNKNOWN_MAX));
    if (code == VD_OK) {
        struct vd_protobuf_envelope e;
        FUZZ_CHECK(vd_protobuf_envelope_read(body, &e, NULL) == VD_OK);
        FUZZ_CHECK(vd_slice_eq(vd_json_text(vd_json_dig(document, "kind", NULL)),
                               e.kind.n ? e.kind : kind));
        check_document(document);
    } else {
        FUZZ_CHECK((int)error.code == code && error.text[0] && !document);
    }
    vd_arena_release(&arena);
}

static void add_field(struct vd_buf *body, char tag, struct vd_slice bytes)
{
    size_t n = bytes.n;
    vd_buf_add_char(body, tag);
    for (; n > 0x7f; n >>= 7)
        vd_buf_add_char(body, (char)(n | 0x80));
    vd_buf_add_char(body, (char)n);
    vd_buf_add_slice(body, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice input = vd_slice(data, size);
    if (vd_protobuf_is_kubernetes(input) || size == 0) {
        decode(input, VD_SLICE("v1"), VD_SLICE("ConfigMap"));
        return 0;
    }
    size_t count;
    const struct vd_protobuf_kind *kinds = vd_protobuf_kinds(&count);
    const struct vd_protobuf_kind *kind = &kinds[data[0] % count];
    struct vd_buf body = {0};
    vd_buf_add(&body, "k8s", 4);
    add_field(&body, 0x12, vd_slice_from(input, 1));
    decode(vd_buf_slice(&body), vd_slice_of(kind->api_version ? kind->api_version : "v1"),
           vd_slice_of(kind->kind));
    vd_buf_release(&body);
    return 0;
}
