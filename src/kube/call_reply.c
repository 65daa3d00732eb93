/* The answers to a call; see call.h. */
#include <stdio.h>

#include "kinds/served_form.h"
#include "kube/call_conversion.h"
#include "kube/call_request.h"
#include "kube/offload.h"
#include "kube/scale.h"
#include "request/gzip.h"

enum {
    FIELDS_MAX = VD_WRITE_WARNINGS_MAX + 3 + VD_GZIP_FIELDS, /* headers of one answer */
    SCRATCH_LEN_MAX = 65536, /* bytes of scratch memory that are kept for the next answer */
    SHARED_LEN_MIN = 16384,  /* a body shorter than this is copied behind its head */
};

/* `299 - "text"`, with quotes and backslashes escaped and no control characters. */
static struct vd_slice warning_value(struct vd_arena *a, struct vd_slice text)
{
    struct vd_buf out = {0};
    vd_buf_add_text(&out, "299 - \"");
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '"' || c == '\\')
            vd_buf_add_char(&out, '\\');
        vd_buf_add_char(&out, (unsigned char)c < 0x20 || c == 0x7f ? ' ' : c);
    }
    vd_buf_add_char(&out, '"');
    struct vd_slice value = vd_arena_copy(a, vd_buf_slice(&out));
    vd_buf_release(&out);
    return value;
}

size_t vd_deprecation_field(const struct vd_kind *kind, struct vd_arena *a,
                            struct vd_http_field *out)
{
    if (!kind || !kind->deprecated)
        return 0;
    *out = (struct vd_http_field){VD_SLICE("Warning"), warning_value(a, kind->deprecation_warning)};
    return 1;
}

/* The answer's headers, in the arena. */
static size_t add_fields(struct vd_call *call, struct vd_http_field *fields, unsigned retry_after_s)
{
    size_t n = 0;
    fields[n++] = (struct vd_http_field){VD_SLICE("Cache-Control"), VD_SLICE("no-cache, private")};
    n += vd_deprecation_field(call->kind, &call->arena, &fields[n]);
    for (size_t i = 0; i < call->write.warnings.n; i++)
        fields[n++] = (struct vd_http_field){
            VD_SLICE("Warning"), warning_value(&call->arena, call->write.warnings.p[i])};
    if (retry_after_s) {
        char seconds[24];
        snprintf(seconds, sizeof seconds, "%u", retry_after_s);
        fields[n++] = (struct vd_http_field){VD_SLICE("Retry-After"),
                                             vd_arena_copy(&call->arena, vd_slice_of(seconds))};
    }
    return n;
}

void vd_call_reply_kept(struct vd_call *call, unsigned status, struct vd_slice content_type,
                        struct vd_slice body, unsigned retry_after_s)
{
    struct vd_http_field fields[FIELDS_MAX];
    struct vd_response response = {.status = status,
                                   .content_type = content_type,
                                   .fields = fields,
                                   .fields_n = add_fields(call, fields, retry_after_s),
                                   .body = body};
    if (call->x && body.n > VD_GZIP_BODY_LEN_MIN && vd_request_takes_gzip(call->x)) {
        for (size_t i = 0; i < VD_GZIP_FIELDS; i++)
            fields[response.fields_n++] = vd_gzip_fields[i];
        vd_request_respond_gzipped(call->l->requests, call->x, &response);
    } else if (call->x) {
        vd_exchange_respond(call->x, &response);
    }
    vd_call_free(call);
}

static void reply(struct vd_call *call, unsigned status, struct vd_slice content_type,
                  struct vd_slice body, unsigned retry_after_s)
{
    if (call->away)
        vd_call_keep_answer(call, status, content_type, body, retry_after_s);
    else
        vd_call_reply_kept(call, status, content_type, body, retry_after_s);
}

static void audit_object(struct vd_call *call, struct vd_slice json)
{
    if (call->away)
        vd_call_keep_object(call, json);
    else
        vd_audit_object(vd_request_log_audit(call->x), json);
}

