/*
 * Targets from arbitrary bytes.
 *
 * Properties: a segment is never empty, "." or "..", and has neither slash nor
 * NUL; segments and parameters, encoded and put together, are read the same
 * again; encoding undoes decoding; a refusal has a sentence and fills nothing.
 */
#include "fuzz.h"

#include <string.h>

#include "net/url.h"

static void check_refusal(int code, const struct vd_error *error)
{
    FUZZ_CHECK(code == VD_ERR_INVALID || code == VD_ERR_LIMIT);
    FUZZ_CHECK((int)error->code == code && error->text[0]);
}

static void check_path(struct vd_arena *a, struct vd_slice text)
{
    struct vd_url_path path, again;
    struct vd_error error = {0};
    struct vd_buf joined = {0};
    int code = vd_url_path_parse(&path, a, text, &error);
    if (code) {
        check_refusal(code, &error);
        return;
    }
    for (size_t i = 0; i < path.n; i++) {
        struct vd_slice s = path.segments[i];
        FUZZ_CHECK(s.n && !memchr(s.p, '/', s.n) && !memchr(s.p, 0, s.n));
        FUZZ_CHECK(!vd_slice_is(s, ".") && !vd_slice_is(s, ".."));
        vd_buf_add_char(&joined, '/');
        vd_url_encode(&joined, s);
    }
    if (path.slash_end)
        vd_buf_add_char(&joined, '/');
    FUZZ_CHECK(vd_url_path_parse(&again, a, vd_buf_slice(&joined), &error) == VD_OK);
    FUZZ_CHECK(again.n == path.n && again.slash_end == path.slash_end);
    for (size_t i = 0; i < path.n; i++)
        FUZZ_CHECK(vd_slice_eq(again.segments[i], path.segments[i]));
    vd_buf_release(&joined);
}

static void check_query(struct vd_arena *a, struct vd_slice text)
{
    struct vd_url_query query, again;
    struct vd_error error = {0};
    struct vd_buf joined = {0};
    struct vd_slice value;
    int code = vd_url_query_parse(&query, a, text, &error);
    if (code) {
        check_refusal(code, &error);
        return;
    }
    for (size_t i = 0; i < query.n; i++) {
        size_t at = i;
        FUZZ_CHECK(vd_url_query_find(&query, query.params[i].key, &value));
        FUZZ_CHECK(vd_url_query_next(&query, query.params[i].key, &at, &value) && at == i + 1);
        FUZZ_CHECK(vd_slice_eq(value, query.params[i].value));
        if (i)
            vd_buf_add_char(&joined, '&');
        vd_url_encode(&joined, query.params[i].key);
        vd_buf_add_char(&joined, '=');
        vd_url_encode(&joined, query.params[i].value);
    }
    FUZZ_CHECK(vd_url_query_parse(&again, a, vd_buf_slice(&joined), &error) == VD_OK);
    FUZZ_CHECK(again.n == query.n);
    for (size_t i = 0; i < query.n; i++) {
        FUZZ_CHECK(vd_slice_eq(again.params[i].key, query.params[i].key));
        FUZZ_CHECK(vd_slice_eq(again.params[i].value, query.params[i].value));
    }
    vd_buf_release(&joined);
}

static void check_encode(struct vd_arena *a, struct vd_slice text)
{
    struct vd_buf encoded = {0};
    vd_url_encode(&encoded, text);
    for (int part = VD_URL_PATH; part <= VD_URL_QUERY; part++) {
        struct vd_slice decoded = VD_SLICE("untouched");
        int code = vd_url_decode(a, vd_buf_slice(&encoded), (enum vd_url_part)part, &decoded, NULL);
        bool has_nul = text.n && memchr(text.p, 0, text.n);
        FUZZ_CHECK(code == (has_nul ? VD_ERR_INVALID : VD_OK));
        FUZZ_CHECK(has_nul ? vd_slice_is(decoded, "untouched") : vd_slice_eq(decoded, text));
    }
    vd_buf_release(&encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_arena a = {0};
    struct vd_slice target = vd_slice(data, size), path, query;
    vd_url_split(target, &path, &query);
    check_path(&a, path);
    check_query(&a, query);
    check_encode(&a, target);
    vd_arena_release(&a);
    return 0;
}
