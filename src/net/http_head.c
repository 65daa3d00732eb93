/*
 * See http_head.h.
 *
 * The head is read line by line. A line is found by looking for the next control
 * character: a valid head has none but tabs and the CR LF at the ends of lines,
 * so one pass both finds the end and proves the line clean. That pass remembers
 * where it was; the rest of the work happens once a line, when it is complete.
 *
 * Rules that make the result independent of how the bytes arrive:
 * - a limit is a last offset at which a line's CR may stand, and the pass never
 *   looks beyond it, so being too long is known at the same byte in any split;
 * - a line is judged only when it is complete, and lines are judged in order;
 * - a CR that is the last byte so far waits for its neighbour.
 *
 * The runs over tokens and targets may load bytes past the line's end, never
 * past the buffer's; they stop at the CR by themselves, as it fits neither.
 */
#include "net/http_head.h"

#include <assert.h>
#include <string.h>

#include "net/http_token.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    VERSION_LEN = 8, /* HTTP/1.1 */
    REQUEST_LINE_LEN_MAX = VD_HTTP_METHOD_LEN_MAX + 1 + VD_HTTP_TARGET_LEN_MAX + 1 + VERSION_LEN,
};

_Static_assert(VD_HTTP_HEADER_LEN_MAX <= UINT16_MAX, "lengths of headers are 16 bits");

/* Headers that may come once only. */
enum {
    SEEN_HOST = 1 << 0,
    SEEN_AUTHORIZATION = 1 << 1,
    SEEN_CONTENT_TYPE = 1 << 2,
    SEEN_CONTENT_LENGTH = 1 << 3,
    SEEN_TRANSFER_ENCODING = 1 << 4,
    SEEN_UPGRADE = 1 << 5, /* this one may be repeated */
};

/* What Connection can say. */
enum {
    OPTION_CLOSE = 1 << 0,
    OPTION_KEEP_ALIVE = 1 << 1,
    OPTION_UPGRADE = 1 << 2,
};

void vd_http_head_init(struct vd_http_head *h)
{
    memset(h, 0, offsetof(struct vd_http_head, headers));
    h->p = "";
}

static enum vd_http_result refuse(struct vd_http_head *h, enum vd_http_refusal why)
{
    h->refusal = why;
    return VD_HTTP_REFUSED;
}

/* The first control character that is no tab, or `end`. */
static const char *find_control(const char *at, const char *end)
{
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1f)), x);
        __m128i tab = _mm_cmpeq_epi8(x, _mm_set1_epi8('\t'));
        __m128i del = _mm_cmpeq_epi8(x, _mm_set1_epi8(0x7f));
        int bits = _mm_movemask_epi8(_mm_or_si128(_mm_andnot_si128(tab, low), del));
        if (bits)
            return at + __builtin_ctz((unsigned)bits);
    }
#endif
    for (; at < end; at++) {
        unsigned char c = (unsigned char)*at;
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            break;
    }
    return at;
}

/* The first byte that is no token character, or `end`. */
static const char *token_end(const char *at, const char *end)
{
#ifdef __SSE2__
    /* Letters, digits and '-', which is nearly all; the table knows the others. */
    if (end - at >= 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i letter = _mm_sub_epi8(_mm_or_si128(x, _mm_set1_epi8(0x20)),
                                      _mm_set1_epi8('a'));   /* 0..25 */
        __m128i digit = _mm_sub_epi8(x, _mm_set1_epi8('0')); /* 0..9 */
        __m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(25)), letter);
        __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit);
        __m128i is_dash = _mm_cmpeq_epi8(x, _mm_set1_epi8('-'));
        __m128i plain = _mm_or_si128(_mm_or_si128(is_letter, is_digit), is_dash);
        /* A 17th bit stands for "all sixteen". */
        at += __builtin_ctz(~(unsigned)_mm_movemask_epi8(plain));
    }
#endif
    while (at < end && vd_http_token_has(*at))
        at++;
    return at;
}

/* The first byte that cannot be in a request target, or `end`. A target is
 * visible ASCII without '#': a fragment is never sent. */
