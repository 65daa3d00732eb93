/* See answer.h. */
#include "git/answer.h"

#include <string.h>

#include "base/buf.h"

const struct vd_http_field vd_git_no_cache[VD_GIT_NO_CACHE] = {
    {{"Cache-Control", 13}, {"no-cache, max-age=0, must-revalidate", 36}},
    {{"Pragma", 6}, {"no-cache", 8}},
    {{"Expires", 7}, {"Fri, 01 Jan 1980 00:00:00 GMT", 29}},
};

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
