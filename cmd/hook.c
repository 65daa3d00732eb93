/*
 * See hook.h. A hook is a relay between git and the server's channel (git/hook_channel.h):
 *
 * pre-receive reads one command a line from its standard input up to its end, and tells the server.
 * Push options are in its environment.
 * proc-receive speaks version 1 of its protocol, in pkt-lines, on standard input and output:
 *
 *     git    version=1\0push-options atomic    flush
 *     hook   version=1\0push-options           flush
 *     git    <old> <new> <ref> ...             flush
 *     git    <push option> ...                 flush       if both have said push-options
 *     hook   ok <ref> | ng <ref> <reason> ...  flush
 *
 * What the server answers as text goes to standard error, which git shows to whoever pushes. A hook
 * never waits longer than VD_HOOK_WAIT_MS for a byte of either side, and ends when one of them has
 * gone.
 */
#include "hook.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "git/hook_channel.h"
#include "git/pkt_line.h"

enum { PIECE = 16384 };

/* Where bytes come from, and those that were read and not used. */
struct source {
    int fd;
    struct vd_buf held;
    size_t used;
};

static struct vd_slice variable(const char *name)
{
    const char *value = getenv(name);
    return vd_slice_of(value ? value : "");
}

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody reads it */
}

static bool wait_for(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};
    int n;
    do
        n = poll(&p, 1, VD_HOOK_WAIT_MS);
    while (n < 0 && errno == EINTR);
    return n > 0;
}

static bool write_all(int fd, struct vd_slice bytes)
{
    while (bytes.n) {
        ssize_t n = wait_for(fd, POLLOUT) ? write(fd, bytes.p, bytes.n) : -1;
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        bytes = vd_slice_from(bytes, n > 0 ? (size_t)n : 0);
    }
    return true;
}

static struct vd_slice unread(const struct source *s)
{
    return vd_slice_from(vd_buf_slice(&s->held), s->used);
}

/* Reads some bytes more: their number, 0 at the end, -1 if that fails or takes too long. */
static ssize_t read_more(struct source *s)
{
    ssize_t n = -1;
    if (s->used == s->held.n)
        s->used = 0, vd_buf_reset(&s->held);
    vd_buf_reserve(&s->held, PIECE);
    do
        n = wait_for(s->fd, POLLIN) ? read(s->fd, s->held.p + s->held.n, PIECE) : -1;
    while (n < 0 && (errno == EINTR || errno == EAGAIN));
    s->held.n += n > 0 ? (size_t)n : 0;
    return n;
}

/* ---- git's side ---- */

static bool next_packet(struct source *in, struct vd_pkt_line *out)
{
    for (;;) {
        enum vd_pkt_line_result r = vd_pkt_line_read(unread(in), out);
        if (r == VD_PKT_LINE_DONE) {
            in->used += out->len;
            return true;
        }
        if (r == VD_PKT_LINE_BAD || read_more(in) <= 0)
            return false;
    }
}

/* Tells the server a list of packets, each as a message of this type. */
static bool relay_list(struct source *in, struct vd_buf *out, enum vd_hook_message_type type)
{
    struct vd_pkt_line line;
    while (next_packet(in, &line)) {
        if (line.flush)
            return true;
        vd_hook_message_write(out, type, line.payload);
    }
    return false;
}

/* "version=1\0push-options atomic": whether git speaks this version, and tells push options. */
static bool read_version(struct source *in, bool *push_options)
{
    struct vd_pkt_line line;
    if (!next_packet(in, &line) || line.flush)
        return false;
    struct vd_slice rest = line.payload, version, feature;
    *push_options = false;
    bool right = vd_slice_cut(&rest, 0, &version) && vd_slice_is(version, "version=1");
    while (rest.p && vd_slice_cut(&rest, ' ', &feature))
        *push_options |= vd_slice_is(feature, "push-options");
    return next_packet(in, &line) && line.flush && right;
}

static bool write_version(bool push_options)
{
    struct vd_buf out = {0};
    vd_pkt_line_write(&out,
                      push_options ? VD_SLICE("version=1\0push-options") : VD_SLICE("version=1"));
    vd_pkt_line_write_flush(&out);
    bool written = write_all(STDOUT_FILENO, vd_buf_slice(&out));
    vd_buf_release(&out);
    return written;
}

static bool relay_proc_receive(struct source *in, struct vd_buf *out)
{
    bool push_options;
    return read_version(in, &push_options) && write_version(push_options) &&
           relay_list(in, out, VD_HOOK_COMMAND) &&
           (!push_options || relay_list(in, out, VD_HOOK_OPTION));
}

