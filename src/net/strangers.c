/*
 * The connections of a service in two lists: those known, and strangers, of which nobody has shown
 * yet who he is. Strangers are bounded; when there are too many, the oldest ends.
 */
#include "net/connection_internal.h"
#include "net/protocol.h"

void vd_connection_link(struct vd_connection *c)
{
    struct vd_http_service *s = c->service;
    struct vd_connection **first = c->has_user ? &s->connections : &s->strangers;
    c->prev = NULL;
    c->next = *first;
    if (c->next)
        c->next->prev = c;
    else if (!c->has_user)
        s->strangers_last = c;
    *first = c;
    s->strangers_n += !c->has_user;
}

void vd_connection_unlink(struct vd_connection *c)
{
    struct vd_http_service *s = c->service;
    *(c->prev ? &c->prev->next : c->has_user ? &s->connections : &s->strangers) = c->next;
    if (c->next)
        c->next->prev = c->prev;
    else if (!c->has_user)
        s->strangers_last = c->prev;
    s->strangers_n -= !c->has_user;
}

void vd_connection_set_has_user(struct vd_connection *c)
{
    if (c->has_user || c->state == VD_CONNECTION_CLOSED)
        return;
    vd_connection_unlink(c);
    c->has_user = true;
    vd_connection_link(c);
    if (c->state < VD_CONNECTION_CLOSING)
        c->protocol->set_has_user(c);
}

static bool is_answering(const struct vd_connection *c)
{
    return c->state != VD_CONNECTION_HANDSHAKE && c->state < VD_CONNECTION_CLOSING &&
           c->protocol->is_answering(c);
}

/* The oldest stranger goes: who means well has shown himself long before that. One that is
 * being answered stays. */
void vd_strangers_make_room(struct vd_http_service *s)
{
    struct vd_connection *c = s->strangers_last;
    while (c && is_answering(c))
        c = c->prev;
    if (c)
        vd_connection_close(c);
}
