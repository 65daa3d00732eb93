/* See hosted_repository.h: a Repository that is being deleted. */
#include "git/bare_repository.h"
#include "git/hosted_repository.h"
#include "kinds/object_meta.h"

enum { RESCAN_MS = 1000 }; /* before it is looked again whether objects are left */

static void remove_finalizer(struct vd_hosted *h, const struct vd_event *event,
                             struct vd_json *object)
{
    struct vd_conditional_batch *batch = vd_conditional_batch_new(vd_hosted_controller(h),
                                                                  &h->item);
    if (vd_meta_remove_finalizer(object, VD_SLICE(VD_REPOSITORY_FINALIZER)))
        vd_conditional_batch_replace(batch, event, object);
    vd_conditional_batch_send(batch);
}

static void report_owned(struct vd_hosted *h, const struct vd_repository *repository,
                         const struct vd_event *event, const struct vd_json *object)
{
    struct vd_buf text = {0};
    size_t n = h->owned.kept ? h->owned.kept : h->owned.found;
    vd_buf_addf(&text, "it is being deleted and still owns %zu object%s", n, n == 1 ? "" : "s");
    if (repository->cascades && h->owned.kept)
        vd_buf_add_text(&text, " outside its namespace, which its deletion was not allowed to "
                               "delete: delete the Repository again as a user who may delete them");
    else
        vd_buf_add_text(&text, repository->cascades ? ", which wait for their finalizers"
                                                    : ": set spec.deletionPolicy: Cascade");
    vd_hosted_report_failure(h, event, object, "OwnsObjects", vd_buf_text(&text));
    vd_buf_release(&text);
}

static bool is_namespace_deleted(struct vd_hosted *h, struct vd_slice name)
{
    struct vd_key key = {VD_SLICE("namespaces"), VD_SLICE(""), name};
    struct vd_arena arena = {0};
    struct vd_event *event = NULL;
    struct vd_json *namespace = NULL;
    bool deleted = !vd_controller_read(vd_hosted_controller(h), &key, &arena, &event, &namespace) &&
                   vd_meta_is_deleting(namespace);
    vd_event_unref(event);
    vd_arena_release(&arena);
    return deleted;
}

/* Objects outside the namespace go only if whoever has deleted the Repository may delete them
 * (api/cascade.h). They do not keep a namespace from going: then they are released, for they are
 * not the business of those who may delete that namespace. */
static struct vd_owned_policy policy_of(struct vd_hosted *h, const struct vd_repository *repository)
{
    struct vd_owned_policy policy = {.namespace = repository->namespace};
    if (repository->cascades)
        policy.here = VD_OWNED_DELETE;
    if (repository->cascades && repository->cascades_elsewhere)
        policy.elsewhere = VD_OWNED_DELETE;
    else if (is_namespace_deleted(h, repository->namespace))
        policy.elsewhere = VD_OWNED_RELEASE;
    return policy;
}

/* True: nothing is left. */
static bool empty(struct vd_hosted *h, const struct vd_repository *repository,
                  const struct vd_event *event, const struct vd_json *object)
{
    struct vd_controller *c = vd_hosted_controller(h);
    struct vd_conditional_batch *batch = vd_conditional_batch_new(c, &h->item);
    vd_conditional_batch_require(batch, event); /* the policy may have changed meanwhile */
    struct vd_owned_policy policy = policy_of(h, repository);
    enum vd_owned_step step = vd_owned_objects_step(&h->owned, c, vd_hosted_key(h), batch, &policy);
    bool sent = vd_conditional_batch_count(batch) > 0;
    vd_conditional_batch_send(batch);
    if (step == VD_OWNED_NONE)
        return true;
    if (sent)
        return false;
    if (step == VD_OWNED_MORE || (!h->owned.staying && !h->owned.kept)) {
        vd_controller_add(c, &h->item);
        return false;
    }
    report_owned(h, repository, event, object);
    vd_hosted_add_after(h, RESCAN_MS);
    return false;
}

void vd_hosted_delete_step(struct vd_hosted *h, const struct vd_repository *repository,
                           const struct vd_event *event, struct vd_json *object)
{
    vd_hosted_set_ready(h, false);
    if (!vd_meta_has_finalizer(object, VD_SLICE(VD_REPOSITORY_FINALIZER)))
        return;
    if (!h->is_emptied && !empty(h, repository, event, object))
        return;
    h->is_emptied = true;
    if (h->is_removed)
        remove_finalizer(h, event, object);
    else if (!vd_hosted_must_wait(h))
        vd_hosted_remove_folder(h);
}
