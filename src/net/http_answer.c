/* See http_answer.h. */
#include "net/http_answer.h"

#include <string.h>

#include "base/limits.h"
#include "net/http_token.h"

static int malformed(struct vd_error *error, const char *why)
{
    vd_error_set(error, VD_ERR_INVALID, "the server's answer is malformed: %s", why);
    return -1;
}

static bool is(struct vd_slice name, const char *wanted)
{
    return vd_http_token_eq(name, vd_slice_of(wanted));
}

/* HTTP/1.1 200 OK */
static int parse_status(struct vd_http_answer_head *head, struct vd_slice line,
                        struct vd_error *error)
{
    uint64_t status;
    if (line.n < 12 ||
        (strncmp(line.p, "HTTP/1.1 ", 9) != 0 && strncmp(line.p, "HTTP/1.0 ", 9) != 0) ||
        vd_slice_to_u64(vd_slice(line.p + 9, 3), &status) || status < 100 || status > 599 ||
        (line.n > 12 && line.p[12] != ' '))
        return malformed(error, "its first line is no status of HTTP/1.1");
    head->status = (unsigned)status;
    return 0;
}

static int parse_header(struct vd_http_answer_head *head, struct vd_slice line,
                        struct vd_error *error)
{
    struct vd_slice value = line, name;
    if (!memchr(line.p, ':', line.n) || !vd_slice_cut(&value, ':', &name) ||
        !vd_http_token_is(name))
        return malformed(error, "a line is no header");
    value = vd_http_trim(value);
    for (size_t i = 0; i < value.n; i++)
        if (((unsigned char)value.p[i] < ' ' && value.p[i] != '\t') || value.p[i] == 0x7f)
            return malformed(error, "a header has control characters");
    if (is(name, "content-type"))
        head->content_type = value;
    if (is(name, "content-length")) {
        uint64_t length;
        if (vd_slice_to_u64(value, &length) || (head->has_length && length != head->length))
            return malformed(error, "its length is no number, or said twice");
        head->has_length = true;
        head->length = length;
    }
    if (is(name, "transfer-encoding")) {
        if (head->chunked || !is(value, "chunked"))
            return malformed(error, "its transfer encoding is not just chunked");
        head->chunked = true;
    }
    return 0;
}

int vd_http_answer_parse(struct vd_http_answer_head *head, struct vd_slice bytes,
                         struct vd_error *error)
{
    const char *end = memmem(bytes.p, bytes.n, "\r\n\r\n", 4);
    *head = (struct vd_http_answer_head){0};
    if (!end && bytes.n < VD_HTTP_HEAD_LEN_MAX)
        return 0;
    if (!end || (size_t)(end - bytes.p) + 4 > VD_HTTP_HEAD_LEN_MAX)
        return malformed(error, "its head is too long");
    const char *p = bytes.p;
    int rc = 0;
    for (bool first = true; !rc && p <= end; first = false) {
        const char *cr = memchr(p, '\r', (size_t)(end + 1 - p));
        struct vd_slice line = vd_slice(p, (size_t)(cr - p));
        if (cr[1] != '\n' || memchr(line.p, '\n', line.n))
            return malformed(error, "a line does not end with CR LF");
        rc = first ? parse_status(head, line, error) : parse_header(head, line, error);
        p = cr + 2;
    }
    if (!rc && head->chunked && head->has_length)
        return malformed(error, "it has a length beside chunks");
    head->used = (size_t)(end - bytes.p) + 4;
    return rc ? rc : 1;
}
