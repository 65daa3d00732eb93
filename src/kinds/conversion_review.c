/* See conversion_review.h. */
#include "kinds/conversion_review.h"

#include <stdio.h>

#include "base/limits.h"
#include "kinds/object.h"
#include "kinds/object_meta_rules.h"
#include "json/compare.h"
#include "json/escape.h"
#include "json/parse.h"
#include "json/span.h"
#include "json/write.h"

static const char *const failure_names[] = {
#define FAILURE_NAME(name, text) [VD_CONVERSION_FAILED_##name] = text,
    VD_CONVERSION_FAILURES(FAILURE_NAME)
#undef FAILURE_NAME
};

const char *vd_conversion_failure_name(enum vd_conversion_failure failure)
{
    return failure_names[failure];
}

/* ---- the request ---- */

/* As its own version has it. What cannot be parsed is sent as it is: the webhook will refuse it. */
static void add_object(struct vd_buf *out, const struct vd_review_object *object)
{
    struct vd_arena arena = {0};
    struct vd_json *json = NULL;
    if (object->from && !vd_json_parse(&arena, object->body, NULL, &json, NULL) &&
        vd_json_is(json, VD_JSON_OBJECT)) {
        vd_object_catch_up_or_stay(object->from, &arena, json);
        vd_json_write(out, json);
    } else {
        vd_buf_add_slice(out, object->body);
    }
    vd_arena_release(&arena);
}

void vd_conversion_review_write(struct vd_buf *out, const struct vd_conversion_review *review)
{
    vd_buf_addf(out, "{\"kind\":\"ConversionReview\",\"apiVersion\":\"apiextensions.k8s.io/%.*s\",",
                VD_FMT(review->version));
    vd_buf_addf(out, "\"request\":{\"uid\":\"%.*s\",\"desiredAPIVersion\":", VD_FMT(review->uid));
    vd_escape_write(out, review->to->api_version);
    vd_buf_add_text(out, ",\"objects\":[");
    for (size_t i = 0; i < review->n; i++) {
        if (i)
            vd_buf_add_char(out, ',');
        add_object(out, &review->objects[i]);
    }
    vd_buf_add_text(out, "]}}");
}

/* ---- the answer ---- */

static struct vd_slice text_at(struct vd_arena *a, struct vd_slice json, const char *key)
{
    struct vd_slice value, text;
    if (vd_span_get(json, vd_slice_of(key), &value) && vd_span_text(a, value, &text))
        return text;
    return VD_SLICE("");
}

/* Whether it is the answer to this request, and says that it has worked. */
static int check_head(const struct vd_conversion_review *review, struct vd_arena *a,
                      struct vd_slice answer, struct vd_slice response, struct vd_error *error)
{
    struct vd_slice result = VD_SLICE(""), group = VD_SLICE("apiextensions.k8s.io/");
    struct vd_slice api_version = text_at(a, answer, "apiVersion"),
                    kind = text_at(a, answer, "kind");
    struct vd_slice uid = text_at(a, response, "uid");
    if (vd_slice_is(review->version, "v1")) { /* the older version does not look at these */
        bool same = vd_slice_starts_with(api_version, group) &&
                    vd_slice_eq(vd_slice_from(api_version, group.n), review->version);
        if (!same || !vd_slice_is(kind, "ConversionReview"))
            return vd_error_set(error, VD_ERR_INVALID,
                                "expected webhook response of apiextensions.k8s.io/v1, "
                                "Kind=ConversionReview, got %.*s, Kind=%.*s",
                                VD_FMT(api_version), VD_FMT(kind));
        if (!vd_slice_eq(uid, review->uid))
            return vd_error_set(error, VD_ERR_INVALID,
                                "expected response.uid=\"%.*s\", got \"%.*s\"", VD_FMT(review->uid),
                                VD_FMT(uid));
    }
    if (!vd_span_get(response, VD_SLICE("result"), &result))
        result = VD_SLICE("{}");
    struct vd_slice status = text_at(a, result, "status"), message = text_at(a, result, "message");
    if (vd_slice_is(status, "Success"))
        return VD_OK;
    return message.n
               ? vd_error_set(error, VD_ERR_INVALID, "%.*s", VD_FMT(message))
               : vd_error_set(error, VD_ERR_INVALID,
                              "response.result.status was '%.*s', not 'Success'", VD_FMT(status));
}

