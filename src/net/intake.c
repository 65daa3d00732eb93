/*
 * The memory of a request that is received; see connection.h.
 *
 * One intake is kept for the next request: freed each time, its place would be cut up by what
 * outlives the request, and thousands of streams would leave as many holes.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "net/connection_internal.h"

enum { SPARE_CAP_MAX = 16384 }; /* bytes of a buffer that is kept for the next connection */

struct vd_intake *vd_intake_take(struct vd_http_service *s)
{
    struct vd_intake *in = s->spare;
    s->spare = NULL;
    if (!in) {
        in = vd_malloc(sizeof *in);
        in->bytes = in->later = (struct vd_buf){0};
    }
    vd_http_head_init(&in->head);
    in->route = NULL;
    in->body_end = in->next_at = in->counted = 0;
    in->upload = (struct vd_upload){0};
    return in;
}

void vd_intake_give(struct vd_http_service *s, struct vd_intake *in)
{
    if (in) {
        vd_intake_count(s, in, 0);
        vd_upload_release(&in->upload);
        vd_buf_release(&in->later);
    }
    if (in && !s->spare && s->count && in->bytes.cap <= SPARE_CAP_MAX) {
        vd_buf_reset(&in->bytes);
        s->spare = in;
    } else if (in) {
        vd_buf_release(&in->bytes);
        free(in);
    }
}

bool vd_intake_count(struct vd_http_service *s, struct vd_intake *in, size_t n)
{
    s->strangers_len += n - in->counted;
    in->counted = n;
    return !n || !s->strangers_len_max || s->strangers_len <= s->strangers_len_max;
}

void vd_intake_free_spare(struct vd_http_service *s)
{
    if (!s->spare)
        return;
    vd_buf_release(&s->spare->bytes);
    free(s->spare);
    s->spare = NULL;
}
