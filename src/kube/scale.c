/*
 * See scale.h. A Scale that is written becomes a write of one number in the object,
 * which then goes the way of any update; the answer is the new object's Scale.
 *
 * The paths of a definition are dots and names: .spec.replicas.
 */
#include "kube/scale.h"

#include "kinds/object_meta.h"
#include "kube/call_write.h"
#include "kube/offload.h"
#include "kube/patch/patch.h"
#include "json/parse.h"
#include "json/write.h"

#define SCALE_PATCHES                                                                              \
    VD_SLICE("application/json-patch+json, application/merge-patch+json, "                         \
             "application/apply-patch+yaml")

/* ---- from objects to Scales ---- */

static const struct vd_json *value_at(const struct vd_json *object, struct vd_slice path)
{
    struct vd_slice rest = vd_slice_from(path, 1), key;
    while (object && vd_slice_cut(&rest, '.', &key))
        object = vd_json_get(object, key);
    return object;
}

static int64_t number_at(const struct vd_json *object, struct vd_slice path)
{
    int64_t number = 0;
    return vd_json_to_i64(value_at(object, path), &number) ? number : 0;
}

static struct vd_json *metadata_of(struct vd_arena *a, const struct vd_json *object)
{
    static const char *const shown[] = {"name", "namespace", "uid", "resourceVersion",
                                        "creationTimestamp"};
    struct vd_json *metadata = vd_json_object(a);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const struct vd_json *value = vd_json_dig(object, "metadata", shown[i], NULL);
        if (value)
            vd_json_add_ref(metadata, vd_slice_of(shown[i]), vd_json_clone(a, value));
    }
    return metadata;
}

static struct vd_json *scale_document(const struct vd_kind *kind, const struct vd_json *object,
                                      struct vd_arena *a)
{
    const struct vd_scale *paths = &kind->scale;
    struct vd_json *scale = vd_json_object(a), *spec = vd_json_object(a);
    struct vd_json *status = vd_json_object(a);
    vd_json_add_ref(scale, VD_SLICE("kind"), vd_json_string_ref(a, VD_SLICE("Scale")));
    vd_json_add_ref(scale, VD_SLICE("apiVersion"),
                    vd_json_string_ref(a, VD_SLICE("autoscaling/v1")));
    vd_json_add_ref(scale, VD_SLICE("metadata"), metadata_of(a, object));
    vd_json_add_ref(spec, VD_SLICE("replicas"),
                    vd_json_i64(a, number_at(object, paths->spec_replicas)));
    vd_json_add_ref(scale, VD_SLICE("spec"), spec);
    vd_json_add_ref(status, VD_SLICE("replicas"),
                    vd_json_i64(a, number_at(object, paths->status_replicas)));
    struct vd_slice selector = paths->label_selector.n
                                   ? vd_json_text(value_at(object, paths->label_selector))
                                   : VD_SLICE("");
    if (selector.n)
        vd_json_add_ref(status, VD_SLICE("selector"), vd_json_string(a, selector));
    vd_json_add_ref(scale, VD_SLICE("status"), status);
    return scale;
}

struct vd_slice vd_scale_of(const struct vd_kind *kind, struct vd_slice body, struct vd_arena *a)
{
    struct vd_json *object = NULL;
    struct vd_buf text = {0};
    if (vd_json_parse_copy(a, body, NULL, &object, NULL))
        return body; /* never: the server wrote it */
    vd_json_write(&text, scale_document(kind, object, a));
    struct vd_slice scale = vd_arena_copy(a, vd_buf_slice(&text));
    vd_buf_release(&text);
    return scale;
}

/* ---- from Scales to objects ---- */

static bool refuse_invalid(struct vd_call *call, struct vd_slice message)
{
    struct vd_status_cause cause = {.reason = VD_SLICE("FieldValueInvalid"),
                                    .message = message,
                                    .field = VD_SLICE("spec.replicas")};
    struct vd_status_target status_target = {
        .group = VD_SLICE("autoscaling"), .plural = VD_SLICE("Scale"), .name = call->target.name};
    struct vd_status status = vd_status_invalid(&call->arena, &status_target, &cause, 1);
    return vd_call_refuse(call, &status);
}

/* Whether it is a Scale, with a number that can be one. False: call->refused says why not. */
static bool read_replicas(struct vd_call *call, const struct vd_json *scale, int64_t *replicas)
{
    struct vd_slice kind = vd_json_text(vd_json_get(scale, VD_SLICE("kind")));
    struct vd_slice version = vd_json_text(vd_json_get(scale, VD_SLICE("apiVersion")));
    const struct vd_json *number = vd_json_dig(scale, "spec", "replicas", NULL);
    struct vd_error error;
    struct vd_status status;
    *replicas = 0;
    if (vd_meta_check(scale, &error)) {
        status = vd_status_bad_request(&call->arena, vd_slice_of(error.text));
    } else if ((kind.n && !vd_slice_is(kind, "Scale")) ||
               (version.n && !vd_slice_is(version, "autoscaling/v1"))) {
        status = vd_status_bad_request(
            &call->arena, VD_SLICE("the body of the request must be an autoscaling/v1 Scale"));
    } else if (number && !vd_json_to_i64(number, replicas)) {
        status = vd_status_bad_request(&call->arena,
                                       VD_SLICE("spec.replicas of a Scale must be an integer"));
    } else if (*replicas < 0 || *replicas > INT32_MAX) {
        struct vd_buf message = {0};
        vd_buf_addf(&message, "Invalid value: %lld: must be %s", (long long)*replicas,
                    *replicas < 0 ? "greater than or equal to 0" : "less than 2147483648");
        struct vd_slice text = vd_arena_copy(&call->arena, vd_buf_slice(&message));
        vd_buf_release(&message);
        return refuse_invalid(call, text);
    } else {
        return true;
    }
    return vd_call_refuse(call, &status);
}

