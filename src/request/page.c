/* See page.h. */
#include "request/page.h"

#include "base/limits.h"
#include "net/route.h"
#include "net/url.h"
#include "request/gzip.h"
#include "request/request.h"
#include "request/timeout_option.h"

/* VD_ERR_INVALID for a query that no request may have. A page has no options of its own. */
static int check_query(const struct vd_exchange *x, struct vd_error *error)
{
    struct vd_arena arena = {0};
    struct vd_url_query parsed;
    struct vd_slice path, query;
    vd_url_split(vd_http_head_target(x->head), &path, &query);
    int code = vd_url_query_parse(&parsed, &arena, query, error);
    if (!code)
        code = vd_timeout_option_check(&parsed, error);
    vd_arena_release(&arena);
    return code;
}

bool vd_page_begin(struct vd_request_loop *l, struct vd_exchange *x)
{
    struct vd_request request = vd_request_of_path(x);
    struct vd_buf reason = {0};
    struct vd_error error;
    if (request.access.path.n >
        x->route->prefix.n + 1) { /* one slash at the end is no other path */
        vd_route_pass_handle(x);
        return false;
    }
    const struct vd_request_log *log = vd_request_begin(l, &request);
    if (check_query(x, &error)) {
        vd_route_refuse(
            x, &(struct vd_route_refusal){.status = 400, .why = error.text, .is_of_user = true});
        return false;
    }
    bool allowed = vd_request_authorize(l, log, &reason);
    if (!allowed) {
        struct vd_access access = vd_request_log_access(log);
        vd_route_refuse(x, &(struct vd_route_refusal){.status = 403,
                                                      .why = vd_buf_text(&reason),
                                                      .access = &access,
                                                      .is_of_user = true});
    }
    vd_buf_release(&reason);
    return allowed;
}

void vd_page_end(struct vd_request_loop *l, struct vd_exchange *x, struct vd_slice content_type,
                 struct vd_slice text)
{
    struct vd_http_field fields[1 + VD_GZIP_FIELDS] = {
        {VD_SLICE("Cache-Control"), VD_SLICE("no-cache, private")},
        vd_gzip_fields[0],
        vd_gzip_fields[1],
    };
    struct vd_response response = {
        .status = 200, .content_type = content_type, .fields = fields, .fields_n = 1, .body = text};
    if (text.n <= VD_GZIP_BODY_LEN_MIN || !vd_request_takes_gzip(x)) {
        vd_exchange_respond(x, &response);
        return;
    }
    response.fields_n += VD_GZIP_FIELDS;
    vd_request_respond_gzipped(l, x, &response);
}
