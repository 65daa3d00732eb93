/*
 * What a stream's terminal can do, if it is one.
 *
 * Colour is used when the stream is a terminal, NO_COLOR is not set (no-color.org) and TERM is not
 * "dumb".
 */
#ifndef VD_BASE_TERMINAL_H
#define VD_BASE_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* Whether somebody may be looking at it. */
bool vd_terminal_is(FILE *stream);

/* Whether escape sequences may be sent there. */
bool vd_terminal_is_capable(FILE *stream);
bool vd_terminal_has_colour(FILE *stream);

#endif
