/*
 * An encoder of protobuf for tests, from a text that names field numbers.
 *
 *     "1 {1 'web' 7 3} 2 {1 'key' 2 x00ff} 9 d1.5"
 *
 * A field is a number and a value: 'a string', {a message}, an integer (a
 * varint), d and a double, or x and bytes in hex. It knows nothing of the
 * project's tables, so that a test's numbers are checked against them.
 */
#ifndef VD_TESTS_PROTOBUF_TEXT_H
#define VD_TESTS_PROTOBUF_TEXT_H

#include <stdint.h>

#include "base/buf.h"

/* Adds the text's encoding. A text that is wrong aborts. */
void protobuf_text_add(struct vd_buf *out, const char *text);

/* Adds a Kubernetes body with the message that `text` describes. */
void protobuf_text_add_body(struct vd_buf *out, const char *api_version, const char *kind,
                            const char *text);

/* The parts of an encoding, for bytes that no text can describe. */
void protobuf_add_varint(struct vd_buf *out, uint64_t value);
void protobuf_add_bytes(struct vd_buf *out, unsigned number, struct vd_slice bytes);
void protobuf_add_hex(struct vd_buf *out, const char *hex);

#endif
