/* See hook_channel.h. */
#include "git/hook_channel.h"

#include <string.h>

#include "base/limits.h"

enum { HEAD_LEN = 5 };

static bool is_type(char c)
{
    return c && strchr("bcortlx", c);
}

enum vd_hook_result vd_hook_message_read(struct vd_slice bytes, struct vd_hook_message *out)
{
    size_t len = 0;
    if (bytes.n < HEAD_LEN)
        return VD_HOOK_MORE;
    for (size_t i = 0; i < HEAD_LEN - 1; i++)
        len = len << 8 | (unsigned char)bytes.p[i];
    if (len > VD_HOOK_MESSAGE_LEN_MAX || !is_type(bytes.p[HEAD_LEN - 1]))
        return VD_HOOK_BAD;
    if (bytes.n - HEAD_LEN < len)
        return VD_HOOK_MORE;
    *out = (struct vd_hook_message){
        .type = (enum vd_hook_message_type)bytes.p[HEAD_LEN - 1],
        .payload = vd_slice(bytes.p + HEAD_LEN, len),
        .len = HEAD_LEN + len,
    };
    return VD_HOOK_DONE;
}

static void write_one(struct vd_buf *out, enum vd_hook_message_type type, struct vd_slice payload)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        vd_buf_add_char(out, (char)(payload.n >> shift & 0xff));
    vd_buf_add_char(out, (char)type);
    vd_buf_add_slice(out, payload);
}

void vd_hook_message_write(struct vd_buf *out, enum vd_hook_message_type type,
                           struct vd_slice payload)
{
    while (type == VD_HOOK_TEXT && payload.n > VD_HOOK_MESSAGE_LEN_MAX) {
        write_one(out, type, vd_slice(payload.p, VD_HOOK_MESSAGE_LEN_MAX));
        payload = vd_slice_from(payload, VD_HOOK_MESSAGE_LEN_MAX);
    }
    if (payload.n > VD_HOOK_MESSAGE_LEN_MAX)
        payload.n = VD_HOOK_MESSAGE_LEN_MAX;
    write_one(out, type, payload);
}

bool vd_hook_begin_read(struct vd_slice payload, struct vd_hook_begin *out)
{
    struct vd_slice parts[4], rest = payload;
    if (!payload.n)
        return false;
    for (size_t i = 0; i < 4; i++)
        if (!rest.p || !vd_slice_cut(&rest, 0, &parts[i]))
            return false;
    *out = (struct vd_hook_begin){
        .hook = parts[0],
        .objects = parts[1],
        .alternates = parts[2],
        .quarantine = parts[3],
    };
    return rest.p == NULL;
}

void vd_hook_begin_write(struct vd_buf *out, const struct vd_hook_begin *begin)
{
    const struct vd_slice parts[] = {begin->hook, begin->objects, begin->alternates,
                                     begin->quarantine};
    struct vd_buf payload = {0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (i)
            vd_buf_add_char(&payload, 0);
        vd_buf_add_slice(&payload, parts[i]);
    }
    vd_hook_message_write(out, VD_HOOK_BEGIN, vd_buf_slice(&payload));
    vd_buf_release(&payload);
}
