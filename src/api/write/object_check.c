/*
 * What a document has to be before it becomes an object: of the right kind, in the right place,
 * with known fields, valid. A check that fails refuses the write.
 */
#include "api/write/write_internal.h"
#include "base/limits.h"
#include "kinds/deletion.h"
#include "kinds/object_meta.h"
#include "kinds/status_subresource.h"
#include "kinds/uid.h"
#include "watch/excerpt.h"
#include "json/parse.h"
#include "json/span.h"
#include "json/write.h"

/* The text of a top-level member, which is filled in where it is not said: typed clients
 * leave apiVersion and kind out, since the URL has them. */
static struct vd_slice text_or(struct vd_write *w, struct vd_json *object, struct vd_slice key,
                               struct vd_slice text)
{
    if (object->type == VD_JSON_OBJECT && !vd_json_get(object, key))
        vd_json_set(w->arena, object, key, vd_json_string(w->arena, text));
    return vd_json_text(vd_json_get(object, key));
}

/* In the words of the validation of custom objects. The refusal is about the kind that the object
 * says it is of. */
static bool refuse_wrong_type(struct vd_write *w, const struct vd_kind *expected,
                              struct vd_slice api_version, struct vd_slice kind,
                              const struct vd_json *object)
{
    const struct {
        const char *field;
        struct vd_slice is, wanted;
    } members[] = {{"kind", kind, expected->kind},
                   {"apiVersion", api_version, expected->api_version}};
    struct vd_violations violations = {0};
    for (size_t i = 0; i < 2; i++) {
        struct vd_buf text = {0};
        if (vd_slice_eq(members[i].is, members[i].wanted))
            continue;
        vd_buf_addf(&text, "must be %.*s", VD_FMT(members[i].wanted));
        vd_violations_add_at(&violations, VD_VIOLATION_INVALID, vd_slice_of(members[i].field),
                             vd_bad_value_text(&violations, members[i].is), vd_buf_slice(&text));
        vd_buf_release(&text);
    }
    vd_write_refuse_invalid(w, kind, object, &violations);
    vd_violations_release(&violations);
    return false;
}

/* Whether the object is what a patch has made of the old one. */
static bool is_patched(const struct vd_write *w)
{
    return w->verb == VD_WRITE_PATCH;
}

bool vd_write_check_kind(struct vd_write *w, const struct vd_kind *expected, struct vd_json *object)
{
    vd_meta_fill_texts(object);
    struct vd_slice api_version = text_or(w, object, VD_SLICE("apiVersion"), expected->api_version);
    struct vd_slice kind = text_or(w, object, VD_SLICE("kind"), expected->kind);
    struct vd_error error;
    bool other_version = !vd_slice_eq(api_version, expected->api_version);
    bool other_kind = !vd_slice_eq(kind, expected->kind);
    if (vd_meta_check(object, &error))
        return vd_write_refuse_text(w, VD_REFUSED_BAD_REQUEST, vd_slice_of(error.text));
    if (!expected->native &&
        (is_patched(w) ? other_version || other_kind : other_kind && !other_version))
        return refuse_wrong_type(w, expected, api_version, kind, object);
    if (other_version)
        return vd_write_refuse(w, &(struct vd_refusal){.reason = VD_REFUSED_API_VERSION_DIFFERS,
                                                       .is = vd_arena_copy(w->arena, api_version),
                                                       .wanted = expected->api_version});
    if (!other_kind)
        return true;
    vd_error_set(&error, VD_ERR_INVALID,
                 "the kind in the data (%.*s) does not match the expected kind (%.*s)",
                 VD_FMT(kind), VD_FMT(expected->kind));
    return vd_write_refuse_text(w, VD_REFUSED_BAD_REQUEST, vd_slice_of(error.text));
}

bool vd_write_check_namespace_named(struct vd_write *w, struct vd_json *object)
{
    struct vd_slice namespace = vd_meta_namespace(object);
    if (!w->kind->namespaced) {
        vd_meta_set_namespace(w->arena, object, VD_SLICE(""));
        return true;
    }
    if (namespace.n && !vd_slice_eq(namespace, w->namespace))
        return vd_write_refuse_for(w, VD_REFUSED_NAMESPACE_DIFFERS);
    vd_meta_set_namespace(w->arena, object, w->namespace);
    return true;
}

/* An applied configuration of a custom kind is not read by its schema,
 * so that nulls in it are refused where the schema does not allow them. */
struct vd_pruned vd_write_nulls(const struct vd_write *w)
{
    return (struct vd_pruned){.keeps_nulls = w->applied && !w->kind->native,
                              .empty_texts = w->kind->native};
}

