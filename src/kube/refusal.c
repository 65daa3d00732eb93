/* See refusal.h. */
#include "kube/refusal.h"

#include "kube/call_request.h"

/* A request that a page has begun gets the headers that every answer to a call has. */
static void respond(struct vd_exchange *x, unsigned status, struct vd_slice body)
{
    static const struct vd_http_field challenge = {{"WWW-Authenticate", 16}, {"Bearer", 6}};
    static const struct vd_http_field later = {{"Retry-After", 11}, {"1", 1}};
    static const struct vd_http_field uncached = {{"Cache-Control", 13}, {"no-cache, private", 17}};
    const struct vd_http_field *field = vd_request_log_of(x) ? &uncached
                                        : status == 401      ? &challenge
                                        : status == 429      ? &later
                                                             : NULL;
    vd_exchange_respond(x, &(struct vd_response){.status = status,
                                                 .content_type = VD_SLICE("application/json"),
                                                 .fields = field,
                                                 .fields_n = field != NULL,
                                                 .body = body});
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

/* A request that a page has begun has a request log already, and maybe an entry in the audit log,
 * which is told the answer. The refusal of any other request is an event of its own. */
static void audit_refusal(struct vd_kube_loop *l, struct vd_exchange *x, struct vd_arena *arena,
                          const struct vd_status *status, struct vd_slice json,
                          struct vd_audit_stamp *stamp)
{
    struct vd_audit_answer answer = vd_status_audit_answer(status, json);
    if (vd_request_log_of(x)) {
        vd_audit_answer(vd_request_log_audit(x), &answer);
    } else if (l->requests->audit) {
        struct vd_request request = vd_refused_request(x, arena);
        vd_audit_refused(l->requests->audit, &request, (unsigned)status->code, &answer, stamp);
    }
}

void vd_kube_refuse(struct vd_kube_loop *l, struct vd_exchange *x,
                    const struct vd_route_refusal *refusal)
{
    struct vd_arena arena = {0};
    struct vd_buf json = {0};
    struct vd_audit_stamp stamp;
    struct vd_status status = status_of(&arena, refusal);
    vd_status_write(&json, &status);
    if (refusal->is_of_user)
        audit_refusal(l, x, &arena, &status, vd_buf_slice(&json), &stamp);
    vd_buf_add_char(&json, '\n');
    respond(x, (unsigned)status.code, vd_buf_slice(&json));
    vd_buf_release(&json);
    vd_arena_release(&arena);
}
