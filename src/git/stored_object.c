/* See stored_object.h. */
#include "git/stored_object.h"

#include "api/read.h"
#include "kinds/git_ownership.h"
#include "kinds/object_meta.h"
#include "json/parse.h"

/* The newest version of an object, in the arena. */
static int get(const struct vd_api_env *env, const struct vd_key *key, struct vd_arena *arena,
               struct vd_json **out, struct vd_error *error)
{
    struct vd_event *event = NULL;
    int rc = vd_api_get(env, key, 0, &event, error);
    if (!rc && !event->body)
        rc = vd_error_set(error, VD_ERR_CORRUPT, "the object %.*s is damaged", VD_FMT(key->name));
    if (!rc)
        rc = vd_json_parse_copy(arena, vd_body_slice(event->body), NULL, out, error);
    vd_event_unref(event);
    return rc;
}

int vd_stored_repository(const struct vd_api_env *env, struct vd_slice namespace,
                         struct vd_slice name, struct vd_slice uid, struct vd_arena *arena,
                         struct vd_repository *out, struct vd_error *error)
{
    struct vd_key key = {
        .resource = VD_SLICE(VD_REPOSITORY_RESOURCE), .namespace = namespace, .name = name};
    struct vd_json *object;
    int rc = get(env, &key, arena, &object, error);
    if (!rc)
        rc = vd_repository_read(out, object, error);
    if (rc == VD_ERR_NOT_FOUND || (!rc && !vd_slice_is(uid, out->uid)))
        rc = vd_error_set(error, VD_ERR_NOT_FOUND, "there is no Repository %.*s in namespace %.*s",
                          VD_FMT(name), VD_FMT(namespace));
    return rc;
}

static const struct vd_kind *kind_of(struct vd_stored_objects *s,
                                     const struct vd_plan_identity *identity)
{
    size_t n;
    struct vd_kind *const *all = vd_kind_set_all(s->kinds, &n);
    for (size_t i = 0; i <= n; i++) {
        const struct vd_kind *kind = i ? all[i - 1] : s->last;
        if (kind && vd_slice_eq(kind->kind, identity->kind) &&
            vd_slice_eq(kind->group, identity->group) && kind->stored && !kind->subresource.n)
            return s->last = kind;
    }
    return NULL;
}

static struct vd_slice annotation(const struct vd_json *object, const char *name)
{
    struct vd_slice text = VD_SLICE("");
    (void)vd_meta_annotation(object, vd_slice_of(name), &text);
    return text;
}

static struct vd_slice finalizers_of(struct vd_arena *arena, const struct vd_json *object)
{
    struct vd_buf text = {0};
    VD_JSON_EACH (name, vd_meta_finalizers(object))
        vd_buf_addf(&text, "%s%.*s", text.n ? ", " : "", VD_FMT(vd_json_text(name)));
    struct vd_slice kept = vd_arena_copy(arena, vd_buf_slice(&text));
    vd_buf_release(&text);
    return kept;
}

/* An object that cannot be read is nobody's that the pipeline could name: the write says why. */
void vd_stored_object_find(struct vd_plan *plan, const struct vd_plan_identity *identity,
                           struct vd_plan_stored *out)
{
    struct vd_stored_objects *s = plan->arg;
    const struct vd_kind *kind = kind_of(s, identity);
    struct vd_arena scratch = {0};
    struct vd_json *object = NULL;
    char uid[VD_UID_TEXT_MAX];
    *out = (struct vd_plan_stored){0};
    if (!kind)
        return;
    struct vd_key key = {
        .resource = kind->resource,
        .namespace = kind->namespaced ? identity->namespace : VD_SLICE(""),
        .name = identity->name,
    };
    if (!get(s->env, &key, &scratch, &object, NULL))
        *out = (struct vd_plan_stored){
            .exists = true,
            .deleting = vd_meta_is_deleting(object),
            .finalizers = finalizers_of(&plan->arena, object),
            .uid = vd_arena_copy(&plan->arena, vd_uid_format(vd_meta_uid(object), uid)),
            .repository = vd_arena_copy(&plan->arena, annotation(object, VD_GIT_REPOSITORY)),
            .branch = vd_arena_copy(&plan->arena, annotation(object, VD_GIT_BRANCH)),
            .path = vd_arena_copy(&plan->arena, annotation(object, VD_GIT_PATH)),
        };
    vd_arena_release(&scratch);
}