/* Keys that a YAML text repeats are one error of several lines. */
void vd_write_join_warnings(struct vd_write *w, struct vd_buf *out)
{
    for (size_t i = 0; i < w->warnings.n; i++) {
        if (i < w->yaml_warnings)
            vd_buf_add_text(out, i ? "\n  " : "yaml: unmarshal errors:\n  ");
        else if (i)
            vd_buf_add_text(out, ", ");
        vd_buf_add_slice(out, w->warnings.p[i]);
    }
    w->warnings.n = w->yaml_warnings = 0;
}

/* Kubernetes reads an object after it is patched, and says so. */
static bool refuse_strict_patch(struct vd_write *w, const struct vd_json *object,
                                struct vd_slice error)
{
    struct vd_buf text = {0}, message = {0};
    struct vd_violation *violation = vd_arena_alloc(w->arena, sizeof *violation);
    *violation = (struct vd_violation){.type = VD_VIOLATION_INVALID, .field = VD_SLICE("patch")};
    vd_json_write(&text, object);
    vd_buf_add_text(&message, "Invalid value: ");
    violation->value_at = (uint32_t)message.n;
    if (w->kind->hides_values)
        vd_buf_add_text(&message, VD_HIDDEN_VALUE);
    else
        vd_excerpt_add_quoted(&message, vd_buf_slice(&text), VD_VIOLATION_VALUE_LEN_MAX);
    violation->value_n = (uint32_t)message.n - violation->value_at;
    vd_buf_add_text(&message, ": ");
    violation->text_at = (uint32_t)message.n;
    vd_buf_add_slice(&message, error);
    violation->message = vd_arena_copy(w->arena, vd_buf_slice(&message));
    vd_buf_release(&text);
    vd_buf_release(&message);
    return vd_write_refuse(w, &(struct vd_refusal){.reason = VD_REFUSED_INVALID,
                                                   .violations = violation,
                                                   .violations_n = 1});
}

bool vd_write_prepare(struct vd_write *w, struct vd_json *object, bool create,
                      struct vd_pruned *pruned)
{
    struct vd_effort effort = vd_write_effort(w);
    struct vd_error error;
    int code = vd_object_prepare(w->kind, w->arena, object, create, pruned, &effort, &error);
    if (code && effort.on_loop)
        vd_write_job_restart(w);
    else if (code)
        vd_write_refuse_error(w, code, &error);
    return !code;
}

bool vd_write_check_fields(struct vd_write *w, const struct vd_kind *kind,
                           const struct vd_pruned *pruned, const struct vd_json *object)
{
    for (size_t i = 0; w->validation != VD_FIELDS_IGNORE && i < pruned->paths.n; i++)
        vd_write_warn(w, "unknown field \"%.*s\"", VD_FMT(pruned->paths.p[i]));
    if (w->validation != VD_FIELDS_STRICT || w->warnings.n == 0)
        return true;
    struct vd_buf text = {0};
    if (!is_patched(w))
        vd_buf_addf(&text,
                    "%.*s in version \"%.*s\" cannot be handled as a %.*s: ", VD_FMT(kind->kind),
                    VD_FMT(kind->version), VD_FMT(kind->kind));
    vd_buf_add_text(&text, "strict decoding error: ");
    vd_write_join_warnings(w, &text);
    struct vd_slice error = vd_arena_copy(w->arena, vd_buf_slice(&text));
    vd_buf_release(&text);
    return is_patched(w) ? refuse_strict_patch(w, object, error)
                         : vd_write_refuse_text(w, VD_REFUSED_BAD_REQUEST, error);
}

bool vd_write_check_boundary(struct vd_write *w, const struct vd_json *object,
                             const struct vd_json *old)
{
    struct vd_violations violations = {0};
    if (!vd_write_is_at_status(w) || !w->kind->status_boundary_strict)
        return true;
    /* The past is seen with the eyes of today's schema: what that has made of it, nobody has
     * touched. */
    struct vd_json *was = vd_json_clone(w->arena, old);
    if (!vd_write_prepare(w, was, false, NULL))
        return false;
    vd_meta_drop_empty(was);
    bool ok = vd_status_subresource_check(object, was, &violations);
    if (!ok)
        vd_write_refuse_invalid(w, w->kind->kind, object, &violations);
    vd_violations_release(&violations);
    return ok;
}

bool vd_write_check_question(struct vd_write *w, const struct vd_kind *kind, struct vd_json *object)
{
    struct vd_pruned pruned = {0};
    if (!vd_write_check_kind(w, kind, object))
        return false;
    struct vd_effort effort = {0};
    struct vd_error error;
    int code = vd_object_prepare(kind, w->arena, object, true, &pruned, &effort, &error);
    if (code)
        vd_write_refuse_error(w, code, &error);
    bool ok = !code && vd_write_check_fields(w, kind, &pruned, object);
    vd_pruned_release(&pruned);
    return ok && vd_write_check_valid(w, kind, object);
}
