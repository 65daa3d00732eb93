/* See metadata.h. */
#include "kinds/object_meta_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/vec.h"
#include "kinds/object_meta.h"
#include "watch/label.h"
#include "json/compare.h"

static const struct vd_field_path root = {NULL, {"metadata", 8}, 0, VD_FIELD_MEMBER};

static struct vd_slice text_at(const struct vd_json *metadata, const char *key)
{
    struct vd_slice text = vd_json_text(vd_json_get(metadata, vd_slice_of(key)));
    return text.p ? text : vd_slice("", 0);
}

static void complain_name(struct vd_violations *out, const char *field, struct vd_slice name,
                          const struct vd_name_faults *faults)
{
    struct vd_field_path path = vd_field_member(&root, vd_slice_of(field));
    for (size_t i = 0; i < faults->n; i++)
        vd_violations_add(out, VD_VIOLATION_INVALID, &path, vd_bad_value_text(out, name), "%s",
                          faults->p[i]);
}

static void check_names(const struct vd_kind *kind, const struct vd_json *metadata,
                        struct vd_violations *out)
{
    struct vd_name_faults faults;
    struct vd_slice name = text_at(metadata, "name");
    struct vd_slice prefix = text_at(metadata, "generateName");
    struct vd_slice namespace = text_at(metadata, "namespace");
    struct vd_field_path name_path = vd_field_member(&root, VD_SLICE("name"));
    struct vd_field_path namespace_path = vd_field_member(&root, VD_SLICE("namespace"));
    if (prefix.n && !vd_name_prefix_check(kind->name_rule, prefix, &faults))
        complain_name(out, "generateName", prefix, &faults);
    if (name.n == 0)
        vd_violations_add(out, VD_VIOLATION_REQUIRED, &name_path, vd_bad_value_nothing(), "%s",
                          "name or generateName is required");
    else if (!vd_name_check(kind->name_rule, name, &faults))
        complain_name(out, "name", name, &faults);
    else if (name.n > VD_NAME_LEN_MAX)
        vd_violations_add(out, VD_VIOLATION_TOO_LONG, &name_path, vd_bad_value_nothing(),
                          "may not be more than %d bytes", VD_NAME_LEN_MAX);
    if (!kind->namespaced && namespace.n)
        vd_violations_add(out, VD_VIOLATION_FORBIDDEN, &namespace_path, vd_bad_value_nothing(),
                          "%s", "not allowed on this type");
    else if (kind->namespaced && !namespace.n)
        vd_violations_add(out, VD_VIOLATION_REQUIRED, &namespace_path, vd_bad_value_nothing(), "%s",
                          "");
    else if (kind->namespaced && !vd_name_check(VD_NAME_LABEL, namespace, &faults))
        complain_name(out, "namespace", namespace, &faults);
}

static void check_labels(const struct vd_json *labels, struct vd_violations *out)
{
    struct vd_field_path path = vd_field_member(&root, VD_SLICE("labels"));
    struct vd_buf why = {0};
    VD_JSON_EACH (label, labels) {
        vd_buf_reset(&why);
        if (!vd_label_key_check(vd_json_key(label), &why))
            vd_violations_add(out, VD_VIOLATION_INVALID, &path,
                              vd_bad_value_text(out, vd_json_key(label)), "%s", vd_buf_text(&why));
        vd_buf_reset(&why);
        if (vd_json_is(label, VD_JSON_STRING) && !vd_label_value_check(vd_json_text(label), &why))
            vd_violations_add(out, VD_VIOLATION_INVALID, &path,
                              vd_bad_value_text(out, vd_json_text(label)), "%s", vd_buf_text(&why));
    }
    vd_buf_release(&why);
}

/* Annotation keys follow the labels' rule, but capitals do not matter. */
static bool check_annotation_key(struct vd_slice key, struct vd_buf *why)
{
    struct vd_buf small = {0};
    for (size_t i = 0; i < key.n; i++)
        vd_buf_add_char(&small,
                        key.p[i] >= 'A' && key.p[i] <= 'Z' ? (char)(key.p[i] + 32) : key.p[i]);
    bool ok = vd_label_key_check(vd_buf_slice(&small), why);
    vd_buf_release(&small);
    return ok;
}