static void audit_status(struct vd_call *call, const struct vd_status *status, struct vd_slice json)
{
    struct vd_audit_answer answer = vd_status_audit_answer(status, json);
    if (call->away)
        vd_call_keep_status(call, &answer);
    else
        vd_audit_answer(vd_request_log_audit(call->x), &answer);
}

void vd_call_reply(struct vd_call *call, unsigned status, struct vd_slice content_type,
                   struct vd_slice body)
{
    reply(call, status, content_type, body, 0);
}

void vd_call_reply_json(struct vd_call *call, unsigned status, struct vd_slice json)
{
    struct vd_buf body = {0};
    struct vd_arena scratch = {0};
    audit_object(call, json);
    if (vd_kube_output_encode(&body, &call->output, json, &scratch, NULL))
        vd_buf_add_slice(&body, json); /* not JSON after all: as it is */
    reply(call, status, vd_kube_output_content_type(&call->output), vd_buf_slice(&body), 0);
    vd_arena_release(&scratch);
    vd_buf_release(&body);
}

void vd_scratch_let_go(struct vd_buf *scratch)
{
    if (scratch->cap > SCRATCH_LEN_MAX)
        vd_buf_release(scratch);
}

static void reply_converted(struct vd_call *call, struct vd_body *served)
{
    vd_call_reply_object(call, call->success, vd_body_slice(served), VD_WRITTEN_NOW);
}

void vd_call_reply_object(struct vd_call *call, unsigned status, struct vd_slice object,
                          uint64_t written)
{
    if (vd_conversion_is_needed(call->kind, object)) {
        call->success = status;
        vd_call_convert(call, call->kind, object, written == VD_WRITTEN_NOW ? 0 : written,
                        reply_converted);
        return;
    }
    struct vd_buf room = {0}, own = {0}, *body = call->away ? &own : &call->l->answer;
    struct vd_arena scratch = {0};
    struct vd_error error;
    struct vd_effort effort = vd_call_effort(call);
    vd_buf_reset(body);
    if (vd_served_form_make(call->kind, object, written, &room, &effort, &object, &error)) {
        vd_buf_release(&room);
        if (effort.on_loop)
            vd_call_offload(call, call->redo);
        else
            vd_call_reply_unshowable(call, &error);
        return;
    }
    if (call->scales)
        object = vd_scale_of(call->kind, object, &call->arena);
    audit_object(call, object);
    struct vd_table *table = NULL;
    if (call->output.form == VD_OUTPUT_TABLE)
        table = call->scales ? vd_table_new_scale()
                             : vd_tables_get(call->kube->tables, call->kinds, call->kind);
    struct vd_kube_output_source source = {
        .table = table,
        .now_ms = vd_clock_wall_ms(call->kube->env->clock),
    };
    int code = vd_kube_output_render(body, &call->output, &source, object, &scratch, &error);
    vd_table_unref(table);
    vd_buf_release(&room);
    if (code)
        vd_call_reply_error(call, code, &error);
    else
        reply(call, status, vd_kube_output_content_type(&call->output), vd_buf_slice(body), 0);
    vd_arena_release(&scratch);
    vd_scratch_let_go(body);
    vd_buf_release(&own);
}

/* Whether the answer is the body as it is stored, and large enough that copying it is a waste. */
static bool is_sent_as_stored(const struct vd_call *call, struct vd_slice stored, uint64_t written)
{
    return !call->away && stored.n >= SHARED_LEN_MIN && !call->scales &&
           call->output.form == VD_OUTPUT_PLAIN && vd_kube_output_is_stream(&call->output) &&
           (stored.n <= VD_GZIP_BODY_LEN_MIN || !vd_request_takes_gzip(call->x)) &&
           vd_served_form_is_as_stored(call->kind, stored, written);
}

