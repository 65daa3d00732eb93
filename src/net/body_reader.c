/* See body_reader.h. */
#include "net/body_reader.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "net/connection_internal.h"
#include "net/output.h"
#include "net/protocol.h"

static void on_idle(struct vd_timer *timer)
{
    vd_body_reader_break(VD_CONTAINER_OF(timer, struct vd_body_reader, idle), VD_HTTP_REFUSED_SLOW);
}

struct vd_body_reader *vd_body_reader_new(struct vd_exchange *x)
{
    struct vd_body_reader *r = VD_NEW(struct vd_body_reader);
    assert(!x->reader);
    r->x = x;
    r->idle.fire = on_idle;
    x->reader = r;
    return r;
}

void vd_body_reader_free(struct vd_exchange *x)
{
    struct vd_body_reader *r = x->reader;
    if (!r)
        return;
    x->reader = NULL;
    vd_timer_stop(x->loop, &r->idle);
    vd_buf_release(&r->bytes);
    if (r->is_giving)
        r->is_freed = true; /* whoever gives frees it */
    else
        free(r);
}

uint64_t vd_body_reader_len_max(const struct vd_route *route)
{
    return route->body_len_max ? route->body_len_max : UINT64_MAX;
}

/* The client has time as long as it is waited for. */
static void set_idle_timer(struct vd_body_reader *r)
{
    if (vd_body_reader_is_hungry(r))
        vd_timer_set(r->x->loop, &r->idle, r->x->connection->service->deadlines.body_idle_ms);
    else
        vd_timer_stop(r->x->loop, &r->idle);
}

/* ---- giving ---- */

/* The bytes stay where they are for the call, whatever becomes of the exchange; then their memory
 * is there for the next ones. */
static void give_piece(struct vd_body_reader *r)
{
    struct vd_buf bytes = r->bytes;
    r->bytes = (struct vd_buf){0};
    r->ops->piece(r->x, vd_buf_slice(&bytes));
    vd_buf_reset(&bytes);
    if (r->is_freed || r->bytes.cap)
        vd_buf_release(&bytes);
    else
        r->bytes = bytes;
}

bool vd_body_reader_give(struct vd_body_reader *r, size_t *given)
{
    *given = 0;
    if (!r->ops || r->is_paused || r->is_giving)
        return true;
    r->is_giving = true;
    if (r->bytes.n) {
        *given = r->bytes.n;
        give_piece(r);
    }
    if (!r->is_freed && r->is_whole && !r->is_paused && !r->is_told) {
        r->is_told = true;
        r->ops->end(r->x);
    }
    r->is_giving = false;
    if (r->is_freed) {
        free(r);
        return false;
    }
    set_idle_timer(r);
    return true;
}

void vd_body_reader_break(struct vd_body_reader *r, enum vd_http_refusal why)
{
    struct vd_exchange *x = r->x;
    const struct vd_exchange_ops *ops = x->ops;
    x->ops = NULL;
    if (ops)
        ops->gone(x);
    x->connection->protocol->break_body(x, why);
}

/* ---- what handlers do; see exchange.h ---- */

void vd_exchange_read_body(struct vd_exchange *x, const struct vd_body_ops *ops)
{
    struct vd_body_reader *r = x->reader;
    if (!r) { /* it has none, or has come whole */
        r = vd_body_reader_new(x);
        vd_buf_add_slice(&r->bytes, x->body);
        r->is_whole = true;
    }
    assert(!r->ops && x->ops);
    r->ops = ops;
    set_idle_timer(r);
    x->connection->protocol->read_body(x);
}

void vd_exchange_pause_body(struct vd_exchange *x)
{
    struct vd_body_reader *r = x->reader;
    assert(r && r->ops);
    if (r->is_paused)
        return;
    r->is_paused = true;
    set_idle_timer(r);
    vd_output_mark(x->connection); /* what to wait for has changed */
}

void vd_exchange_resume_body(struct vd_exchange *x)
{
    struct vd_body_reader *r = x->reader;
    assert(r && r->ops);
    if (!r->is_paused)
        return;
    r->is_paused = false;
    set_idle_timer(r);
    x->connection->protocol->give_body(x);
}
