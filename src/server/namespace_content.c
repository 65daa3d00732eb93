/* See namespace_content.h. */
#include "server/namespace_content.h"

#include "base/buf.h"
#include "kinds/condition.h"
#include "kinds/object_meta.h"

enum { NAMES_MAX = 32 }; /* that a condition tells of */

void vd_namespace_content_release(struct vd_namespace_content *content)
{
    VD_VEC_RELEASE(&content->kinds);
    VD_VEC_RELEASE(&content->finalizers);
    vd_arena_release(&content->arena);
}

static void count(struct vd_namespace_content *content, struct vd_content_count_list *list,
                  struct vd_slice name)
{
    for (size_t i = 0; i < list->n; i++) {
        if (vd_slice_eq(list->p[i].name, name)) {
            list->p[i].n++;
            return;
        }
    }
    if (list->n < NAMES_MAX)
        *VD_VEC_PUSH(list) = (struct vd_content_count){vd_arena_copy(&content->arena, name), 1};
}

void vd_namespace_content_count(struct vd_namespace_content *content, struct vd_slice resource,
                                const struct vd_json *object)
{
    count(content, &content->kinds, resource);
    VD_JSON_EACH (item, vd_meta_finalizers(object)) {
        struct vd_slice name = vd_json_text(item);
        if (name.p)
            count(content, &content->finalizers, name);
    }
}

/* "configmaps. has 2 resource instances, ...": a resource, a dot and its group, which may be "". */
static void add_kinds(struct vd_buf *out, const struct vd_content_count_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        struct vd_slice name = list->p[i].name;
        const char *dot = memchr(name.p, '.', name.n) ? "" : ".";
        vd_buf_addf(out, "%s%.*s%s has %zu resource instances", i ? ", " : "", VD_FMT(name), dot,
                    list->p[i].n);
    }
}

static void add_finalizers(struct vd_buf *out, const struct vd_content_count_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        vd_buf_addf(out, "%s%.*s in %zu resource instances", i ? ", " : "", VD_FMT(list->p[i].name),
                    list->p[i].n);
}

static void tell(struct vd_arena *a, struct vd_json *namespace, int64_t now_ms, const char *type,
                 bool is, const char *reason, struct vd_slice message)
{
    vd_condition_set(a, namespace,
                     &(struct vd_condition){.type = vd_slice_of(type),
                                            .status = is ? VD_SLICE("True") : VD_SLICE("False"),
                                            .reason = vd_slice_of(reason),
                                            .message = message},
                     now_ms);
}

void vd_namespace_content_write(const struct vd_namespace_content *content, struct vd_arena *a,
                                struct vd_json *namespace, int64_t now_ms)
{
    struct vd_buf text = {0};
    bool some = content->kinds.n > 0, held = content->finalizers.n > 0;
    tell(a, namespace, now_ms, "NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
         VD_SLICE("All resources successfully discovered"));
    tell(a, namespace, now_ms, "NamespaceDeletionGroupVersionParsingFailure", false,
         "ParsedGroupVersions", VD_SLICE("All legacy kube types successfully parsed"));
    tell(a, namespace, now_ms, "NamespaceDeletionContentFailure", false, "ContentDeleted",
         VD_SLICE("All content successfully deleted, may be waiting on finalization"));
    vd_buf_add_text(&text,
                    some ? "Some resources are remaining: " : "All content successfully removed");
    add_kinds(&text, &content->kinds);
    tell(a, namespace, now_ms, "NamespaceContentRemaining", some,
         some ? "SomeResourcesRemain" : "ContentRemoved", vd_buf_slice(&text));
    vd_buf_reset(&text);
    vd_buf_add_text(&text, held ? "Some content in the namespace has finalizers remaining: "
                                : "All content-preserving finalizers finished");
    add_finalizers(&text, &content->finalizers);
    tell(a, namespace, now_ms, "NamespaceFinalizersRemaining", held,
         held ? "SomeFinalizersRemain" : "ContentHasNoFinalizers", vd_buf_slice(&text));
    vd_buf_release(&text);
}
