/*
 * See definition_kind.h. A kind keeps its document, so it is given one without what
 * only the stored object needs: status, managed fields, what kubectl last applied.
 */
#include "api/definition_kind.h"

#include "base/log.h"
#include "kinds/condition.h"
#include "kinds/deletion.h"
#include "kinds/object_meta.h"
#include "store/snapshot.h"
#include "json/compare.h"
#include "json/parse.h"

enum { PIECE_EVENTS = 64 }; /* definitions that are read at a time */

/* The annotations that the kind itself looks at. */
static struct vd_json *annotations_of(struct vd_arena *a, const struct vd_json *object)
{
    struct vd_json *kept = vd_json_object(a);
    VD_JSON_EACH (annotation, vd_meta_annotations(object)) {
        if (vd_slice_starts_with(vd_json_key(annotation), VD_SLICE("vedette.dev/")))
            vd_json_add(a, kept, vd_json_key(annotation), vd_json_clone(a, annotation));
    }
    return kept;
}

/* What of a definition's metadata its kinds depend on, besides annotations. */
static const char *const kept[] = {"name", "uid", "generation", "deletionTimestamp"};

struct vd_json *vd_definition_document(struct vd_arena *a, const struct vd_json *object,
                                       const struct vd_json *names)
{
    struct vd_json *document = vd_json_object(a), *metadata = vd_json_object(a);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const struct vd_json *value = vd_json_dig(object, "metadata", kept[i], NULL);
        if (value)
            vd_json_add_ref(metadata, vd_slice_of(kept[i]), vd_json_clone(a, value));
    }
    vd_json_add_ref(metadata, VD_SLICE("annotations"), annotations_of(a, object));
    vd_json_add_ref(document, VD_SLICE("metadata"), metadata);
    struct vd_json *spec = vd_json_clone(a, vd_json_get(object, VD_SLICE("spec")));
    vd_json_set(a, spec, VD_SLICE("names"), vd_json_clone(a, names));
    vd_json_add_ref(document, VD_SLICE("spec"), spec);
    return document;
}

/* Whether the registry has this very thing. The spec is the same if the generation is. */
static bool is_registered(const struct vd_kind *kind, const struct vd_json *document)
{
    bool same = kind && !kind->builtin;
    for (size_t i = 0; same && i < sizeof kept / sizeof *kept; i++)
        same = vd_json_eq(vd_json_dig(kind->document, "metadata", kept[i], NULL),
                          vd_json_dig(document, "metadata", kept[i], NULL));
    return same &&
           vd_json_eq(vd_json_dig(kind->document, "metadata", "annotations", NULL),
                      vd_json_dig(document, "metadata", "annotations", NULL)) &&
           vd_json_eq(vd_json_dig(kind->document, "spec", "names", NULL),
                      vd_json_dig(document, "spec", "names", NULL));
}

/* A kind that comes has no objects that are newer than its definition and older than it. */
static void note_since(struct vd_arena *a, struct vd_json *document, const struct vd_json *object,
                       uint64_t revision, bool comes)
{
    char digits[20];
    struct vd_slice since = comes ? vd_meta_resource_version(object)
                                  : vd_slice(digits, vd_u64_digits(revision, digits));
    vd_json_set(a, vd_json_get(document, VD_SLICE("metadata")), VD_SLICE("resourceVersion"),
                vd_json_string(a, since));
}

int vd_definition_register(struct vd_kinds *kinds, const struct vd_json *object,
                           const struct vd_json *names, uint64_t revision, struct vd_error *error)
{
    struct vd_arena arena = {0};
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    const struct vd_kind *kind = vd_kind_set_stored(set, vd_meta_name(object));
    struct vd_json *document = vd_definition_document(&arena, object, names);
    int code = VD_OK;
    if (!is_registered(kind, document)) {
        note_since(&arena, document, object, revision, !kind);
        code = vd_kinds_put(kinds, document, false, error);
    }
    vd_kind_set_unref(set);
    vd_arena_release(&arena);
    return code;
}

void vd_definition_unregister(struct vd_kinds *kinds, struct vd_slice name)
{
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    const struct vd_kind *kind = vd_kind_set_stored(set, name);
    struct vd_error error;
    if (kind && !kind->builtin && vd_kinds_remove(kinds, kind->group, kind->plural, &error))
        vd_log_error("a kind could not be taken out", VD_F_ERROR(&error));
    vd_kind_set_unref(set);
}

static void register_stored(struct vd_kinds *kinds, const struct vd_event *event)
{
    struct vd_arena arena = {0};
    struct vd_json *object = NULL;
    struct vd_error error = {0};
    int code = vd_json_parse(&arena, vd_body_slice(event->body), NULL, &object, &error);
    if (!code && vd_condition_is_true(object, VD_SLICE("Established")))
        code = vd_definition_register(kinds, object,
                                      vd_json_dig(object, "status", "acceptedNames", NULL),
                                      event->revision, &error);
    if (code)
        vd_log_error("a definition cannot be served",
                     VD_F_SLICE("name", vd_entry_name(event->entry)), VD_F_ERROR(&error));
    vd_arena_release(&arena);
}

int vd_definition_register_all(struct vd_kinds *kinds, struct vd_store *store,
                               struct vd_error *error)
{
    struct vd_snapshot snapshot;
    struct vd_event *events[PIECE_EVENTS];
    int code = vd_snapshot_open(&snapshot, store, VD_DEFINITIONS, VD_SLICE(""), 0, VD_SLICE(""),
                                error);
    if (code)
        return code;
    while (!code && !snapshot.done) {
        size_t n = 0;
        code = vd_snapshot_next(&snapshot, events, PIECE_EVENTS, &n, error);
        if (code == VD_ERR_CORRUPT) { /* the rest can be served */
            vd_log_error("a definition cannot be served", VD_F_ERROR(error));
            code = VD_OK;
            continue;
        }
        for (size_t i = 0; !code && i < n; i++) {
            register_stored(kinds, events[i]);
            vd_event_unref(events[i]);
        }
    }
    vd_snapshot_release(&snapshot);
    return code;
}
