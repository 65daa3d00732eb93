/*
 * A document as YAML for people, in the manner of `kubectl get -o yaml`.
 *
 * Block style: members in the document's order, list items at their parent's
 * indent, text of several lines as a literal block. A string is quoted only
 * when some reader of YAML, 1.1 or 1.2, would take the bare text for something
 * else: then in double quotes if it would become another value ("true",
 * "2001-12-14") or needs escapes, in single quotes if only its punctuation is
 * in the way. Lines are never folded.
 *
 * Reading the text back (yaml_read.h) gives an equal document, always. No I/O,
 * any thread.
 */
#ifndef VD_JSON_YAML_WRITE_H
#define VD_JSON_YAML_WRITE_H

#include "base/buf.h"
#include "json/document.h"

/* Adds the document to `out`, ended by a newline and without `---`. */
void vd_yaml_write(struct vd_buf *out, const struct vd_json *document);

#endif
