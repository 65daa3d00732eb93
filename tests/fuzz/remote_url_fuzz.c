/*
 * URLs of remotes from arbitrary bytes.
 *
 * Properties: what is taken has a host that is no option and no control characters anywhere; the
 * parts, put together, are the text again; only http to a loopback address passes a policy that
 * allows nothing else.
 */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "git/remote_url.h"

static void check_whole(const struct vd_remote_url *url, struct vd_slice text)
{
    struct vd_buf joined = {0};
    bool brackets = memchr(text.p, '[', text.n - url->path.n) != NULL;
    vd_buf_addf(&joined, "%s://", vd_remote_scheme_name(url->scheme));
    if (url->user.n)
        vd_buf_addf(&joined, "%.*s@", VD_FMT(url->user));
    vd_buf_addf(&joined, "%s%.*s%s", brackets ? "[" : "", VD_FMT(url->host), brackets ? "]" : "");
    if (url->port.n)
        vd_buf_addf(&joined, ":%.*s", VD_FMT(url->port));
    vd_buf_add_slice(&joined, url->path);
    FUZZ_CHECK(vd_slice_eq(vd_buf_slice(&joined), text));
    vd_buf_release(&joined);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice text = vd_slice((const char *)data, size);
    struct vd_remote_policy loopback = {.allows_http_loopback = true};
    struct vd_remote_url url;
    struct vd_error error = {0};
    if (vd_remote_url_read(&url, text, &error)) {
        FUZZ_CHECK(error.code == VD_ERR_INVALID && error.text[0]);
        return 0;
    }
    FUZZ_CHECK(url.host.n && url.host.p[0] != '-');
    FUZZ_CHECK(!url.user.n || (url.user.p[0] != '-' && url.scheme == VD_REMOTE_SSH));
    FUZZ_CHECK(url.path.n > 1 && url.path.p[0] == '/');
    for (size_t i = 0; i < text.n; i++)
        FUZZ_CHECK((unsigned char)text.p[i] > ' ');
    check_whole(&url, text);
    if (!vd_remote_url_check(&url, &loopback, &error))
        FUZZ_CHECK(url.scheme == VD_REMOTE_HTTP);
    return 0;
}
