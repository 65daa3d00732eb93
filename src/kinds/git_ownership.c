/* See git_ownership.h. Most objects are nobody's but the API's: for them it takes a look
 * for the mark in their bytes, and no document is made. */
#include "kinds/git_ownership.h"

#include <string.h>

#include "kinds/object_meta.h"
#include "json/compare.h"
#include "json/parse.h"
#include "json/span.h"

/* Stored bytes and templates are written by one writer, which escapes nothing in it. */
static bool may_be_marked(struct vd_slice bytes)
{
    return bytes.n && memmem(bytes.p, bytes.n, VD_GIT_REPOSITORY, sizeof VD_GIT_REPOSITORY - 1);
}

static bool is_marked(const struct vd_json *object)
{
    return vd_json_get(vd_meta_annotations(object), VD_SLICE(VD_GIT_REPOSITORY)) != NULL;
}

/* Maps that are empty are maps that are not there. */
static bool same_map(const struct vd_json *a, const struct vd_json *b)
{
    return (vd_json_count(a) == 0 && vd_json_count(b) == 0) || vd_json_eq(a, b);
}

/* What is Git's at the top: all but metadata, which is looked into, the version's name,
 * and status if that has a subresource of its own. */
static struct vd_json *spec_of(const struct vd_kind *kind, struct vd_arena *scratch,
                               const struct vd_json *object)
{
    struct vd_json *spec = vd_json_clone(scratch, object);
    vd_json_remove(spec, VD_SLICE("metadata"));
    vd_json_remove(spec, VD_SLICE("apiVersion"));
    if (kind->has_status)
        vd_json_remove(spec, VD_SLICE("status"));
    return spec;
}

static bool keeps_spec(const struct vd_kind *kind, struct vd_arena *scratch,
                       const struct vd_json *old, const struct vd_json *object)
{
    return vd_json_eq(spec_of(kind, scratch, old), spec_of(kind, scratch, object)) &&
           same_map(vd_meta_labels(old), vd_meta_labels(object)) &&
           same_map(vd_meta_annotations(old), vd_meta_annotations(object));
}

/* `old` is NULL if there is none, `object` if there will be none. Somebody else's
 * deletion may be brought to its end, by the one who takes the last finalizer off. */
static bool leaves_it_alone(const struct vd_kind *kind, struct vd_arena *scratch,
                            const struct vd_json *old, const struct vd_json *object)
{
    if (!old)
        return false;
    if (!object)
        return vd_meta_is_deleting(old);
    return vd_meta_is_deleting(object) == vd_meta_is_deleting(old) &&
           keeps_spec(kind, scratch, old, object);
}

static struct vd_slice annotation(struct vd_arena *arena, const struct vd_json *object,
                                  const char *name)
{
    struct vd_slice text = VD_SLICE("");
    return vd_meta_annotation(object, vd_slice_of(name), &text) ? vd_arena_copy(arena, text) : text;
}

/* Of both, NULL is an object without annotations. */
static bool has_same_annotation(const struct vd_json *a, const struct vd_json *b, const char *name)
{
    const struct vd_json *one = vd_json_get(vd_meta_annotations(a), vd_slice_of(name));
    const struct vd_json *other = vd_json_get(vd_meta_annotations(b), vd_slice_of(name));
    return one && other ? vd_json_eq(one, other) : one == other;
}

static bool keeps_mark(const struct vd_json *old, const struct vd_json *object)
{
    return has_same_annotation(old, object, VD_GIT_REPOSITORY) &&
           has_same_annotation(old, object, VD_GIT_BRANCH) &&
           has_same_annotation(old, object, VD_GIT_PATH) &&
           has_same_annotation(old, object, VD_GIT_COMMIT);
}

/* `old` or `object` may be NULL, as for leaves_it_alone(). */
static struct vd_git_claim claim_of(struct vd_arena *arena, const struct vd_json *old,
                                    const struct vd_json *object)
{
    const struct vd_json *marked = is_marked(old) ? old : object;
    return (struct vd_git_claim){
        .repository = annotation(arena, marked, VD_GIT_REPOSITORY),
        .branch = annotation(arena, marked, VD_GIT_BRANCH),
        .path = annotation(arena, marked, VD_GIT_PATH),
        .commit = annotation(arena, marked, VD_GIT_COMMIT),
        .override = annotation(arena, object ? object : old, VD_GIT_OVERRIDE),
        .moves_mark = object && !keeps_mark(old, object),
    };
}

/* NULL if there are no bytes, or none that can be read: whoever claims an object that
 * cannot be read is refused. */
static const struct vd_json *read_document(struct vd_arena *scratch, struct vd_slice bytes)
{
    struct vd_json *document = NULL;
    if (!bytes.n || vd_json_parse_copy(scratch, bytes, NULL, &document, NULL))
        return NULL;
    return document;
}

bool vd_git_owns(const struct vd_kind *kind, struct vd_slice body)
{
    struct vd_arena scratch = {0};
    bool owns = kind->spec_owned_by_git ||
                (may_be_marked(body) && is_marked(read_document(&scratch, body)));
    vd_arena_release(&scratch);
    return owns;
}

/* The names of a repository and its namespace have no characters that are escaped. */
bool vd_git_find_owner(struct vd_slice body, struct vd_slice *repository)
{
    static const struct vd_slice path[] = {
        {"metadata", 8}, {"annotations", 11}, {VD_GIT_REPOSITORY, sizeof VD_GIT_REPOSITORY - 1}};
    struct vd_slice value;
    if (!may_be_marked(body) || !vd_span_find(body, path, 3, &value) || value.n < 2 ||
        value.p[0] != '"')
        return false;
    *repository = vd_slice(value.p + 1, value.n - 2);
    return true;
}

bool vd_git_allows(const struct vd_kind *kind, struct vd_slice before, struct vd_slice after,
                   struct vd_arena *arena, struct vd_git_claim *claim)
{
    if (!kind->spec_owned_by_git && !may_be_marked(before) && !may_be_marked(after))
        return true;
    struct vd_arena scratch = {0};
    const struct vd_json *old = read_document(&scratch, before);
    const struct vd_json *object = read_document(&scratch, after);
    bool marked = is_marked(old) || is_marked(object);
    bool allowed = (!kind->spec_owned_by_git && !marked) ||
                   leaves_it_alone(kind, &scratch, old, object);
    if (!allowed)
        *claim = claim_of(arena, old, object);
    vd_arena_release(&scratch);
    return allowed;
}
