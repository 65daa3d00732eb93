/*
 * Messages of hooks, pkt-lines and what git prints, from arbitrary bytes. What is read says that it
 * is no longer than the bytes, and a message that is written again is the same bytes.
 */
#include "fuzz.h"

#include <string.h>

#include "base/limits.h"
#include "git/hook_channel.h"
#include "git/object_answer.h"
#include "git/pkt_line.h"
#include "git/ref_command.h"
#include "git/tree_files.h"

static void read_messages(struct vd_slice rest)
{
    struct vd_hook_message m;
    while (vd_hook_message_read(rest, &m) == VD_HOOK_DONE) {
        struct vd_hook_begin begin;
        struct vd_ref_command command;
        struct vd_buf again = {0};
        FUZZ_CHECK(m.len <= rest.n && m.payload.n <= VD_HOOK_MESSAGE_LEN_MAX);
        vd_hook_message_write(&again, m.type, m.payload);
        FUZZ_CHECK(again.n == m.len && memcmp(again.p, rest.p, m.len) == 0);
        vd_buf_reset(&again);
        if (m.type == VD_HOOK_BEGIN && vd_hook_begin_read(m.payload, &begin)) {
            vd_hook_begin_write(&again, &begin);
            FUZZ_CHECK(again.n == m.len && memcmp(again.p, rest.p, m.len) == 0);
        }
        if (vd_ref_command_read(m.payload, &command))
            FUZZ_CHECK(command.before.n + command.after.n + command.ref.n + 2 == m.payload.n);
        vd_buf_release(&again);
        rest = vd_slice_from(rest, m.len);
    }
}

static void read_packets(struct vd_slice rest)
{
    struct vd_pkt_line line;
    while (vd_pkt_line_read(rest, &line) == VD_PKT_LINE_DONE) {
        FUZZ_CHECK(line.len >= 4 && line.len <= rest.n && line.payload.n <= line.len - 4);
        rest = vd_slice_from(rest, line.len);
    }
}

static void read_files(struct vd_slice text, enum vd_tree_format format, size_t piece)
{
    struct vd_tree_files t = {.files_max = 20};
    int rc = 0;
    for (size_t at = 0; at < text.n && !rc; at += piece) {
        size_t n = text.n - at < piece ? text.n - at : piece;
        rc = vd_tree_files_read(&t, format, vd_slice(text.p + at, n), NULL);
    }
    FUZZ_CHECK(t.old_files.n <= 20 && t.new_files.n <= 20);
    for (size_t i = 0; i < t.new_files.n; i++)
        FUZZ_CHECK(t.new_files.p[i].path.n && t.new_files.p[i].path.n <= VD_GIT_PATH_LEN_MAX);
    vd_tree_files_release(&t);
}

static void read_answers(struct vd_slice rest)
{
    struct vd_object_answer a;
    size_t used = 1;
    while (used && !vd_object_answer_read(rest, true, 100, &a, &used, NULL)) {
        FUZZ_CHECK(used <= rest.n);
        FUZZ_CHECK(!used || a.contents.n <= 100);
        rest = vd_slice_from(rest, used);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct vd_slice text = vd_slice(data + 1, size - 1);
    read_messages(text);
    read_packets(text);
    for (int format = VD_TREE_DIFF; format <= VD_TREE_LIST_NEW; format++)
        read_files(text, (enum vd_tree_format)format, (size_t)data[0] + 1);
    read_answers(text);
    return 0;
}
