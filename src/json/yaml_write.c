/*
 * See yaml_write.h.
 *
 * A container is written at an indent, which is the column of its keys or of
 * its dashes. What is nested goes two columns further, except a list below a
 * key: its dashes stand under the key. The first member of a map in a list
 * follows the dash on the same line, so a writer is told whether the cursor is
 * already at its column (`inlined`).
 *
 *     a:
 *     - b: 1        <- list at 0, map at 2 and inlined
 *       c:
 *       - - x       <- list at 2, list at 4 and inlined
 */
#include "json/yaml_write.h"

#include <assert.h>
#include <stdint.h>

#include "json/yaml_scalar.h"

enum {
    INDENT = 2, /* spaces for each level */
    /* A key may be written before a bare ':' only if it is shorter than 1024
     * characters (YAML 1.2, 7.4.2); longer ones follow a '?'. */
    SIMPLE_KEY_LEN_MAX = 1000,
};

enum style { STYLE_PLAIN, STYLE_SINGLE, STYLE_DOUBLE, STYLE_LITERAL };

static void add_indent(struct vd_buf *out, size_t columns)
{
    vd_buf_reserve(out, columns);
    for (size_t i = 0; i < columns; i++)
        vd_buf_add_char(out, ' ');
}

/* --- characters --- */

/* The character at the front of valid UTF-8, and its length. */
static uint32_t rune_at(struct vd_slice s, size_t *n)
{
    const unsigned char *p = (const unsigned char *)s.p;
    *n = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    assert(*n <= s.n); /* document.h: texts are valid UTF-8 */
    if (*n == 1)
        return p[0];
    uint32_t rune = p[0] & (0x7Fu >> *n);
    for (size_t i = 1; i < *n; i++)
        rune = rune << 6 | (p[i] & 0x3Fu);
    return rune;
}

/* Needs an escape: controls, what YAML 1.1 takes for a line break or a byte
 * order mark, and what is no character. Tab and newline are judged apart. */
static bool rune_is_odd(uint32_t rune)
{
    return (rune < 0x20 && rune != '\n' && rune != '\t') || (rune >= 0x7F && rune < 0xA0) ||
           rune == 0x2028 || rune == 0x2029 || rune == 0xFEFF || (rune & 0xFFFE) == 0xFFFE;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* --- choosing a style --- */

/* At the front of a text these begin something else. */
static bool starts_oddly(struct vd_slice s)
{
    char c = s.p[0];
    if (strchr(",[]{}#&*!|>'\"%@`", c) && c)
        return true;
    if ((c == '-' || c == '?' || c == ':') && (s.n == 1 || is_blank(s.p[1])))
        return true;
    return is_blank(c) || vd_slice_starts_with(s, VD_SLICE("---")) ||
           vd_slice_starts_with(s, VD_SLICE("..."));
}

/* `: ` would end a key, ` #` begin a comment. */
static bool has_separator(struct vd_slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == ':' && (i + 1 == s.n || is_blank(s.p[i + 1])))
            return true;
        if (s.p[i] == '#' && i > 0 && is_blank(s.p[i - 1]))
            return true;
    }
    return false;
}

/* A literal block can hold the text: at its end it has a visible character
 * and then newlines, if any. */
static bool fits_literal(struct vd_slice s)
{
    while (s.n && s.p[s.n - 1] == '\n')
        s.n--;
    return s.n && !is_blank(s.p[s.n - 1]);
}

static enum style choose_style(struct vd_slice s)
{
    bool lines = false, tabs = false;
    for (size_t i = 0, n; i < s.n; i += n) {
        uint32_t rune = rune_at(vd_slice_from(s, i), &n);
        if (rune_is_odd(rune))
            return STYLE_DOUBLE;
        lines |= rune == '\n';
        tabs |= rune == '\t';
    }
    if (lines)
        return fits_literal(s) ? STYLE_LITERAL : STYLE_DOUBLE;
    if (tabs || vd_yaml_scalar_is_special(s))
        return STYLE_DOUBLE;
    bool bare = !starts_oddly(s) && s.p[s.n - 1] != ' ' && !has_separator(s);
    return bare ? STYLE_PLAIN : STYLE_SINGLE;
}

/* --- strings --- */

static void add_single_quoted(struct vd_buf *out, struct vd_slice s)
{
    vd_buf_add_char(out, '\'');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\'')
            vd_buf_add_char(out, '\'');
        vd_buf_add_char(out, s.p[i]);
    }
    vd_buf_add_char(out, '\'');
}

static void add_escape(struct vd_buf *out, uint32_t rune)
{
    switch (rune) {
    case '"':
        vd_buf_add_text(out, "\\\"");
        break;
    case '\\':
        vd_buf_add_text(out, "\\\\");
        break;
    case '\n':
        vd_buf_add_text(out, "\\n");
        break;
    case '\t':
        vd_buf_add_text(out, "\\t");
        break;
    case '\r':
        vd_buf_add_text(out, "\\r");
        break;
    default:
        vd_buf_addf(out, rune > 0xFFFF ? "\\U%08X" : rune > 0xFF ? "\\u%04X" : "\\x%02X", rune);
    }
}

static void add_double_quoted(struct vd_buf *out, struct vd_slice s)
{
    vd_buf_add_char(out, '"');
    for (size_t i = 0, n; i < s.n; i += n) {
        uint32_t rune = rune_at(vd_slice_from(s, i), &n);
        if (rune_is_odd(rune) || rune == '"' || rune == '\\' || rune == '\n' || rune == '\t')
            add_escape(out, rune);
        else
            vd_buf_add(out, s.p + i, n);
    }
    vd_buf_add_char(out, '"');
}

