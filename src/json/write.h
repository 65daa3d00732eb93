/*
 * Documents to bytes.
 *
 * Members come in the document's order, numbers as they were written, strings
 * with the escapes of escape.h. What is written parses to an equal document.
 */
#ifndef VD_JSON_WRITE_H
#define VD_JSON_WRITE_H

#include "base/buf.h"
#include "json/document.h"

/* Adds the value without any blanks: the form that is stored and sent. */
void vd_json_write(struct vd_buf *out, const struct vd_json *v);

/* Adds a member's key and the colon behind it, for those who write an object member by member. */
void vd_json_write_key(struct vd_buf *out, const struct vd_json *member);

/* Adds the value for people: a line for each member, `indent` blanks for each
 * level, as kubectl shows it with 4. No newline at the end. */
void vd_json_write_pretty(struct vd_buf *out, const struct vd_json *v, size_t indent);

#endif
