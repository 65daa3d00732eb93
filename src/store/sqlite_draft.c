/*
 * See sqlite_draft.h.
 *
 * The draft's own descriptor stays open from the first byte to the rename. It
 * carries an advisory lock (flock, which SQLite does not use), so two backups to
 * one name cannot write into each other; and since closing any descriptor of a
 * file drops the process's POSIX locks on it, which SQLite does use, it is closed
 * after SQLite's.
 */
#include "store/sqlite_draft.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/sqlite_file.h"

enum {
    FILE_MODE = 0600,       /* a log holds secrets */
    COPY_PAGES = 256,       /* pages that one step copies: 1 MiB */
    PROGRESS_STEPS = 20000, /* instructions of SQLite's virtual machine between two calls of the
                               progress while it packs */
};

static enum vd_code code_of_errno(int number)
{
    return number == ENOSPC || number == EDQUOT ? VD_ERR_FULL : VD_ERR_IO;
}

static int fail(const char *doing, const char *path, struct vd_error *error)
{
    int number = errno;
    return vd_error_set(error, code_of_errno(number), "could not %s %s: %s", doing, path,
                        strerror(number));
}

/* Removes what SQLite may have left beside a draft that was interrupted: it would
 * be taken for a part of the new one. */
static void remove_beside(const struct vd_log_draft *draft)
{
    static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
    struct vd_buf name = {0};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        vd_buf_reset(&name);
        vd_buf_addf(&name, "%s%s", vd_buf_text(&draft->path), suffixes[i]);
        unlink(vd_buf_text(&name));
    }
    vd_buf_release(&name);
}

/* Whether the name still belongs to the file that was opened: the process that held the lock before
 * may have renamed that file when it published its draft. */
