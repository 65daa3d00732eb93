/*
 * Requests of git clients from arbitrary heads.
 *
 * Properties: a refusal has a sentence; names come out of the target, without slashes; what is
 * accepted is one of the four requests, below a path that is a repository's, with a version of the
 * protocol that git knows; the same head is read the same again.
 */
#include "fuzz.h"

#include <string.h>

#include "git/smart_http.h"
#include "net/url.h"

static bool is_inside(struct vd_slice part, struct vd_slice whole)
{
    return !part.n || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

static void check_accepted(const struct vd_git_request *r, const struct vd_http_head *head)
{
    struct vd_slice path, query;
    struct vd_buf begin = {0};
    vd_url_split(vd_http_head_target(head), &path, &query);
    FUZZ_CHECK(r->namespace.n && r->name.n);
    FUZZ_CHECK(!memchr(r->namespace.p, '/', r->namespace.n) && !memchr(r->name.p, '/', r->name.n));
    FUZZ_CHECK(r->version <= 2 && !(r->version == 2 && r->service == VD_GIT_RECEIVE_PACK));
    FUZZ_CHECK(head->method == (r->advertises ? VD_HTTP_GET : VD_HTTP_POST));
    FUZZ_CHECK(!(r->advertises && r->is_gzip));
    FUZZ_CHECK(vd_smart_http_type(r).n);
    vd_smart_http_begin(&begin, r);
    FUZZ_CHECK((begin.n > 0) == (r->advertises && r->version != 2));
    vd_buf_release(&begin);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_http_head head;
    struct vd_git_request r, again;
    struct vd_error error = {.text = ""};
    char *copy = memcpy(malloc(size + 1), data, size); /* so that reading past it is seen */
    vd_http_head_init(&head);
    if (vd_http_head_parse(&head, copy, size) == VD_HTTP_DONE) {
        enum vd_smart_http_status status = vd_smart_http_read(&r, &head, &error);
        struct vd_slice target = vd_http_head_target(&head);
        FUZZ_CHECK(is_inside(r.namespace, target) && is_inside(r.name, target));
        if (status == VD_SMART_HTTP_OK)
            check_accepted(&r, &head);
        else
            FUZZ_CHECK(error.text[0]);
        FUZZ_CHECK(vd_smart_http_read(&again, &head, &error) == status);
        FUZZ_CHECK(vd_slice_eq(r.name, again.name) && r.service == again.service);
    }
    free(copy);
    return 0;
}
