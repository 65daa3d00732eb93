/* The way of a request's body to git: unpacked if it is compressed, and no faster than git takes
 * it; see transfer.h. */
#include "base/limits.h"
#include "git/meter.h"
#include "git/transfer_internal.h"

/* What is wrong with the body is known before git is: it is told, and git is ended. */
static void refuse_body(struct vd_transfer *t)
{
    unsigned status = vd_inflate_is_too_long(&t->inflate) ? 413 : 400;
    if (t->x && !t->has_answered) {
        vd_transfer_refuse(t, status, vd_inflate_why(&t->inflate));
    } else if (t->x) {
        struct vd_exchange *x = t->x;
        t->x = NULL;
        vd_exchange_abort(x);
    }
    vd_transfer_end_git(t);
}

/* Unpacks as much as git takes. */
static void unpack(struct vd_transfer *t)
{
    struct vd_slice bytes;
    enum vd_inflate_result result = VD_INFLATE_PIECE;
    while (result == VD_INFLATE_PIECE && !vd_process_is_full(&t->process)) {
        result = vd_inflate_next(&t->inflate, &bytes);
        if (result == VD_INFLATE_PIECE)
            vd_process_write(&t->process, bytes);
    }
    if (result == VD_INFLATE_BROKEN || (result == VD_INFLATE_HUNGRY && t->body_has_ended))
        refuse_body(t);
    else if (result == VD_INFLATE_END && t->body_has_ended)
        vd_process_close_input(&t->process);
    else if (t->x && result == VD_INFLATE_PIECE)
        vd_exchange_pause_body(t->x);
    else if (t->x)
        vd_exchange_resume_body(t->x);
}

/* The answer, which was whole, ends with the body. A body that does not end is broken off: the
 * client has read by then what git says. */
static void end_discarding(struct vd_transfer *t)
{
    if (t->body_has_ended)
        vd_exchange_end(t->x);
    else
        vd_exchange_abort(t->x);
    vd_transfer_free(t);
}

static void on_piece(struct vd_exchange *x, struct vd_slice bytes)
{
    struct vd_transfer *t = x->arg;
    vd_git_meter_received(t->request.service, bytes.n);
    if (t->is_discarding) {
        t->discarded += bytes.n;
        if (t->discarded >= VD_GIT_DISCARD_LEN_MAX)
            end_discarding(t);
        return;
    }
    if (!vd_transfer_received(t, bytes.n))
        return;
    if (t->request.is_gzip) {
        vd_inflate_add(&t->inflate, bytes);
        unpack(t);
        return;
    }
    vd_process_write(&t->process, bytes);
    if (vd_process_is_full(&t->process))
        vd_exchange_pause_body(x);
}

static void on_body_end(struct vd_exchange *x)
{
    struct vd_transfer *t = x->arg;
    t->body_has_ended = true;
    if (t->is_discarding)
        end_discarding(t);
    else if (t->request.is_gzip)
        unpack(t);
    else
        vd_process_close_input(&t->process);
    if (!t->is_discarding)
        vd_transfer_await_unpacked(t);
}

void vd_transfer_feed(struct vd_process *p)
{
    struct vd_transfer *t = p->arg;
    if (t->request.is_gzip)
        unpack(t);
    else if (t->x)
        vd_exchange_resume_body(t->x);
}

void vd_transfer_read_body(struct vd_transfer *t)
{
    static const struct vd_body_ops body = {.piece = on_piece, .end = on_body_end};
    if (t->request.is_gzip)
        vd_inflate_init(&t->inflate, 0);
    vd_exchange_read_body(t->x, &body);
}

/* ---- a body that nobody needs ---- */

static void left_discarding(struct vd_exchange *x)
{
    vd_transfer_free(x->arg);
}

void vd_transfer_discard(struct vd_transfer *t)
{
    static const struct vd_exchange_ops discarding = {.gone = left_discarding};
    t->is_discarding = true;
    t->x->ops = &discarding;
    vd_transfer_end_push(t);
    vd_slot_give_back(&t->slot);
    vd_exchange_resume_body(t->x);
}
