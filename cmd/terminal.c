/* See terminal.h. */
#include "terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOLD  "\033[1m"
#define RED   "\033[1;31m"
#define RESET "\033[0m"

bool vd_terminal_is_capable(FILE *stream)
{
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) && term && *term && strcmp(term, "dumb") != 0;
}

bool vd_terminal_has_colour(FILE *stream)
{
    const char *no = getenv("NO_COLOR");
    return !(no && *no) && vd_terminal_is_capable(stream);
}

void vd_complain(const char *format, ...)
{
    bool colour = vd_terminal_has_colour(stderr);
    struct vd_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    vd_buf_vaddf(&text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%svedette:%s %s\n", colour ? RED : "", colour ? RESET : "",
            vd_buf_text(&text));
    vd_buf_release(&text);
}

void vd_print_heading(const char *text)
{
    bool colour = vd_terminal_has_colour(stdout);
    printf("%s%s%s\n", colour ? BOLD : "", text, colour ? RESET : "");
}

enum vd_exit vd_output_finish(enum vd_exit status)
{
    bool failed_before = ferror(stdout);
    errno = 0;
    if (fflush(stdout) == 0 && !failed_before)
        return status;
    int number = errno;
    vd_complain("could not write the output: %s",
                number ? strerror(number) : "an earlier write failed");
    return status == VD_EXIT_OK ? VD_EXIT_FAILED : status;
}

/* ---- JSON ---- */

/* Bytes of the UTF-8 character at the front, 0 when it is none. */
static size_t utf8_len(struct vd_slice s)
{
    unsigned char c = (unsigned char)s.p[0];
    size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (n == 0 || n > s.n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if (((unsigned char)s.p[i] & 0xc0) != 0x80)
            return 0;
    unsigned char second = n > 1 ? (unsigned char)s.p[1] : 0;
    bool overlong = (c == 0xe0 && second < 0xa0) || (c == 0xf0 && second < 0x90);
    bool beyond = (c == 0xed && second > 0x9f) || (c == 0xf4 && second > 0x8f);
    return overlong || beyond ? 0 : n;
}

void vd_json_add_text(struct vd_buf *out, struct vd_slice text)
{
    vd_buf_add_char(out, '"');
    while (text.n) {
        unsigned char c = (unsigned char)text.p[0];
        size_t n = utf8_len(text);
        if (c == '"' || c == '\\')
            vd_buf_addf(out, "\\%c", c);
        else if (c < 0x20)
            vd_buf_addf(out, "\\u%04x", c);
        else if (n == 0)
            vd_buf_add_text(out, "\\ufffd");
        else
            vd_buf_add(out, text.p, n);
        text = vd_slice_from(text, n ? n : 1);
    }
    vd_buf_add_char(out, '"');
}