static void check_annotations(const struct vd_json *annotations, struct vd_violations *out)
{
    struct vd_field_path path = vd_field_member(&root, VD_SLICE("annotations"));
    struct vd_buf why = {0};
    VD_JSON_EACH (annotation, annotations) {
        struct vd_slice key = vd_json_key(annotation);
        /* Most keys have no capitals, and then no copy is needed. */
        if (vd_label_key_check(key, NULL))
            continue;
        vd_buf_reset(&why);
        if (!check_annotation_key(key, &why))
            vd_violations_add(out, VD_VIOLATION_INVALID, &path, vd_bad_value_text(out, key), "%s",
                              vd_buf_text(&why));
    }
    if (vd_meta_annotations_len(annotations) > VD_ANNOTATIONS_LEN_MAX)
        vd_violations_add(out, VD_VIOLATION_TOO_LONG, &path, vd_bad_value_nothing(),
                          "may not be more than %d bytes", VD_ANNOTATIONS_LEN_MAX);
    vd_buf_release(&why);
}

/* The group and version of "group/version", "/v1" or "v1"; what is none of them has no version. */
static void split_version(struct vd_slice text, struct vd_slice *group, struct vd_slice *version)
{
    *version = text;
    *group = VD_SLICE("");
    if (text.n && memchr(text.p, '/', text.n))
        vd_slice_cut(version, '/', group);
    if (version->n && memchr(version->p, '/', version->n))
        *version = VD_SLICE("");
}

static void check_owner(const struct vd_json *owner, struct vd_violations *out)
{
    static const struct {
        const char *field, *detail;
    } needed[] = {
        {"kind", "must not be empty"},
        {"name", "must not be empty"},
        {"uid", "must not be empty"},
    };
    struct vd_field_path path = vd_field_member(&root, VD_SLICE("ownerReferences"));
    struct vd_field_path version_path = vd_field_member(&path, VD_SLICE("apiVersion"));
    struct vd_slice group, version, api_version = text_at(owner, "apiVersion");
    split_version(api_version, &group, &version);
    if (version.n == 0)
        vd_violations_add(out, VD_VIOLATION_INVALID, &version_path,
                          vd_bad_value_text(out, api_version), "%s", "version must not be empty");
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        struct vd_field_path at = vd_field_member(&path, vd_slice_of(needed[i].field));
        if (text_at(owner, needed[i].field).n == 0)
            vd_violations_add(out, VD_VIOLATION_INVALID, &at, VD_SLICE("\"\""), "%s",
                              needed[i].detail);
    }
    if (group.n == 0 && vd_slice_is(version, "v1") && vd_slice_is(text_at(owner, "kind"), "Event"))
        vd_violations_add(out, VD_VIOLATION_INVALID, &path, vd_bad_value_json(out, owner), "%s",
                          "/v1, Kind=Event is disallowed from being an owner");
}

static void check_owners(const struct vd_json *owners, struct vd_violations *out)
{
    struct vd_field_path path = vd_field_member(&root, VD_SLICE("ownerReferences"));
    const struct vd_json *controller = NULL;
    VD_JSON_EACH (owner, owners) {
        check_owner(owner, out);
        if (!vd_json_truth(vd_json_get(owner, VD_SLICE("controller"))))
            continue;
        if (controller)
            vd_violations_add(
                out, VD_VIOLATION_INVALID, &path, vd_bad_value_json(out, owners),
                "Only one reference can have Controller set to true. Found \"true\" in references "
                "for %.*s/%.*s and %.*s/%.*s",
                VD_FMT(text_at(controller, "kind")), VD_FMT(text_at(controller, "name")),
                VD_FMT(text_at(owner, "kind")), VD_FMT(text_at(owner, "name")));
        else
            controller = owner;
    }
}

