/*
 * All streams of a loop: whose rights are looked at again, who waits for room, and how they end
 * when the server stops.
 *
 * Whether rights and credentials still hold is looked at about once a second, by one timer for all
 * streams of the loop, some of them at a time: a stream is only asked about in earnest when rules
 * or credentials have changed since the last time.
 *
 * A stream whose user has too much waiting, and that has nothing waiting itself, is told by nobody
 * when others have made room: such streams stand in a list, and look again every few milliseconds.
 */
#ifndef VD_API_STREAMS_H
#define VD_API_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#include "net/loop.h"

struct vd_api_loop;
struct vd_api_stream;

/* Part of struct vd_api_loop. */
struct vd_api_streams {
    struct vd_api_stream *first;
    size_t n;
    struct vd_timer recheck; /* set while there are streams */
    struct vd_api_stream *recheck_at;
    uint64_t recheck_version; /* of the rights, in this round */
    struct vd_api_stream *starved;
    struct vd_timer starving; /* set while there are such */
};

void vd_api_streams_init(struct vd_api_loop *l);
void vd_api_streams_release(struct vd_api_loop *l);

void vd_api_streams_add(struct vd_api_stream *stream);
void vd_api_streams_remove(struct vd_api_stream *stream);

/* The stream is parked, and looks for room again after a while. */
void vd_api_streams_starve(struct vd_api_stream *stream);

/* Ends all streams of the loop, in order, spread over `spread_ms`. */
void vd_api_streams_drain(struct vd_api_loop *l, uint64_t spread_ms);

#endif
