/*
 * One HTTP/1.1 response, read as it comes. Heads and chunk sizes are taken line by line, bodies in
 * as large parts as they arrived. A line that is longer than the room for it is cut off; the lines
 * that matter are short.
 */
#include <stdlib.h>
#include <strings.h>

#include "load.h"

/* Moves bytes up to a line's end into r->line. False: the line goes on later. */
static bool take_line(struct reply *r, struct vd_slice *in)
{
    const char *end = memchr(in->p, '\n', in->n);
    size_t n = end ? (size_t)(end - in->p) : in->n;
    size_t room = sizeof r->line - 1 - r->line_n, fits = n < room ? n : room;
    memcpy(r->line + r->line_n, in->p, fits);
    r->line_n += (unsigned)fits;
    *in = vd_slice_from(*in, end ? n + 1 : n);
    if (!end)
        return false;
    if (r->line_n > 0 && r->line[r->line_n - 1] == '\r')
        r->line_n--;
    r->line[r->line_n] = 0;
    return true;
}

static void end_head(struct reply *r)
{
    if (r->chunked)
        r->phase = REPLY_CHUNK_SIZE;
    else
        r->phase = r->left ? REPLY_WHOLE : REPLY_DONE;
}

static void take_head_line(struct reply *r)
{
    static const char length[] = "content-length:", coding[] = "transfer-encoding: chunked";
    static const char later[] = "retry-after:";
    if (r->line_n == 0)
        end_head(r);
    else if (!r->status)
        r->status = r->line_n > 9 ? (unsigned)strtoul(r->line + 9, NULL, 10) : 599;
    else if (strncasecmp(r->line, length, sizeof length - 1) == 0)
        r->left = strtoull(r->line + sizeof length - 1, NULL, 10);
    else if (strncasecmp(r->line, coding, sizeof coding - 1) == 0)
        r->chunked = true;
    else if (strncasecmp(r->line, later, sizeof later - 1) == 0)
        r->retry_after = true;
}

static void end_line(struct reply *r)
{
    if (r->phase == REPLY_HEAD) {
        take_head_line(r);
    } else if (r->phase == REPLY_CHUNK_END) {
        r->phase = REPLY_CHUNK_SIZE;
    } else {
        r->left = strtoull(r->line, NULL, 16);
        r->phase = r->left ? REPLY_CHUNK : REPLY_DONE;
    }
    r->line_n = 0;
}

static void take_body(struct reply *r, struct vd_slice *in, reply_sink sink, void *arg)
{
    size_t n = in->n < r->left ? in->n : (size_t)r->left;
    if (sink)
        sink(arg, vd_slice(in->p, n));
    *in = vd_slice_from(*in, n);
    r->left -= n;
    if (r->left == 0)
        r->phase = r->phase == REPLY_CHUNK ? REPLY_CHUNK_END : REPLY_DONE;
}

size_t reply_feed(struct reply *r, struct vd_slice in, reply_sink sink, void *arg)
{
    while (in.n > 0 && r->phase != REPLY_DONE) {
        if (r->phase == REPLY_CHUNK || r->phase == REPLY_WHOLE)
            take_body(r, &in, sink, arg);
        else if (take_line(r, &in))
            end_line(r);
    }
    return in.n;
}
