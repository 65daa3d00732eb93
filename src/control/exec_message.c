/* See exec_message.h. */
#include "control/exec_message.h"

#include "base/human_time.h"
#include "cel/value.h"
#include "json/escape.h"
#include "json/parse.h"

enum {
    PARALLEL_MAX = 1024, /* reconciles at a time that a program may ask for */
    AFTER_S_MAX = 86400 * 366
};

/* ---- writing ---- */

static void add_text(struct vd_buf *out, const char *key, struct vd_slice text)
{
    vd_buf_addf(out, ",\"%s\":", key);
    vd_escape_write(out, text);
}

void vd_exec_write_hello(struct vd_buf *out, const struct vd_exec_hello *hello)
{
    vd_buf_addf(out, "{\"type\":\"hello\",\"protocol\":%d", VD_EXEC_PROTOCOL);
    add_text(out, "controller", hello->controller);
    add_text(out, "apiVersion", hello->api_version);
    add_text(out, "kind", hello->kind);
    add_text(out, "resource", hello->resource);
    vd_buf_add_text(out, "}\n");
}

void vd_exec_write_reconcile(struct vd_buf *out, const struct vd_exec_reconcile *r)
{
    char room[VD_RFC3339_MAX];
    vd_buf_add_text(out, "{\"type\":\"reconcile\",\"id\":");
    vd_buf_add_u64(out, r->id);
    vd_buf_add_text(out, ",\"key\":{\"namespace\":");
    vd_escape_write(out, r->namespace);
    add_text(out, "name", r->name);
    vd_buf_add_text(out, "},\"attempt\":");
    vd_buf_add_u64(out, r->attempt);
    if (r->deadline_ms)
        add_text(out, "deadline", vd_rfc3339_format_micro(r->deadline_ms, room));
    vd_buf_add_text(out, ",\"object\":");
    vd_buf_add_slice(out, r->object.n ? r->object : VD_SLICE("null"));
    vd_buf_add_text(out, "}\n");
}

void vd_exec_write_cancel(struct vd_buf *out, uint64_t id)
{
    vd_buf_add_text(out, "{\"type\":\"cancel\",\"id\":");
    vd_buf_add_u64(out, id);
    vd_buf_add_text(out, "}\n");
}

void vd_exec_write_shutdown(struct vd_buf *out)
{
    vd_buf_add_text(out, "{\"type\":\"shutdown\"}\n");
}

/* ---- reading ---- */

static int wrong(struct vd_error *error, const char *member, const char *what)
{
    return vd_error_set(error, VD_ERR_INVALID, "%s: must be %s", member, what);
}

/* The member, or NULL if it is missing or null. False: it has another type. */
static bool take(const struct vd_json *message, const char *member, enum vd_json_type type,
                 const struct vd_json **out)
{
    const struct vd_json *value = vd_json_get(message, vd_slice_of(member));
    *out = !value || vd_json_is(value, VD_JSON_NULL) ? NULL : value;
    return !*out || vd_json_is(*out, type);
}

/* A time: a number of seconds, or a text like "1m30s". */
static int read_after(const struct vd_json *message, const char *member, uint64_t *ms,
                      bool *is_there, struct vd_error *error)
{
    const struct vd_json *value = vd_json_get(message, vd_slice_of(member));
    double seconds = 0;
    int64_t ns = 0;
    *is_there = value && !vd_json_is(value, VD_JSON_NULL);
    if (!*is_there)
        return VD_OK;
    bool is_good = vd_json_is(value, VD_JSON_STRING)
                       ? vd_cel_duration_parse(vd_json_text(value), &ns)
                       : vd_json_to_double(value, &seconds);
    if (vd_json_is(value, VD_JSON_STRING))
        seconds = (double)ns / 1e9;
    if (!is_good || seconds < 0 || seconds > AFTER_S_MAX)
        return wrong(error, member, "a number of seconds, or a duration like \"1m30s\"");
    *ms = (uint64_t)(seconds * 1000);
    return VD_OK;
}

static int read_outcome(const struct vd_json *message, struct vd_result *out,
                        struct vd_error *error)
{
    const struct vd_json *text, *terminal;
    bool requeues, hints;
    uint64_t requeue_ms = 0, hint_ms = 0;
    if (!take(message, "error", VD_JSON_STRING, &text))
        return wrong(error, "error", "a text");
    if (!take(message, "terminal", VD_JSON_BOOL, &terminal))
        return wrong(error, "terminal", "true or false");
    int code = read_after(message, "requeueAfter", &requeue_ms, &requeues, error);
    if (!code)
        code = read_after(message, "retryAfter", &hint_ms, &hints, error);
    if (code)
        return code;
    if (text) {
        out->outcome = terminal && vd_json_truth(terminal) ? VD_RESULT_TERMINAL : VD_RESULT_RETRY;
        out->message = vd_json_text(text);
        out->after_ms = hint_ms;
    } else if (requeues) {
        out->outcome = VD_RESULT_REQUEUE;
        out->after_ms = requeue_ms;
    }
    return VD_OK;
}

static int read_result(const struct vd_json *message, struct vd_exec_message *out,
                       struct vd_error *error)
{
    struct vd_result *result = &out->result;
    const struct vd_json *id = vd_json_get(message, VD_SLICE("id"));
    if (!vd_json_to_u64(id, &out->id))
        return wrong(error, "id", "the number of a reconcile message");
    if (!take(message, "status", VD_JSON_OBJECT, &result->status))
        return wrong(error, "status", "an object");
    if (!take(message, "conditions", VD_JSON_ARRAY, &result->conditions))
        return wrong(error, "conditions", "a list");
    if (!take(message, "events", VD_JSON_ARRAY, &result->events))
        return wrong(error, "events", "a list");
    return read_outcome(message, result, error);
}

static int read_hello(const struct vd_json *message, struct vd_exec_message *out,
                      struct vd_error *error)
{
    const struct vd_json *parallel = vd_json_get(message, VD_SLICE("parallel"));
    if (!vd_json_to_u64(vd_json_get(message, VD_SLICE("protocol")), &out->protocol))
        return wrong(error, "protocol", "a number");
    out->parallel = 1;
    if (parallel && (!vd_json_to_u64(parallel, &out->parallel) || out->parallel < 1 ||
                     out->parallel > PARALLEL_MAX))
        return wrong(error, "parallel", "a number from 1 to 1024");
    return VD_OK;
}

int vd_exec_read(struct vd_arena *arena, struct vd_slice line, struct vd_exec_message *out,
                 struct vd_error *error)
{
    struct vd_json *message = NULL;
    *out = (struct vd_exec_message){0};
    int code = vd_json_parse(arena, line, NULL, &message, error);
    if (code)
        return code;
    struct vd_slice type = vd_json_text(vd_json_get(message, VD_SLICE("type")));
    if (vd_slice_is(type, "result")) {
        out->type = VD_EXEC_RESULT;
        return read_result(message, out, error);
    }
    if (vd_slice_is(type, "hello")) {
        out->type = VD_EXEC_HELLO;
        return read_hello(message, out, error);
    }
    if (!vd_slice_is(type, "log"))
        return wrong(error, "type", "\"hello\", \"result\" or \"log\"");
    out->type = VD_EXEC_LOG;
    out->level = vd_json_text(vd_json_get(message, VD_SLICE("level")));
    out->text = vd_json_text(vd_json_get(message, VD_SLICE("message")));
    return VD_OK;
}