static void check_finalizers(const struct vd_json *finalizers, struct vd_violations *out)
{
    struct vd_field_path path = vd_field_member(&root, VD_SLICE("finalizers"));
    struct vd_buf why = {0};
    bool orphan = false, foreground = false;
    VD_JSON_EACH (finalizer, finalizers) {
        struct vd_slice name = vd_json_text(finalizer);
        vd_buf_reset(&why);
        if (!name.p)
            continue; /* the schema says what it should be */
        if (!vd_label_key_check(name, &why))
            vd_violations_add(out, VD_VIOLATION_INVALID, &path, vd_bad_value_text(out, name), "%s",
                              vd_buf_text(&why));
        orphan |= vd_slice_is(name, "orphan");
        foreground |= vd_slice_is(name, "foregroundDeletion");
    }
    if (orphan && foreground)
        vd_violations_add(out, VD_VIOLATION_INVALID, &path, vd_bad_value_json(out, finalizers),
                          "%s", "finalizer orphan and foregroundDeletion cannot be both set");
    vd_buf_release(&why);
}

/* What holds for the metadata of every resource but for its names. */
static void check_rest(const struct vd_json *metadata, struct vd_violations *out)
{
    int64_t generation;
    if (vd_json_to_i64(vd_json_get(metadata, VD_SLICE("generation")), &generation) &&
        generation < 0) {
        struct vd_field_path path = vd_field_member(&root, VD_SLICE("generation"));
        vd_violations_add(out, VD_VIOLATION_INVALID, &path,
                          vd_bad_value_json(out, vd_json_get(metadata, VD_SLICE("generation"))),
                          "%s", "must be greater than or equal to 0");
    }
    check_labels(vd_json_get(metadata, VD_SLICE("labels")), out);
    check_annotations(vd_json_get(metadata, VD_SLICE("annotations")), out);
    check_owners(vd_json_get(metadata, VD_SLICE("ownerReferences")), out);
    check_finalizers(vd_json_get(metadata, VD_SLICE("finalizers")), out);
}

/* Whether Kubernetes wants the finalizers of the kind to have a domain: those of built-in kinds,
 * but not of definitions and of events in their old form. */
static bool wants_domains(const struct vd_kind *kind)
{
    return kind->native && !vd_slice_is(kind->group, "apiextensions.k8s.io") &&
           (kind->group.n || !vd_slice_is(kind->kind, "Event"));
}

static void check_domains(const struct vd_json *finalizers, struct vd_violations *out)
{
    struct vd_field_path list = vd_field_member(&root, VD_SLICE("finalizers"));
    size_t i = 0;
    VD_JSON_EACH (finalizer, finalizers) {
        struct vd_field_path path = vd_field_element(&list, i++);
        struct vd_slice name = vd_json_text(finalizer);
        if (name.n && !memchr(name.p, '/', name.n) && !vd_slice_is(name, "kubernetes") &&
            !vd_slice_is(name, "orphan") && !vd_slice_is(name, "foregroundDeletion"))
            vd_violations_add(out, VD_VIOLATION_INVALID, &path, vd_bad_value_text(out, name), "%s",
                              "name is neither a standard finalizer name nor is it fully "
                              "qualified");
    }
}

void vd_meta_rules_check(const struct vd_kind *kind, const struct vd_json *object,
                         struct vd_violations *out)
{
    const struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    check_names(kind, metadata, out);
    check_rest(metadata, out);
    if (wants_domains(kind))
        check_domains(vd_json_get(metadata, VD_SLICE("finalizers")), out);
}

static void check_embedded_names(const struct vd_json *metadata, struct vd_violations *out)
{
    struct vd_name_faults faults;
    struct vd_slice name = text_at(metadata, "name");
    struct vd_slice prefix = text_at(metadata, "generateName");
    struct vd_slice namespace = text_at(metadata, "namespace");
    if (prefix.n && !vd_name_prefix_check(VD_NAME_PATH_SEGMENT, prefix, &faults))
        complain_name(out, "generateName", prefix, &faults);
    if (name.n && !vd_name_check(VD_NAME_PATH_SEGMENT, name, &faults))
        complain_name(out, "name", name, &faults);
    if (namespace.n && !vd_name_check(VD_NAME_LABEL, namespace, &faults))
        complain_name(out, "namespace", namespace, &faults);
}

