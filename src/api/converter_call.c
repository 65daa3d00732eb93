/* See converter_call.h. */
#include "api/converter_call.h"

#include "api/service_address.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/container_of.h"
#include "base/metrics.h"
#include "net/tls.h"
#include "json/span.h"

static struct vd_metric_family requests = VD_COUNTER_FAMILY(
    "apiserver_conversion_webhook_request_total",
    "Calls of conversion webhooks, by how they ended.", "result", "failure_type");
static struct vd_metric_family durations = VD_HISTOGRAM_FAMILY(
    "apiserver_conversion_webhook_duration_seconds", "What calls of conversion webhooks took.",
    vd_metric_latency_bounds_ns, 1e9, "result", "failure_type");
static struct vd_metric_family by_definition = VD_HISTOGRAM_FAMILY(
    "apiserver_crd_conversion_webhook_duration_seconds",
    "What calls of conversion webhooks took, by definition.", vd_metric_latency_bounds_ns, 1e9,
    "crd_name", "from_version", "to_version", "succeeded");

/* ---- the end ---- */

/* The version that the first object has. */
static struct vd_slice version_from(const struct vd_converter_call *call)
{
    struct vd_slice value, version = VD_SLICE(""), group;
    if (call->n && vd_span_get(vd_body_slice(call->bodies[0]), VD_SLICE("apiVersion"), &value) &&
        value.n >= 2) {
        version = vd_slice(value.p + 1, value.n - 2);
        if (memchr(version.p, '/', version.n))
            vd_slice_cut(&version, '/', &group);
    }
    return version;
}

static void count(struct vd_converter_call *call)
{
    const char *failure = vd_conversion_failure_name(call->failure);
    const char *result = call->failure ? "failure" : "success";
    uint64_t took_ns = vd_clock_mono_ns(call->clock) - call->start_ns;
    struct vd_buf name = {0}, from = {0}, to = {0};
    vd_buf_add_slice(&name, call->to->resource);
    vd_buf_add_slice(&from, version_from(call));
    vd_buf_add_slice(&to, call->to->version);
    vd_counter_add(VD_METRIC(&requests, result, failure), 1);
    vd_histogram_observe(VD_METRIC(&durations, result, failure), took_ns);
    vd_histogram_observe(VD_METRIC(&by_definition, vd_buf_text(&name), vd_buf_text(&from),
                                   vd_buf_text(&to), call->failure ? "false" : "true"),
                         took_ns);
    vd_buf_release(&name);
    vd_buf_release(&from);
    vd_buf_release(&to);
}

static void finish(struct vd_converter_call *call)
{
    if (call->failure)
        vd_conversion_failure_tell(&call->error, call->failure, &call->review);
    count(call);
    call->done(call);
}

/* ---- the answer ---- */

/* A worker. */
static void read_answer(struct vd_work *work)
{
    struct vd_converter_call *call = VD_CONTAINER_OF(work, struct vd_converter_call, work);
    struct vd_buf converted[VD_CONVERSION_OBJECTS_MAX] = {{0}};
    call->failure = vd_conversion_review_read(&call->review, vd_buf_slice(&call->answer), converted,
                                              &call->error);
    for (size_t i = 0; i < call->n; i++) {
        struct vd_slice body = vd_buf_slice(&converted[i]);
        if (!call->failure)
            call->converted[i] = vd_body_new((struct vd_template){body, 0}, 0);
        vd_buf_release(&converted[i]);
    }
    vd_buf_release(&call->answer);
}

static void on_read(struct vd_work *work)
{
    finish(VD_CONTAINER_OF(work, struct vd_converter_call, work));
}

static void on_answer(void *arg, const struct vd_http_client_answer *answer,
                      const struct vd_error *error)
{
    struct vd_converter_call *call = arg;
    call->http = NULL;
    if (answer && answer->status == 200) {
        vd_buf_add_slice(&call->answer, answer->body);
        call->work = (struct vd_work){.run = read_answer, .done = on_read};
        vd_loop_work(call->loop, &call->work);
        return;
    }
    call->failure = VD_CONVERSION_FAILED_CALL;
    if (answer)
        vd_error_set(&call->error, VD_ERR_IO, "Post \"%s\": the webhook answered with status %u",
                     vd_buf_text(&call->url), answer->status);
    else
        vd_error_set(&call->error, VD_ERR_IO, "Post \"%s\": %s", vd_buf_text(&call->url),
                     error->text);
    finish(call);
}

/* ---- the request ---- */

