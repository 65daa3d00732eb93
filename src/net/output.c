/* See output.h. */
#include "net/output.h"

#include <stdlib.h>

#include "base/limits.h"
#include "net/account.h"

enum { PIECES_MAX = 64, CAP_KEPT = 8 };

#define CHARGED_ONCE SIZE_MAX /* the charge of those who share one */

void vd_output_mark(struct vd_connection *c)
{
    struct vd_http_service *s = c->service;
    if (c->is_dirty || c->state == VD_CONNECTION_CLOSED)
        return;
    c->is_dirty = true;
    c->next_dirty = NULL;
    c->prev_dirty = s->dirty_last;
    *(s->dirty_last ? &s->dirty_last->next_dirty : &s->dirty) = c;
    s->dirty_last = c;
    s->dirty_n++;
}

void vd_output_unmark(struct vd_connection *c)
{
    struct vd_http_service *s = c->service;
    if (!c->is_dirty)
        return;
    c->is_dirty = false;
    *(c->prev_dirty ? &c->prev_dirty->next_dirty : &s->dirty) = c->next_dirty;
    *(c->next_dirty ? &c->next_dirty->prev_dirty : &s->dirty_last) = c->prev_dirty;
    s->dirty_n--;
}

size_t vd_output_charge(struct vd_account *account, struct vd_bytes *bytes)
{
    if (!account)
        return 0;
    if (bytes->payer == account) {
        bytes->payer_waits++;
        return CHARGED_ONCE;
    }
    vd_account_queue(account, (int64_t)bytes->len);
    if (bytes->payer)
        return bytes->len;
    bytes->payer = account;
    bytes->payer_waits = 1;
    return CHARGED_ONCE;
}

void vd_output_discharge(struct vd_account *account, struct vd_bytes *bytes, size_t charge)
{
    if (charge != CHARGED_ONCE) {
        vd_account_queue(account, -(int64_t)charge);
    } else if (--bytes->payer_waits == 0) {
        bytes->payer = NULL;
        vd_account_queue(account, -(int64_t)bytes->len);
    }
}

static void add(struct vd_connection *c, struct vd_bytes *bytes, size_t from, size_t end,
                struct vd_account *account)
{
    if (c->state == VD_CONNECTION_CLOSED || from == end) {
        vd_bytes_unref(bytes);
        return;
    }
    *VD_VEC_PUSH(&c->output) = (struct vd_output){bytes, from, end,
                                                  vd_output_charge(account, bytes)};
    c->backlog += end - from;
    c->exchange.sent_len += end - from;
    vd_output_mark(c);
}

void vd_output_add(struct vd_connection *c, struct vd_bytes *bytes, size_t from, size_t end)
{
    add(c, bytes, from, end, c->account);
}

void vd_output_add_free(struct vd_connection *c, struct vd_bytes *bytes, size_t from, size_t end)
{
    add(c, bytes, from, end, NULL);
}

void vd_output_recharge(struct vd_connection *c, struct vd_account *account)
{
    for (size_t i = c->output_first; i < c->output.n; i++) {
        struct vd_output *o = &c->output.p[i];
        vd_output_discharge(c->account, o->bytes, o->charge);
        o->charge = vd_output_charge(account, o->bytes);
    }
}

static void forget_sent(struct vd_connection *c, size_t sent)
{
    c->backlog -= sent;
    c->progressed = true;
    while (sent) {
        struct vd_output *o = &c->output.p[c->output_first];
        size_t part = o->end - o->from < sent ? o->end - o->from : sent;
        o->from += part;
        sent -= part;
        if (o->from == o->end) {
            vd_output_discharge(c->account, o->bytes, o->charge);
            vd_bytes_unref(o->bytes);
            c->output_first++;
        }
    }
    if (c->output_first < c->output.n)
        return;
    c->output.n = c->output_first = 0;
    if (c->output.cap > CAP_KEPT || c->streaming) /* an idle stream keeps nothing */
        VD_VEC_RELEASE(&c->output);
}

bool vd_output_flush(struct vd_connection *c)
{
    for (size_t total = 0; c->backlog && total < VD_HTTP_TURN_SEND_MAX;) {
        struct iovec pieces[PIECES_MAX];
        int n = 0;
        for (size_t i = c->output_first; i < c->output.n && n < PIECES_MAX; i++, n++) {
            struct vd_output *o = &c->output.p[i];
            pieces[n] = (struct iovec){o->bytes->data + o->from, o->end - o->from};
        }
        ssize_t sent = vd_transport_write(&c->transport, pieces, n, c->loop->scratch,
                                          VD_LOOP_SCRATCH_LEN);
        if (sent == VD_TRANSPORT_AGAIN)
            return true;
        if (sent < 0)
            return false;
        total += (size_t)sent;
        forget_sent(c, (size_t)sent);
    }
    return true;
}

void vd_output_release(struct vd_connection *c)
{
    vd_output_recharge(c, NULL);
    for (size_t i = c->output_first; i < c->output.n; i++)
        vd_bytes_unref(c->output.p[i].bytes);
    VD_VEC_RELEASE(&c->output);
    c->output_first = c->backlog = 0;
}
