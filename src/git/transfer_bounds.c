/*
 * What a push may take of the server, besides the limits of its process: room on the disk, and time
 * for unpacking. See transfer_internal.h.
 *
 * A push that takes too much is broken off. Its client reads why in an answer of git's protocol,
 * since git shows nobody the text of an answer that is an error of HTTP.
 */
#include <inttypes.h>

#include "base/container_of.h"
#include "base/limits.h"
#include "base/log.h"
#include "git/bare_repository.h"
#include "git/disk_room.h"
#include "git/pkt_line.h"
#include "git/transfer_internal.h"

enum { BAND_ERROR = 3 }; /* of git's side band: the client shows it, and fails */

/* ---- where packets end ---- */

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10) & 15;
}

void vd_transfer_follow_packets(struct vd_transfer *t, struct vd_slice bytes)
{
    for (size_t i = 0; i < bytes.n;) {
        if (t->packet_left) {
            size_t n = bytes.n - i < t->packet_left ? bytes.n - i : t->packet_left;
            t->packet_left -= n;
            i += n;
            continue;
        }
        t->packet_len = t->packet_len * 16 + digit(bytes.p[i++]);
        if (++t->packet_digits == 4) {
            t->packet_left = t->packet_len > 4 ? t->packet_len - 4 : 0;
            t->packet_len = t->packet_digits = 0;
        }
    }
}

/* ---- the end ---- */

static void answer_why(struct vd_transfer *t, const char *why)
{
    struct vd_buf text = {0}, packet = {0};
    vd_buf_addf(&text, "%c%s\n", BAND_ERROR, why);
    vd_pkt_line_write(&packet, vd_buf_slice(&text));
    vd_pkt_line_write_flush(&packet);
    vd_transfer_send(t, vd_buf_slice(&packet));
    vd_buf_release(&text);
    vd_buf_release(&packet);
}

static void break_off(struct vd_transfer *t, const char *why)
{
    if (t->is_broken)
        return;
    vd_log_warn("a push was broken off", VD_F_SLICE("namespace", t->namespace),
                VD_F_SLICE("repository", t->name), VD_F_SLICE("user", t->user->is.name),
                VD_F_STR("why", why));
    t->is_broken = true;
    if (t->x && !t->packet_left && !t->packet_digits)
        answer_why(t, why);
    vd_transfer_end_git(t);
}

/* ---- the disk ---- */

int vd_transfer_check_room(const struct vd_transfer *t, struct vd_error *error)
{
    if (t->request.service != VD_GIT_RECEIVE_PACK)
        return VD_OK;
    struct vd_disk_room room = vd_disk_room(t->git->root);
    return vd_disk_room_check(&room, error);
}

bool vd_transfer_received(struct vd_transfer *t, size_t n)
{
    struct vd_error error;
    t->received += n;
    if (!t->is_broken && vd_transfer_check_room(t, &error))
        break_off(t, error.text);
    return !t->is_broken;
}

/* ---- the time ---- */

static void on_late(struct vd_timer *timer)
{
    struct vd_transfer *t = VD_CONTAINER_OF(timer, struct vd_transfer, timer);
    struct vd_buf why = {0};
    vd_buf_addf(&why,
                "git has not unpacked the %" PRIu64 " bytes of this push within %" PRIu64 " s: "
                "they unpack to very much; push less at a time",
                t->received, t->unpack_ms / 1000);
    break_off(t, vd_buf_text(&why));
    vd_buf_release(&why);
}

void vd_transfer_await_unpacked(struct vd_transfer *t)
{
    if (!vd_transfer_is_push(t) || t->is_broken || t->is_unpacked)
        return;
    t->unpack_ms = VD_GIT_UNPACK_MS + (t->received >> 20) * VD_GIT_UNPACK_MS_PER_MIB;
    t->timer.fire = on_late;
    vd_timer_set(t->loop, &t->timer, t->unpack_ms);
}

void vd_transfer_unpacked(struct vd_transfer *t)
{
    t->is_unpacked = true;
    vd_timer_stop(t->loop, &t->timer);
}
