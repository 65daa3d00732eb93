/* See pointer.h. */
#include "json/pointer.h"

#include <stdint.h>
#include <string.h>

#include "base/limits.h"

/* Decodes ~0 and ~1; `out` has room for token.n bytes. Gives the bytes. */
static size_t unescape(struct vd_slice token, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < token.n; i++) {
        char c = token.p[i];
        if (c == '~')
            c = token.p[++i] == '0' ? '~' : '/';
        out[n++] = c;
    }
    return n;
}

static int check(struct vd_slice text, struct vd_error *error)
{
    if (text.n && text.p[0] != '/')
        return vd_error_set(error, VD_ERR_INVALID,
                            "a JSON pointer has to be empty or start with '/'");
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '~' && (i + 1 == text.n || (text.p[i + 1] | 1) != '1'))
            return vd_error_set(error, VD_ERR_INVALID,
                                "in a JSON pointer '~' has to be written as \"~0\"");
    }
    return VD_OK;
}

int vd_pointer_parse(struct vd_arena *a, struct vd_slice text, struct vd_pointer *out,
                     struct vd_error *error)
{
    int code = check(text, error);
    if (code != VD_OK)
        return code;
    size_t count = 0;
    for (size_t i = 0; i < text.n; i++)
        count += text.p[i] == '/';
    if (count > VD_JSON_DEPTH_MAX)
        return vd_error_set(error, VD_ERR_LIMIT,
                            "a JSON pointer of %zu parts; no document is more than %d deep", count,
                            VD_JSON_DEPTH_MAX);
    *out = (struct vd_pointer){.text = text, .n = count};
    if (count == 0)
        return VD_OK;
    out->tokens = vd_arena_alloc(a, count * sizeof *out->tokens);
    struct vd_slice rest = vd_slice_from(text, 1), token;
    for (size_t i = 0; i < count && vd_slice_cut(&rest, '/', &token); i++) {
        if (token.n && memchr(token.p, '~', token.n)) {
            char *decoded = vd_arena_alloc(a, token.n);
            token = vd_slice(decoded, unescape(token, decoded));
        }
        out->tokens[i] = token;
    }
    return VD_OK;
}

bool vd_pointer_index(struct vd_slice token, size_t *index)
{
    uint64_t value;
    if (vd_slice_to_u64(token, &value) != 0 || value > SIZE_MAX)
        return false;
    *index = (size_t)value;
    return true;
}

struct vd_json *vd_pointer_step(const struct vd_json *v, struct vd_slice token)
{
    size_t index;
    if (vd_json_is(v, VD_JSON_OBJECT))
        return vd_json_get(v, token);
    if (vd_json_is(v, VD_JSON_ARRAY) && vd_pointer_index(token, &index))
        return vd_json_at(v, index);
    return NULL;
}

struct vd_json *vd_pointer_walk(const struct vd_pointer *pointer, size_t n, struct vd_json *v)
{
    for (size_t i = 0; i < n && v; i++)
        v = vd_pointer_step(v, pointer->tokens[i]);
    return v;
}

void vd_pointer_add(struct vd_buf *out, struct vd_slice key)
{
    vd_buf_add_char(out, '/');
    for (size_t i = 0; i < key.n; i++) {
        if (key.p[i] == '~')
            vd_buf_add(out, "~0", 2);
        else if (key.p[i] == '/')
            vd_buf_add(out, "~1", 2);
        else
            vd_buf_add_char(out, key.p[i]);
    }
}

struct vd_json *vd_json_point(struct vd_json *v, struct vd_slice text)
{
    struct vd_arena scratch = {0};
    struct vd_pointer pointer;
    struct vd_json *found = NULL;
    if (vd_pointer_parse(&scratch, text, &pointer, NULL) == VD_OK)
        found = vd_pointer_walk(&pointer, pointer.n, v);
    vd_arena_release(&scratch);
    return found;
}