static const char *target_end(const char *at, const char *end)
{
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)at);
        /* As signed bytes, 0x80 and up are below '!' too. DEL is refused before. */
        __m128i other = _mm_cmplt_epi8(x, _mm_set1_epi8('!'));
        __m128i hash = _mm_cmpeq_epi8(x, _mm_set1_epi8('#'));
        int bits = _mm_movemask_epi8(_mm_or_si128(other, hash));
        if (bits)
            return at + __builtin_ctz((unsigned)bits);
    }
#endif
    while (at<end && * at> ' ' && *at < 0x7f && *at != '#')
        at++;
    return at;
}

/* Finds the end of the line at h->line_at: DONE with h->scan_at at its CR. */
static enum vd_http_result find_line(struct vd_http_head *h, size_t n)
{
    size_t line_max = h->in_headers ? VD_HTTP_HEADER_LEN_MAX : REQUEST_LINE_LEN_MAX;
    size_t cr_max = h->line_at + line_max;
    enum vd_http_refusal why = h->in_headers ? VD_HTTP_REFUSED_HEADER_LONG
                                             : VD_HTTP_REFUSED_TARGET_LONG;
    if (cr_max > VD_HTTP_HEAD_LEN_MAX - 2) {
        cr_max = VD_HTTP_HEAD_LEN_MAX - 2;
        why = VD_HTTP_REFUSED_HEAD_LONG;
    }
    if (h->line_at > cr_max)
        return refuse(h, why);
    size_t end = n <= cr_max ? n : cr_max + 1;
    size_t at = (size_t)(find_control(h->p + h->scan_at, h->p + end) - h->p);
    h->scan_at = at;
    if (at == end)
        return end > cr_max ? refuse(h, why) : VD_HTTP_MORE;
    if (h->p[at] != '\r')
        return refuse(h, h->p[at] == '\n' ? VD_HTTP_REFUSED_BARE_LF : VD_HTTP_REFUSED_CONTROL);
    if (at + 1 == n)
        return VD_HTTP_MORE;
    return h->p[at + 1] == '\n' ? VD_HTTP_DONE : refuse(h, VD_HTTP_REFUSED_BARE_CR);
}

static struct vd_http_part part_of(const struct vd_http_head *h, const char *from, const char *to)
{
    return (struct vd_http_part){(uint32_t)(from - h->p), (uint32_t)(to - from)};
}

static enum vd_http_method method_of(struct vd_slice name)
{
    static const struct {
        struct vd_slice name;
        enum vd_http_method method;
    } methods[] = {
        {VD_SLICE("GET"), VD_HTTP_GET},         {VD_SLICE("PUT"), VD_HTTP_PUT},
        {VD_SLICE("POST"), VD_HTTP_POST},       {VD_SLICE("PATCH"), VD_HTTP_PATCH},
        {VD_SLICE("DELETE"), VD_HTTP_DELETE},   {VD_SLICE("HEAD"), VD_HTTP_HEAD},
        {VD_SLICE("OPTIONS"), VD_HTTP_OPTIONS}, {VD_SLICE("TRACE"), VD_HTTP_TRACE},
    };
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (vd_slice_eq(name, methods[i].name))
            return methods[i].method;
    }
    return VD_HTTP_METHOD_OTHER;
}

/* A host with an optional port, by its characters: no user, path or blanks. */
static bool is_host(struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool alnum = (c >= '0' && c <= '9') || (vd_http_lower(c) >= 'a' && vd_http_lower(c) <= 'z');
        if (!alnum && (c == 0 || !strchr("-._~%!$&'()*+,;=:[]", c)))
            return false;
    }
    return text.n > 0;
}

/* Takes "http://host" off the front of an absolute target. What remains is a
 * path; for a bare host it is the '/' before it. */
