/*
 * See log_line.h.
 *
 * A line is cut at whole characters: each escaped character, name or number is
 * added only if it fits, and ROOM_AT_END is kept free for what must follow in
 * any case (closing quote, cut=true, and the end with its drop count).
 *
 * Besides what the formats demand, the C1 controls, DEL and the two Unicode
 * line separators are escaped: terminals and line readers act on them.
 */
#include "base/log_line.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/utf8.h"

enum {
    ROOM_AT_END = VD_LOG_LINE_END_MAX + 16,   /* bytes for cut=true and the end of the line */
    TEXT_MAX = VD_LOG_LINE_MAX - ROOM_AT_END, /* bytes of everything before that */
};

#define BOLD   "\033[1m"
#define DIM    "\033[2m"
#define RED    "\033[1;31m"
#define YELLOW "\033[1;33m"
#define PLAIN  "\033[0m"

/* ---- adding to the line ---- */

/* Adds text for which ROOM_AT_END is kept free: it always fits. */
static void add_always(struct vd_log_line *line, const char *text)
{
    size_t n = strlen(text);
    assert(line->n + n <= sizeof line->p);
    memcpy(line->p + line->n, text, n);
    line->n += n;
}

/* Adds the whole text or nothing. After the first text that does not fit nothing more is added. */
static bool add(struct vd_log_line *line, const char *p, size_t n)
{
    if (line->cut || line->n + n > TEXT_MAX) {
        line->cut = true;
        return false;
    }
    memcpy(line->p + line->n, p, n);
    line->n += n;
    return true;
}

static bool must_escape(uint32_t rune)
{
    return rune < 0x20 || rune == '"' || rune == '\\' || (rune >= 0x7f && rune < 0xa0) ||
           rune == 0x2028 || rune == 0x2029;
}

/* The escape of a character, in a form that both formats know. */
static size_t escape(uint32_t rune, char out[8])
{
    static const char plain[] = "\"\"\\\\\nn\rr\tt"; /* pairs: character, letter */
    for (size_t i = 0; i + 1 < sizeof plain; i += 2)
        if (rune == (uint32_t)plain[i]) {
            out[0] = '\\';
            out[1] = plain[i + 1];
            return 2;
        }
    return (size_t)snprintf(out, 8, "\\u%04x", (unsigned)rune & 0xffff);
}

/* `quoted`: between quotes, so that one inside is escaped. */
static void add_escaped(struct vd_log_line *line, struct vd_slice text, bool quoted)
{
    while (text.n) {
        char escaped[8];
        uint32_t rune = 0;
        size_t n = vd_utf8_read(text, &rune), escaped_n = 0;
        if (n == 0 && line->format != VD_LOG_JSON) /* shows the byte's value, for debugging */
            escaped_n = (size_t)snprintf(escaped, sizeof escaped, "\\x%02x", (uint8_t)text.p[0]);
        else if (n == 0) /* JSON has no bytes: the replacement character */
            escaped_n = escape(0xfffd, escaped);
        else if (must_escape(rune) && (quoted || rune != '"'))
            escaped_n = escape(rune, escaped);
        if (!(escaped_n ? add(line, escaped, escaped_n) : add(line, text.p, n)))
            break;
        text = vd_slice_from(text, n ? n : 1);
    }
}

static void add_quoted(struct vd_log_line *line, struct vd_slice text)
{
    if (!add(line, "\"", 1))
        return;
    add_escaped(line, text, true);
    add_always(line, "\"");
}

/* Logfmt leaves the quotes away where nothing could be misread. */
static bool is_bare(struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c <= ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '=')
            return false;
    }
    return text.n > 0 && text.n <= 256; /* only a quoted value can be cut in the middle */
}

static void add_text(struct vd_log_line *line, struct vd_slice text)
{
    if (line->format != VD_LOG_JSON && is_bare(text))
        add(line, text.p, text.n);
    else
        add_quoted(line, text);
}

/* ---- fields ---- */

static bool is_name(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t n = strlen(name);
    return n > 0 && n == strspn(name, letters);
}

/* The name and what separates it, from the field before and from its value,
 * if they fit together with at least a short value. */
static bool add_name(struct vd_log_line *line, const char *name)
{
    enum { SHORT_VALUE = 24 }; /* any number, or "[redacted]" */
    assert(is_name(name));
    bool json = line->format == VD_LOG_JSON;
    if (line->cut || line->n + strlen(name) + 4 + SHORT_VALUE > TEXT_MAX) {
        line->cut = true;
        return false;
    }
    add_always(line, json ? line->n ? "," : "{" : line->n ? " " : "");
    add_always(line, json ? "\"" : "");
    add_always(line, name);
    add_always(line, json ? "\":" : "=");
    return true;
}