void vd_call_reply_body(struct vd_call *call, struct vd_body *body, uint64_t written)
{
    struct vd_http_field fields[FIELDS_MAX];
    struct vd_slice stored = vd_body_slice(body);
    if (!is_sent_as_stored(call, stored, written)) {
        vd_call_reply_object(call, 200, stored, written);
        return;
    }
    vd_audit_object(vd_request_log_audit(call->x), stored);
    vd_exchange_respond(call->x, &(struct vd_response){
                                     .status = 200,
                                     .content_type = vd_kube_output_content_type(&call->output),
                                     .fields = fields,
                                     .fields_n = add_fields(call, fields, 0),
                                     .shared = vd_body_bytes(body),
                                     .body = VD_SLICE("\n"),
                                 });
    vd_call_free(call);
}

void vd_call_reply_status(struct vd_call *call, const struct vd_status *status)
{
    struct vd_buf json = {0}, body = {0};
    struct vd_arena scratch = {0};
    vd_status_write(&json, status);
    audit_status(call, status, vd_buf_slice(&json));
    if (vd_kube_output_encode(&body, &call->output, vd_buf_slice(&json), &scratch, NULL))
        vd_buf_add_slice(&body, vd_buf_slice(&json));
    reply(call, (unsigned)status->code, vd_kube_output_content_type(&call->output),
          vd_buf_slice(&body), (unsigned)status->retry_after_s);
    vd_arena_release(&scratch);
    vd_buf_release(&json);
    vd_buf_release(&body);
}

void vd_call_reply_too_many(struct vd_call *call)
{
    struct vd_status status = vd_status_over_limit(&call->arena);
    vd_call_reply_status(call, &status);
}

void vd_call_reply_error(struct vd_call *call, int code, const struct vd_error *error)
{
    struct vd_status_target status_target = vd_call_status_target(call);
    struct vd_status status = vd_status_of_error(&call->arena, &status_target, code, error);
    vd_call_reply_status(call, &status);
}

void vd_call_reply_unshowable(struct vd_call *call, const struct vd_error *error)
{
    struct vd_status status = vd_status_internal_error(&call->arena, vd_slice_of(error->text));
    vd_call_reply_status(call, &status);
}

void vd_call_reply_no_path(struct vd_call *call)
{
    vd_call_reply(call, 404, VD_SLICE("text/plain; charset=utf-8"),
                  VD_SLICE("404 page not found\n"));
}

/* "field: Forbidden: why" becomes a cause; anything else is a bad request. */
void vd_call_reply_options(struct vd_call *call, int code, const struct vd_error *error)
{
    struct vd_slice text = vd_slice_of(error->text), field;
    if (code != VD_ERR_CONFLICT) {
        struct vd_status bad = vd_status_bad_request(&call->arena, text);
        vd_call_reply_status(call, &bad);
        return;
    }
    vd_slice_cut(&text, ':', &field);
    text = vd_slice_trim(text);
    bool forbidden = vd_slice_starts_with(text, VD_SLICE("Forbidden"));
    struct vd_status_cause cause = {
        .reason = forbidden ? VD_SLICE("FieldValueForbidden") : VD_SLICE("FieldValueNotSupported"),
        .message = text,
        .field = field,
    };
    struct vd_status status = vd_status_invalid_options(&call->arena, &cause, 1);
    vd_call_reply_status(call, &status);
}

void vd_call_reply_option(struct vd_call *call, struct vd_status_cause cause)
{
    static const struct {
        enum vd_verb verb;
        const char *options;
    } names[] = {{VD_VERB_CREATE, "CreateOptions"},
                 {VD_VERB_UPDATE, "UpdateOptions"},
                 {VD_VERB_PATCH, "PatchOptions"}};
    struct vd_status_target status_target = {.group = VD_SLICE("meta.k8s.io"),
                                             .plural = VD_SLICE("DeleteOptions")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].verb == call->target.verb)
            status_target.plural = vd_slice_of(names[i].options);
    struct vd_status status = vd_status_invalid(&call->arena, &status_target, &cause, 1);
    vd_call_reply_status(call, &status);
}

bool vd_call_check_dry_run(struct vd_call *call, struct vd_slice word)
{
    static const struct vd_slice known = {"All", 3};
    if (vd_slice_eq(word, known))
        return true;
    vd_call_reply_option(call,
                         vd_cause_unsupported(&call->arena, VD_SLICE("dryRun"), word, &known, 1));
    return false;
}
