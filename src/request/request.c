/* See request.h. */
#include "request/request.h"

#include "base/limits.h"
#include "base/log.h"
#include "net/url.h"

static const struct {
    const char *verb, *metric;
} methods[] = {
    [VD_HTTP_GET] = {"get", "GET"},
    [VD_HTTP_HEAD] = {"head", "HEAD"},
    [VD_HTTP_POST] = {"post", "POST"},
    [VD_HTTP_PUT] = {"put", "PUT"},
    [VD_HTTP_PATCH] = {"patch", "PATCH"},
    [VD_HTTP_DELETE] = {"delete", "DELETE"},
    [VD_HTTP_OPTIONS] = {"options", "OPTIONS"},
    [VD_HTTP_TRACE] = {"trace", "TRACE"},
};

struct vd_slice vd_request_verb(enum vd_http_method method)
{
    return vd_slice_of(method ? methods[method].verb : "");
}

struct vd_slice vd_request_metric_verb(enum vd_http_method method)
{
    return vd_slice_of(method ? methods[method].metric : "");
}

struct vd_request vd_request_of_path(struct vd_exchange *x)
{
    struct vd_slice path, query;
    vd_url_split(vd_http_head_target(x->head), &path, &query);
    return (struct vd_request){
        .x = x,
        .user = x->user,
        .access = {.user = x->user, .verb = vd_request_verb(x->head->method), .path = path},
        .labels = {.verb = vd_request_metric_verb(x->head->method)},
    };
}

struct vd_request_log *vd_request_begin(struct vd_request_loop *l, const struct vd_request *request)
{
    struct vd_meter *meter = vd_meters_find(l->meters, &request->labels);
    struct vd_request_log *log = vd_request_log_attach(request, meter, l->access_log);
    if (l->audit)
        vd_audit_received(l->audit, request, log);
    return log;
}

bool vd_request_authorize(struct vd_request_loop *l, const struct vd_request_log *log,
                          struct vd_buf *reason)
{
    struct vd_access access = vd_request_log_access(log);
    bool allowed = vd_gatekeeper_allows(l->gatekeeper, &access, reason);
    vd_audit_decided(log->audit, allowed, vd_buf_slice(reason));
    return allowed;
}

/* Whether the access log gets a line. A client can be refused as often as it likes, and must not
 * push everybody else's lines out of the log: refusals beyond VD_LOG_REFUSALS_PER_S are counted. */
static bool is_logged(struct vd_request_loop *l, const struct vd_exchange *x, uint64_t now_ns)
{
    if (!l->access_log)
        return false;
    if (x->status != 401 && x->status != 429)
        return true;
    if (!vd_log_rate_take(&l->refusals, now_ns, VD_LOG_REFUSALS_PER_S))
        return false;
    uint64_t unlogged = vd_log_rate_take_dropped(&l->refusals);
    if (unlogged)
        vd_log_warn("requests were refused with 401 or 429 and not logged",
                    VD_F_U64("requests", unlogged));
    return true;
}

/* The meter of a request without a request log: its method alone is known, if that. */
static struct vd_meter *plain_meter(struct vd_request_loop *l, const struct vd_exchange *x)
{
    struct vd_meter_labels labels = {.verb = x->head ? vd_request_metric_verb(x->head->method)
                                                     : VD_SLICE("")};
    return vd_meters_find(l->meters, &labels);
}

void vd_request_finished(struct vd_request_loop *l, struct vd_exchange *x)
{
    const struct vd_request_log *log = vd_request_log_of(x);
    uint64_t now_ns = vd_clock_mono_ns(l->clock);
    uint64_t duration_ns = x->start_ns && now_ns > x->start_ns ? now_ns - x->start_ns : 0;
    vd_meter_answered(log ? log->meter : plain_meter(l, x), x->status, duration_ns);
    vd_meters_count_protocol(l->meters, x->protocol);
    if (is_logged(l, x, now_ns))
        vd_request_log_write(x, duration_ns);
    x->stamp = NULL; /* the audit's entry has it, and goes now */
    vd_audit_complete(vd_request_log_audit(x), x);
    vd_request_log_detach(x);
}
