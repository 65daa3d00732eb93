/*
 * Checking a log file, row by row.
 *
 * Only reads, inside one read transaction, so a server may go on writing. It
 * does not stop at the first problem: each one is a *finding*, and what follows
 * from damage that was reported already is not reported again.
 */
#ifndef VD_STORE_SQLITE_VERIFY_H
#define VD_STORE_SQLITE_VERIFY_H

#include <sqlite3.h>

#include "base/error.h"
#include "store/key.h"
#include "store/progress.h"

/* clang-format off */
#define VD_FINDINGS(X)                                                                        \
    X(VD_FINDING_FILE,     "file")     /* SQLite finds its own structures damaged */           \
    X(VD_FINDING_META,     "meta")     /* base or floor are wrong */                           \
    X(VD_FINDING_HEAD,     "head")     /* a row's head fails its checksum: whose, is unknown */ \
    X(VD_FINDING_BODY,     "body")     /* a version's body fails its checksum */               \
    X(VD_FINDING_CHAIN,    "chain")    /* a row does not follow from the one before */         \
    X(VD_FINDING_GAP,      "gap")      /* rows of the window are missing */                    \
    X(VD_FINDING_LEFTOVER, "leftover") /* compaction should have removed the row */            \
    X(VD_FINDING_BATCH,    "batch")    /* an atomic batch does not end */
/* clang-format on */

enum vd_finding_type {
#define VD_FINDING_ENUM(name, text) name,
    VD_FINDINGS(VD_FINDING_ENUM)
#undef VD_FINDING_ENUM
        VD_FINDING_COUNT
};

/* "body", for machines. */
const char *vd_finding_name(enum vd_finding_type type);

/* Borrowed for the call. */
struct vd_finding {
    enum vd_finding_type type;
    uint64_t revision;        /* 0: of no row */
    const struct vd_key *key; /* whose version it is; NULL: unknown, or of no row */
    const char *text;         /* what is wrong, without the revision and the key */
};

enum vd_verify_pages {
    VD_VERIFY_PAGES_FULL,  /* SQLite's integrity_check: every page and cell */
    VD_VERIFY_PAGES_QUICK, /* its quick_check */
    VD_VERIFY_PAGES_NONE,  /* rows only */
};

struct vd_verify {
    enum vd_verify_pages pages;
    void (*found)(void *arg, const struct vd_finding *finding); /* NULL: only count */
    void *arg;
    const struct vd_progress *progress; /* NULL allowed */
};

struct vd_verify_result {
    uint64_t rows;
    uint64_t objects;        /* that exist at the newest revision, as far as is known */
    uint64_t revision_first; /* of the oldest row, or the newest revision when there is none */
    uint64_t revision;       /* newest */
    uint64_t problems;
};

/*
 * Checks the log that vd_log_open() gave, in whatever mode. VD_OK means that it
 * was read to its end: result->problems says whether it is well. An error means
 * that it could not be read at all.
 */
int vd_log_verify(sqlite3 *db, const struct vd_verify *how, struct vd_verify_result *result,
                  struct vd_error *error) VD_MUST_USE;

#endif
