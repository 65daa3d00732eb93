/* See audit.h: which requests have entries, and what those gather. */
#include "request/audit.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kinds/uid.h"
#include "net/connection.h"
#include "net/http_token.h"
#include "request/audit_event.h"
#include "json/parse.h"
#include "json/span.h"
#include "json/write.h"

enum { SOURCE_IPS_MAX = 16 }; /* addresses of X-Forwarded-For that an event names */

struct vd_audit {
    struct vd_audit_options options;
    struct vd_audit_log *log;
    pthread_mutex_t lock; /* guards the next; held for a reference only */
    struct vd_audit_policy *policy;
};

struct vd_audit_entry {
    struct vd_audit *audit;
    struct vd_audit_verdict verdict;
    struct vd_audit_event event; /* its texts are in the arena, or the request log's */
    struct vd_access access;
    struct vd_http_field stamp;
    struct vd_arena arena;
};

/* ---- life cycle ---- */

static int load_policy(struct vd_audit_policy **out, const char *path, struct vd_error *error)
{
    if (path)
        return vd_audit_policy_load(out, path, error);
    *out = vd_audit_policy_default();
    return VD_OK;
}

int vd_audit_open(struct vd_audit **out, const struct vd_audit_options *options,
                  struct vd_error *error)
{
    struct vd_audit *audit = VD_NEW(struct vd_audit);
    audit->options = *options;
    int code = load_policy(&audit->policy, options->policy, error);
    if (!code)
        code = vd_audit_log_open(&audit->log, options->log, options->mode, error);
    if (code) {
        vd_audit_policy_unref(audit->policy);
        free(audit);
        return code;
    }
    pthread_mutex_init(&audit->lock, NULL);
    *out = audit;
    return VD_OK;
}

void vd_audit_close(struct vd_audit *audit)
{
    if (!audit)
        return;
    vd_audit_log_close(audit->log);
    vd_audit_policy_unref(audit->policy);
    pthread_mutex_destroy(&audit->lock);
    free(audit);
}

void vd_audit_reload(struct vd_audit *audit)
{
    struct vd_audit_policy *fresh = NULL;
    struct vd_error error;
    if (!audit)
        return;
    if (load_policy(&fresh, audit->options.policy, &error)) {
        vd_log_error("could not load the audit policy again; the old one stays",
                     VD_F_ERROR(&error));
    } else {
        pthread_mutex_lock(&audit->lock);
        struct vd_audit_policy *old = audit->policy;
        audit->policy = fresh;
        pthread_mutex_unlock(&audit->lock);
        vd_audit_policy_unref(old);
    }
    if (vd_audit_log_reopen(audit->log, &error))
        vd_log_error("could not open the audit log again; the old one stays", VD_F_ERROR(&error));
    else
        vd_log_info("audit log opened", VD_F_STR("file", audit->options.log));
}

void vd_audit_stop_blocking(struct vd_audit *audit)
{
    if (audit)
        vd_audit_log_stop_blocking(audit->log);
}

/* ---- events ---- */

static void emit(struct vd_audit *audit, struct vd_audit_event *event, enum vd_audit_stage stage)
{
    struct vd_buf line = {0};
    event->stage = stage;
    event->stage_us = stage == VD_AUDIT_RECEIVED ? event->received_us
                                                 : vd_clock_wall_us(audit->options.clock);
    vd_audit_event_write(&line, event);
    vd_audit_log_add(audit->log, vd_buf_slice(&line));
    vd_buf_release(&line);
}

static struct vd_audit_verdict judge(struct vd_audit *audit, const struct vd_access *access)
{
    const struct vd_user *user = access->user;
    pthread_mutex_lock(&audit->lock);
    struct vd_audit_policy *policy = vd_audit_policy_ref(audit->policy);
    pthread_mutex_unlock(&audit->lock);
    struct vd_audit_verdict verdict = vd_audit_policy_judge(
        policy, user && user->is.impersonator ? user->is.impersonator : user, access);
    vd_audit_policy_unref(policy);
    return verdict;
}

/* ---- what a request says ---- */

static bool is_address(struct vd_slice text)
{
    char room[INET6_ADDRSTRLEN];
    struct in6_addr address;
    if (!text.n || text.n >= sizeof room)
        return false;
    memcpy(room, text.p, text.n);
    room[text.n] = 0;
    return inet_pton(AF_INET, room, &address) == 1 || inet_pton(AF_INET6, room, &address) == 1;
}

