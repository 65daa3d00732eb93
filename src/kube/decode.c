/* See decode.h. Duplicate keys are collected: fieldValidation says what becomes of
 * them. */
#include "kube/decode.h"

#include <stdlib.h>

#include "base/vec.h"
#include "kube/call_write.h"
#include "kube/offload.h"
#include "kube/protobuf/envelope.h"
#include "kube/protobuf/protobuf.h"
#include "net/media_type.h"
#include "watch/excerpt.h"
#include "json/parse.h"
#include "json/plain_number.h"
#include "json/yaml_read.h"

enum { SHOWN_KEY_LEN_MAX = 80 }; /* bytes of a repeated key that a warning shows */

#define TEXTS    "application/json, application/yaml"
#define ACCEPTED TEXTS ", application/vnd.kubernetes.protobuf"

/* Custom kinds have no messages; what is not an object of the kind has. */
static bool takes_protobuf(const struct vd_call *call, bool none)
{
    return none || !call->kind || call->kind->native;
}

enum vd_body_format vd_body_format(struct vd_slice text)
{
    static const struct {
        const char *subtype;
        enum vd_body_format format;
    } formats[] = {
        {"json", VD_BODY_JSON},
        {"yaml", VD_BODY_YAML},
        {"vnd.kubernetes.protobuf", VD_BODY_PROTOBUF},
        {"json-patch+json", VD_BODY_JSON_PATCH},
        {"merge-patch+json", VD_BODY_MERGE_PATCH},
        {"strategic-merge-patch+json", VD_BODY_STRATEGIC_PATCH},
        {"apply-patch+yaml", VD_BODY_APPLY_PATCH},
    };
    struct vd_media_type type;
    if (!vd_slice_trim(text).n)
        return VD_BODY_JSON;
    if (vd_media_type_parse(&type, text, NULL))
        return VD_BODY_OTHER;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (vd_media_type_is(&type, VD_SLICE("application"), vd_slice_of(formats[i].subtype)))
            return formats[i].format;
    return VD_BODY_OTHER;
}

static void note_duplicate(void *context, struct vd_slice path)
{
    struct vd_call *call = context;
    if (call->write.validation != VD_FIELDS_IGNORE)
        vd_write_warn(&call->write, "duplicate field \"%.*s\"", VD_FMT(path));
}

struct vd_json_options vd_call_json_options(struct vd_call *call)
{
    return (struct vd_json_options){
        .duplicates = VD_JSON_DUPLICATES_REPORT,
        .on_duplicate = note_duplicate,
        .context = call,
    };
}

static int decode_json(struct vd_call *call, struct vd_json **out, struct vd_error *error)
{
    struct vd_json_options options = vd_call_json_options(call);
    return vd_json_parse(&call->arena, vd_call_body(call), &options, out, error);
}

/* ---- keys that a YAML text repeats ---- */

struct repeated_key {
    unsigned line;
    struct vd_slice text; /* in the call's arena */
};

struct repeated_keys {
    struct vd_call *call;
    VD_VEC(struct repeated_key) list;
};

/* In the words of the library with which Kubernetes reads YAML. Its line is that of the value. */
static void note_repeated(void *context, const struct vd_yaml_duplicate *again)
{
    struct repeated_keys *keys = context;
    struct vd_buf text = {0};
    vd_buf_addf(&text, "line %u: key ", (unsigned)again->value_at.line);
    vd_excerpt_add_quoted(&text, again->key, SHOWN_KEY_LEN_MAX);
    vd_buf_add_text(&text, " already set in map");
    *VD_VEC_PUSH(&keys->list) = (struct repeated_key){
        (unsigned)again->value_at.line, vd_arena_copy(&keys->call->arena, vd_buf_slice(&text))};
    vd_buf_release(&text);
}

static int by_line(const void *a, const void *b)
{
    const struct repeated_key *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

static int decode_yaml(struct vd_call *call, struct vd_json **out, struct vd_error *error)
{
    struct repeated_keys keys = {.call = call};
    struct vd_yaml_options options = {
        .duplicates = call->write.validation == VD_FIELDS_IGNORE ? VD_YAML_DUPLICATES_LAST
                                                                 : VD_YAML_DUPLICATES_REPORT,
        .on_duplicate = note_repeated,
        .context = &keys,
    };
    int code = vd_yaml_read_with(&call->arena, vd_call_body(call), &options, out, error);
    if (keys.list.n)
        qsort(keys.list.p, keys.list.n, sizeof *keys.list.p, by_line);
    for (size_t i = 0; i < keys.list.n; i++)
        vd_write_warn(&call->write, "%.*s", VD_FMT(keys.list.p[i].text));
    call->write.yaml_warnings = call->write.warnings.n;
    VD_VEC_RELEASE(&keys.list);
    return code;
}

static bool refuse_unreadable(struct vd_call *call, struct vd_error *error)
{
    vd_error_prefix(error, "the request's body could not be read");
    struct vd_status status = vd_status_bad_request(&call->arena, vd_slice_of(error->text));
    return vd_call_refuse(call, &status);
}

bool vd_call_decode(struct vd_call *call, bool none, struct vd_json **out)
{
    struct vd_error error;
    struct vd_status status;
    int code = VD_OK;
    *out = NULL;
    if (none && vd_call_body(call).n == 0)
        return true;
    enum vd_body_format format = vd_body_format(vd_call_content_type(call));
    if (format == VD_BODY_PROTOBUF && !takes_protobuf(call, none))
        format = VD_BODY_OTHER;
    switch (format) {
    case VD_BODY_JSON:
        code = decode_json(call, out, &error);
        break;
    case VD_BODY_YAML:
        code = decode_yaml(call, out, &error);
        break;
    case VD_BODY_PROTOBUF:
        code = vd_protobuf_decode(&call->arena, vd_call_body(call), NULL, out, &error);
        break;
    default:
        status = vd_status_unsupported_media_type(
            &call->arena, takes_protobuf(call, none) ? VD_SLICE(ACCEPTED) : VD_SLICE(TEXTS));
        return vd_call_refuse(call, &status);
    }
    if (!code)
        code = vd_json_plain_numbers(&call->arena, *out, &error);
    return !code || refuse_unreadable(call, &error);
}

bool vd_call_decode_config(struct vd_call *call, struct vd_json **out)
{
    struct vd_error error;
    struct vd_slice text = vd_slice_trim(vd_call_body(call));
    struct vd_json_options strict = {.duplicates = VD_JSON_DUPLICATES_REJECT};
    bool is_json = text.n && text.p[0] == '{';
    int code = is_json ? vd_json_parse(&call->arena, vd_call_body(call), &strict, out, &error)
                       : VD_ERR_INVALID;
    if (code) /* a flow mapping of YAML begins with a brace too; and repeated keys have lines */
        code = decode_yaml(call, out, &error);
    if (!code && !vd_json_is(*out, VD_JSON_OBJECT))
        code = vd_error_set(&error, VD_ERR_INVALID, "it is no object");
    if (!code)
        code = vd_json_plain_numbers(&call->arena, *out, &error);
    return !code || refuse_unreadable(call, &error);
}
