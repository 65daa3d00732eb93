/* See manifest_text.h. */
#include "manifest_text.h"

#include "git/manifest.h"
#include "json/yaml_write.h"

/* What the server and kubectl put on objects is not the author's. */
static bool is_authors(struct vd_slice annotation)
{
    return !vd_git_annotation_is_reserved(annotation) &&
           !vd_slice_is(annotation, "kubectl.kubernetes.io/last-applied-configuration");
}

static struct vd_json *annotations_of(struct vd_arena *a, const struct vd_json *all)
{
    struct vd_json *kept = vd_json_object(a);
    VD_JSON_EACH (annotation, all)
        if (is_authors(vd_json_key(annotation)))
            vd_json_add(a, kept, vd_json_key(annotation), vd_json_clone(a, annotation));
    return kept;
}

static struct vd_json *metadata_of(struct vd_arena *a, const struct vd_json *metadata)
{
    static const char *const keys[] = {"name", "namespace", "labels", "annotations"};
    struct vd_json *made = vd_json_object(a);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct vd_slice key = vd_slice_of(keys[i]);
        const struct vd_json *value = vd_json_get(metadata, key);
        struct vd_json *kept = !value                            ? NULL
                               : vd_slice_is(key, "annotations") ? annotations_of(a, value)
                                                                 : vd_json_clone(a, value);
        if (kept && (kept->type != VD_JSON_OBJECT || vd_json_count(kept)))
            vd_json_add(a, made, key, kept);
    }
    return made;
}

bool vd_manifest_text_write(struct vd_buf *out, struct vd_arena *arena,
                            const struct vd_json *object)
{
    static const char *const first[] = {"apiVersion", "kind"};
    const struct vd_json *body = vd_json_get(object, VD_SLICE("body"));
    bool is_markdown = vd_json_is(body, VD_JSON_STRING);
    struct vd_json *manifest = vd_json_object(arena);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        struct vd_slice key = vd_slice_of(first[i]);
        vd_json_add(arena, manifest, key, vd_json_clone(arena, vd_json_get(object, key)));
    }
    vd_json_add(arena, manifest, VD_SLICE("metadata"),
                metadata_of(arena, vd_json_get(object, VD_SLICE("metadata"))));
    VD_JSON_EACH (member, object) {
        struct vd_slice key = vd_json_key(member);
        if (!vd_json_get(manifest, key) && !vd_slice_is(key, "status") && member != body)
            vd_json_add(arena, manifest, key, vd_json_clone(arena, member));
    }
    if (is_markdown)
        vd_buf_add_text(out, "---\n");
    vd_yaml_write(out, manifest);
    if (is_markdown) {
        vd_buf_add_text(out, "---\n");
        vd_buf_add_slice(out, vd_json_text(body));
    }
    return is_markdown;
}
