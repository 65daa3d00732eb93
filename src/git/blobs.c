/* See blobs.h. git buffers its answers until it reads "flush"; a question that is always answered
 * with one line stands behind the last, so that a flush without questions is answered, too. */
#include "git/blobs.h"

#include <string.h>

#include "base/container_of.h"

enum { LAST = VD_BLOB_CONTENTS + 1 }; /* the question at the end of a flush */

static struct vd_blobs *of(struct vd_git_process *git)
{
    return VD_CONTAINER_OF(git, struct vd_blobs, git);
}

static void fail(struct vd_blobs *b, const struct vd_error *error)
{
    b->error = *error;
    vd_git_process_stop(&b->git);
}

/* Reads one answer off the front of *rest; false: there is none. */
static bool take_answer(struct vd_blobs *b, struct vd_slice *rest)
{
    struct vd_object_answer answer;
    struct vd_error error;
    size_t used;
    if (b->answered == b->questions.n || !rest->n)
        return false;
    uint8_t question = b->questions.p[b->answered];
    if (vd_object_answer_read(*rest, question == VD_BLOB_CONTENTS, b->len_max, &answer, &used,
                              &error)) {
        fail(b, &error);
        return false;
    }
    if (!used)
        return false;
    b->answered++;
    *rest = vd_slice_from(*rest, used);
    if (question == LAST)
        b->ops->settled(b);
    else
        b->ops->answer(b, &answer);
    return !b->closed;
}

static void on_output(struct vd_git_process *git, struct vd_slice bytes)
{
    struct vd_blobs *b = of(git);
    if (b->closed)
        return;
    vd_buf_add_slice(&b->held, bytes);
    struct vd_slice rest = vd_buf_slice(&b->held);
    while (take_answer(b, &rest))
        ;
    size_t used = (size_t)(rest.p - vd_buf_text(&b->held));
    if (rest.n && used)
        memmove(b->held.p, rest.p, rest.n);
    b->held.n = rest.n;
}

static void on_ended(struct vd_git_process *git, const struct vd_error *error)
{
    struct vd_blobs *b = of(git);
    struct vd_error kept = b->error.code ? b->error : error ? *error : (struct vd_error){0};
    bool good = b->closed && !b->error.code;
    if (!good && !kept.code)
        (void)vd_error_set(&kept, VD_ERR_IO, "git cat-file ended before it had answered");
    vd_buf_release(&b->asks);
    vd_buf_release(&b->held);
    VD_VEC_RELEASE(&b->questions);
    b->ops->ended(b, good ? NULL : &kept);
}

static const struct vd_git_process_ops git_ops = {.output = on_output, .ended = on_ended};

int vd_blobs_start(struct vd_blobs *b, struct vd_loop *loop, const struct vd_git_place *place,
                   const struct vd_blobs_ops *ops, struct vd_error *error)
{
    static const char *const arguments[] = {"cat-file", "--batch-command", "--buffer", NULL};
    *b = (struct vd_blobs){.ops = ops, .len_max = b->len_max};
    return vd_git_process_start(&b->git, loop, place, arguments, &git_ops, error);
}

static void add_question(struct vd_blobs *b, const char *command, struct vd_slice name,
                         uint8_t question)
{
    vd_buf_addf(&b->asks, "%s %.*s\n", command, VD_FMT(name));
    *VD_VEC_PUSH(&b->questions) = question;
}

void vd_blobs_ask(struct vd_blobs *b, struct vd_slice name, enum vd_blob_question question)
{
    add_question(b, question == VD_BLOB_INFO ? "info" : "contents", name, (uint8_t)question);
}

void vd_blobs_flush(struct vd_blobs *b)
{
    add_question(b, "info", VD_SLICE("-"), LAST);
    vd_buf_add_text(&b->asks, "flush\n");
    vd_process_write(&b->git.process, vd_buf_slice(&b->asks));
    vd_buf_release(&b->asks);
}

void vd_blobs_close(struct vd_blobs *b)
{
    b->closed = true;
    vd_process_close_input(&b->git.process);
    vd_git_process_stop(&b->git);
}