static int check_type(const struct vd_conversion_review *review, const struct vd_json *object,
                      struct vd_error *error)
{
    struct vd_slice version = vd_json_text(vd_json_get(object, VD_SLICE("apiVersion")));
    struct vd_slice kind = vd_json_text(vd_json_get(object, VD_SLICE("kind")));
    if (!vd_slice_eq(version, review->to->api_version))
        return vd_error_set(error, VD_ERR_INVALID,
                            "invalid groupVersion (expected %.*s, received %.*s)",
                            VD_FMT(review->to->api_version), VD_FMT(version));
    if (!vd_slice_eq(kind, review->to->kind))
        return vd_error_set(error, VD_ERR_INVALID, "invalid kind (expected %.*s, received %.*s)",
                            VD_FMT(review->to->kind), VD_FMT(kind));
    return VD_OK;
}

static int check_identity(const struct vd_json *was, const struct vd_json *is,
                          struct vd_error *error)
{
    static const struct {
        const char *field, *words;
    } same[] = {{"name", "name"}, {"namespace", "namespace"}, {"uid", "UID"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct vd_slice old = vd_json_text(vd_json_get(was, vd_slice_of(same[i].field)));
        struct vd_slice now = vd_json_text(vd_json_get(is, vd_slice_of(same[i].field)));
        if (!vd_slice_eq(old, now))
            return vd_error_set(error, VD_ERR_INVALID, "must have the same %s: %.*s != %.*s",
                                same[i].words, VD_FMT(old), VD_FMT(now));
    }
    return VD_OK;
}

/* Labels, or annotations: texts only. */
static int check_texts(const struct vd_json *map, const char *field, struct vd_error *error)
{
    if (!vd_json_is(map, VD_JSON_OBJECT))
        return vd_error_set(error, VD_ERR_INVALID,
                            "invalid metadata.%s of type %s in converted object", field,
                            vd_json_type_name(map));
    VD_JSON_EACH (value, map) {
        if (!vd_json_is(value, VD_JSON_STRING))
            return vd_error_set(error, VD_ERR_INVALID,
                                "metadata.%s[%.*s] must be a string, but is %s in converted object",
                                field, VD_FMT(vd_json_key(value)), vd_json_type_name(value));
    }
    return VD_OK;
}

/* The metadata of the object becomes what it was, with the labels and annotations of the answer. */
static int restore_metadata(const struct vd_conversion_review *review, struct vd_arena *a,
                            struct vd_json *was, struct vd_json *object, struct vd_error *error)
{
    static const char *const taken[] = {"labels", "annotations"};
    struct vd_json *is = vd_json_get(object, VD_SLICE("metadata"));
    struct vd_violations wrong = {0};
    struct vd_buf text = {0};
    bool changed = false;
    int code = VD_OK;
    for (size_t i = 0; !code && i < sizeof taken / sizeof *taken; i++) {
        struct vd_slice field = vd_slice_of(taken[i]);
        struct vd_json *now = vd_json_remove(is, field), *old = vd_json_get(was, field);
        bool there = now && !vd_json_is(now, VD_JSON_NULL);
        code = there ? check_texts(now, taken[i], error) : VD_OK;
        changed |= there && !(old && vd_json_eq(old, now));
        if (there)
            vd_json_set(a, was, field, now);
        else
            vd_json_remove(was, field);
    }
    vd_json_set(a, object, VD_SLICE("metadata"), was);
    if (!code && changed)
        vd_meta_rules_check(review->to, object, &wrong);
    if (!code && vd_violations_any(&wrong)) {
        vd_violations_write(&text, &wrong);
        code = vd_error_set(error, VD_ERR_INVALID, "%s", vd_buf_text(&text));
    }
    vd_buf_release(&text);
    vd_violations_release(&wrong);
    return code;
}

/* One object of the answer; *in_metadata: that is where the fault lies. */
static int read_object(const struct vd_conversion_review *review, size_t i, struct vd_slice answer,
                       struct vd_buf *out, bool *in_metadata, struct vd_error *error)
{
    struct vd_arena arena = {0};
    struct vd_json *object = NULL, *was = NULL;
    struct vd_slice metadata = VD_SLICE("{}");
    *in_metadata = false;
    int code = vd_json_parse(&arena, answer, NULL, &object, error);
    if (!code && vd_span_get(review->objects[i].body, VD_SLICE("metadata"), &metadata))
        code = vd_json_parse(&arena, metadata, NULL, &was, error);
    if (!code)
        code = check_type(review, object, error);
    const struct vd_json *is = vd_json_get(object, VD_SLICE("metadata"));
    if (!code && vd_json_is(is, VD_JSON_OBJECT))
        code = check_identity(was, is, error);
    if (!code) {
        *in_metadata = true;
        code = vd_json_is(is, VD_JSON_OBJECT)
                   ? restore_metadata(review, &arena, was, object, error)
                   : vd_error_set(error, VD_ERR_INVALID, "missing metadata in converted object");
    }
    if (!code) {
        if (!review->to->preserve_unknown)
            vd_schema_prune(review->to->schema, object, NULL);
        vd_json_write(out, object);
        *in_metadata = false;
        if (out->n > VD_BODY_LEN_MAX)
            code = vd_error_set(error, VD_ERR_LIMIT,
                                "it has %zu bytes, more than the %d of an object", out->n,
                                VD_BODY_LEN_MAX);
    }
    vd_arena_release(&arena);
    return code;
}

static enum vd_conversion_failure read_objects(const struct vd_conversion_review *review,
                                               struct vd_slice list, struct vd_buf *converted,
                                               struct vd_error *error)
{
    struct vd_span_cursor at;
    struct vd_slice key, value;
    size_t n = 0;
    vd_span_open(&at, list);
    while (vd_span_next(&at, &key, &value))
        n++;
    if (at.broken) {
        vd_error_set(error, VD_ERR_INVALID, "the answer is no JSON");
        return VD_CONVERSION_FAILED_MALFORMED;
    }
    if (n != review->n) {
        vd_error_set(error, VD_ERR_INVALID, "returned %zu objects, expected %zu", n, review->n);
        return VD_CONVERSION_FAILED_PARTIAL;
    }
    vd_span_open(&at, list);
    for (size_t i = 0; vd_span_next(&at, &key, &value); i++) {
        bool in_metadata;
        if (!read_object(review, i, value, &converted[i], &in_metadata, error))
            continue;
        char where[64];
        snprintf(where, sizeof where,
                 in_metadata ? "returned invalid metadata in object at index %zu"
                             : "returned invalid converted object at index %zu",
                 i);
        vd_error_prefix(error, "%s", where);
        return VD_CONVERSION_FAILED_INVALID;
    }
    return VD_CONVERSION_FAILED_NONE;
}

enum vd_conversion_failure vd_conversion_review_read(const struct vd_conversion_review *review,
                                                     struct vd_slice answer,
                                                     struct vd_buf *converted,
                                                     struct vd_error *error)
{
    struct vd_arena arena = {0};
    struct vd_slice response, list = VD_SLICE("[]");
    enum vd_conversion_failure failure = VD_CONVERSION_FAILED_MALFORMED;
    answer = vd_slice_trim(answer);
    if (!vd_span_get(answer, VD_SLICE("response"), &response) || !response.n ||
        response.p[0] != '{') {
        vd_error_set(error, VD_ERR_INVALID, "no response provided");
    } else if (!check_head(review, &arena, answer, response, error)) {
        if (!vd_span_get(response, VD_SLICE("convertedObjects"), &list))
            list = VD_SLICE("[]");
        failure = read_objects(review, list, converted, error);
    }
    vd_arena_release(&arena);
    return failure;
}

void vd_conversion_failure_tell(struct vd_error *error, enum vd_conversion_failure failure,
                                const struct vd_conversion_review *review)
{
    struct vd_arena arena = {0};
    bool whole = failure == VD_CONVERSION_FAILED_CALL || failure == VD_CONVERSION_FAILED_MALFORMED;
    struct vd_slice version = review->n ? text_at(&arena, review->objects[0].body, "apiVersion")
                                        : VD_SLICE("");
    struct vd_error why = *error;
    vd_error_set(error, why.code, "conversion webhook for %.*s, Kind=%.*s %s%s", VD_FMT(version),
                 VD_FMT(review->to->kind), whole ? "failed: " : "", why.text);
    vd_arena_release(&arena);
}
