/* See http_token.h. */
#include "net/http_token.h"

/* clang-format off */
const bool vd_http_token_chars[256] = {
    ['!'] = true, ['#'] = true, ['$'] = true, ['%'] = true, ['&'] = true, ['\''] = true,
    ['*'] = true, ['+'] = true, ['-'] = true, ['.'] = true, ['^'] = true, ['_'] = true,
    ['`'] = true, ['|'] = true, ['~'] = true,
    ['0'] = true, ['1'] = true, ['2'] = true, ['3'] = true, ['4'] = true,
    ['5'] = true, ['6'] = true, ['7'] = true, ['8'] = true, ['9'] = true,
    ['A'] = true, ['B'] = true, ['C'] = true, ['D'] = true, ['E'] = true, ['F'] = true,
    ['G'] = true, ['H'] = true, ['I'] = true, ['J'] = true, ['K'] = true, ['L'] = true,
    ['M'] = true, ['N'] = true, ['O'] = true, ['P'] = true, ['Q'] = true, ['R'] = true,
    ['S'] = true, ['T'] = true, ['U'] = true, ['V'] = true, ['W'] = true, ['X'] = true,
    ['Y'] = true, ['Z'] = true,
    ['a'] = true, ['b'] = true, ['c'] = true, ['d'] = true, ['e'] = true, ['f'] = true,
    ['g'] = true, ['h'] = true, ['i'] = true, ['j'] = true, ['k'] = true, ['l'] = true,
    ['m'] = true, ['n'] = true, ['o'] = true, ['p'] = true, ['q'] = true, ['r'] = true,
    ['s'] = true, ['t'] = true, ['u'] = true, ['v'] = true, ['w'] = true, ['x'] = true,
    ['y'] = true, ['z'] = true,
};
/* clang-format on */

bool vd_http_token_is(struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (!vd_http_token_has(text.p[i]))
            return false;
    }
    return text.n > 0;
}

bool vd_http_token_eq(struct vd_slice a, struct vd_slice b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++) {
        if (vd_http_lower(a.p[i]) != vd_http_lower(b.p[i]))
            return false;
    }
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct vd_slice vd_http_trim(struct vd_slice text)
{
    while (text.n && is_blank(text.p[0]))
        text = vd_slice(text.p + 1, text.n - 1);
    while (text.n && is_blank(text.p[text.n - 1]))
        text.n--;
    return text;
}

bool vd_http_list_next(struct vd_slice *rest, struct vd_slice *element)
{
    while (rest->n && vd_slice_cut(rest, ',', element)) {
        *element = vd_http_trim(*element);
        if (element->n)
            return true;
    }
    return false;
}