/* pre-receive is told push options by its environment. */
static void relay_options(struct vd_buf *out)
{
    char name[40];
    uint64_t n = 0;
    if (vd_slice_to_u64(variable("GIT_PUSH_OPTION_COUNT"), &n))
        return;
    for (uint64_t i = 0; i < n && i < VD_PUSH_OPTIONS_MAX; i++) {
        (void)snprintf(name, sizeof name, "GIT_PUSH_OPTION_%llu", (unsigned long long)i);
        vd_hook_message_write(out, VD_HOOK_OPTION, variable(name));
    }
}

static bool relay_pre_receive(struct source *in, struct vd_buf *out)
{
    ssize_t n;
    do
        n = read_more(in);
    while (n > 0 && in->held.n <= VD_PUSH_COMMANDS_LEN_MAX);
    if (n)
        return false;
    struct vd_slice rest = vd_buf_slice(&in->held), line;
    while (vd_slice_cut(&rest, '\n', &line))
        if (line.n)
            vd_hook_message_write(out, VD_HOOK_COMMAND, line);
    relay_options(out);
    return true;
}

/* ---- the server's side ---- */

/* The exit status that the server has sent, or -1: it has gone away. */
static int obey(struct source *channel, struct vd_buf *report)
{
    struct vd_hook_message m;
    for (;;) {
        enum vd_hook_result r = vd_hook_message_read(unread(channel), &m);
        if (r == VD_HOOK_BAD || (r == VD_HOOK_MORE && read_more(channel) <= 0))
            return -1;
        if (r == VD_HOOK_MORE)
            continue;
        channel->used += m.len;
        if (m.type == VD_HOOK_TEXT)
            (void)!write_all(STDERR_FILENO, m.payload);
        else if (m.type == VD_HOOK_REPORT)
            vd_pkt_line_write(report, m.payload);
        else if (m.type == VD_HOOK_EXIT)
            return vd_slice_is(m.payload, "0") ? 0 : 1;
        else
            return -1;
    }
}

static int gone_away(void)
{
    say("the server has gone away\n");
    return 1;
}

static int talk(const char *hook, struct source *in, struct source *channel, struct vd_buf *out)
{
    bool reports = strcmp(hook, "proc-receive") == 0;
    struct vd_hook_begin begin = {
        .hook = vd_slice_of(hook),
        .objects = variable("GIT_OBJECT_DIRECTORY"),
        .alternates = variable("GIT_ALTERNATE_OBJECT_DIRECTORIES"),
        .quarantine = variable("GIT_QUARANTINE_PATH"),
    };
    vd_hook_begin_write(out, &begin);
    if (!(reports ? relay_proc_receive(in, out) : relay_pre_receive(in, out))) {
        say("the hook does not understand what git says\n");
        return 1;
    }
    vd_hook_message_write(out, VD_HOOK_READY, VD_SLICE(""));
    if (!write_all(VD_HOOK_CHANNEL_FD, vd_buf_slice(out)))
        return gone_away();
    vd_buf_reset(out);
    int status = obey(channel, out);
    if (status < 0)
        return gone_away();
    vd_pkt_line_write_flush(out);
    if (reports && !write_all(STDOUT_FILENO, vd_buf_slice(out)))
        return 1;
    return status;
}

/* git has been started by somebody else than the server: the repository's own settings name the
 * hooks, too, so that such a push does not go past the server. */
static bool has_channel(void)
{
    struct stat found;
    return fstat(VD_HOOK_CHANNEL_FD, &found) == 0 && S_ISSOCK(found.st_mode);
}

const char *vd_hook_of(const char *program)
{
    const char *slash = program ? strrchr(program, '/') : NULL;
    const char *name = slash ? slash + 1 : program;
    if (name && (strcmp(name, "pre-receive") == 0 || strcmp(name, "proc-receive") == 0))
        return name;
    return NULL;
}

int vd_hook_run(const char *hook)
{
    struct source in = {.fd = STDIN_FILENO}, channel = {.fd = VD_HOOK_CHANNEL_FD};
    struct vd_buf out = {0};
    if (!has_channel()) {
        say("push to the server's URL, not into its folder: the server has to see every push\n");
        return 1;
    }
    int status = talk(hook, &in, &channel, &out);
    vd_buf_release(&in.held);
    vd_buf_release(&channel.held);
    vd_buf_release(&out);
    return status;
}
