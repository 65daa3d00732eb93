/* See ticket.h. */
#include "net/ticket.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "net/account.h"
#include "net/connection_internal.h"

struct vd_ticket {
    struct vd_turn_item item; /* first */
    struct vd_connection *connection;
    struct vd_account *account; /* whose flow it is in; the connection's may change meanwhile */
};

void vd_ticket_give_back(struct vd_connection *c)
{
    struct vd_ticket *ticket = c->ticket;
    if (!ticket)
        return;
    c->ticket = NULL;
    vd_turn_item_cancel(&ticket->item);
    vd_account_unref(ticket->account);
    free(ticket);
}

static void on_turn(struct vd_turn_item *item)
{
    struct vd_connection *c = VD_CONTAINER_OF(item, struct vd_ticket, item)->connection;
    vd_ticket_give_back(c);
    vd_connection_read(c);
}

bool vd_ticket_enter(struct vd_connection *c, struct vd_account **flow_of)
{
    struct vd_turn_queue *turn_queue = c->service->turn_queue;
    *flow_of = NULL;
    if (!turn_queue || !c->account)
        return true;
    struct vd_account *account = vd_account_ref(c->account);
    struct vd_turn_flow *flow = vd_account_turn_flow(account, c->loop->index);
    if (vd_turn_queue_enter(turn_queue, flow)) {
        *flow_of = account;
        return true;
    }
    c->ticket = VD_NEW(struct vd_ticket);
    *c->ticket = (struct vd_ticket){.item.run = on_turn, .connection = c, .account = account};
    vd_turn_queue_wait(turn_queue, flow, &c->ticket->item);
    return false;
}

void vd_ticket_leave(struct vd_connection *c, struct vd_account *flow_of)
{
    if (flow_of)
        vd_turn_queue_leave(c->service->turn_queue, vd_account_turn_flow(flow_of, c->loop->index));
    vd_account_unref(flow_of);
}