static void add_field(struct vd_log_line *line, const struct vd_log_field *field)
{
    char number[24];
    assert(field->kind != VD_LOG_FIELD_END);
    if (!add_name(line, field->name))
        return;
    switch (field->kind) {
    case VD_LOG_FIELD_TEXT:
        add_text(line, field->text);
        break;
    case VD_LOG_FIELD_U64:
        add(line, number, vd_u64_digits(field->u64, number));
        break;
    case VD_LOG_FIELD_I64:
        add(line, number, (size_t)snprintf(number, sizeof number, "%lld", (long long)field->i64));
        break;
    case VD_LOG_FIELD_BOOL:
        add_always(line, field->yes ? "true" : "false");
        break;
    case VD_LOG_FIELD_SECRET:
        add_text(line, VD_SLICE("[redacted]"));
        break;
    case VD_LOG_FIELD_END:
        break;
    }
}

static void add_text_field(struct vd_log_line *line, const char *name, struct vd_slice text)
{
    struct vd_log_field field = {.name = name, .kind = VD_LOG_FIELD_TEXT, .text = text};
    add_field(line, &field);
}

static const char *level_name(enum vd_log_level level)
{
    switch (level) {
    case VD_LOG_DEBUG:
        return "debug";
    case VD_LOG_INFO:
        return "info";
    case VD_LOG_WARN:
        return "warn";
    case VD_LOG_ERROR:
        return "error";
    }
    return "unknown";
}

/* Whether a field is a sentence, which goes on where the message ends in a line for people. */
static bool is_sentence(const struct vd_log_field *field)
{
    return field->kind == VD_LOG_FIELD_TEXT &&
           (strcmp(field->name, "error") == 0 || strcmp(field->name, "warning") == 0);
}

/* What a line for programs starts with: three fields. */
static void add_start(struct vd_log_line *line, int64_t wall_ms, enum vd_log_level level,
                      const char *message)
{
    char time[VD_TIME_TEXT_MAX];
    add_text_field(line, "time", vd_time_format(wall_ms, time));
    add_text_field(line, "level", vd_slice_of(level_name(level)));
    add_text_field(line, "msg", vd_slice_of(message));
}

/* What a line for people starts with: the time of day, a word if something is wrong, the message,
 * and the sentences. */
static void add_text_start(struct vd_log_line *line, int64_t wall_ms, enum vd_log_level level,
                           const char *message, const struct vd_log_field *fields)
{
    static const struct {
        const char *word, *colour;
    } levels[] = {{"debug: ", DIM}, {"", BOLD}, {"warning: ", YELLOW}, {"error: ", RED}};
    bool colour = line->format == VD_LOG_COLOUR;
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm day;
    char clock[16];
    size_t n = localtime_r(&seconds, &day) ? strftime(clock, sizeof clock, "%H:%M:%S ", &day) : 0;
    size_t i = (size_t)level + 1;
    add(line, clock, n);
    if (colour)
        add_always(line, levels[i].colour);
    add_always(line, levels[i].word);
    if (colour && level > VD_LOG_INFO)
        add_always(line, PLAIN);
    add(line, message, strlen(message));
    if (colour && level <= VD_LOG_INFO)
        add_always(line, PLAIN);
    for (; fields->kind != VD_LOG_FIELD_END; fields++)
        if (is_sentence(fields) && add(line, ": ", 2))
            add_escaped(line, fields->text, false);
}

/* The other fields, behind two spaces. */
static void add_details(struct vd_log_line *line, const struct vd_log_field *fields)
{
    bool colour = line->format == VD_LOG_COLOUR, any = false;
    for (; fields->kind != VD_LOG_FIELD_END; fields++) {
        if (is_sentence(fields))
            continue;
        if (!any && !line->cut)
            add(line, colour ? " " DIM : " ", colour ? sizeof " " DIM - 1 : 1);
        any = true;
        add_field(line, fields);
    }
    if (line->cut)
        add_always(line, " cut=true");
    if (any && colour)
        add_always(line, PLAIN);
}

void vd_log_line_format(struct vd_log_line *line, enum vd_log_format format, int64_t wall_ms,
                        enum vd_log_level level, const char *message,
                        const struct vd_log_field *fields)
{
    line->format = format;
    line->cut = false;
    line->n = 0;
    if (format == VD_LOG_TEXT || format == VD_LOG_COLOUR) {
        add_text_start(line, wall_ms, level, message, fields);
        add_details(line, fields);
        return;
    }
    add_start(line, wall_ms, level, message);
    for (; fields->kind != VD_LOG_FIELD_END; fields++)
        add_field(line, fields);
    if (line->cut)
        add_always(line, format == VD_LOG_JSON ? ",\"cut\":true" : " cut=true");
}

size_t vd_log_line_end(char out[VD_LOG_LINE_END_MAX], enum vd_log_format format, uint64_t dropped)
{
    size_t n = 0;
    if (dropped)
        n += (size_t)snprintf(out, VD_LOG_LINE_END_MAX,
                              format == VD_LOG_JSON ? ",\"dropped\":%llu" : " dropped=%llu",
                              (unsigned long long)dropped);
    if (format == VD_LOG_JSON)
        out[n++] = '}';
    out[n++] = '\n';
    return n;
}
