/*
 * Assertions about what a protobuf body decodes to.
 *
 * Expected JSON is written with ' for ".
 */
#ifndef VD_TESTS_PROTOBUF_CHECK_H
#define VD_TESTS_PROTOBUF_CHECK_H

#include <string.h>

#include "base/buf.h"
#include "check.h"
#include "kube/protobuf/protobuf.h"
#include "protobuf_text.h"
#include "json/write.h"

/* The body decodes to this JSON, with ' for ". */
static inline void check_body(const char *name, struct vd_slice body, const char *want)
{
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_buf text = {0};
    struct vd_json *document = NULL;
    if (vd_protobuf_decode(&arena, body, NULL, &document, &error))
        fail_msg("%s: %s", name, error.text);
    vd_json_write(&text, document);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '"')
            text.p[i] = '\'';
    if (!vd_slice_is(vd_buf_slice(&text), want))
        fail_msg("%s:\n got %s\nwant %s", name, vd_buf_text(&text), want);
    vd_buf_release(&text);
    vd_arena_release(&arena);
}

/* The same for a message; `want` has no kind and no apiVersion. */
static inline void check_message(const char *api_version, const char *kind, const char *text,
                                 const char *want)
{
    struct vd_buf body = {0}, json = {0};
    protobuf_text_add_body(&body, api_version, kind, text);
    vd_buf_addf(&json, "{'kind':'%s','apiVersion':'%s'%s%s", kind, api_version,
                want[1] == '}' ? "" : ",", want + 1);
    check_body(kind, vd_buf_slice(&body), vd_buf_text(&json));
    vd_buf_release(&body);
    vd_buf_release(&json);
}

/* The body is refused with this code and these words. */
static inline void check_refused(struct vd_slice body, enum vd_code code, const char *says)
{
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_json *document = NULL;
    int got = vd_protobuf_decode(&arena, body, NULL, &document, &error);
    if (got != (int)code || !strstr(error.text, says))
        fail_msg("got %s \"%s\", want %s \"%s\"", vd_code_name(got), error.text,
                 vd_code_name((int)code), says);
    assert_null(document);
    vd_arena_release(&arena);
}

#endif
