/* What stream.c has for streams.c. */
#ifndef VD_API_STREAM_INTERNAL_H
#define VD_API_STREAM_INTERNAL_H

#include "api/stream.h"

/* Looks the kind up again if the registry of kinds has changed: its definition may have. False: it
 * is no longer served, or another of its name is. */
bool vd_stream_renew_kind(struct vd_api_stream *stream);

/* The revision that a bookmark may name now; 0: none. What is waited for was not sent. */
uint64_t vd_stream_bookmark_of(const struct vd_api_stream *stream);

/* Takes it out of the registry, releases it and tells its face. */
void vd_stream_finish(struct vd_api_stream *stream, const struct vd_stream_ending *ending);

#endif