static void post(struct vd_converter_call *call)
{
    static const struct vd_http_field fields[] = {{{"Accept", 6}, {"application/json", 16}},
                                                  {{"Content-Type", 12}, {"application/json", 16}}};
    call->http = vd_http_client_start(
        call->loop, &(struct vd_http_client_request){.method = VD_SLICE("POST"),
                                                     .url = vd_buf_slice(&call->url),
                                                     .via = vd_buf_slice(&call->via),
                                                     .fields = fields,
                                                     .fields_n = 2,
                                                     .body = vd_buf_slice(&call->request),
                                                     .tls = call->tls,
                                                     .timeout_ms = VD_CONVERSION_TIMEOUT_MS,
                                                     .len_max = VD_CONVERSION_ANSWER_LEN_MAX,
                                                     .done = on_answer,
                                                     .arg = call});
    vd_buf_release(&call->request); /* the client has a copy */
}

/* The URL, with the time that the webhook has, as Kubernetes adds it; and where to connect. */
static int find_url(struct vd_converter_call *call)
{
    const struct vd_webhook *w = &call->webhook;
    struct vd_buf *url = &call->url;
    struct vd_slice host = vd_slice_from(w->url, sizeof "https://" - 1);
    if (w->url.n) {
        vd_buf_add_slice(url, w->url);
        if (!memchr(host.p, '/', host.n))
            vd_buf_add_char(url, '/');
    } else {
        vd_buf_addf(url, "https://%.*s.%.*s.svc:%u", VD_FMT(w->name), VD_FMT(w->namespace),
                    w->port);
        if (!w->path.n || w->path.p[0] != '/')
            vd_buf_add_char(url, '/');
        vd_buf_add_slice(url, w->path);
    }
    vd_buf_addf(url, "?timeout=%us", VD_CONVERSION_TIMEOUT_MS / 1000);
    return w->url.n
               ? VD_OK
               : vd_service_address(call->store, w->namespace, w->name, &call->via, &call->error);
}

static int find_authorities(struct vd_converter_call *call)
{
    struct vd_buf pem = {0};
    int code = VD_OK;
    if (!call->tls && vd_base64_decode(&pem, call->webhook.ca_bundle, VD_BASE64_STANDARD))
        code = vd_error_set(&call->error, VD_ERR_INVALID, "its caBundle is no base64");
    if (!code && !call->tls)
        code = vd_tls_load_client(&call->tls, vd_buf_slice(&pem), &call->error);
    vd_buf_release(&pem);
    return code;
}

static const struct vd_kind *kind_of(const struct vd_converter_call *call, struct vd_slice body)
{
    struct vd_slice value, version, group;
    if (!vd_span_get(body, VD_SLICE("apiVersion"), &value) || value.n < 2)
        return NULL;
    version = vd_slice(value.p + 1, value.n - 2);
    vd_slice_cut(&version, '/', &group);
    return vd_kind_set_resource(call->kinds, call->to->group, version, call->to->plural);
}

/* A worker. */
static void write_request(struct vd_work *work)
{
    struct vd_converter_call *call = VD_CONTAINER_OF(work, struct vd_converter_call, work);
    for (size_t i = 0; i < call->n; i++) {
        struct vd_slice body = vd_body_slice(call->bodies[i]);
        call->objects[i] = (struct vd_review_object){body, kind_of(call, body)};
    }
    call->review = (struct vd_conversion_review){
        .uid = vd_uid_format(vd_uid_generate(), call->uid),
        .to = call->to,
        .objects = call->objects,
        .n = call->n,
    };
    int code = vd_webhook_read(&call->webhook, call->to, &call->error);
    if (!code)
        code = find_url(call);
    if (!code)
        code = find_authorities(call);
    call->review.version = call->webhook.review_version;
    if (code)
        call->failure = VD_CONVERSION_FAILED_CALL;
    else
        vd_conversion_review_write(&call->request, &call->review);
}

static void on_written(struct vd_work *work)
{
    struct vd_converter_call *call = VD_CONTAINER_OF(work, struct vd_converter_call, work);
    if (call->failure)
        finish(call);
    else
        post(call);
}

void vd_converter_call_start(struct vd_converter_call *call)
{
    call->start_ns = vd_clock_mono_ns(call->clock);
    call->work = (struct vd_work){.run = write_request, .done = on_written};
    vd_loop_work(call->loop, &call->work);
}

bool vd_converter_call_cancel(struct vd_converter_call *call)
{
    if (!call->http)
        return false;
    vd_http_client_stop(call->http);
    call->http = NULL;
    return true;
}

void vd_converter_call_release(struct vd_converter_call *call)
{
    for (size_t i = 0; i < call->n; i++) {
        vd_body_unref(call->bodies[i]);
        vd_body_unref(call->converted[i]);
    }
    vd_kind_set_unref(call->kinds);
    vd_kind_unref(call->to);
    SSL_CTX_free(call->tls);
    vd_buf_release(&call->url);
    vd_buf_release(&call->via);
    vd_buf_release(&call->request);
    vd_buf_release(&call->answer);
}