static bool is_still_there(const struct vd_log_draft *draft)
{
    struct stat opened, named;
    return fstat(draft->fd, &opened) == 0 && stat(vd_buf_text(&draft->path), &named) == 0 &&
           opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

int vd_log_draft_open(struct vd_log_draft *draft, const char *target, struct vd_error *error)
{
    *draft = (struct vd_log_draft){.fd = -1};
    vd_buf_add_text(&draft->target, target);
    vd_buf_addf(&draft->path, "%s.partial", target);
    const char *path = vd_buf_text(&draft->path);
    draft->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (draft->fd < 0)
        return fail("make", path, error);
    if (flock(draft->fd, LOCK_EX | LOCK_NB) != 0 || !is_still_there(draft)) {
        close(draft->fd);
        draft->fd = -1; /* it is another process's draft: do not remove it */
        return vd_error_set(error, VD_ERR_LOCKED,
                            "another process is writing %s: wait for it, or use another name",
                            path);
    }
    remove_beside(draft);
    if (ftruncate(draft->fd, 0) != 0)
        return fail("empty", path, error);
    return VD_OK;
}

static int open_db(struct vd_log_draft *draft, struct vd_error *error)
{
    int rc = sqlite3_open_v2(vd_buf_text(&draft->path), &draft->db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        return vd_log_error(draft->db, rc, "could not open", error);
    sqlite3_extended_result_codes(draft->db, 1);
    return VD_OK;
}

/* Makes the draft one file, without a -wal beside it. */
static int settle(struct vd_log_draft *draft, struct vd_error *error)
{
    return vd_log_exec(draft->db, "PRAGMA journal_mode=DELETE", error);
}

int vd_log_draft_copy(struct vd_log_draft *draft, sqlite3 *source,
                      const struct vd_progress *progress, struct vd_error *error)
{
    assert(sqlite3_txn_state(source, "main") != SQLITE_TXN_NONE);
    int code = open_db(draft, error);
    if (code)
        return code;
    sqlite3_backup *backup = sqlite3_backup_init(draft->db, "main", source, "main");
    int rc = SQLITE_OK;
    while (backup && (rc = sqlite3_backup_step(backup, COPY_PAGES)) == SQLITE_OK) {
        uint64_t total = (uint64_t)sqlite3_backup_pagecount(backup);
        vd_progress_step(progress, "copying", total - (uint64_t)sqlite3_backup_remaining(backup),
                         total);
    }
    if (backup)
        rc = sqlite3_backup_finish(backup);
    if (!backup || rc != SQLITE_OK)
        return vd_log_error(draft->db, backup ? rc : sqlite3_errcode(draft->db),
                            "could not copy the log to", error);
    return settle(draft, error);
}

/* ---- packing ---- */

struct packing {
    const struct vd_log_draft *draft;
    const struct vd_progress *progress;
    uint64_t total; /* bytes, about */
};

static int packing_step(void *arg)
{
    struct packing *p = arg;
    struct stat s;
    uint64_t done = fstat(p->draft->fd, &s) == 0 ? (uint64_t)s.st_size : 0;
    vd_progress_step(p->progress, "packing", done < p->total ? done : p->total, p->total);
    return 0;
}

static int pack(struct vd_log_draft *draft, sqlite3 *source, struct vd_error *error)
{
    sqlite3_stmt *vacuum = NULL;
    int code = vd_log_prepare(source, &vacuum, "VACUUM INTO ?", error);
    if (code)
        return code;
    sqlite3_bind_text(vacuum, 1, vd_buf_text(&draft->path), -1, SQLITE_STATIC);
    int rc = sqlite3_step(vacuum);
    if (rc != SQLITE_DONE)
        code = vd_log_error(source, rc, "could not pack", error);
    sqlite3_finalize(vacuum);
    return code;
}

int vd_log_draft_copy_packed(struct vd_log_draft *draft, sqlite3 *source,
                             const struct vd_progress *progress, struct vd_error *error)
{
    int64_t pages = 0, unused = 0, page = 0;
    int code = vd_log_number(source, "PRAGMA page_count", &pages, error);
    if (!code)
        code = vd_log_number(source, "PRAGMA freelist_count", &unused, error);
    if (!code)
        code = vd_log_number(source, "PRAGMA page_size", &page, error);
    if (code)
        return code;
    struct packing p = {draft, progress, (uint64_t)((pages - unused) * page)};
    sqlite3_progress_handler(source, PROGRESS_STEPS, packing_step, &p);
    code = pack(draft, source, error);
    sqlite3_progress_handler(source, 0, NULL, NULL);
    if (!code)
        code = open_db(draft, error);
    return code ? code : settle(draft, error);
}

/* ---- checking ---- */

static void keep_first(void *arg, const struct vd_finding *f)
{
    struct vd_buf *first = arg;
    if (first->n)
        return;
    if (f->revision)
        vd_buf_addf(first, "revision %llu", (unsigned long long)f->revision);
    if (f->key)
        vd_buf_addf(first, " (%.*s %.*s/%.*s)", VD_FMT(f->key->resource), VD_FMT(f->key->namespace),
                    VD_FMT(f->key->name));
    vd_buf_addf(first, "%s%s", first->n ? ": " : "", f->text);
}

int vd_log_draft_verify(struct vd_log_draft *draft, const struct vd_progress *progress,
                        struct vd_verify_result *result, struct vd_error *error)
{
    struct vd_buf first = {0};
    struct vd_verify how = {VD_VERIFY_PAGES_NONE, keep_first, &first, progress};
    struct vd_verify_result checked;
    int code = vd_log_verify(draft->db, &how, &checked, error);
    if (!code && checked.problems)
        code = vd_error_set(error, VD_ERR_CORRUPT, "%llu problem%s found, the first: %s",
                            (unsigned long long)checked.problems, checked.problems == 1 ? "" : "s",
                            vd_buf_text(&first));
    if (!code)
        *result = checked;
    vd_buf_release(&first);
    return code;
}

/* ---- publishing ---- */

static int sync_folder_of(const char *path, struct vd_error *error)
{
    char *copy = vd_strdup(path);
    const char *folder = dirname(copy);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int code = fd < 0 || fsync(fd) != 0 ? fail("sync the folder", folder, error) : VD_OK;
    if (fd >= 0)
        close(fd);
    free(copy);
    return code;
}

/* Not every file system can rename without replacing. On one that cannot, a file of that name is
 * looked for first, and one that is made between the look and the rename is replaced. */
static int rename_to(const char *from, const char *to, bool replace)
{
    if (replace)
        return rename(from, to);
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (access(to, F_OK) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

int vd_log_draft_publish(struct vd_log_draft *draft, bool replace, uint64_t *bytes,
                         struct vd_error *error)
{
    const char *path = vd_buf_text(&draft->path), *target = vd_buf_text(&draft->target);
    struct stat s;
    int rc = sqlite3_close(draft->db);
    assert(rc == SQLITE_OK);
    (void)rc;
    draft->db = NULL;
    if (fsync(draft->fd) != 0 || fstat(draft->fd, &s) != 0)
        return fail("sync", path, error);
    if (rename_to(path, target, replace) != 0) {
        if (errno == EEXIST)
            return vd_error_set(error, VD_ERR_EXISTS, "%s exists by now", target);
        return fail("make", target, error);
    }
    close(draft->fd);
    draft->fd = -1;
    *bytes = (uint64_t)s.st_size;
    return sync_folder_of(target, error);
}

void vd_log_draft_close(struct vd_log_draft *draft)
{
    sqlite3_close(draft->db);
    if (draft->fd >= 0) {
        remove_beside(draft);
        unlink(vd_buf_text(&draft->path));
        close(draft->fd);
    }
    vd_buf_release(&draft->target);
    vd_buf_release(&draft->path);
    *draft = (struct vd_log_draft){.fd = -1};
}