static enum vd_http_refusal reduce_target(struct vd_http_head *h, struct vd_slice target)
{
    static const struct vd_slice schemes[] = {VD_SLICE("http://"), VD_SLICE("https://")};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t n = schemes[i].n;
        if (target.n <= n || !vd_http_token_eq(vd_slice(target.p, n), schemes[i]))
            continue;
        const char *host = target.p + n, *end = target.p + target.n;
        const char *path = memchr(host, '/', target.n - n);
        const char *host_end = path ? path : end;
        if (!is_host(vd_slice(host, (size_t)(host_end - host))))
            return VD_HTTP_REFUSED_TARGET_FORM;
        h->authority = part_of(h, host, host_end);
        h->target_part = path ? part_of(h, path, end) : part_of(h, host - 1, host);
        return VD_HTTP_REFUSED_NOTHING;
    }
    return VD_HTTP_REFUSED_TARGET_FORM;
}

static enum vd_http_refusal read_version(struct vd_http_head *h, struct vd_slice text)
{
    if (text.n != VERSION_LEN || memcmp(text.p, "HTTP/", 5) != 0 || text.p[5] < '0' ||
        text.p[5] > '9' || text.p[6] != '.' || text.p[7] < '0' || text.p[7] > '9')
        return VD_HTTP_REFUSED_VERSION_SYNTAX;
    if (text.p[5] != '1' || text.p[7] > '1')
        return VD_HTTP_REFUSED_VERSION;
    h->minor = (uint8_t)(text.p[7] - '0');
    return VD_HTTP_REFUSED_NOTHING;
}

/* The line from `at` to its CR at `end`; the buffer goes on until `limit`. */
static enum vd_http_refusal read_request_line(struct vd_http_head *h, const char *at,
                                              const char *end, const char *limit)
{
    const char *space = token_end(at, limit);
    if (space == at || *space != ' ')
        return VD_HTTP_REFUSED_METHOD;
    h->method_part = part_of(h, at, space);
    struct vd_slice method = vd_http_head_method(h);
    if (method.n > VD_HTTP_METHOD_LEN_MAX)
        return VD_HTTP_REFUSED_METHOD_LONG;
    h->method = method_of(method);

    at = space + 1;
    space = target_end(at, limit);
    if (space == at || (*space != ' ' && space != end))
        return VD_HTTP_REFUSED_TARGET_CHARACTER;
    if (space == end)
        return VD_HTTP_REFUSED_VERSION_SYNTAX;
    struct vd_slice target = vd_slice(at, (size_t)(space - at));
    if (target.n > VD_HTTP_TARGET_LEN_MAX)
        return VD_HTTP_REFUSED_TARGET_LONG;
    enum vd_http_refusal why = read_version(h, vd_slice(space + 1, (size_t)(end - space - 1)));
    if (why)
        return why;
    if (h->method == VD_HTTP_METHOD_OTHER && vd_slice_eq(method, VD_SLICE("CONNECT")))
        return VD_HTTP_REFUSED_CONNECT;
    h->target_part = part_of(h, at, space);
    if (*at == '/' || (h->method == VD_HTTP_OPTIONS && vd_slice_eq(target, VD_SLICE("*"))))
        return VD_HTTP_REFUSED_NOTHING;
    return reduce_target(h, target);
}

static enum vd_http_refusal read_length(struct vd_http_head *h, struct vd_slice value)
{
    if (vd_slice_to_u64(value, &h->length) == 0) {
        h->has_length = true;
        return VD_HTTP_REFUSED_NOTHING;
    }
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] < '0' || value.p[i] > '9')
            return VD_HTTP_REFUSED_LENGTH;
    }
    return value.n && value.p[0] != '0' ? VD_HTTP_REFUSED_LENGTH_LARGE : VD_HTTP_REFUSED_LENGTH;
}

static void read_connection(struct vd_http_head *h, struct vd_slice value)
{
    struct vd_slice option;
    while (vd_http_list_next(&value, &option)) {
        if (vd_http_token_eq(option, VD_SLICE("close")))
            h->options |= OPTION_CLOSE;
        else if (vd_http_token_eq(option, VD_SLICE("keep-alive")))
            h->options |= OPTION_KEEP_ALIVE;
        else if (vd_http_token_eq(option, VD_SLICE("upgrade")))
            h->options |= OPTION_UPGRADE;
    }
}

