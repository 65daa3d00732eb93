/* See owned_objects.h. */
#include "git/owned_objects.h"

#include "kinds/git_ownership.h"
#include "kinds/object_meta.h"

enum { STEP_OBJECTS = 64 }; /* that one step looks at */

void vd_owned_objects_release(struct vd_owned_objects *owned)
{
    vd_object_scan_end(&owned->scan);
    *owned = (struct vd_owned_objects){0};
}

static void begin(struct vd_owned_objects *owned, struct vd_controller *controller)
{
    vd_object_scan_begin(&owned->scan, controller->env.store, controller->env.kinds);
    owned->is_scanning = true;
    owned->found = owned->contents = owned->staying = owned->kept = 0;
}

static bool is_owned_by(const struct vd_event *event, struct vd_slice repository)
{
    struct vd_slice owner;
    return event->body && vd_git_find_owner(vd_body_slice(event->body), &owner) &&
           vd_slice_eq(owner, repository);
}

/* What other objects are in. */
static bool is_container(struct vd_slice resource)
{
    return vd_slice_is(resource, "namespaces") ||
           vd_slice_is(resource, "customresourcedefinitions.apiextensions.k8s.io");
}

/* Takes the marks of the pipeline off the object. */
static void release(struct vd_conditional_batch *batch, const struct vd_event *event,
                    struct vd_json *object)
{
    static const char *const marks[] = {VD_GIT_REPOSITORY, VD_GIT_BRANCH, VD_GIT_PATH,
                                        VD_GIT_COMMIT, VD_GIT_OVERRIDE};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        vd_meta_remove_annotation(object, vd_slice_of(marks[i]));
    vd_conditional_batch_replace(batch, event, object);
}

static void handle(struct vd_owned_objects *owned, const struct vd_event *event,
                   struct vd_json *object, struct vd_conditional_batch *batch,
                   const struct vd_owned_policy *policy)
{
    bool here = vd_slice_eq(vd_entry_namespace(event->entry), policy->namespace);
    bool contains = is_container(vd_entry_resource(event->entry));
    enum vd_owned_action action = here ? policy->here : policy->elsewhere;
    owned->found++;
    owned->kept += action == VD_OWNED_KEEP;
    if (action == VD_OWNED_RELEASE) {
        release(batch, event, object);
        return;
    }
    owned->contents += action == VD_OWNED_DELETE && !contains;
    if (action == VD_OWNED_DELETE && (!contains || owned->only_containers))
        vd_conditional_batch_delete(batch, event, object, VD_SLICE(""));
    owned->staying += vd_meta_is_deleting(object);
}

static void look_at(struct vd_owned_objects *owned, struct vd_controller *controller,
                    const struct vd_event *was, struct vd_slice repository,
                    struct vd_conditional_batch *batch, const struct vd_owned_policy *policy)
{
    struct vd_key key = {vd_entry_resource(was->entry), vd_entry_namespace(was->entry),
                         vd_entry_name(was->entry)};
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    if (!is_owned_by(was, repository) ||
        vd_controller_read(controller, &key, vd_conditional_batch_arena(batch), &event, &object))
        return;
    if (is_owned_by(event, repository))
        handle(owned, event, object, batch, policy);
    vd_event_unref(event);
}

enum vd_owned_step vd_owned_objects_step(struct vd_owned_objects *owned,
                                         struct vd_controller *controller,
                                         struct vd_slice repository,
                                         struct vd_conditional_batch *batch,
                                         const struct vd_owned_policy *policy)
{
    struct vd_event *events[STEP_OBJECTS];
    size_t n = 0;
    struct vd_error error;
    if (!owned->is_scanning)
        begin(owned, controller);
    int code = vd_object_scan_next(&owned->scan, events, STEP_OBJECTS, &n, &error);
    for (size_t i = 0; !code && i < n; i++) {
        look_at(owned, controller, events[i], repository, batch, policy);
        vd_event_unref(events[i]);
    }
    if (code == VD_ERR_CORRUPT) {
        vd_informer_report(&controller->informer, &error); /* nobody can say whose it is */
    } else if (code) {
        owned->is_scanning = false; /* the window has passed the scan */
        return VD_OWNED_MORE;
    }
    if (!owned->scan.done)
        return VD_OWNED_MORE;
    vd_object_scan_end(&owned->scan);
    owned->is_scanning = false;
    owned->only_containers = !owned->contents;
    return owned->found ? VD_OWNED_SOME : VD_OWNED_NONE;
}