/* Puts the number where the path leads; objects on the way are made. */
static void set_number(struct vd_arena *a, struct vd_json *object, struct vd_slice path,
                       int64_t number)
{
    struct vd_slice rest = vd_slice_from(path, 1), key;
    vd_slice_cut(&rest, '.', &key);
    while (rest.p) {
        struct vd_json *next = vd_json_get(object, key);
        if (!vd_json_is(next, VD_JSON_OBJECT)) {
            next = vd_json_object(a);
            vd_json_set(a, object, key, next);
        }
        object = next;
        vd_slice_cut(&rest, '.', &key);
    }
    vd_json_set(a, object, key, vd_json_i64(a, number));
}

/* The object with the Scale's number, on the conditions that the Scale names. */
static bool make_scaled(struct vd_call *call, const struct vd_json *old,
                        const struct vd_json *scale, struct vd_slice version, struct vd_json **out)
{
    struct vd_arena *a = &call->arena;
    struct vd_json *object = vd_write_pruned_copy(&call->write, old);
    struct vd_slice name = vd_meta_name(scale), uid = vd_meta_text(scale, VD_SLICE("uid"));
    int64_t replicas;
    if (!read_replicas(call, scale, &replicas))
        return false;
    if (name.n)
        vd_meta_set_name(a, object, name);
    if (uid.n)
        vd_meta_set_text(a, object, VD_SLICE("uid"), uid);
    vd_meta_set_resource_version(a, object, version);
    set_number(a, object, call->kind->scale.spec_replicas, replicas);
    *out = object;
    return true;
}

bool vd_scale_config(struct vd_call *call, const struct vd_json *scale, struct vd_json **config)
{
    static const char *const identity[] = {"name", "namespace", "uid", "resourceVersion"};
    struct vd_arena *a = &call->arena;
    int64_t replicas;
    if (!read_replicas(call, scale, &replicas))
        return false;
    struct vd_json *out = vd_json_object(a), *metadata = vd_json_object(a);
    vd_json_add_ref(out, VD_SLICE("apiVersion"), vd_json_string_ref(a, call->kind->api_version));
    vd_json_add_ref(out, VD_SLICE("kind"), vd_json_string_ref(a, call->kind->kind));
    vd_json_add_ref(out, VD_SLICE("metadata"), metadata);
    for (size_t i = 0; i < sizeof identity / sizeof *identity; i++) {
        const struct vd_json *value = vd_json_dig(scale, "metadata", identity[i], NULL);
        if (value)
            vd_json_add_ref(metadata, vd_slice_of(identity[i]), vd_json_clone(a, value));
    }
    if (vd_json_dig(scale, "spec", "replicas", NULL))
        set_number(a, out, call->kind->scale.spec_replicas, replicas);
    *config = out;
    return true;
}

void vd_call_scale_get(struct vd_call *call)
{
    call->scales = true;
    vd_call_get(call);
}

static bool read_body(struct vd_write *w, struct vd_json **out)
{
    return vd_call_decode(vd_call_of(w), false, out);
}

/* Of the Scale that was sent. */
static bool make_object(struct vd_write *w, const struct vd_json *old, struct vd_json **out)
{
    const struct vd_json *scale = *out;
    return make_scaled(vd_call_of(w), old, scale, vd_meta_resource_version(scale), out);
}

void vd_call_scale_update(struct vd_call *call)
{
    static const struct vd_write_ops ops = VD_CALL_WRITE_OPS(.read = read_body,
                                                             .make = make_object);
    call->scales = true;
    if (vd_call_check_manager(call, false))
        vd_call_write(call, VD_WRITE_UPDATE, &ops);
}

/* Of what the patch makes of the object's Scale. */
static bool make_patched(struct vd_write *w, const struct vd_json *old, struct vd_json **out)
{
    struct vd_call *call = vd_call_of(w);
    enum vd_body_format format = vd_body_format(vd_call_content_type(call));
    struct vd_error error;
    struct vd_json *scale = scale_document(call->kind, old, &call->arena);
    int code = vd_call_apply_patch(call, scale, format, &error);
    if (code)
        return vd_call_refuse_patch(call, code, &error);
    struct vd_slice version = w->version_named ? vd_meta_resource_version(scale) : VD_SLICE("");
    return make_scaled(call, old, scale, version, out);
}

void vd_call_scale_patch(struct vd_call *call)
{
    static const struct vd_write_ops ops = VD_CALL_WRITE_OPS(.make = make_patched);
    enum vd_body_format format = vd_body_format(vd_call_content_type(call));
    call->scales = true;
    if (format == VD_BODY_APPLY_PATCH) {
        vd_call_apply(call);
    } else if (format == VD_BODY_JSON_PATCH || format == VD_BODY_MERGE_PATCH) {
        if (vd_call_check_manager(call, false))
            vd_call_write(call, VD_WRITE_PATCH, &ops);
    } else {
        struct vd_status status = vd_status_unsupported_media_type(&call->arena, SCALE_PATCHES);
        vd_call_reply_status(call, &status);
    }
}
