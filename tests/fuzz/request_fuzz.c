/*
 * Whole requests from arbitrary bytes: the head, its target as the Kubernetes face reads
 * it, and the options of a list and of a watch. A request is read as the server does it:
 * what one step accepts is the next one's input.
 *
 * Properties: what a rule is asked about is the path's - no part is empty that must be
 * there, none has a slash or a NUL, and the path that is put together from the parts means
 * the same; a kind of the cluster cannot be told from one in a namespace by accident; the
 * options that are accepted go together, and those of a watch that are refused leave
 * nothing behind; a refusal has a sentence.
 */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "kube/list_options.h"
#include "kube/target.h"
#include "net/http_head.h"
#include "net/url.h"

static bool is_segment(struct vd_slice s)
{
    return s.n && !memchr(s.p, '/', s.n) && !memchr(s.p, 0, s.n) && !vd_slice_is(s, ".") &&
           !vd_slice_is(s, "..");
}

static void add_segment(struct vd_buf *out, struct vd_slice segment)
{
    vd_buf_add_char(out, '/');
    vd_url_encode(out, segment);
}

/* The path of a target in the plainest way of writing it. */
static void write_plainly(struct vd_buf *out, const struct vd_target *t)
{
    vd_buf_add_text(out, vd_slice_is(t->segments.segments[0], "api") ? "/api" : "/apis");
    if (t->group.n)
        add_segment(out, t->group);
    add_segment(out, t->version);
    if (t->old_watch)
        vd_buf_add_text(out, "/watch");
    if (t->in_namespace) {
        /* Rules see a namespace in itself, wherever its path stands. */
        size_t at = t->segments.n - 1 - (t->name.n > 0) - (t->subresource.n > 0);
        vd_buf_add_text(out, "/namespaces");
        add_segment(out, t->segments.segments[at - 1]);
    }
    add_segment(out, t->resource);
    if (t->name.n)
        add_segment(out, t->name);
    if (t->subresource.n)
        add_segment(out, t->subresource);
}

static void check_same(const struct vd_target *a, const struct vd_target *b)
{
    FUZZ_CHECK(a->is_resource == b->is_resource && a->old_watch == b->old_watch);
    FUZZ_CHECK(a->in_namespace == b->in_namespace && a->verb == b->verb);
    FUZZ_CHECK(vd_slice_eq(a->group, b->group) && vd_slice_eq(a->version, b->version));
    FUZZ_CHECK(vd_slice_eq(a->resource, b->resource) && vd_slice_eq(a->name, b->name));
    FUZZ_CHECK(vd_slice_eq(a->subresource, b->subresource) &&
               vd_slice_eq(a->namespace, b->namespace));
}

static void check_resource(struct vd_arena *a, const struct vd_target *t,
                           enum vd_http_method method, bool watch)
{
    struct vd_target again;
    struct vd_buf path = {0};
    FUZZ_CHECK(is_segment(t->version) && is_segment(t->resource));
    FUZZ_CHECK(!t->group.n || is_segment(t->group));
    FUZZ_CHECK(!t->namespace.n || is_segment(t->namespace));
    FUZZ_CHECK(!t->name.n || is_segment(t->name));
    FUZZ_CHECK(!t->subresource.n || (t->name.n && is_segment(t->subresource)));
    FUZZ_CHECK(!t->in_namespace || t->namespace.n);
    FUZZ_CHECK(!t->namespace.n || t->in_namespace || vd_slice_is(t->resource, "namespaces"));
    FUZZ_CHECK((t->verb & (t->verb - 1)) == 0); /* one verb at most */
    if (t->verb == VD_VERB_WATCH)
        FUZZ_CHECK(t->old_watch || (watch && !t->name.n));
    if (t->verb == VD_VERB_LIST || t->verb == VD_VERB_DELETECOLLECTION)
        FUZZ_CHECK(!t->name.n);
    write_plainly(&path, t);
    FUZZ_CHECK(vd_target_parse(&again, a, method, vd_buf_slice(&path), watch, NULL) == VD_OK);
    check_same(t, &again);
    vd_buf_release(&path);
}

static void check_options(const struct vd_url_query *query, bool watch)
{
    struct vd_list_options o;
    struct vd_error error = {0};
    int code = vd_list_options_parse(&o, query, watch, &error);
    if (code) {
        FUZZ_CHECK(code == VD_ERR_INVALID || code == VD_ERR_CONFLICT);
        FUZZ_CHECK(error.text[0] && !o.labels && !o.fields);
        if (code == VD_ERR_CONFLICT)
            FUZZ_CHECK(strchr(error.text, ':')); /* the field stands before it */
        return;
    }
    FUZZ_CHECK(o.limit <= INT64_MAX && o.timeout_s <= INT64_MAX);
    FUZZ_CHECK(o.has_version || o.version == 0);
    FUZZ_CHECK(!o.match_text.n || o.match != VD_MATCH_UNSET);
    if (watch)
        FUZZ_CHECK(o.has_initial == (o.match == VD_MATCH_NOT_OLDER));
    else
        FUZZ_CHECK(!o.has_initial && (o.match == VD_MATCH_UNSET || o.has_version));
    vd_list_options_release(&o);
}

static void check_request(const struct vd_http_head *head)
{
    struct vd_arena arena = {0};
    struct vd_slice path, text;
    struct vd_url_query query;
    struct vd_error error = {0};
    vd_url_split(vd_http_head_target(head), &path, &text);
    int code = vd_url_query_parse(&query, &arena, text, &error);
    for (int watch = 0; !code && watch < 2; watch++) {
        struct vd_target target;
        check_options(&query, watch);
        code = vd_target_parse(&target, &arena, head->method, path, watch, &error);
        if (!code && target.is_resource)
            check_resource(&arena, &target, head->method, watch);
    }
    if (code)
        FUZZ_CHECK((code == VD_ERR_INVALID || code == VD_ERR_LIMIT) && error.text[0]);
    vd_arena_release(&arena);
}

static void check_bytes(struct vd_slice bytes)
{
    struct vd_http_head head;
    vd_http_head_init(&head);
    if (vd_http_head_parse(&head, bytes.p, bytes.n) == VD_HTTP_DONE)
        check_request(&head);
}

/* The bytes as a request, and as the target of one: most that are changed at random are
 * no head any more. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice bytes = vd_slice(data, size), line = VD_SLICE("");
    struct vd_buf wrapped = {0};
    check_bytes(bytes);
    vd_slice_cut(&bytes, ' ', &line); /* the method of a seed */
    vd_slice_cut(&bytes, ' ', &line);
    vd_buf_add_text(&wrapped, "GET /");
    vd_buf_add_slice(&wrapped, vd_slice_from(line, line.n && line.p[0] == '/'));
    vd_buf_add_text(&wrapped, " HTTP/1.1\r\nHost: x\r\n\r\n");
    check_bytes(vd_buf_slice(&wrapped));
    vd_buf_release(&wrapped);
    return 0;
}