/* As Kubernetes has it: whom proxies name, which anybody can make up, and last the peer. */
static struct vd_slice source_ips(struct vd_arena *arena, const struct vd_exchange *x)
{
    static const char *const names[] = {"x-forwarded-for", "x-real-ip"};
    struct vd_buf list = {0};
    struct vd_slice value, ip;
    char room[INET6_ADDRSTRLEN];
    size_t n = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!vd_http_head_find(x->head, vd_slice_of(names[i]), &value))
            continue;
        while (n < SOURCE_IPS_MAX && vd_http_list_next(&value, &ip))
            if (is_address(ip)) {
                vd_buf_addf(&list, "%.*s,", VD_FMT(ip));
                n++;
            }
    }
    vd_buf_add_slice(&list, vd_peer_address(&x->connection->peer, room));
    struct vd_slice ips = vd_arena_copy(arena, vd_buf_slice(&list));
    vd_buf_release(&list);
    return ips;
}

/* The client's own id, if it is one that can stand in a header and a line; or a new one. */
static struct vd_slice audit_id(struct vd_arena *arena, const struct vd_exchange *x)
{
    char text[VD_UID_TEXT_MAX];
    struct vd_slice id;
    if (vd_http_head_find(x->head, VD_SLICE("audit-id"), &id) && id.n <= VD_AUDIT_ID_LEN_MAX &&
        vd_http_token_is(id))
        return vd_arena_copy(arena, id);
    return vd_arena_copy(arena, vd_uid_format(vd_uid_generate(), text));
}

static void describe(struct vd_audit *audit, struct vd_audit_event *event, struct vd_arena *arena,
                     struct vd_exchange *x)
{
    struct vd_slice agent;
    event->id = audit_id(arena, x);
    event->uri = vd_arena_copy(arena, vd_http_head_target(x->head));
    event->source_ips = source_ips(arena, x);
    if (vd_http_head_find(x->head, VD_SLICE("user-agent"), &agent))
        event->agent = vd_arena_copy(arena, agent);
    event->received_us = vd_clock_wall_us(audit->options.clock);
}

/* ---- objects ---- */

static void drop_managed_fields(struct vd_json *object)
{
    struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    if (vd_json_is(metadata, VD_JSON_OBJECT))
        vd_json_remove(metadata, VD_SLICE("managedFields"));
    VD_JSON_EACH (item, vd_json_get(object, VD_SLICE("items"))) {
        struct vd_json *inner = vd_json_get(item, VD_SLICE("metadata"));
        if (vd_json_is(inner, VD_JSON_OBJECT))
            vd_json_remove(inner, VD_SLICE("managedFields"));
    }
}

static struct vd_slice write_object(struct vd_audit_entry *e, struct vd_json *object)
{
    struct vd_buf out = {0};
    if (e->verdict.omit_managed_fields)
        drop_managed_fields(object);
    vd_json_write(&out, object);
    struct vd_slice json = vd_arena_copy(&e->arena, vd_buf_slice(&out));
    vd_buf_release(&out);
    return json;
}

/* A create names its object in the body, or has the name made. */
static void take_name(struct vd_audit_entry *e, struct vd_slice json)
{
    static const struct vd_slice path[] = {{"metadata", 8}, {"name", 4}};
    struct vd_slice value, name;
    if (e->event.access->name.n || !e->event.access->resource.n ||
        !vd_slice_is(e->event.access->verb, "create"))
        return;
    if (vd_span_find(json, path, 2, &value) && vd_span_text(&e->arena, value, &name))
        e->event.name = vd_arena_copy(&e->arena, name);
}

/* ---- on the way ---- */

void vd_audit_received(struct vd_audit *audit, const struct vd_request *request,
                       struct vd_request_log *log)
{
    struct vd_access access = vd_request_log_access(log);
    struct vd_audit_verdict verdict = judge(audit, &access);
    if (verdict.level == VD_AUDIT_NONE)
        return;
    struct vd_audit_entry *e = VD_NEW(struct vd_audit_entry);
    e->audit = audit;
    e->verdict = verdict;
    e->event.level = verdict.level;
    e->access = access;
    e->event.access = &e->access;
    e->event.api_version = vd_arena_copy(&e->arena, request->api_version);
    describe(audit, &e->event, &e->arena, request->x);
    e->stamp = (struct vd_http_field){VD_SLICE("Audit-Id"), e->event.id};
    request->x->stamp = &e->stamp;
    log->audit = e;
    if (!(verdict.omit_stages & VD_AUDIT_RECEIVED))
        emit(audit, &e->event, VD_AUDIT_RECEIVED);
}

bool vd_audit_wants_body(const struct vd_audit_entry *e)
{
    return e && e->verdict.level >= VD_AUDIT_REQUEST && e->access.resource.n;
}

