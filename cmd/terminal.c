/* See terminal.h. */
#include "terminal.h"

#include <errno.h>
#include <string.h>

#include "base/terminal.h"
#include "base/utf8.h"
#include "json/escape.h"
#include "json/write.h"

#define BOLD  "\033[1m"
#define RED   "\033[1;31m"
#define RESET "\033[0m"

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

void vd_json_add_text(struct vd_buf *out, struct vd_slice text)
{
    struct vd_buf clean = {0};
    const char *at = text.p, *end = text.p + text.n;
    while (at < end) {
        size_t n = vd_utf8_len(at, end);
        if (n)
            vd_buf_add(&clean, at, n);
        else
            vd_buf_add_text(&clean, "\xef\xbf\xbd");
        at += n ? n : 1;
    }
    vd_escape_write(out, vd_buf_slice(&clean));
    vd_buf_release(&clean);
}

void vd_print_json(const struct vd_json *document)
{
    struct vd_buf out = {0};
    vd_json_write(&out, document);
    printf("%s\n", vd_buf_text(&out));
    vd_buf_release(&out);
}
