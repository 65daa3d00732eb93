/*
 * The head of an HTTP/1.1 answer, for clients: status and headers. As strict as the head of a
 * request (http_head.h), and like it without I/O or memory of its own.
 */
#ifndef VD_NET_HTTP_ANSWER_H
#define VD_NET_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"

struct vd_http_answer_head {
    size_t used; /* bytes of the head; the body follows */
    unsigned status;
    bool has_length, chunked; /* never both; neither: the body ends with the connection */
    uint64_t length;
    struct vd_slice content_type; /* borrowed from the bytes; empty: none */
};

/*
 * Reads the head at the start of the bytes. 1: done. 0: it is not complete yet; call again with
 * more. -1: it is malformed, or longer than VD_HTTP_HEAD_LEN_MAX; the error says how.
 */
int vd_http_answer_parse(struct vd_http_answer_head *head, struct vd_slice bytes,
                         struct vd_error *error) VD_MUST_USE;

#endif
