/*
 * What it costs to read a request's head, and what the router then looks up in it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "net/http_head.h"
#include "net/http_write.h"
#include "net/media_type.h"
#include "net/url.h"

enum { ROUNDS = 5, CALLS = 200000 };

static const char kubectl[] =
    "GET /api/v1/namespaces/default/configmaps?limit=500&resourceVersion=0 HTTP/1.1\r\n"
    "Host: 127.0.0.1:6443\r\n"
    "User-Agent: kubectl/v1.30.0 (linux/amd64) kubernetes/7c48c2b\r\n"
    "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,"
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json\r\n"
    "Kubectl-Command: kubectl get\r\n"
    "Kubectl-Session: 5b3ce4b2-0d3f-4ed4-9a3c-d1b3b3f7bd0a\r\n"
    "Accept-Encoding: gzip\r\n"
    "\r\n";

static const char browser[] =
    "GET /api/watch/stream?channels=pods,services HTTP/1.1\r\n"
    "Host: localhost:8080\r\n"
    "Connection: keep-alive\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/124.0.0.0 Safari/537.36\r\n"
    "sec-ch-ua: \"Chromium\";v=\"124\", \"Not-A.Brand\";v=\"99\"\r\n"
    "sec-ch-ua-mobile: ?0\r\n"
    "sec-ch-ua-platform: \"Linux\"\r\n"
    "Accept: text/event-stream\r\n"
    "Sec-Fetch-Site: same-origin\r\n"
    "Sec-Fetch-Mode: cors\r\n"
    "Sec-Fetch-Dest: empty\r\n"
    "Referer: http://localhost:8080/\r\n"
    "Accept-Encoding: gzip, deflate, br\r\n"
    "Accept-Language: en-US,en;q=0.9\r\n"
    "Cookie: session=1f0c2f5bb2d84bd2a7b9cf66bd6eac24\r\n"
    "\r\n";

/* A result that the compiler must not drop. */
static volatile size_t sink;

static void parse_whole(struct vd_slice text)
{
    struct vd_http_head h;
    vd_http_head_init(&h);
    if (vd_http_head_parse(&h, text.p, text.n) != VD_HTTP_DONE)
        exit(2);
    sink = h.used;
}

/* Parses the head in pieces of 16 bytes, as a slow network brings it. */
static void parse_pieces(struct vd_slice text)
{
    struct vd_http_head h;
    enum vd_http_result result = VD_HTTP_MORE;
    vd_http_head_init(&h);
    for (size_t n = 16; result == VD_HTTP_MORE; n += 16)
        result = vd_http_head_parse(&h, text.p, n < text.n ? n : text.n);
    if (result != VD_HTTP_DONE)
        exit(2);
    sink = h.used;
}

/* Parses the head, its target and its media types, and looks three headers up by name. */
static void parse_and_ask(struct vd_slice text)
{
    static struct vd_arena arena;
    struct vd_http_head h;
    struct vd_slice path, query, value;
    struct vd_url_path segments;
    struct vd_url_query params;
    struct vd_accept accept;
    vd_arena_reset(&arena);
    vd_http_head_init(&h);
    vd_accept_init(&accept);
    if (vd_http_head_parse(&h, text.p, text.n) != VD_HTTP_DONE)
        exit(2);
    vd_url_split(vd_http_head_target(&h), &path, &query);
    if (vd_url_path_parse(&segments, &arena, path, NULL) ||
        vd_url_query_parse(&params, &arena, query, NULL))
        exit(2);
    if (vd_http_head_find(&h, VD_SLICE("accept"), &value) && vd_accept_add(&accept, value, NULL))
        exit(2);
    if (vd_http_head_find(&h, VD_SLICE("accept-encoding"), &value))
        sink = vd_accept_encoding_gzip(value);
    sink = vd_http_head_find(&h, VD_SLICE("authorization"), &value) + segments.n + accept.n;
}

static void write_answer(struct vd_slice text)
{
    static struct vd_buf out;
    static struct vd_http_date date;
    (void)text;
    if (!date.clock)
        vd_http_date_init(&date, vd_clock_system());
    vd_buf_reset(&out);
    vd_http_write_head(&out, &date,
                       &(struct vd_http_answer){
                           .status = 200,
                           .content_type = VD_SLICE("application/json"),
                           .length = 123456,
                       });
    sink = out.n;
}

/* Nanoseconds of one call, in the best round. */
static double measure(struct vd_slice text, void (*run)(struct vd_slice text))
{
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double start = measure_now_s();
        for (int i = 0; i < CALLS; i++)
            run(text);
        double ns = (measure_now_s() - start) * 1e9 / CALLS;
        best = ns < best ? ns : best;
    }
    return best;
}

static void show_head(const char *who, struct vd_slice text)
{
    char what[64], note[64];
    double ns = measure(text, parse_whole);
    snprintf(what, sizeof what, "head of %s, %zu bytes", who, text.n);
    snprintf(note, sizeof note, "< 500 ns (%.0f MB/s)", (double)text.n * 1000 / ns);
    measure_target(what, ns, "ns", ns < 500, note);
    measure_print("  in pieces of 16 bytes", measure(text, parse_pieces), "ns", "");
    measure_print("  with target, Accept and lookups", measure(text, parse_and_ask), "ns", "");
}

int main(void)
{
    show_head("kubectl", vd_slice(kubectl, sizeof kubectl - 1));
    show_head("a browser", vd_slice(browser, sizeof browser - 1));
    measure_print("head of an answer", measure(VD_SLICE(""), write_answer), "ns", "");
    return 0;
}