void vd_audit_body(struct vd_audit_entry *e, struct vd_json *document)
{
    if (e)
        e->event.request = write_object(e, document);
}

void vd_audit_decided(struct vd_audit_entry *e, bool allowed, struct vd_slice reason)
{
    if (!e)
        return;
    e->event.decision = allowed ? VD_SLICE("allow") : VD_SLICE("forbid");
    e->event.decision_reason = vd_arena_copy(&e->arena, reason);
}

void vd_audit_overridden(struct vd_audit_entry *e, struct vd_slice reason)
{
    if (e)
        e->event.override = vd_arena_copy(&e->arena, reason);
}

void vd_audit_object(struct vd_audit_entry *e, struct vd_slice json)
{
    struct vd_arena arena = {0};
    struct vd_json *object = NULL;
    if (!e)
        return;
    take_name(e, json);
    if (e->verdict.level == VD_AUDIT_REQUEST_RESPONSE && e->event.access->resource.n &&
        !vd_json_parse(&arena, json, NULL, &object, NULL))
        e->event.response = write_object(e, object);
    vd_arena_release(&arena);
}

void vd_audit_answer(struct vd_audit_entry *e, const struct vd_audit_answer *answer)
{
    if (!e)
        return;
    e->event.status_text = answer->success ? VD_SLICE("Success") : VD_SLICE("Failure");
    e->event.reason = vd_arena_copy(&e->arena, answer->reason);
    e->event.message = vd_arena_copy(&e->arena, answer->message);
    if (e->verdict.level == VD_AUDIT_REQUEST_RESPONSE)
        e->event.response = vd_arena_copy(&e->arena, answer->json);
}

void vd_audit_started(struct vd_audit_entry *e, const struct vd_exchange *x)
{
    if (!e || (e->verdict.omit_stages & VD_AUDIT_STARTED))
        return;
    e->event.status = x->status;
    emit(e->audit, &e->event, VD_AUDIT_STARTED);
}

void vd_audit_complete(struct vd_audit_entry *e, const struct vd_exchange *x)
{
    if (!e)
        return;
    e->event.status = x->status;
    if (!(e->verdict.omit_stages & VD_AUDIT_COMPLETE))
        emit(e->audit, &e->event, VD_AUDIT_COMPLETE);
    vd_arena_release(&e->arena);
    free(e);
}

/* ---- requests without a request log ---- */

void vd_audit_refused(struct vd_audit *audit, const struct vd_request *request, unsigned status,
                      const struct vd_audit_answer *answer, struct vd_audit_stamp *stamp)
{
    struct vd_arena arena = {0};
    if (!audit)
        return;
    struct vd_audit_verdict verdict = judge(audit, &request->access);
    /* Kubernetes has only this stage of a request without a good credential. */
    enum vd_audit_stage stage = request->user ? VD_AUDIT_COMPLETE : VD_AUDIT_STARTED;
    struct vd_audit_event event = {.level = verdict.level,
                                   .access = &request->access,
                                   .api_version = request->api_version,
                                   .status = status,
                                   .status_text = VD_SLICE("Failure"),
                                   .reason = answer->reason,
                                   .message = answer->message};
    if (verdict.level != VD_AUDIT_NONE && !(verdict.omit_stages & stage)) {
        describe(audit, &event, &arena, request->x);
        emit(audit, &event, stage);
        memcpy(stamp->id, event.id.p, event.id.n);
        stamp->field = (struct vd_http_field){VD_SLICE("Audit-Id"),
                                              vd_slice(stamp->id, event.id.n)};
        request->x->stamp = &stamp->field;
    }
    vd_arena_release(&arena);
}

/* ---- what nobody has asked for ---- */

void vd_audit_act(struct vd_audit *audit, const struct vd_audit_act *act)
{
    char id[VD_UID_TEXT_MAX];
    struct vd_audit_verdict verdict = judge(audit, act->access);
    if (verdict.level == VD_AUDIT_NONE || (verdict.omit_stages & VD_AUDIT_COMPLETE))
        return;
    struct vd_audit_event event = {
        .level = verdict.level,
        .id = vd_uid_format(vd_uid_generate(), id),
        .uri = act->uri,
        .access = act->access,
        .api_version = act->api_version,
        .agent = act->agent,
        .status = act->status,
        .status_text = act->answer.success ? VD_SLICE("Success") : VD_SLICE("Failure"),
        .reason = act->answer.reason,
        .message = act->answer.message,
        .received_us = vd_clock_wall_us(audit->options.clock) - (int64_t)(act->duration_ns / 1000),
    };
    emit(audit, &event, VD_AUDIT_COMPLETE);
}