/*
 * `|` for text that ends in one newline, `|-` for none, `|+` for more. The
 * indent is named when the first line begins with a blank or is empty, since a
 * reader could not find it out.
 */
static void add_literal(struct vd_buf *out, struct vd_slice s, size_t indent)
{
    bool ends = s.p[s.n - 1] == '\n';
    bool ends_twice = ends && s.p[s.n - 2] == '\n'; /* it is not all newlines */
    vd_buf_add_char(out, '|');
    if (is_blank(s.p[0]) || s.p[0] == '\n')
        vd_buf_add_u64(out, INDENT);
    vd_buf_add_text(out, ends_twice ? "+\n" : ends ? "\n" : "-\n");
    if (ends)
        s.n--;
    for (struct vd_slice line; vd_slice_cut(&s, '\n', &line);) {
        if (line.n)
            add_indent(out, indent);
        vd_buf_add_slice(out, line);
        vd_buf_add_char(out, '\n');
    }
}

/* A string and the end of its line; a block's lines stand at `indent`. */
static void add_string(struct vd_buf *out, struct vd_slice s, size_t indent)
{
    switch (choose_style(s)) {
    case STYLE_LITERAL:
        add_literal(out, s, indent);
        return;
    case STYLE_PLAIN:
        vd_buf_add_slice(out, s);
        break;
    case STYLE_SINGLE:
        add_single_quoted(out, s);
        break;
    case STYLE_DOUBLE:
        add_double_quoted(out, s);
        break;
    }
    vd_buf_add_char(out, '\n');
}

/* The key and its colon, on one line. */
static void add_key(struct vd_buf *out, struct vd_slice key, size_t indent)
{
    struct vd_buf text = {0};
    enum style style = choose_style(key);
    if (style == STYLE_PLAIN)
        vd_buf_add_slice(&text, key);
    else if (style == STYLE_SINGLE)
        add_single_quoted(&text, key);
    else
        add_double_quoted(&text, key);
    bool simple = text.n <= SIMPLE_KEY_LEN_MAX;
    vd_buf_add_text(out, simple ? "" : "? ");
    vd_buf_add_slice(out, vd_buf_slice(&text));
    if (!simple) {
        vd_buf_add_char(out, '\n');
        add_indent(out, indent);
    }
    vd_buf_add_char(out, ':');
    vd_buf_release(&text);
}

/* --- values --- */

/* The text of a number. One beyond a double's range is a string for readers,
 * ourselves included, unless it has a tag. */
static void add_number(struct vd_buf *out, struct vd_slice text)
{
    if (vd_yaml_scalar_resolve(text).type == VD_YAML_STRING)
        vd_buf_add_text(out, "!!float ");
    vd_buf_add_slice(out, text);
    vd_buf_add_char(out, '\n');
}

/* A scalar or an empty container and the end of the line. */
static void add_leaf(struct vd_buf *out, const struct vd_json *v, size_t indent)
{
    switch ((enum vd_json_type)v->type) {
    case VD_JSON_NULL:
        vd_buf_add_text(out, "null\n");
        break;
    case VD_JSON_BOOL:
        vd_buf_add_text(out, v->truth ? "true\n" : "false\n");
        break;
    case VD_JSON_NUMBER:
        add_number(out, vd_json_number_text(v));
        break;
    case VD_JSON_STRING:
        add_string(out, vd_json_text(v), indent);
        break;
    case VD_JSON_ARRAY:
        vd_buf_add_text(out, "[]\n");
        break;
    case VD_JSON_OBJECT:
        vd_buf_add_text(out, "{}\n");
        break;
    }
}

static void add_array(struct vd_buf *out, const struct vd_json *array, size_t indent, bool inlined);

static void add_object(struct vd_buf *out, const struct vd_json *object, size_t indent,
                       bool inlined)
{
    VD_JSON_EACH (item, object) {
        if (!inlined)
            add_indent(out, indent);
        inlined = false;
        add_key(out, vd_json_key(item), indent);
        bool leaf = vd_json_count(item) == 0;
        vd_buf_add_char(out, leaf ? ' ' : '\n');
        if (leaf)
            add_leaf(out, item, indent + INDENT);
        else if (item->type == VD_JSON_ARRAY)
            add_array(out, item, indent, false);
        else
            add_object(out, item, indent + INDENT, false);
    }
}

static void add_array(struct vd_buf *out, const struct vd_json *array, size_t indent, bool inlined)
{
    VD_JSON_EACH (item, array) {
        if (!inlined)
            add_indent(out, indent);
        inlined = false;
        vd_buf_add_text(out, "- ");
        if (vd_json_count(item) == 0)
            add_leaf(out, item, indent + INDENT);
        else if (item->type == VD_JSON_ARRAY)
            add_array(out, item, indent + INDENT, true);
        else
            add_object(out, item, indent + INDENT, true);
    }
}

void vd_yaml_write(struct vd_buf *out, const struct vd_json *document)
{
    if (vd_json_count(document) == 0)
        add_leaf(out, document, INDENT);
    else if (document->type == VD_JSON_ARRAY)
        add_array(out, document, 0, false);
    else
        add_object(out, document, 0, false);
}
