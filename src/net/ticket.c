/* See ticket.h. */
#include "net/ticket.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "net/account.h"
#include "net/connection_internal.h"

struct vd_ticket {
    struct vd_chore chore; /* first */
    struct vd_connection *connection;
    struct vd_account *account; /* whose lane it is in; the connection's may change meanwhile */
};

void vd_ticket_give_back(struct vd_connection *c)
{
    struct vd_ticket *ticket = c->ticket;
    if (!ticket)
        return;
    c->ticket = NULL;
    vd_chore_cancel(&ticket->chore);
    vd_account_unref(ticket->account);
    free(ticket);
}

static void on_turn(struct vd_chore *chore)
{
    struct vd_connection *c = ((struct vd_ticket *)chore)->connection;
    vd_ticket_give_back(c);
    vd_connection_read(c);
}

bool vd_ticket_enter(struct vd_connection *c, struct vd_account **lane_of)
{
    struct vd_turnstile *turnstile = c->service->turnstile;
    *lane_of = NULL;
    if (!turnstile || !c->account)
        return true;
    struct vd_account *account = vd_account_ref(c->account);
    struct vd_lane *lane = vd_account_lane(account, c->loop->index);
    if (vd_turnstile_enter(turnstile, lane)) {
        *lane_of = account;
        return true;
    }
    c->ticket = VD_NEW(struct vd_ticket);
    *c->ticket = (struct vd_ticket){.chore.run = on_turn, .connection = c, .account = account};
    vd_turnstile_wait(turnstile, lane, &c->ticket->chore);
    return false;
}

void vd_ticket_leave(struct vd_connection *c, struct vd_account *lane_of)
{
    if (lane_of)
        vd_turnstile_leave(c->service->turnstile, vd_account_lane(lane_of, c->loop->index));
    vd_account_unref(lane_of);
}
