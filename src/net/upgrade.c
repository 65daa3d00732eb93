/* See upgrade.h. */
#include "net/upgrade.h"

#include "base/limits.h"
#include "net/http1.h"
#include "net/output.h"

enum { READ_LEN = 16384 };

void vd_upgrade_start(struct vd_connection *c)
{
    c->exchange.status = 101;
    vd_exchange_forget_request(&c->exchange);
    c->protocol = &vd_protocol_upgraded;
    c->state = VD_CONNECTION_UPGRADED;
    c->streaming = true;
    vd_output_mark(c);
}

static bool refuse_upgrade(struct vd_exchange *x, const struct vd_response *response)
{
    (void)x;
    (void)response;
    return false;
}

static void send_bytes(struct vd_exchange *x, struct vd_bytes *bytes)
{
    vd_output_add(x->connection, bytes, 0, bytes->len);
}

static void end(struct vd_exchange *x)
{
    x->connection->keep_alive = false;
    vd_http1_finish_answer(x->connection);
}

static void break_off(struct vd_exchange *x)
{
    x->ops = NULL;
    vd_transport_spoil(&x->connection->transport);
    vd_connection_close(x->connection);
}

static void forget_request(struct vd_exchange *x)
{
    (void)x;
}

static void received(struct vd_connection *c, const char *p, size_t n)
{
    struct vd_exchange *x = &c->exchange;
    ((const struct vd_upgrade_ops *)x->ops)->received(x, vd_slice(p, n));
}

/* The first bytes, which came with the request. */
static void give_early_bytes(struct vd_connection *c)
{
    struct vd_intake *in = c->intake;
    if (!in)
        return;
    c->intake = NULL;
    received(c, in->bytes.p, in->bytes.n);
    vd_intake_give(c->service, in);
}

static bool may_read(const struct vd_connection *c)
{
    return !c->intake && c->backlog <= VD_HTTP_AHEAD_OUTPUT_MAX;
}

static size_t read_len(const struct vd_connection *c)
{
    (void)c;
    return READ_LEN;
}

static void after_flush(struct vd_connection *c, bool late)
{
    (void)late;
    give_early_bytes(c);
    if (c->state != VD_CONNECTION_UPGRADED)
        return;
    if (c->backlog && !vd_timer_is_set(&c->deadline))
        vd_connection_set_deadline(c, c->service->deadlines.send_ms);
    if (c->backlog || !c->await_drain)
        return;
    c->await_drain = false;
    c->exchange.ops->drained(&c->exchange);
}

static bool is_answering(const struct vd_connection *c)
{
    (void)c;
    return true;
}

/* Its owner ends it. */
static void wait_for_owner(struct vd_connection *c)
{
    (void)c;
}

const struct vd_protocol vd_protocol_upgraded = {
    .upgrade = refuse_upgrade,
    .send = send_bytes,
    .end = end,
    .abort = break_off,
    .backlog = vd_http1_backlog,
    .await_drain = vd_http1_await_drain,
    .forget_request = forget_request,
    .received = received,
    .may_read = may_read,
    .read_len = read_len,
    .flush = vd_output_flush,
    .after_flush = after_flush,
    .on_deadline = vd_connection_on_stall,
    .is_answering = is_answering,
    .set_has_user = wait_for_owner,
    .drain = wait_for_owner,
    .close = vd_http1_close,
};
