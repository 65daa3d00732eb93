/* See refusal.h. */
#include "kube/refusal.h"

#include "base/limits.h"
#include "kube/call.h"

static void reply_status(struct vd_exchange *x, const struct vd_status *status)
{
    static const struct vd_http_field challenge = {{"WWW-Authenticate", 16}, {"Bearer", 6}};
    static const struct vd_http_field later = {{"Retry-After", 11}, {"1", 1}};
    struct vd_buf body = {0};
    vd_status_write(&body, status);
    vd_buf_add_char(&body, '\n');
    vd_exchange_respond(
        x, &(struct vd_response){.status = (unsigned)status->code,
                                 .content_type = VD_SLICE("application/json"),
                                 .fields = status->code == 429 ? &later : &challenge,
                                 .fields_n = status->code == 401 || status->code == 429,
                                 .body = vd_buf_slice(&body)});
    vd_buf_release(&body);
}

/* Kubernetes' reasons; those that it has no word for are bad requests to it. */
static const char *reason_of(unsigned code)
{
    return code == 408   ? "Timeout"
           : code == 413 ? "RequestEntityTooLarge"
           : code < 500  ? "BadRequest"
                         : "";
}

static struct vd_status status_of(struct vd_arena *arena, const struct vd_route_refusal *r)
{
    struct vd_slice why = vd_slice_of(r->why);
    if (r->access)
        return vd_access_status(arena, r->access, why);
    if (r->is_of_user && r->status == 401)
        return vd_status_unauthorized(arena, why);
    if (r->is_of_user && r->status == 429)
        return vd_status_over_limit(arena);
    if (r->is_of_user && r->status == 400)
        return vd_status_bad_request(arena, why);
    return (struct vd_status){
        .code = (int)r->status, .reason = vd_slice_of(reason_of(r->status)), .message = why};
}

void vd_kube_refusal_open(struct vd_kube_refusal *refusal, struct vd_kube *kube,
                          struct vd_exchange *x, const struct vd_route_refusal *why)
{
    refusal->x = x;
    refusal->arena = (struct vd_arena){0};
    refusal->status = status_of(&refusal->arena, why);
    if (why->is_of_user)
        vd_audit_refused(kube->audit, x, x->user, &refusal->status, &refusal->stamp);
}

void vd_kube_refusal_answer(const struct vd_kube_refusal *refusal)
{
    reply_status(refusal->x, &refusal->status);
}

void vd_kube_refusal_close(struct vd_kube_refusal *refusal)
{
    vd_arena_release(&refusal->arena);
}
