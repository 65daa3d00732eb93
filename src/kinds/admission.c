/* See admission.h. Most objects are nobody's but the API's: for them it takes a look
 * for the mark in their bytes, and no document is made. */
#include "kinds/admission.h"

#include <string.h>

#include "json/compare.h"
#include "json/parse.h"

/* Stored bytes and templates are written by one writer, which escapes nothing in it. */
static bool may_be_marked(struct vd_slice bytes)
{
    return bytes.n && memmem(bytes.p, bytes.n, VD_GIT_REPOSITORY, sizeof VD_GIT_REPOSITORY - 1);
}

static struct vd_slice annotation(const struct vd_json *object, const char *name)
{
    const struct vd_json *value = vd_json_dig(object, "metadata", "annotations", name, NULL);
    struct vd_slice text = vd_json_text(value);
    return text.p ? text : VD_SLICE("");
}

static bool is_marked(const struct vd_json *object)
{
    return vd_json_dig(object, "metadata", "annotations", VD_GIT_REPOSITORY, NULL) != NULL;
}

static bool is_deleting(const struct vd_json *object)
{
    return vd_json_text(vd_json_dig(object, "metadata", "deletionTimestamp", NULL)).n > 0;
}

/* Maps that are empty are maps that are not there. */
static bool same_map(const struct vd_json *a, const struct vd_json *b)
{
    return (vd_json_count(a) == 0 && vd_json_count(b) == 0) || vd_json_eq(a, b);
}

/* What is Git's at the top: all but metadata, which is looked into, the version's name,
 * and status if that has a door of its own. */
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
           same_map(vd_json_dig(old, "metadata", "labels", NULL),
                    vd_json_dig(object, "metadata", "labels", NULL)) &&
           same_map(vd_json_dig(old, "metadata", "annotations", NULL),
                    vd_json_dig(object, "metadata", "annotations", NULL));
}

/* `old` is NULL if there is none, `object` if there will be none. Somebody else's
 * deletion may be brought to its end, by the one who takes the last finalizer off. */
static bool leaves_it_alone(const struct vd_kind *kind, struct vd_arena *scratch,
                            const struct vd_json *old, const struct vd_json *object)
{
    if (!old)
        return false;
    if (!object)
        return is_deleting(old);
    return is_deleting(object) == is_deleting(old) && keeps_spec(kind, scratch, old, object);
}

static struct vd_git_claim claim_of(struct vd_arena *arena, struct vd_slice name,
                                    const struct vd_json *object)
{
    return (struct vd_git_claim){
        .name = vd_arena_copy(arena, name),
        .repository = vd_arena_copy(arena, annotation(object, VD_GIT_REPOSITORY)),
        .path = vd_arena_copy(arena, annotation(object, VD_GIT_PATH)),
        .commit = vd_arena_copy(arena, annotation(object, VD_GIT_COMMIT)),
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

static bool judge(const struct vd_kind *kind, const struct vd_wish *wish, struct vd_slice before,
                  struct vd_arena *arena, struct vd_git_claim *claim)
{
    struct vd_slice after = wish->action == VD_PUT ? wish->body.bytes : VD_SLICE("");
    if (!kind->spec_owned_by_git && !may_be_marked(before) && !may_be_marked(after))
        return true;
    struct vd_arena scratch = {0};
    const struct vd_json *old = read_document(&scratch, before);
    const struct vd_json *object = read_document(&scratch, after);
    bool marked = is_marked(old) || is_marked(object);
    bool allowed = (!kind->spec_owned_by_git && !marked) ||
                   leaves_it_alone(kind, &scratch, old, object);
    if (!allowed)
        *claim = claim_of(arena, wish->key.name, is_marked(old) ? old : object);
    vd_arena_release(&scratch);
    return allowed;
}

/* The version that the wish replaces decides. If there is another by now, the store
 * refuses the wish. */
static bool may(const struct vd_admission *admission, const struct vd_wish *wish,
                struct vd_arena *arena, struct vd_git_claim *claim)
{
    const struct vd_event *read = admission->before;
    if (read && wish->when == VD_WHEN_REVISION && wish->revision == read->revision)
        return judge(admission->kind, wish, vd_body_slice(read->body), arena, claim);
    struct vd_event *event = NULL;
    struct vd_slice before = VD_SLICE("");
    if (wish->when != VD_WHEN_ABSENT &&
        !vd_store_get(admission->store, &wish->key, 0, &event, NULL))
        before = vd_body_slice(event->body);
    bool moved = event && wish->when == VD_WHEN_REVISION && event->revision != wish->revision;
    bool allowed = moved || judge(admission->kind, wish, before, arena, claim);
    vd_event_unref(event);
    return allowed;
}

bool vd_admission_propose(const struct vd_admission *admission, struct vd_proposal *proposal,
                          struct vd_arena *arena, struct vd_git_claim *claim)
{
    if (admission->author == VD_AUTHOR_API)
        for (size_t i = 0; i < proposal->n; i++)
            if (proposal->wishes[i].action != VD_CHECK &&
                !may(admission, &proposal->wishes[i], arena, claim))
                return false;
    if (!admission->dry_run)
        vd_store_propose(admission->store, proposal);
    return true;
}
