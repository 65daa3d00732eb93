/* See answer.h. */
#include "git/answer.h"

#include <stdio.h>

#include "base/metrics.h"

const struct vd_http_field vd_git_no_cache[VD_GIT_NO_CACHE] = {
    {{"Cache-Control", 13}, {"no-cache, max-age=0, must-revalidate", 36}},
    {{"Pragma", 6}, {"no-cache", 8}},
    {{"Expires", 7}, {"Fri, 01 Jan 1980 00:00:00 GMT", 29}},
};

static struct vd_metric_family requests = VD_COUNTER_FAMILY(
    "vedette_git_requests_total", "Requests of git clients, by what they are for and the answer.",
    "service", "code");
static struct vd_metric_family seconds = VD_HISTOGRAM_FAMILY(
    "vedette_git_request_seconds", "How long requests of git clients took.",
    vd_metric_latency_bounds_ns, 1e9, "service");
static struct vd_metric_family bytes = VD_COUNTER_FAMILY(
    "vedette_git_bytes_total", "Bytes of bodies that git clients have sent and were sent.",
    "service", "direction");

void vd_git_answer(struct vd_exchange *x, unsigned status, const char *text)
{
    static const struct vd_http_field challenge = {
        {"WWW-Authenticate", 16}, {"Basic realm=\"vedette\", charset=\"UTF-8\"", 38}};
    static const struct vd_http_field later = {{"Retry-After", 11}, {"5", 1}};
    static const struct vd_http_field allow = {{"Allow", 5}, {"GET, POST", 9}};
    struct vd_http_field fields[VD_GIT_NO_CACHE + 1];
    size_t n = VD_GIT_NO_CACHE;
    struct vd_buf body = {0};
    memcpy(fields, vd_git_no_cache, VD_GIT_NO_CACHE * sizeof *fields);
    if (status == 401)
        fields[n++] = challenge;
    else if (status == 503 || status == 429)
        fields[n++] = later;
    else if (status == 405)
        fields[n++] = allow;
    vd_buf_addf(&body, "%s\n", text);
    vd_exchange_respond(x,
                        &(struct vd_response){.status = status,
                                              .content_type = VD_SLICE("text/plain; charset=utf-8"),
                                              .fields = fields,
                                              .fields_n = n,
                                              .body = vd_buf_slice(&body)});
    vd_buf_release(&body);
}

void vd_git_meter_register(void)
{
    vd_metric_register(&requests);
    vd_metric_register(&seconds);
    vd_metric_register(&bytes);
}

void vd_git_meter_answered(enum vd_git_service service, unsigned status, uint64_t duration_ns,
                           uint64_t sent)
{
    const char *name = vd_git_service_name(service);
    char code[16];
    snprintf(code, sizeof code, "%u", status);
    vd_counter_add(VD_METRIC(&requests, name, code), 1);
    vd_histogram_observe(VD_METRIC(&seconds, name), duration_ns);
    vd_counter_add(VD_METRIC(&bytes, name, "sent"), sent);
}

void vd_git_meter_received(enum vd_git_service service, uint64_t received)
{
    vd_counter_add(VD_METRIC(&bytes, vd_git_service_name(service), "received"), received);
}
