/*
 * Why a request was refused before anybody read its meaning.
 *
 * One table for the head parser and the body decoder: the name, the status of
 * the answer and the sentence in it. Sentences are constant, so nothing that an
 * attacker sent comes back in them. After any refusal the framing of what
 * follows is unknown: answer with the status and close the connection.
 */
#ifndef VD_NET_HTTP_REFUSAL_H
#define VD_NET_HTTP_REFUSAL_H

/* clang-format off */
#define VD_HTTP_REFUSALS(X) \
    X(VD_HTTP_REFUSED_NOTHING, 200, "the request is fine") \
    X(VD_HTTP_REFUSED_BLANK_LINES, 400, \
      "the request starts with more than one empty line; start with the method") \
    X(VD_HTTP_REFUSED_BARE_LF, 400, \
      "a line of the head ends with LF alone; lines end with CR LF") \
    X(VD_HTTP_REFUSED_BARE_CR, 400, \
      "a CR in the head is not followed by LF; lines end with CR LF") \
    X(VD_HTTP_REFUSED_CONTROL, 400, \
      "the head has a control character; only visible text, spaces and tabs may be in it") \
    X(VD_HTTP_REFUSED_METHOD, 400, \
      "the request line does not start with a method and one space") \
    X(VD_HTTP_REFUSED_METHOD_LONG, 501, \
      "the method is longer than any that this server knows") \
    X(VD_HTTP_REFUSED_CONNECT, 501, \
      "CONNECT is not supported: this server is no proxy") \
    X(VD_HTTP_REFUSED_TARGET_CHARACTER, 400, \
      "the request target is empty or has a character that must be percent-encoded in it") \
    X(VD_HTTP_REFUSED_TARGET_LONG, 414, \
      "the request target is too long; send long parameters in a body") \
    X(VD_HTTP_REFUSED_TARGET_FORM, 400, \
      "the request target is neither a path nor an absolute http URL with one; " \
      "'*' is for OPTIONS only") \
    X(VD_HTTP_REFUSED_VERSION_SYNTAX, 400, \
      "the request line does not end with one space and an HTTP version like HTTP/1.1") \
    X(VD_HTTP_REFUSED_VERSION, 505, \
      "this HTTP version is not supported; use HTTP/1.1") \
    X(VD_HTTP_REFUSED_FOLD, 400, \
      "a line of the head starts with white space; write each header on one line") \
    X(VD_HTTP_REFUSED_NAME, 400, \
      "a header's name is empty or has a character that names cannot have") \
    X(VD_HTTP_REFUSED_NAME_SPACE, 400, \
      "a header has white space between its name and the colon") \
    X(VD_HTTP_REFUSED_NO_COLON, 400, \
      "a header has no colon after its name") \
    X(VD_HTTP_REFUSED_HEADER_LONG, 431, \
      "a header is too long; send a smaller one") \
    X(VD_HTTP_REFUSED_HEADERS_MANY, 431, \
      "the request has too many headers; send fewer") \
    X(VD_HTTP_REFUSED_HEAD_LONG, 431, \
      "the request's head is too long; send fewer or smaller headers") \
    X(VD_HTTP_REFUSED_REPEATED, 400, \
      "a header that may come once only is repeated: Host, Authorization, Content-Type, " \
      "Content-Length or Transfer-Encoding") \
    X(VD_HTTP_REFUSED_HOST_MISSING, 400, \
      "the Host header is missing; HTTP/1.1 requires it") \
    X(VD_HTTP_REFUSED_HOST, 400, \
      "the Host header is empty or is no host with an optional port") \
    X(VD_HTTP_REFUSED_HOST_DIFFERS, 400, \
      "the Host header and the host of the request target differ") \
    X(VD_HTTP_REFUSED_LENGTH, 400, \
      "Content-Length is not a plain decimal number") \
    X(VD_HTTP_REFUSED_LENGTH_LARGE, 413, \
      "Content-Length is larger than any body that this server takes") \
    X(VD_HTTP_REFUSED_CODING, 501, \
      "Transfer-Encoding is not exactly 'chunked', the only one that is supported") \
    X(VD_HTTP_REFUSED_CODING_OLD, 400, \
      "Transfer-Encoding does not exist in HTTP/1.0; send Content-Length or use HTTP/1.1") \
    X(VD_HTTP_REFUSED_FRAMING, 400, \
      "the request has both Content-Length and Transfer-Encoding; send one of them") \
    X(VD_HTTP_REFUSED_EXPECT, 417, \
      "Expect is not 100-continue, the only expectation that is supported") \
    X(VD_HTTP_REFUSED_HEADS, 503, \
      "too many heads of requests are incomplete; send it in one piece, a little later") \
    X(VD_HTTP_REFUSED_SLOW, 408, \
      "the request did not arrive in time; send it faster") \
    X(VD_HTTP_REFUSED_BODY_LARGE, 413, \
      "the request's body is too large; send less") \
    X(VD_HTTP_REFUSED_CHUNK_SIZE, 400, \
      "a chunk's size is not a plain hexadecimal number of at most 16 digits") \
    X(VD_HTTP_REFUSED_CHUNK_LINE, 400, \
      "a chunk's size line or its data does not end with CR LF") \
    X(VD_HTTP_REFUSED_CHUNK_EXTENSION, 400, \
      "the chunk extensions are too long or have a control character; send none") \
    X(VD_HTTP_REFUSED_TRAILER, 400, \
      "a line of the trailer is no header; send no trailer") \
    X(VD_HTTP_REFUSED_TRAILER_LONG, 431, \
      "the trailer is too long; send none")
/* clang-format on */

enum vd_http_refusal {
#define VD_HTTP_REFUSAL_ENUM(name, status, text) name,
    VD_HTTP_REFUSALS(VD_HTTP_REFUSAL_ENUM)
#undef VD_HTTP_REFUSAL_ENUM
        VD_HTTP_REFUSAL_COUNT
};

/* What a parser says of the bytes so far. */
enum vd_http_result {
    VD_HTTP_DONE,    /* complete */
    VD_HTTP_MORE,    /* fine so far; more bytes are needed */
    VD_HTTP_REFUSED, /* wrong, whatever follows */
};

/* The status of the answer: 400, 408, 413, 414, 417, 431, 501, 503 or 505. */
unsigned vd_http_refusal_status(enum vd_http_refusal refusal);

/* The sentence for people; constant. */
const char *vd_http_refusal_text(enum vd_http_refusal refusal);

#endif
