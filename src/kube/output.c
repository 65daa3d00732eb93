/*
 * See output.h. Protobuf is a last resort here: a range of it decides, with its
 * parameters, only when no range of JSON or YAML can be served.
 */
#include "kube/output.h"

#include <assert.h>

#include "watch/excerpt.h"
#include "json/parse.h"
#include "json/write.h"
#include "json/yaml_write.h"

enum {
    PRETTY_INDENT = 2,             /* blanks for each level of JSON for people */
    INCLUDE_OBJECT_SHOWN_MAX = 80, /* bytes of a wrong includeObject that the error shows */
};

/* --- ranges --- */

/* as=Table;g=meta.k8s.io;v=v1: all three or none; and the scope has to have it. */
static bool read_form(struct vd_kube_output *out, const struct vd_media_type *range,
                      enum vd_output_scope scope, struct vd_arena *a)
{
    struct vd_slice as = {0}, group = {0}, version = {0};
    bool has_as = vd_media_type_param(range, VD_SLICE("as"), a, &as);
    bool has_group = vd_media_type_param(range, VD_SLICE("g"), a, &group);
    bool has_version = vd_media_type_param(range, VD_SLICE("v"), a, &version);
    if (!has_as && !has_group && !has_version)
        return true;
    if (scope == VD_OUTPUT_OF_DOCUMENT || !vd_slice_is(group, "meta.k8s.io"))
        return false;
    if (!vd_slice_is(version, "v1") && !vd_slice_is(version, "v1beta1"))
        return false;
    out->version = vd_slice_is(version, "v1") ? VD_META_V1 : VD_META_V1BETA1;
    if (vd_slice_is(as, "Table"))
        out->form = VD_OUTPUT_TABLE;
    else if (vd_slice_is(as, "PartialObjectMetadata") && scope != VD_OUTPUT_OF_LIST)
        out->form = VD_OUTPUT_PARTIAL;
    else if (vd_slice_is(as, "PartialObjectMetadataList") && scope == VD_OUTPUT_OF_LIST)
        out->form = VD_OUTPUT_PARTIAL_LIST;
    else
        return false;
    return true;
}

/* Everything that parameters can ask for; unknown ones are passed over. */
static bool read_params(struct vd_kube_output *out, const struct vd_media_type *range,
                        enum vd_output_scope scope, struct vd_arena *a)
{
    struct vd_slice value;
    if (vd_media_type_param(range, VD_SLICE("stream"), a, &value) && value.n &&
        !vd_slice_is(value, "watch"))
        return false;
    if (vd_media_type_param(range, VD_SLICE("pretty"), a, &value))
        out->pretty = vd_slice_is(value, "1");
    return read_form(out, range, scope, a);
}

static bool read_range(struct vd_kube_output *out, const struct vd_media_type *range,
                       enum vd_output_scope scope, struct vd_arena *a)
{
    *out = (struct vd_kube_output){0};
    if (vd_media_type_takes(range, VD_SLICE("application"), VD_SLICE("json")))
        out->encoding = VD_OUTPUT_JSON;
    else if (vd_media_type_is(range, VD_SLICE("application"), VD_SLICE("yaml")) &&
             scope != VD_OUTPUT_OF_WATCH)
        out->encoding = VD_OUTPUT_YAML;
    else
        return false;
    return read_params(out, range, scope, a);
}

static bool is_protobuf(const struct vd_media_type *range)
{
    return vd_media_type_is(range, VD_SLICE("application"), VD_SLICE("vnd.kubernetes.protobuf"));
}

static bool choose(struct vd_kube_output *out, const struct vd_kube_output_request *request,
                   struct vd_arena *a)
{
    const struct vd_accept *accept = request->accept;
    enum vd_output_scope scope = request->scope;
    *out = (struct vd_kube_output){0};
    if (accept->n == 0)
        return true;
    for (size_t i = 0; i < accept->n; i++)
        if (accept->ranges[i].quality && read_range(out, &accept->ranges[i], scope, a) &&
            !(request->no_table && out->form == VD_OUTPUT_TABLE))
            return true;
    for (size_t i = 0; !request->no_protobuf && i < accept->n; i++) {
        *out = (struct vd_kube_output){0};
        if (accept->ranges[i].quality && is_protobuf(&accept->ranges[i]) &&
            read_params(out, &accept->ranges[i], scope, a) &&
            !(request->no_table && out->form == VD_OUTPUT_TABLE))
            return true;
    }
    return false;
}

/* --- the rest of the request --- */

static bool find_param(const struct vd_url_query *query, const char *key, struct vd_slice *value)
{
    return query && vd_url_query_find(query, vd_slice_of(key), value) && value->n;
}

