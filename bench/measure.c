/* See measure.h. */
#include "measure.h"

#include <ftw.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "store/folder.h"

double measure_now_s(void)
{
    return (double)vd_clock_mono_ns(vd_clock_system()) / 1e9;
}

size_t measure_resident(void)
{
    char line[256] = "";
    uint64_t pages = 0;
    malloc_trim(0);
    FILE *file = fopen("/proc/self/statm", "r");
    struct vd_slice rest = vd_slice_of(file && fgets(line, sizeof line, file) ? line : ""), word;
    if (file)
        fclose(file);
    if (!vd_slice_cut(&rest, ' ', &word) || !vd_slice_cut(&rest, ' ', &word) ||
        vd_slice_to_u64(word, &pages) != 0)
        return 0;
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

char *measure_folder_new(void)
{
    struct vd_buf path = {0};
    const char *base = getenv("BENCH_FOLDER");
    vd_buf_addf(&path, "%s/vedette-bench-XXXXXX", base && *base ? base : ".");
    char *folder = vd_buf_take(&path, NULL);
    if (!mkdtemp(folder)) {
        fprintf(stderr, "bench: could not make a folder like %s; set BENCH_FOLDER\n", folder);
        exit(2);
    }
    return folder;
}

static int remove_one(const char *path, const struct stat *s, int flag, struct FTW *ftw)
{
    (void)s;
    (void)flag;
    (void)ftw;
    return remove(path);
}

void measure_folder_remove(char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

struct vd_template measure_body(struct vd_buf *room, const char *name, uint64_t n, size_t len)
{
    vd_buf_reset(room);
    vd_buf_addf(room,
                "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"%s\","
                "\"namespace\":\"default\",\"labels\":{\"app\":\"bench\"},\"resourceVersion\":\"",
                name);
    uint32_t hole = (uint32_t)room->n;
    vd_buf_addf(room, "\"},\"data\":{\"n\":\"%llu\",\"pad\":\"", (unsigned long long)n);
    while (room->n + 3 < len)
        vd_buf_add_char(room, (char)('a' + room->n % 26));
    vd_buf_add_text(room, "\"}}");
    return (struct vd_template){vd_buf_slice(room), hole};
}

void measure_print(const char *what, double figure, const char *unit, const char *note)
{
    char digits[64], grouped[96];
    int n = snprintf(digits, sizeof digits, figure < 100 ? "%.2f" : "%.0f", figure);
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        grouped[at++] = digits[i];
        int left = n - 1 - i;
        if (figure >= 100 && left && left % 3 == 0)
            grouped[at++] = ',';
    }
    grouped[at] = 0;
    printf("  %-46s %14s %-9s %s\n", what, grouped, unit, note);
    fflush(stdout);
}

void measure_target(const char *what, double figure, const char *unit, bool met, const char *target)
{
    char note[128];
    snprintf(note, sizeof note, "%s %s", met ? "ok  " : "MISS", target);
    measure_print(what, figure, unit, note);
}

struct vd_store *measure_open(const char *folder, const struct vd_store_options *options)
{
    struct vd_store *store = NULL;
    struct vd_error error;
    if (vd_store_open_in(&store, &(struct vd_folder){.path = folder}, options, &error)) {
        fprintf(stderr, "bench: %s\n", error.text);
        exit(2);
    }
    return store;
}

enum { BATCH = 1000 };

void measure_fill(struct vd_store *store, size_t n, size_t len)
{
    struct vd_wish *wishes = vd_calloc(BATCH, sizeof *wishes);
    struct vd_buf *bodies = vd_calloc(BATCH, sizeof *bodies);
    char(*names)[24] = vd_calloc(BATCH, sizeof *names);
    for (size_t from = 0; from < n; from += BATCH) {
        size_t count = n - from < BATCH ? n - from : BATCH;
        for (size_t i = 0; i < count; i++) {
            snprintf(names[i], sizeof names[i], "o-%zu", from + i);
            wishes[i] = (struct vd_wish){
                .key = {VD_SLICE("things"), VD_SLICE("default"), vd_slice_of(names[i])},
                .body = measure_body(&bodies[i], names[i], from, len),
            };
        }
        struct vd_outcome outcome;
        if (vd_store_commit(store, wishes, count, &outcome)) {
            fprintf(stderr, "bench: %s\n", outcome.error.text);
            exit(2);
        }
    }
    for (size_t i = 0; i < BATCH; i++)
        vd_buf_release(&bodies[i]);
    free(names);
    free(bodies);
    free(wishes);
}
