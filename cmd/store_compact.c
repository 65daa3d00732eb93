/*
 * vedette store compact
 *
 * The store itself moves the floor, so that there is only one compactor. Then the log's free pages
 * are given back to the file system, which a running server never does.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "base/quantity.h"
#include "data_folder.h"
#include "progress.h"
#include "store/folder.h"
#include "store/sqlite_backup.h"
#include "store/sqlite_stats.h"
#include "terminal.h"

enum { OPTION_DATA, OPTION_KEEP_EVENTS, OPTION_KEEP_AGE, OPTION_FLOOR, OPTION_OUTPUT };

static const struct vd_option options[] = {
    [OPTION_DATA] = VD_OPTION_DATA_ENTRY("the server's data folder"),
    [OPTION_KEEP_EVENTS] = {.name = "keep-events",
                            .value = "N",
                            .type = VD_OPTION_NUMBER,
                            .help = "keep at most the N newest events in the window"},
    [OPTION_KEEP_AGE] = {.name = "keep-age",
                         .value = "TIME",
                         .type = VD_OPTION_DURATION,
                         .help = "keep no event that is older: 1h30m, 7d"},
    [OPTION_FLOOR] = {.name = "floor",
                      .value = "R",
                      .type = VD_OPTION_NUMBER,
                      .help = "expire cursors at or below revision R"},
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
};

/* What the options ask for; without any, the server's own window. */
static int wanted_floor(const struct vd_option_value *values, uint64_t *floor,
                        struct vd_error *error)
{
    const struct vd_option_value *events = &values[OPTION_KEEP_EVENTS];
    const struct vd_option_value *age = &values[OPTION_KEEP_AGE];
    bool any = events->given || age->given || values[OPTION_FLOOR].given;
    uint64_t events_max = events->given ? events->number
                          : any         ? UINT64_MAX
                                        : VD_WINDOW_EVENTS_DEFAULT;
    int64_t since_ms = INT64_MIN;
    if (age->given || !any)
        since_ms = vd_clock_wall_ms(vd_clock_system()) -
                   (age->given ? (int64_t)age->number : (int64_t)VD_WINDOW_AGE_S_DEFAULT * 1000);
    uint64_t by_window = 0;
    int code = vd_log_floor_for(values[OPTION_DATA].text, events_max, since_ms, &by_window, error);
    if (!code)
        *floor = values[OPTION_FLOOR].number > by_window ? values[OPTION_FLOOR].number : by_window;
    return code;
}

static int move_floor(const struct vd_option_value *values, struct vd_error *error)
{
    struct vd_store *store = NULL;
    struct vd_folder folder = {.path = values[OPTION_DATA].text};
    struct vd_store_options how = {.manual_compaction = true};
    uint64_t floor = 0;
    int code = vd_store_open_in(&store, &folder, &how, error);
    if (code == VD_ERR_LOCKED)
        vd_error_prefix(error, "a server compacts by itself");
    if (!code)
        code = wanted_floor(values, &floor, error);
    if (!code)
        code = vd_store_compact(store, floor, error);
    vd_store_close(store);
    return code;
}

static void print_json(const char *name, const struct vd_log_stats *s, const char *end)
{
    unsigned long long floor = s->floor, rows = s->rows, unused = s->free_bytes;
    unsigned long long bytes = s->file_bytes + s->wal_bytes;
    printf("\"%s\":{\"floor\":%llu,\"rows\":%llu,\"fileBytes\":%llu,\"freeBytes\":%llu}%s", name,
           floor, rows, bytes, unused, end);
}

static void print_text(const char *name, const struct vd_log_stats *s)
{
    char size[VD_QUANTITY_MAX];
    printf("%-6s floor %llu, %llu rows, %s\n", name, (unsigned long long)s->floor,
           (unsigned long long)s->rows, vd_bytes_text(s->file_bytes + s->wal_bytes, size));
}

static int compact(const struct vd_option_value *values, struct vd_log_stats *before,
                   struct vd_log_stats *after, struct vd_error *error)
{
    const char *folder = values[OPTION_DATA].text;
    struct vd_progress_line line;
    vd_progress_line_init(&line);
    int code = vd_data_folder_check(folder, error);
    if (!code)
        code = vd_log_stats_read(before, folder, error);
    if (!code)
        code = move_floor(values, error);
    if (!code)
        code = vd_log_shrink(folder, vd_progress_of(&line), error);
    if (!code)
        code = vd_log_stats_read(after, folder, error);
    vd_progress_line_end(&line);
    return code;
}

static enum vd_exit run(const struct vd_option_value *values)
{
    struct vd_log_stats before = {0}, after = {0};
    struct vd_error error;
    int code = compact(values, &before, &after, &error);
    if (code) {
        vd_complain("%s", error.text);
    } else if (vd_option_is_json(&values[OPTION_OUTPUT])) {
        printf("{");
        print_json("before", &before, ",");
        print_json("after", &after, "}\n");
    } else {
        print_text("before", &before);
        print_text("after", &after);
    }
    vd_log_stats_release(&before);
    vd_log_stats_release(&after);
    return code ? VD_EXIT_FAILED : VD_EXIT_OK;
}

const struct vd_command vd_command_store_compact = {
    .name = "compact",
    .summary = "Shorten the history and return its space; the server must be stopped.",
    .details = "A running server compacts by itself; this is for returning the space, or for a\n"
               "shorter window than the server's. When several bounds are given, each one holds;\n"
               "without any, the server's defaults do. It needs room for a second copy.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
