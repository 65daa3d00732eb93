/* See streams.h. */
#include "api/streams.h"

#include "api/stream_internal.h"
#include "base/container_of.h"

enum {
    RECHECK_MS = 1000,  /* between two looks at a stream's rights */
    RECHECK_STEP = 512, /* streams that are looked at in one turn */
    STARVED_MS = 50,    /* between two looks whether there is room for those without a backlog */
};

/* ---- rights ---- */

/* Ends the stream if its kind is gone, when it has been given everything. */
static bool ends_with_kind(struct vd_api_stream *s)
{
    if (vd_stream_renew_kind(s) || !vd_stream_bookmark_of(s))
        return false;
    vd_stream_finish(s, &(struct vd_stream_ending){.why = VD_STREAM_END_KIND});
    return true;
}

/* Ends the stream if its user may not have it any more. */
static void recheck(struct vd_api_stream *s, uint64_t version, int64_t now_ms)
{
    struct vd_gatekeeper *gatekeeper = s->l->env->gatekeeper;
    struct vd_access access = s->ops->access(s);
    struct vd_buf reason = {0};
    bool changed = s->rights_version != version;
    s->rights_version = version;
    if (vd_user_has_expired(access.user, now_ms) ||
        (changed && !vd_gatekeeper_is_valid(gatekeeper, access.user)))
        vd_stream_finish(s, &(struct vd_stream_ending){.why = VD_STREAM_END_CREDENTIAL});
    else if (changed && !vd_gatekeeper_allows(gatekeeper, &access, &reason))
        vd_stream_finish(s, &(struct vd_stream_ending){.why = VD_STREAM_END_FORBIDDEN,
                                                       .reason = vd_buf_slice(&reason)});
    vd_buf_release(&reason);
}

/* One step of a round over the loop's streams. Who comes during a round stands before its place in
 * the list and is met in the next. */
static void on_recheck(struct vd_timer *timer)
{
    struct vd_api_loop *l = VD_CONTAINER_OF(timer, struct vd_api_loop, streams.recheck);
    struct vd_api_streams *all = &l->streams;
    int64_t now_ms = vd_clock_wall_ms(l->env->clock);
    if (!all->recheck_at) {
        all->recheck_at = all->first;
        all->recheck_version = vd_gatekeeper_version(l->env->gatekeeper);
    }
    for (size_t n = 0; all->recheck_at && n < RECHECK_STEP; n++) {
        struct vd_api_stream *s = all->recheck_at;
        all->recheck_at = s->next;
        if (!ends_with_kind(s))
            recheck(s, all->recheck_version, now_ms);
    }
    if (all->first)
        vd_timer_set(l->loop, &all->recheck, all->recheck_at ? 1 : RECHECK_MS);
}

/* ---- room ---- */

void vd_api_streams_starve(struct vd_api_stream *s)
{
    struct vd_api_loop *l = s->l;
    if (s->waits_at)
        return;
    vd_stream_wait_in(s, &l->streams.starved);
    if (!vd_timer_is_set(&l->streams.starving))
        vd_timer_set(l->loop, &l->streams.starving, STARVED_MS);
}

/* Those who still find no room put themselves into the list again. */
static void on_starving(struct vd_timer *timer)
{
    struct vd_api_loop *l = VD_CONTAINER_OF(timer, struct vd_api_loop, streams.starving);
    while (l->streams.starved) {
        struct vd_api_stream *s = l->streams.starved;
        vd_stream_wait_out(s);
        vd_watcher_resume(&s->watcher);
    }
    vd_loop_again(l->loop);
}

/* ---- all of them ---- */

void vd_api_streams_init(struct vd_api_loop *l)
{
    l->streams.recheck.fire = on_recheck;
    l->streams.starving.fire = on_starving;
}

void vd_api_streams_release(struct vd_api_loop *l)
{
    vd_timer_stop(l->loop, &l->streams.recheck);
    vd_timer_stop(l->loop, &l->streams.starving);
}

void vd_api_streams_add(struct vd_api_stream *s)
{
    struct vd_api_streams *all = &s->l->streams;
    s->next = all->first;
    if (s->next)
        s->next->prev = s;
    all->first = s;
    all->n++;
    if (!vd_timer_is_set(&all->recheck))
        vd_timer_set(s->l->loop, &all->recheck, RECHECK_MS);
}

void vd_api_streams_remove(struct vd_api_stream *s)
{
    struct vd_api_streams *all = &s->l->streams;
    if (all->recheck_at == s)
        all->recheck_at = s->next;
    *(s->prev ? &s->prev->next : &all->first) = s->next;
    if (s->next)
        s->next->prev = s->prev;
    if (--all->n == 0)
        vd_timer_stop(s->l->loop, &all->recheck);
}

void vd_api_streams_drain(struct vd_api_loop *l, uint64_t spread_ms)
{
    uint64_t n = 0;
    for (struct vd_api_stream *s = l->streams.first; s; s = s->next) {
        s->ending = true;
        vd_timer_set(l->loop, &s->end, spread_ms * n++ / (l->streams.n ? l->streams.n : 1));
    }
}