/* Marks a header that may come once only. */
static enum vd_http_refusal once(struct vd_http_head *h, unsigned header)
{
    if (h->seen & header)
        return VD_HTTP_REFUSED_REPEATED;
    h->seen |= header;
    return VD_HTTP_REFUSED_NOTHING;
}

static enum vd_http_refusal note_host(struct vd_http_head *h, struct vd_slice value)
{
    h->host = (uint32_t)h->headers_n;
    enum vd_http_refusal why = once(h, SEEN_HOST);
    return why ? why : is_host(value) ? VD_HTTP_REFUSED_NOTHING : VD_HTTP_REFUSED_HOST;
}

static enum vd_http_refusal note_length(struct vd_http_head *h, struct vd_slice value)
{
    enum vd_http_refusal why = once(h, SEEN_CONTENT_LENGTH);
    return why ? why : read_length(h, value);
}

static enum vd_http_refusal note_coding(struct vd_http_head *h, struct vd_slice value)
{
    enum vd_http_refusal why = once(h, SEEN_TRANSFER_ENCODING);
    h->chunked = vd_slice_eq(value, VD_SLICE("chunked"));
    return why ? why : h->chunked ? VD_HTTP_REFUSED_NOTHING : VD_HTTP_REFUSED_CODING;
}

static enum vd_http_refusal note_expect(struct vd_http_head *h, struct vd_slice value)
{
    if (!vd_http_token_eq(value, VD_SLICE("100-continue")))
        return VD_HTTP_REFUSED_EXPECT;
    h->expect_continue = h->minor == 1; /* HTTP/1.0 knows no 100 */
    return VD_HTTP_REFUSED_NOTHING;
}

/* Reads the headers that concern the parser. Their lengths tell most others apart. */
static enum vd_http_refusal note_header(struct vd_http_head *h, struct vd_slice name,
                                        struct vd_slice value)
{
#define IS(text) vd_http_token_eq(name, VD_SLICE(text))
    switch (name.n) {
    case 4:
        return IS("host") ? note_host(h, value) : VD_HTTP_REFUSED_NOTHING;
    case 6:
        return IS("expect") ? note_expect(h, value) : VD_HTTP_REFUSED_NOTHING;
    case 7:
        if (IS("upgrade"))
            h->seen |= SEEN_UPGRADE;
        return VD_HTTP_REFUSED_NOTHING;
    case 10:
        if (IS("connection"))
            read_connection(h, value);
        return VD_HTTP_REFUSED_NOTHING;
    case 12:
        return IS("content-type") ? once(h, SEEN_CONTENT_TYPE) : VD_HTTP_REFUSED_NOTHING;
    case 13:
        return IS("authorization") ? once(h, SEEN_AUTHORIZATION) : VD_HTTP_REFUSED_NOTHING;
    case 14:
        return IS("content-length") ? note_length(h, value) : VD_HTTP_REFUSED_NOTHING;
    case 17:
        return IS("transfer-encoding") ? note_coding(h, value) : VD_HTTP_REFUSED_NOTHING;
    default:
        return VD_HTTP_REFUSED_NOTHING;
    }
#undef IS
}

static enum vd_http_refusal name_refusal(const char *line, const char *stop, const char *end)
{
    if (*line == ' ' || *line == '\t')
        return VD_HTTP_REFUSED_FOLD;
    if (stop == line)
        return VD_HTTP_REFUSED_NAME;
    if (stop == end)
        return VD_HTTP_REFUSED_NO_COLON;
    return *stop == ' ' || *stop == '\t' ? VD_HTTP_REFUSED_NAME_SPACE : VD_HTTP_REFUSED_NAME;
}

