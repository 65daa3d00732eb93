/* See pkt_line.h. The special packets 0001 and 0002 belong to other protocols than those that hooks
 * speak, and 0003 is none: all of them are refused. */
#include "git/pkt_line.h"

enum { HEAD_LEN = 4 };

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

enum vd_pkt_line_result vd_pkt_line_read(struct vd_slice bytes, struct vd_pkt_line *out)
{
    size_t len = 0;
    for (size_t i = 0; i < HEAD_LEN; i++) {
        if (i == bytes.n)
            return VD_PKT_LINE_MORE;
        int value = digit(bytes.p[i]);
        if (value < 0)
            return VD_PKT_LINE_BAD;
        len = len * 16 + (size_t)value;
    }
    if (len == 0) {
        *out = (struct vd_pkt_line){.flush = true, .payload = VD_SLICE(""), .len = HEAD_LEN};
        return VD_PKT_LINE_DONE;
    }
    if (len < HEAD_LEN || len - HEAD_LEN > VD_PKT_LINE_PAYLOAD_MAX)
        return VD_PKT_LINE_BAD;
    if (bytes.n < len)
        return VD_PKT_LINE_MORE;
    struct vd_slice payload = vd_slice(bytes.p + HEAD_LEN, len - HEAD_LEN);
    if (payload.n && payload.p[payload.n - 1] == '\n')
        payload.n--;
    *out = (struct vd_pkt_line){.payload = payload, .len = len};
    return VD_PKT_LINE_DONE;
}

void vd_pkt_line_write(struct vd_buf *out, struct vd_slice payload)
{
    if (payload.n > VD_PKT_LINE_PAYLOAD_MAX)
        payload.n = VD_PKT_LINE_PAYLOAD_MAX;
    vd_buf_addf(out, "%04x", (unsigned)(payload.n + HEAD_LEN));
    vd_buf_add_slice(out, payload);
}

void vd_pkt_line_write_flush(struct vd_buf *out)
{
    vd_buf_add_text(out, "0000");
}
