/* What the benchmarks share: time, memory, objects, and one line per figure. */
#ifndef VD_BENCH_MEASURE_H
#define VD_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "store/admitted.h"
#include "store/store.h"

double measure_now_s(void);

/* Resident memory of this process, in bytes, after giving free memory back. */
size_t measure_resident(void);

/* A new folder beside the build (or $BENCH_FOLDER), so that figures are of a real
 * disk and not of a memory file system; the caller removes it. */
char *measure_folder_new(void);
void measure_folder_remove(char *folder);

/* A body of about `len` bytes, with a revision's hole and a label. */
struct vd_template measure_body(struct vd_buf *room, const char *name, uint64_t n, size_t len);

/* "  what                 1,234,567 unit   note" */
void measure_print(const char *what, double figure, const char *unit, const char *note);

/* The same with a target: says whether it was met. A target that is missed is printed but does not
 * fail the run, as the machine may have been busy. */
void measure_target(const char *what, double figure, const char *unit, bool met,
                    const char *target);

/* Fills a store with `n` objects of a resource "things" in namespace "default", in atomic batches;
 * names are "o-0", "o-1"... */
void measure_fill(struct vd_store *store, size_t n, size_t len);

/* Opens a store, or ends the program with the reason. */
struct vd_store *measure_open(const char *folder, const struct vd_store_options *options);

#endif
