/* See ref_command.h. */
#include "git/ref_command.h"

enum { SHA1_DIGITS = 40, SHA256_DIGITS = 64 };

bool vd_object_id_is(struct vd_slice text)
{
    if (text.n != SHA1_DIGITS && text.n != SHA256_DIGITS)
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (!(text.p[i] >= '0' && text.p[i] <= '9') && !(text.p[i] >= 'a' && text.p[i] <= 'f'))
            return false;
    return true;
}

bool vd_object_id_is_none(struct vd_slice id)
{
    for (size_t i = 0; i < id.n; i++)
        if (id.p[i] != '0')
            return false;
    return true;
}

static bool is_ref(struct vd_slice name)
{
    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)name.p[i] <= ' ' || name.p[i] == 0x7f)
            return false;
    return vd_slice_starts_with(name, VD_SLICE("refs/"));
}

bool vd_ref_command_read(struct vd_slice text, struct vd_ref_command *out)
{
    struct vd_slice rest = text, before, after;
    if (!text.n || !vd_slice_cut(&rest, ' ', &before) || !vd_slice_cut(&rest, ' ', &after) ||
        !rest.p)
        return false;
    if (!vd_object_id_is(before) || !vd_object_id_is(after) || before.n != after.n || !is_ref(rest))
        return false;
    *out = (struct vd_ref_command){before, after, rest};
    return true;
}

bool vd_ref_branch(struct vd_slice ref, struct vd_slice *branch)
{
    static const struct vd_slice prefix = {"refs/heads/", 11};
    if (!vd_slice_starts_with(ref, prefix) || ref.n == prefix.n)
        return false;
    *branch = vd_slice_from(ref, prefix.n);
    return true;
}

bool vd_ref_is_tag(struct vd_slice ref)
{
    return vd_slice_starts_with(ref, VD_SLICE("refs/tags/"));
}

static void add_part(struct vd_buf *out, struct vd_slice part)
{
    vd_buf_add_slice(out, part);
    vd_buf_add_char(out, 0);
}

/* "update" with zeros creates, and deletes where the new value is zeros; git refuses a deletion of
 * what is not there, so that such a command is left out. */
static void add_command(struct vd_buf *out, const struct vd_ref_command *c)
{
    if (vd_object_id_is_none(c->before) && vd_object_id_is_none(c->after))
        return;
    vd_buf_add_text(out, "update ");
    add_part(out, c->ref);
    add_part(out, c->after);
    add_part(out, c->before);
}

void vd_ref_commands_write_prepare(struct vd_buf *out, const struct vd_ref_command *commands,
                                   size_t n)
{
    add_part(out, VD_SLICE("start"));
    for (size_t i = 0; i < n; i++)
        add_command(out, &commands[i]);
    add_part(out, VD_SLICE("prepare"));
}