/* What Go's strconv.ParseBool takes for true. */
static bool is_true(struct vd_slice text)
{
    static const char *const words[] = {"1", "t", "T", "true", "TRUE", "True"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (vd_slice_is(text, words[i]))
            return true;
    return false;
}

static bool wants_pretty(const struct vd_kube_output_request *request)
{
    struct vd_slice value;
    if (find_param(request->query, "pretty", &value))
        return is_true(value);
    return vd_slice_starts_with(request->user_agent, VD_SLICE("curl")) ||
           vd_slice_starts_with(request->user_agent, VD_SLICE("Wget")) ||
           vd_slice_starts_with(request->user_agent, VD_SLICE("Mozilla/5.0"));
}

static int read_include(struct vd_kube_output *out, const struct vd_url_query *query,
                        struct vd_error *error)
{
    struct vd_slice value;
    struct vd_buf shown = {0};
    if (!find_param(query, "includeObject", &value) || vd_slice_is(value, "Metadata"))
        out->object = VD_TABLE_METADATA;
    else if (vd_slice_is(value, "Object"))
        out->object = VD_TABLE_OBJECT;
    else if (vd_slice_is(value, "None"))
        out->object = VD_TABLE_NONE;
    else
        vd_excerpt_add_quoted(&shown, value, INCLUDE_OBJECT_SHOWN_MAX);
    if (!shown.n)
        return VD_OK;
    int code = vd_error_set(
        error, VD_ERR_INVALID,
        "Unable to convert to Table as requested: includeObject: Invalid value: "
        "%s: must be 'Metadata', 'Object', 'None', or empty",
        vd_buf_text(&shown));
    vd_buf_release(&shown);
    return code;
}

int vd_kube_output_negotiate(struct vd_kube_output *out,
                             const struct vd_kube_output_request *request, struct vd_arena *a,
                             struct vd_error *error)
{
    struct vd_kube_output chosen;
    if (!choose(&chosen, request, a))
        return vd_error_set(error, VD_ERR_NOT_FOUND,
                            "only the following media types are accepted: %s",
                            vd_kube_output_accepted(request).p);
    chosen.pretty = chosen.encoding == VD_OUTPUT_JSON && request->scope != VD_OUTPUT_OF_WATCH &&
                    (chosen.pretty || wants_pretty(request));
    if (chosen.form == VD_OUTPUT_TABLE) {
        int code = read_include(&chosen, request->query, error);
        if (code)
            return code;
    }
    *out = chosen;
    return VD_OK;
}

struct vd_slice vd_kube_output_accepted(const struct vd_kube_output_request *request)
{
    bool watch = request->scope == VD_OUTPUT_OF_WATCH;
    if (request->no_protobuf)
        return watch ? VD_SLICE("application/json;stream=watch")
                     : VD_SLICE("application/json, application/yaml");
    if (watch)
        return VD_SLICE("application/json;stream=watch, "
                        "application/vnd.kubernetes.protobuf;stream=watch");
    return VD_SLICE("application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

struct vd_slice vd_kube_output_content_type(const struct vd_kube_output *output)
{
    return output->encoding == VD_OUTPUT_YAML ? VD_SLICE("application/yaml")
                                              : VD_SLICE("application/json");
}

/* --- bodies --- */

int vd_kube_output_encode(struct vd_buf *out, const struct vd_kube_output *output,
                          struct vd_slice json, struct vd_arena *scratch, struct vd_error *error)
{
    struct vd_json *document;
    if (vd_kube_output_is_stream(output)) {
        vd_buf_reserve(out, json.n + 1);
        vd_buf_add_slice(out, json);
        vd_buf_add_char(out, '\n');
        return VD_OK;
    }
    int code = vd_json_parse(scratch, json, NULL, &document, error);
    if (code)
        return code;
    if (output->encoding == VD_OUTPUT_YAML) {
        vd_yaml_write(out, document);
        return VD_OK;
    }
    vd_json_write_pretty(out, document, PRETTY_INDENT);
    vd_buf_add_char(out, '\n');
    return VD_OK;
}

int vd_kube_output_render(struct vd_buf *out, const struct vd_kube_output *output,
                          const struct vd_kube_output_source *source, struct vd_slice body,
                          struct vd_arena *scratch, struct vd_error *error)
{
    assert(output->form != VD_OUTPUT_PARTIAL_LIST);
    struct vd_buf formed = {0};
    vd_arena_reset(scratch);
    if (output->form == VD_OUTPUT_TABLE) {
        struct vd_table_writer w = {.table = source->table,
                                    .version = output->version,
                                    .object = output->object,
                                    .now_ms = source->now_ms};
        vd_table_write_one(&w, &formed, scratch, body);
        body = vd_buf_slice(&formed);
    } else if (output->form == VD_OUTPUT_PARTIAL) {
        vd_partial_write(&formed, output->version, body);
        body = vd_buf_slice(&formed);
    }
    int code = vd_kube_output_encode(out, output, body, scratch, error);
    vd_buf_release(&formed);
    return code;
}
