/* See fetch.h: what a fetch that has failed says. */
#include <inttypes.h>
#include <string.h>

#include "base/limits.h"
#include "git/fetch.h"
#include "git/fetch_quarantine.h"

static bool says(const struct vd_fetch *f, const char *text)
{
    return memmem(f->said.p, f->said.n, text, strlen(text)) != NULL;
}

/* git would ask somebody for a password. ssh has said what it tried. */
static bool asks_for_credentials(const struct vd_fetch *f)
{
    return says(f, "could not read Username") || says(f, "could not read Password") ||
           says(f, "Authentication failed for") || says(f, "Permission denied (publickey");
}

/* The line that says what is wrong: "fatal: ...", unless that only means what ssh has said in the
 * first one. Others may have written it: what is not printable is taken out. */
static struct vd_slice words(struct vd_fetch *f)
{
    struct vd_slice rest = vd_slice_trim(vd_buf_slice(&f->said)), line, first = rest;
    for (size_t i = 0; i < f->said.n; i++)
        if (f->said.p[i] != '\n' && ((unsigned char)f->said.p[i] < ' ' || f->said.p[i] == 127))
            f->said.p[i] = ' ';
    for (bool is_first = true; vd_slice_cut(&rest, '\n', &line); is_first = false) {
        if (is_first)
            first = line;
        if (vd_slice_starts_with(line, VD_SLICE("fatal: ")) &&
            !vd_slice_starts_with(line, VD_SLICE("fatal: Could not read from remote")))
            return vd_slice_from(line, 7);
    }
    return first.n ? first : VD_SLICE("git says nothing");
}

/* Whether a signal has ended git index-pack, which takes what is fetched: it could say nothing. */
static bool was_ended(struct vd_slice said)
{
    return vd_slice_is(said, "fetch-pack: invalid index-pack output") ||
           vd_slice_starts_with(said, VD_SLICE("error: index-pack died of signal"));
}

/* Which of its limits it was: how much it has written tells. */
static void describe_limit(const struct vd_fetch *f, struct vd_error *error)
{
    bool is_long = vd_fetch_quarantine_len(f->place.folder) >= f->pack_len_max;
    if (is_long && f->pack_len_max < VD_GIT_FETCH_LEN_MAX)
        (void)vd_error_set(error, VD_ERR_FULL,
                           "no space left: what was fetched has more than the %" PRIu64 " bytes "
                           "that the server's disk has, besides those that are kept for the "
                           "store: make room there",
                           f->pack_len_max);
    else if (is_long)
        (void)vd_error_set(error, VD_ERR_LIMIT, "what was fetched has more than %d bytes",
                           VD_GIT_FETCH_LEN_MAX);
    else
        (void)vd_error_set(error, VD_ERR_LIMIT,
                           "git index-pack was ended: what was fetched needs more than its %d MiB "
                           "of memory or %d s of CPU time",
                           VD_GIT_FETCH_MEMORY_MIB, VD_GIT_CPU_S);
}

void vd_fetch_describe(struct vd_fetch *f, const struct vd_process_exit *exit,
                       struct vd_error *error)
{
    struct vd_slice said = words(f);
    if (f->is_stopped || exit->is_stopped)
        (void)vd_error_set(error, VD_ERR_CLOSED, "the fetch was given up");
    else if (exit->timed_out)
        (void)vd_error_set(error, VD_ERR_LIMIT, "the fetch took longer than %d s",
                           VD_GIT_FETCH_MS / 1000);
    else if (exit->signal)
        (void)vd_error_set(error, VD_ERR_IO, "git fetch was ended by signal %d", exit->signal);
    else if (was_ended(said))
        describe_limit(f, error);
    else if (says(f, "Out of memory") || says(f, "out of memory"))
        (void)vd_error_set(error, VD_ERR_LIMIT,
                           "git needs more than its %d MiB of memory for what the remote sends",
                           VD_GIT_FETCH_MEMORY_MIB);
    else if (asks_for_credentials(f) && f->secret)
        (void)vd_error_set(error, VD_ERR_FORBIDDEN,
                           "the remote refused the credentials of Secret %s", f->secret);
    else if (asks_for_credentials(f))
        (void)vd_error_set(error, VD_ERR_FORBIDDEN,
                           "the remote asks for credentials: set spec.remote.secretRef");
    else
        (void)vd_error_set(error, VD_ERR_IO, "%.*s", VD_FMT(said));
}
