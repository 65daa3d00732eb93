/* See http_write.h. */
#include "net/http_write.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include "net/http_token.h"

/* clang-format off */
#define STATUSES(X) \
    X(100, "Continue")                          X(101, "Switching Protocols") \
    X(200, "OK")                                X(201, "Created") \
    X(202, "Accepted")                          X(204, "No Content") \
    X(206, "Partial Content")                   X(301, "Moved Permanently") \
    X(302, "Found")                             X(303, "See Other") \
    X(304, "Not Modified")                      X(307, "Temporary Redirect") \
    X(308, "Permanent Redirect")                X(400, "Bad Request") \
    X(401, "Unauthorized")                      X(403, "Forbidden") \
    X(404, "Not Found")                         X(405, "Method Not Allowed") \
    X(406, "Not Acceptable")                    X(408, "Request Timeout") \
    X(409, "Conflict")                          X(410, "Gone") \
    X(411, "Length Required")                   X(412, "Precondition Failed") \
    X(413, "Content Too Large")                 X(414, "URI Too Long") \
    X(415, "Unsupported Media Type")            X(416, "Range Not Satisfiable") \
    X(417, "Expectation Failed")                X(421, "Misdirected Request") \
    X(422, "Unprocessable Content")             X(426, "Upgrade Required") \
    X(428, "Precondition Required")             X(429, "Too Many Requests") \
    X(431, "Request Header Fields Too Large")   X(500, "Internal Server Error") \
    X(501, "Not Implemented")                   X(502, "Bad Gateway") \
    X(503, "Service Unavailable")               X(504, "Gateway Timeout") \
    X(505, "HTTP Version Not Supported")        X(507, "Insufficient Storage")
/* clang-format on */

struct vd_slice vd_http_reason(unsigned status)
{
    switch (status) {
#define STATUS_CASE(code, reason)                                                                  \
    case code:                                                                                     \
        return VD_SLICE(reason);
        STATUSES(STATUS_CASE)
#undef STATUS_CASE
    default:
        return VD_SLICE("");
    }
}

void vd_http_date_init(struct vd_http_date *date, const struct vd_clock *clock)
{
    *date = (struct vd_http_date){.clock = clock, .second = INT64_MIN};
}

/* RFC 9110 section 5.6.7. By hand, as strftime would follow the locale. */
static void format_date(int64_t second, char out[30])
{
    static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t time = (time_t)second;
    struct tm t;
    bool known = gmtime_r(&time, &t) && t.tm_year >= -1900 && t.tm_year < 10000 - 1900;
    if (!known) /* a clock that is off by millennia: any date will do */
        t = (struct tm){.tm_mday = 1, .tm_wday = 4, .tm_year = 70};
    char text[128];
    int n = snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[t.tm_wday],
                     t.tm_mday, months[t.tm_mon], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
    assert(n == 29);
    memcpy(out, text, 30);
}

struct vd_slice vd_http_date_text(struct vd_http_date *date)
{
    int64_t ms = vd_clock_wall_ms(date->clock);
    int64_t second = ms / 1000 - (ms % 1000 < 0);
    if (second != date->second) {
        format_date(second, date->text);
        date->second = second;
    }
    return vd_slice(date->text, 29);
}

bool vd_http_value_is_safe(struct vd_slice value)
{
    for (size_t i = 0; i < value.n; i++) {
        unsigned char c = (unsigned char)value.p[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return vd_http_trim(value).n == value.n;
}

/* The headers that decide where an answer ends; only the framing writes them. */
static bool is_framing(struct vd_slice name)
{
    return vd_http_token_eq(name, VD_SLICE("Content-Length")) ||
           vd_http_token_eq(name, VD_SLICE("Transfer-Encoding"));
}

static void add_field(struct vd_buf *out, struct vd_slice name, struct vd_slice value)
{
    assert(vd_http_token_is(name));
    assert(vd_http_value_is_safe(value));
    vd_buf_add_slice(out, name);
    vd_buf_add(out, ": ", 2);
    vd_buf_add_slice(out, value);
    vd_buf_add(out, "\r\n", 2);
}

static void add_status_line(struct vd_buf *out, unsigned status)
{
    assert(status >= 100 && status <= 599);
    vd_buf_add_slice(out, VD_SLICE("HTTP/1.1 "));
    vd_buf_add_u64(out, status);
    vd_buf_add_char(out, ' ');
    vd_buf_add_slice(out, vd_http_reason(status));
    vd_buf_add(out, "\r\n", 2);
}

static void add_framing(struct vd_buf *out, const struct vd_http_answer *answer)
{
    bool empty = answer->status < 200 || answer->status == 204 || answer->status == 304;
    assert(empty == (answer->framing == VD_HTTP_FRAMING_NONE));
    if (answer->framing == VD_HTTP_FRAMING_CHUNKED) {
        vd_buf_add_slice(out, VD_SLICE("Transfer-Encoding: chunked\r\n"));
    } else if (answer->framing == VD_HTTP_FRAMING_LENGTH) {
        vd_buf_add_slice(out, VD_SLICE("Content-Length: "));
        vd_buf_add_u64(out, answer->length);
        vd_buf_add(out, "\r\n", 2);
    }
}

void vd_http_write_head(struct vd_buf *out, struct vd_http_date *date,
                        const struct vd_http_answer *answer)
{
    vd_buf_reserve(out, 256);
    add_status_line(out, answer->status);
    add_field(out, VD_SLICE("Date"), vd_http_date_text(date));
    if (answer->content_type.n)
        add_field(out, VD_SLICE("Content-Type"), answer->content_type);
    add_framing(out, answer);
    if (answer->persistence == VD_HTTP_PERSIST_CLOSE || answer->framing == VD_HTTP_FRAMING_CLOSE)
        vd_buf_add_slice(out, VD_SLICE("Connection: close\r\n"));
    else if (answer->persistence == VD_HTTP_PERSIST_KEEP)
        vd_buf_add_slice(out, VD_SLICE("Connection: keep-alive\r\n"));
    else if (answer->persistence == VD_HTTP_PERSIST_UPGRADE)
        vd_buf_add_slice(out, VD_SLICE("Connection: Upgrade\r\n"));
    for (size_t i = 0; i < answer->fields_n; i++) {
        assert(!is_framing(answer->fields[i].name));
        add_field(out, answer->fields[i].name, answer->fields[i].value);
    }
    if (answer->stamp)
        add_field(out, answer->stamp->name, answer->stamp->value);
    vd_buf_add(out, "\r\n", 2);
}

struct vd_slice vd_http_chunk_line(uint64_t n, char out[VD_HTTP_CHUNK_LINE_MAX])
{
    assert(n > 0);
    size_t digits = vd_http_chunk_line_len(n) - 2u;
    for (size_t i = digits; i-- > 0; n >>= 4)
        out[i] = "0123456789abcdef"[n & 15];
    out[digits] = '\r';
    out[digits + 1] = '\n';
    return vd_slice(out, digits + 2);
}

void vd_http_write_chunk(struct vd_buf *out, struct vd_slice data)
{
    if (data.n == 0)
        return;
    char line[VD_HTTP_CHUNK_LINE_MAX];
    vd_buf_reserve(out, data.n + VD_HTTP_CHUNK_LINE_MAX + 2);
    vd_buf_add_slice(out, vd_http_chunk_line(data.n, line));
    vd_buf_add_slice(out, data);
    vd_buf_add_slice(out, VD_HTTP_CHUNK_END);
}