void vd_meta_rules_check_embedded(const struct vd_json *resource, const struct vd_field_path *path,
                                  struct vd_violations *out)
{
    const struct vd_json *metadata = vd_json_get(resource, VD_SLICE("metadata"));
    struct vd_violations found = {0};
    struct vd_buf field = {0};
    check_embedded_names(metadata, &found);
    check_rest(metadata, &found);
    for (size_t i = 0; i < found.list.n; i++) {
        struct vd_violation *v = &found.list.p[i];
        vd_buf_reset(&field);
        vd_field_path_write(&field, path, VD_FIELD_BRACKETS);
        vd_buf_addf(&field, "%s%.*s", field.n ? "." : "", VD_FMT(v->field));
        v->field = vd_arena_copy(&found.arena, vd_buf_slice(&field));
    }
    vd_violations_merge(out, &found);
    vd_buf_release(&field);
    vd_violations_release(&found);
}

struct texts {
    VD_VEC(struct vd_slice) list;
};

static int text_order(const void *a, const void *b)
{
    return vd_slice_cmp(*(const struct vd_slice *)a, *(const struct vd_slice *)b);
}

/* The strings of a list, sorted; the caller releases. */
static struct texts sorted_texts(const struct vd_json *list)
{
    struct texts texts = {0};
    VD_JSON_EACH (item, list)
        *VD_VEC_PUSH(&texts.list) = vd_json_text(item);
    if (texts.list.n)
        qsort(texts.list.p, texts.list.n, sizeof *texts.list.p, text_order);
    return texts;
}

static bool has_text(const struct texts *texts, struct vd_slice text)
{
    return texts->list.n &&
           bsearch(&text, texts->list.p, texts->list.n, sizeof *texts->list.p, text_order);
}

/* The list of new ones is written as Go prints it: clients have seen it so. */
static void check_new_finalizers(const struct vd_json *metadata, const struct vd_json *old,
                                 struct vd_violations *out)
{
    struct vd_field_path path = vd_field_member(&root, VD_SLICE("finalizers"));
    struct texts before = sorted_texts(vd_json_get(old, VD_SLICE("finalizers")));
    struct vd_buf added = {0};
    VD_JSON_EACH (finalizer, vd_json_get(metadata, VD_SLICE("finalizers"))) {
        if (has_text(&before, vd_json_text(finalizer)))
            continue;
        vd_buf_add_text(&added, added.n ? ", " : "");
        vd_buf_add_slice(&added, vd_bad_value_text(out, vd_json_text(finalizer)));
    }
    if (added.n)
        vd_violations_add(out, VD_VIOLATION_FORBIDDEN, &path, vd_bad_value_nothing(),
                          "no new finalizers can be added if the object is being deleted, found "
                          "new finalizers []string{%s}",
                          vd_buf_text(&added));
    vd_buf_release(&added);
    VD_VEC_RELEASE(&before.list);
}

void vd_meta_rules_check_update(const struct vd_json *object, const struct vd_json *old,
                                struct vd_violations *out)
{
    static const char *const fixed[] = {"name",
                                        "namespace",
                                        "uid",
                                        "creationTimestamp",
                                        "deletionTimestamp",
                                        "deletionGracePeriodSeconds"};
    const struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    const struct vd_json *before = vd_json_get(old, VD_SLICE("metadata"));
    if (vd_json_get(before, VD_SLICE("deletionTimestamp")))
        check_new_finalizers(metadata, before, out);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        const struct vd_json *now = vd_json_get(metadata, vd_slice_of(fixed[i]));
        const struct vd_json *was = vd_json_get(before, vd_slice_of(fixed[i]));
        struct vd_field_path path = vd_field_member(&root, vd_slice_of(fixed[i]));
        if (!vd_json_eq(now, was))
            vd_violations_add(out, VD_VIOLATION_INVALID, &path,
                              now ? vd_bad_value_json(out, now) : VD_SLICE("\"\""), "%s",
                              "field is immutable");
    }
}
