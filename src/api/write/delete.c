/*
 * delete: at once, or, when finalizers have a say, by marking the object and
 * waiting until the last of them is taken off.
 */
#include "api/cascade.h"
#include "api/write/write_internal.h"
#include "kinds/deletion.h"
#include "kinds/uid.h"

static bool refuse_precondition(struct vd_write *w, enum vd_refusal_reason reason,
                                struct vd_slice wanted, struct vd_slice is)
{
    return vd_write_refuse(w, &(struct vd_refusal){.reason = reason,
                                                   .wanted = wanted,
                                                   .is = vd_arena_copy(w->arena, is)});
}

/* What is demanded of the object. */
static bool check_preconditions(struct vd_write *w)
{
    const struct vd_write_preconditions *p = &w->preconditions;
    char uid[VD_UID_TEXT_MAX], digits[20];
    struct vd_slice ours = vd_uid_format(w->wish.expect_uid, uid);
    struct vd_slice current = vd_slice(digits, vd_u64_digits(w->wish.revision, digits));
    if (p->uid.p && !vd_slice_eq(p->uid, ours))
        return refuse_precondition(w, VD_REFUSED_UID_PRECONDITION, p->uid, ours);
    return !p->version.p || vd_slice_eq(p->version, current) ||
           refuse_precondition(w, VD_REFUSED_VERSION_PRECONDITION, p->version, current);
}

/* The namespaces that clients and the server itself count on stay, as in Kubernetes. */
static bool check_stays(struct vd_write *w)
{
    static const char *const stays[] = {"default", "kube-system", "kube-public"};
    bool found = false;
    for (size_t i = 0; i < sizeof stays / sizeof *stays; i++)
        found |= vd_slice_is(w->name, stays[i]);
    return !found || !vd_slice_is(w->kind->resource, "namespaces") ||
           vd_write_refuse(
               w, &(struct vd_refusal){.reason = VD_REFUSED_FORBIDDEN,
                                       .text = VD_SLICE("this namespace may not be deleted"),
                                       .name = w->name});
}

/* Whether others have need of the object. */
static bool check_use(struct vd_write *w, const struct vd_json *object)
{
    struct vd_error error;
    return !vd_deletion_check(object, w->kind->resource, &error) ||
           vd_write_refuse_text(w, VD_REFUSED_IN_USE, vd_slice_of(error.text));
}

/* Whether the user may delete what a repository owns outside its namespace: on a worker's thread,
 * which makes the attempt from its beginning if it is not there. */
static bool check_cascade(struct vd_write *w, enum vd_cascade cascade)
{
    struct vd_buf key = {0};
    struct vd_error error;
    if (cascade != VD_CASCADE_UNKNOWN)
        return true;
    if (!w->job) {
        vd_write_job_restart(w);
        return false;
    }
    vd_buf_addf(&key, "%.*s/%.*s", VD_FMT(w->namespace), VD_FMT(w->name));
    struct vd_slice repository = vd_buf_slice(&key);
    int code = vd_cascade_check(w->l->env, w->user, &repository, 1, &error);
    vd_buf_release(&key);
    if (code == VD_ERR_FORBIDDEN)
        return vd_write_refuse(
            w, &(struct vd_refusal){.reason = VD_REFUSED_FORBIDDEN,
                                    .text = vd_arena_copy(w->arena, vd_slice_of(error.text)),
                                    .name = w->name});
    return !code || vd_write_refuse_error(w, code, &error);
}

void vd_write_delete(struct vd_write *w)
{
    struct vd_json *object = NULL;
    w->deletes = false;              /* as an earlier attempt may have meant to */
    w->as_stored = w->kind->webhook; /* no webhook is needed to see an object go */
    if (!check_stays(w) || !vd_write_read_current(w, &object))
        return;
    if (!object) {
        vd_write_propose_absent(w);
        return;
    }
    if (!check_preconditions(w) || !check_use(w, object))
        return;
    enum vd_cascade cascade = vd_cascade_of(w->l->env, w->user, w->kind->resource, object);
    if (!check_cascade(w, cascade))
        return;
    struct vd_deletion deletion = {.resource = w->kind->resource,
                                   .policy = w->propagation,
                                   .cascades_elsewhere = cascade != VD_CASCADE_NONE,
                                   .clock = w->l->env->clock};
    if (vd_deletion_begin(&deletion, w->arena, object) == VD_DELETION_MARK) {
        vd_write_store(w, object);
        return;
    }
    w->wish.action = VD_DELETE;
    w->wish.body = (struct vd_template){.hole = 0};
    w->deletes = true;
    vd_write_propose(w);
}
