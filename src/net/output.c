/* See output.h. */
#include "net/output.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "net/account.h"

enum {
    PIECES_MAX = 128, /* that one system call is given; a chunk is two of them, or three */
    CAP_KEPT = 8,     /* entries of an output queue that keeps its memory when it is empty */
    CHUNK_ENDS_MAX = VD_HTTP_CHUNK_LINE_MAX + 2,
};

#define CHARGED_ONCE SIZE_MAX /* the charge of those who share one */

void vd_output_mark(struct vd_connection *c)
{
    struct vd_http_service *s = c->service;
    if (c->is_dirty || c->state == VD_CONNECTION_CLOSED)
        return;
    c->is_dirty = true;
    c->next_queued = NULL;
    c->prev_queued = s->dirty_last;
    *(s->dirty_last ? &s->dirty_last->next_queued : &s->dirty) = c;
    s->dirty_last = c;
    s->dirty_n++;
}

void vd_output_unmark(struct vd_connection *c)
{
    struct vd_http_service *s = c->service;
    if (!c->is_dirty)
        return;
    c->is_dirty = false;
    *(c->prev_queued ? &c->prev_queued->next_queued : &s->dirty) = c->next_queued;
    *(c->next_queued ? &c->next_queued->prev_queued : &s->dirty_last) = c->prev_queued;
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

/* What is still to be sent of it. */
static size_t left_of(const struct vd_output *o)
{
    return o->line_len + (o->end - o->from) + o->tail_len;
}

/* Takes over the reference in it. */
static void add(struct vd_connection *c, struct vd_output output, struct vd_account *account)
{
    if (c->state == VD_CONNECTION_CLOSED || output.from == output.end) {
        vd_bytes_unref(output.bytes);
        return;
    }
    output.charge = vd_output_charge(account, output.bytes);
    *VD_VEC_PUSH(&c->output) = output;
    c->backlog += left_of(&output);
    c->exchange.sent_len += left_of(&output);
    vd_output_mark(c);
}

void vd_output_add(struct vd_connection *c, struct vd_bytes *bytes, size_t from, size_t end)
{
    add(c, (struct vd_output){.bytes = bytes, .from = from, .end = end}, c->account);
}

void vd_output_add_free(struct vd_connection *c, struct vd_bytes *bytes, size_t from, size_t end)
{
    add(c, (struct vd_output){.bytes = bytes, .from = from, .end = end}, NULL);
}

void vd_output_add_chunk(struct vd_connection *c, struct vd_bytes *bytes)
{
    add(c,
        (struct vd_output){.bytes = bytes,
                           .end = bytes->len,
                           .line_len = vd_http_chunk_line_len(bytes->len),
                           .tail_len = 2},
        c->account);
}

void vd_output_recharge(struct vd_connection *c, struct vd_account *account)
{
    for (size_t i = c->output_first; i < c->output.n; i++) {
        struct vd_output *o = &c->output.p[i];
        vd_output_discharge(c->account, o->bytes, o->charge);
        o->charge = vd_output_charge(account, o->bytes);
    }
}

/* Takes up to *n off what is left of a part. */
static void take_off(unsigned char *left, size_t *n)
{
    unsigned char part = *n < *left ? (unsigned char)*n : *left;
    *left = (unsigned char)(*left - part);
    *n -= part;
}

static void forget_sent(struct vd_connection *c, size_t sent)
{
    c->backlog -= sent;
    c->progressed = true;
    while (sent) {
        struct vd_output *o = &c->output.p[c->output_first];
        take_off(&o->line_len, &sent);
        size_t part = o->end - o->from < sent ? o->end - o->from : sent;
        o->from += part;
        sent -= part;
        take_off(&o->tail_len, &sent);
        if (left_of(o) == 0) {
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

/* What is offered to the transport at once. `ends` has the lines between chunks: the end of one and
 * the line of the next are one piece. */
struct offer {
    struct iovec pieces[PIECES_MAX];
    int n;
    size_t ends_n;
    char ends[PIECES_MAX / 2 * CHUNK_ENDS_MAX];
};

/* The next n bytes of `ends` are to be sent. */
static void offer_ends(struct offer *offer, size_t n)
{
    char *at = offer->ends + offer->ends_n;
    struct iovec *last = offer->n ? &offer->pieces[offer->n - 1] : NULL;
    offer->ends_n += n;
    if (last && (char *)last->iov_base + last->iov_len == at)
        last->iov_len += n;
    else
        offer->pieces[offer->n++] = (struct iovec){at, n};
}

static void offer_line(struct offer *offer, const struct vd_output *o)
{
    char *to = offer->ends + offer->ends_n;
    struct vd_slice line = vd_http_chunk_line(o->bytes->len, to);
    if (o->line_len < line.n) /* the rest of it */
        memmove(to, to + line.n - o->line_len, o->line_len);
    offer_ends(offer, o->line_len);
}

static void offer_tail(struct offer *offer, const struct vd_output *o)
{
    char *to = offer->ends + offer->ends_n;
    to[0] = o->tail_len == 2 ? '\r' : '\n';
    to[1] = '\n';
    offer_ends(offer, o->tail_len);
}

static void offer_output(struct offer *offer, const struct vd_output *o)
{
    assert(offer->ends_n + CHUNK_ENDS_MAX <= sizeof offer->ends);
    if (o->line_len)
        offer_line(offer, o);
    if (o->from < o->end)
        offer->pieces[offer->n++] = (struct iovec){o->bytes->data + o->from, o->end - o->from};
    if (o->tail_len)
        offer_tail(offer, o);
}

bool vd_output_flush(struct vd_connection *c)
{
    for (size_t total = 0; c->backlog && total < VD_HTTP_TURN_SEND_MAX;) {
        struct offer offer;
        offer.n = 0;
        offer.ends_n = 0;
        for (size_t i = c->output_first; i < c->output.n && offer.n <= PIECES_MAX - 3; i++)
            offer_output(&offer, &c->output.p[i]);
        ssize_t sent = vd_transport_write(&c->transport, offer.pieces, offer.n, c->loop->scratch,
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
