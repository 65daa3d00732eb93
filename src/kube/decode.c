/* See decode.h. Duplicate keys are collected: fieldValidation says what becomes of
 * them. */
#include "kube/decode.h"

#include "kube/offload.h"
#include "kube/protobuf.h"
#include "kube/protobuf_envelope.h"
#include "net/media_type.h"
#include "json/parse.h"
#include "json/plain_number.h"
#include "json/yaml_read.h"

#define TEXTS    "application/json, application/yaml"
#define ACCEPTED TEXTS ", application/vnd.kubernetes.protobuf"

/* Custom kinds have no messages; what is not an object of the kind has. */
static bool takes_protobuf(const struct vd_call *call, bool none)
{
    return none || !call->kind || call->kind->builtin;
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
    if (!text.p)
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
    if (call->validation != VD_FIELDS_IGNORE)
        vd_call_warn(call, "duplicate field \"%.*s\"", VD_FMT(path));
}

static int decode_json(struct vd_call *call, struct vd_json **out, struct vd_error *error)
{
    struct vd_json_options options = {
        .duplicates = VD_JSON_DUPLICATES_REPORT,
        .on_duplicate = note_duplicate,
        .context = call,
    };
    return vd_json_parse(&call->arena, vd_call_body(call), &options, out, error);
}

static void reply_unreadable(struct vd_call *call, struct vd_error *error)
{
    vd_error_prefix(error, "the request's body could not be read");
    struct vd_status status = vd_status_bad_request(&call->arena, vd_slice_of(error->text));
    vd_call_reply_status(call, &status);
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
        code = vd_yaml_read(&call->arena, vd_call_body(call), out, &error);
        break;
    case VD_BODY_PROTOBUF:
        code = vd_protobuf_decode(&call->arena, vd_call_body(call), NULL, out, &error);
        break;
    default:
        status = vd_status_unsupported_media_type(
            &call->arena, takes_protobuf(call, none) ? VD_SLICE(ACCEPTED) : VD_SLICE(TEXTS));
        vd_call_reply_status(call, &status);
        return false;
    }
    if (!code)
        code = vd_json_plain_numbers(&call->arena, *out, &error);
    if (code)
        reply_unreadable(call, &error);
    return !code;
}

bool vd_call_decode_config(struct vd_call *call, struct vd_json **out)
{
    struct vd_error error;
    struct vd_slice text = vd_slice_trim(vd_call_body(call));
    bool is_json = text.n && text.p[0] == '{';
    int code = is_json ? decode_json(call, out, &error) : VD_ERR_INVALID;
    if (code) /* a flow mapping of YAML begins with a brace too */
        code = vd_yaml_read(&call->arena, vd_call_body(call), out, &error);
    if (!code && !vd_json_is(*out, VD_JSON_OBJECT))
        code = vd_error_set(&error, VD_ERR_INVALID, "it is no object");
    if (!code)
        code = vd_json_plain_numbers(&call->arena, *out, &error);
    if (code)
        reply_unreadable(call, &error);
    return !code;
}
