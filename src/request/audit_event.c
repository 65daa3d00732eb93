/* See audit_event.h. */
#include "request/audit_event.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "kinds/git_ownership.h"
#include "json/escape.h"

struct vd_slice vd_micro_time_format(int64_t wall_us, char out[VD_MICRO_TIME_MAX])
{
    char text[VD_TIME_TEXT_MAX];
    struct vd_slice ms = vd_time_format(wall_us / 1000, text);
    int n = snprintf(out, VD_MICRO_TIME_MAX, "%.*s%03dZ", (int)(ms.n ? ms.n - 1 : 0), ms.p,
                     (int)(wall_us % 1000));
    return vd_slice(out, (size_t)n);
}

/* What clients send need not be UTF-8; JSON has to be. */
static void add_text(struct vd_buf *out, struct vd_slice text)
{
    if (vd_utf8_is_valid(text)) {
        vd_escape_write(out, text);
        return;
    }
    struct vd_buf safe = {0};
    for (size_t i = 0; i < text.n; i++)
        vd_buf_add_char(&safe, (unsigned char)text.p[i] < 0x80 ? text.p[i] : '?');
    vd_escape_write(out, vd_buf_slice(&safe));
    vd_buf_release(&safe);
}

/* ,"name":"text" unless the text is empty; the first member has no comma. */
static void add_member(struct vd_buf *out, const char *name, struct vd_slice text)
{
    if (!text.n)
        return;
    if (out->p[out->n - 1] != '{')
        vd_buf_add_char(out, ',');
    vd_buf_addf(out, "\"%s\":", name);
    add_text(out, text);
}

static void add_texts(struct vd_buf *out, const struct vd_slice *texts, size_t n)
{
    vd_buf_add_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            vd_buf_add_char(out, ',');
        add_text(out, texts[i]);
    }
    vd_buf_add_char(out, ']');
}

static void add_user(struct vd_buf *out, const char *name, const struct vd_user *user)
{
    vd_buf_addf(out, ",\"%s\":{", name);
    if (user) {
        add_member(out, "username", user->is.name);
        add_member(out, "uid", user->is.uid);
    }
    if (user && user->is.groups_n) {
        vd_buf_add_text(out, ",\"groups\":");
        add_texts(out, user->is.groups, user->is.groups_n);
    }
    if (user && user->is.extra_n) {
        vd_buf_add_text(out, ",\"extra\":{");
        for (size_t i = 0; i < user->is.extra_n; i++) {
            if (i)
                vd_buf_add_char(out, ',');
            add_text(out, user->is.extra[i].key);
            vd_buf_add_char(out, ':');
            add_texts(out, user->is.extra[i].values, user->is.extra[i].values_n);
        }
        vd_buf_add_char(out, '}');
    }
    vd_buf_add_char(out, '}');
}

static void add_users(struct vd_buf *out, const struct vd_user *user)
{
    const struct vd_user *sender = user && user->is.impersonator ? user->is.impersonator : user;
    add_user(out, "user", sender);
    if (sender != user)
        add_user(out, "impersonatedUser", user);
}

static void add_source_ips(struct vd_buf *out, struct vd_slice list)
{
    struct vd_slice ip;
    bool first = true;
    if (!list.n)
        return;
    vd_buf_add_text(out, ",\"sourceIPs\":[");
    while (vd_slice_cut(&list, ',', &ip)) {
        if (!first)
            vd_buf_add_char(out, ',');
        add_text(out, ip);
        first = false;
    }
    vd_buf_add_char(out, ']');
}

static void add_object_ref(struct vd_buf *out, const struct vd_audit_event *e)
{
    const struct vd_access *a = e->access;
    if (!a->resource.n)
        return;
    vd_buf_add_text(out, ",\"objectRef\":{");
    add_member(out, "resource", a->resource);
    add_member(out, "namespace", a->namespace);
    add_member(out, "name", a->name.n ? a->name : e->name);
    add_member(out, "apiGroup", a->group);
    add_member(out, "apiVersion", e->api_version);
    add_member(out, "subresource", a->subresource);
    vd_buf_add_char(out, '}');
}

static void add_status(struct vd_buf *out, const struct vd_audit_event *e)
{
    if (!e->status)
        return;
    vd_buf_add_text(out, ",\"responseStatus\":{\"metadata\":{}");
    add_member(out, "status", e->status_text);
    add_member(out, "message", e->message);
    add_member(out, "reason", e->reason);
    vd_buf_addf(out, ",\"code\":%u}", e->status);
}

static void add_json(struct vd_buf *out, const char *name, struct vd_slice json)
{
    if (!json.n)
        return;
    vd_buf_addf(out, ",\"%s\":", name);
    vd_buf_add_slice(out, json);
}

void vd_audit_event_write(struct vd_buf *out, const struct vd_audit_event *e)
{
    char received[VD_MICRO_TIME_MAX], stage[VD_MICRO_TIME_MAX];
    vd_buf_addf(out,
                "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"level\":\"%s\","
                "\"auditID\":",
                vd_audit_level_name(e->level));
    add_text(out, e->id);
    vd_buf_addf(out, ",\"stage\":\"%s\",\"requestURI\":", vd_audit_stage_name(e->stage));
    add_text(out, e->uri);
    vd_buf_add_text(out, ",\"verb\":");
    add_text(out, e->access->verb);
    add_users(out, e->access->user);
    add_source_ips(out, e->source_ips);
    add_member(out, "userAgent", e->agent);
    add_object_ref(out, e);
    add_status(out, e);
    add_json(out, "requestObject", e->request);
    add_json(out, "responseObject", e->response);
    add_member(out, "requestReceivedTimestamp", vd_micro_time_format(e->received_us, received));
    add_member(out, "stageTimestamp", vd_micro_time_format(e->stage_us, stage));
    if (e->decision.n) {
        vd_buf_add_text(out, ",\"annotations\":{");
        add_member(out, "authorization.k8s.io/decision", e->decision);
        vd_buf_add_text(out, ",\"authorization.k8s.io/reason\":");
        add_text(out, e->decision_reason);
        if (e->override.n)
            add_member(out, VD_GIT_OVERRIDE, e->override);
        vd_buf_add_char(out, '}');
    }
    vd_buf_add_text(out, "}\n");
}
