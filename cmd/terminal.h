/*
 * What goes to the terminal: output, errors and their colours (base/terminal.h).
 * Output goes to stdout through stdio; whether it arrived is asked once, at the end.
 */
#ifndef VD_CMD_TERMINAL_H
#define VD_CMD_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "command.h"
#include "json/document.h"

/* Prints `vedette: sentence` on stderr. */
void vd_complain(const char *format, ...) VD_PRINTF(1, 2);

/* A heading on stdout, bold where that is possible. */
void vd_print_heading(const char *text);

/* Flushes stdout. Output that did not arrive (a closed pipe, a full disk) turns
 * success into failure, and is said on stderr. */
enum vd_exit vd_output_finish(enum vd_exit status);

/* ---- JSON ---- */

/* The bytes as a JSON string with its quotes; what is not UTF-8 becomes U+FFFD. */
void vd_json_add_text(struct vd_buf *out, struct vd_slice text);

/* Prints the document as one line on stdout. */
void vd_print_json(const struct vd_json *document);

#endif