static enum vd_http_refusal read_header(struct vd_http_head *h, const char *at, const char *end,
                                        const char *limit)
{
    const char *colon = token_end(at, limit);
    if (VD_UNLIKELY(colon == at || *colon != ':'))
        return name_refusal(at, colon, end);
    if (h->headers_n == VD_HTTP_HEADERS_MAX)
        return VD_HTTP_REFUSED_HEADERS_MANY;
    struct vd_slice name = vd_slice(at, (size_t)(colon - at));
    struct vd_slice value = vd_http_trim(vd_slice(colon + 1, (size_t)(end - colon - 1)));
    enum vd_http_refusal why = note_header(h, name, value);
    h->headers[h->headers_n++] = (struct vd_http_header){
        .name_at = (uint32_t)(name.p - h->p),
        .value_at = (uint32_t)(value.p - h->p),
        .name_n = (uint16_t)name.n,
        .value_n = (uint16_t)value.n,
    };
    return why;
}

/* After the empty line: what the headers say together. */
static enum vd_http_refusal finish(struct vd_http_head *h)
{
    bool has_host = h->seen & SEEN_HOST;
    if (h->minor == 1 && !has_host)
        return VD_HTTP_REFUSED_HOST_MISSING;
    if (h->authority.n && has_host &&
        !vd_http_token_eq(vd_slice(h->p + h->authority.at, h->authority.n),
                          vd_http_head_value(h, h->host)))
        return VD_HTTP_REFUSED_HOST_DIFFERS;
    if (h->chunked && h->has_length)
        return VD_HTTP_REFUSED_FRAMING;
    if (h->chunked && h->minor == 0)
        return VD_HTTP_REFUSED_CODING_OLD;
    h->keep_alive = !(h->options & OPTION_CLOSE) &&
                    (h->minor == 1 || (h->options & OPTION_KEEP_ALIVE));
    h->upgrade = h->minor == 1 && (h->seen & SEEN_UPGRADE) && (h->options & OPTION_UPGRADE);
    h->used = h->scan_at + 2;
    h->done = true;
    return VD_HTTP_REFUSED_NOTHING;
}

/* One complete line, from h->line_at to the CR at h->scan_at. */
static enum vd_http_refusal read_line(struct vd_http_head *h, size_t n)
{
    const char *at = h->p + h->line_at, *end = h->p + h->scan_at, *limit = h->p + n;
    if (h->in_headers)
        return at == end ? finish(h) : read_header(h, at, end, limit);
    if (at == end) {
        bool second = h->blank_seen;
        h->blank_seen = true;
        return second ? VD_HTTP_REFUSED_BLANK_LINES : VD_HTTP_REFUSED_NOTHING;
    }
    h->in_headers = true;
    return read_request_line(h, at, end, limit);
}

enum vd_http_result vd_http_head_parse(struct vd_http_head *h, const char *p, size_t n)
{
    assert(n >= h->scan_at);
    if (n == 0)
        return VD_HTTP_MORE;
    h->p = p;
    if (h->refusal)
        return VD_HTTP_REFUSED;
    while (!h->done) {
        enum vd_http_result result = find_line(h, n);
        if (result != VD_HTTP_DONE)
            return result;
        enum vd_http_refusal why = read_line(h, n);
        if (why)
            return refuse(h, why);
        h->scan_at += 2;
        h->line_at = h->scan_at;
    }
    return VD_HTTP_DONE;
}

bool vd_http_head_next(const struct vd_http_head *h, struct vd_slice name, size_t *at,
                       struct vd_slice *value)
{
    for (size_t i = *at; i < h->headers_n; i++) {
        if (h->headers[i].name_n != name.n || !vd_http_token_eq(vd_http_head_name(h, i), name))
            continue;
        *value = vd_http_head_value(h, i);
        *at = i + 1;
        return true;
    }
    return false;
}

bool vd_http_head_find(const struct vd_http_head *h, struct vd_slice name, struct vd_slice *value)
{
    size_t at = 0;
    return vd_http_head_next(h, name, &at, value);
}

bool vd_http_head_upgrades_to(const struct vd_http_head *h, struct vd_slice protocol)
{
    struct vd_slice value, rest, offer, name;
    size_t at = 0;
    while (h->upgrade && vd_http_head_next(h, VD_SLICE("upgrade"), &at, &value)) {
        rest = value;
        while (vd_http_list_next(&rest, &offer))
            if (vd_slice_cut(&offer, '/', &name) && vd_http_token_eq(name, protocol))
                return true;
    }
    return false;
}
