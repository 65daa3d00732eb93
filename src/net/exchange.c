/* See exchange.h. The connection's protocol does what is asked for; see protocol.h. */
#include "net/exchange.h"

#include "net/connection_internal.h"
#include "net/protocol.h"
#include "net/upload.h"

static const struct vd_protocol *protocol_of(const struct vd_exchange *x)
{
    return x->connection->protocol;
}

void vd_exchange_respond(struct vd_exchange *x, const struct vd_response *response)
{
    protocol_of(x)->respond(x, response);
}

void vd_exchange_receive(struct vd_exchange *x)
{
    x->ops = NULL;
    x->user = NULL;
    x->user_is_borrowed = false;
    x->upload->is_admitted = true;
    protocol_of(x)->receive(x);
}

void vd_exchange_stream(struct vd_exchange *x, const struct vd_response *response)
{
    protocol_of(x)->stream(x, response);
}

bool vd_exchange_upgrade(struct vd_exchange *x, const struct vd_response *response,
                         const struct vd_upgrade_ops *ops)
{
    if (!protocol_of(x)->upgrade(x, response))
        return false;
    x->ops = &ops->exchange;
    return true;
}

void vd_exchange_send(struct vd_exchange *x, struct vd_bytes *bytes)
{
    protocol_of(x)->send(x, bytes);
}

void vd_exchange_end(struct vd_exchange *x)
{
    protocol_of(x)->end(x);
}

void vd_exchange_abort(struct vd_exchange *x)
{
    protocol_of(x)->abort(x);
}

bool vd_exchange_is_alone(const struct vd_exchange *x)
{
    return x->connection->service->count == 1;
}

size_t vd_exchange_backlog(const struct vd_exchange *x)
{
    return protocol_of(x)->backlog(x);
}

void vd_exchange_await_drain(struct vd_exchange *x)
{
    protocol_of(x)->await_drain(x);
}

void vd_exchange_forget_request(struct vd_exchange *x)
{
    if (x->reader) /* the body's framing stands there */
        return;
    x->head = NULL;
    x->body = VD_SLICE("");
    x->upload = NULL;
    protocol_of(x)->forget_request(x);
}
