/* See terminal.h. */
#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool vd_terminal_is(FILE *stream)
{
    return isatty(fileno(stream)) == 1;
}

bool vd_terminal_is_capable(FILE *stream)
{
    const char *term = getenv("TERM");
    return vd_terminal_is(stream) && term && *term && strcmp(term, "dumb") != 0;
}

bool vd_terminal_has_colour(FILE *stream)
{
    const char *no = getenv("NO_COLOR");
    return !(no && *no) && vd_terminal_is_capable(stream);
}
