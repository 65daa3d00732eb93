/* vedette store stats */
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/quantity.h"
#include "data_folder.h"
#include "store/sqlite_stats.h"
#include "terminal.h"

enum { OPTION_DATA, OPTION_OUTPUT };

static const struct vd_option options[] = {
    [OPTION_DATA] = VD_OPTION_DATA_ENTRY("the server's data folder"),
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
};

static uint64_t window_age_ms(const struct vd_log_stats *s)
{
    int64_t now_ms = vd_clock_wall_ms(vd_clock_system());
    return s->window_events && now_ms > s->window_oldest_ms
               ? (uint64_t)(now_ms - s->window_oldest_ms)
               : 0;
}

static void print_json(const struct vd_log_stats *s)
{
    struct vd_buf out = {0};
    vd_buf_addf(&out,
                "{\"revision\":%llu,\"floor\":%llu,\"rows\":%llu,\"windowEvents\":%llu,"
                "\"windowAgeMs\":%llu,\"objects\":%llu,\"objectBytes\":%llu,\"fileBytes\":%llu,"
                "\"walBytes\":%llu,\"freeBytes\":%llu,\"kinds\":[",
                (unsigned long long)s->revision, (unsigned long long)s->floor,
                (unsigned long long)s->rows, (unsigned long long)s->window_events,
                (unsigned long long)window_age_ms(s), (unsigned long long)s->objects,
                (unsigned long long)s->object_bytes, (unsigned long long)s->file_bytes,
                (unsigned long long)s->wal_bytes, (unsigned long long)s->free_bytes);
    for (size_t i = 0; i < s->resources.n; i++) {
        const struct vd_resource_stats *k = &s->resources.p[i];
        vd_buf_add_text(&out, i ? ",{\"kind\":" : "{\"kind\":");
        vd_json_add_text(&out, vd_slice_of(k->resource));
        vd_buf_addf(&out, ",\"objects\":%llu,\"bytes\":%llu}", (unsigned long long)k->objects,
                    (unsigned long long)k->bytes);
    }
    vd_buf_add_text(&out, "]}\n");
    fputs(vd_buf_text(&out), stdout);
    vd_buf_release(&out);
}

static void print_number(const char *label, uint64_t value)
{
    printf("%-16s %llu\n", label, (unsigned long long)value);
}

static void print_bytes(const char *label, uint64_t value)
{
    char text[VD_QUANTITY_MAX];
    printf("%-16s %s\n", label, vd_bytes_text(value, text));
}

static void print_kinds(const struct vd_log_stats *s)
{
    int width = (int)strlen("KIND");
    char text[VD_QUANTITY_MAX];
    for (size_t i = 0; i < s->resources.n; i++) {
        int n = (int)strlen(s->resources.p[i].resource);
        width = n > width ? n : width;
    }
    snprintf(text, sizeof text, "%12s %10s", "OBJECTS", "BODIES");
    struct vd_buf heading = {0};
    vd_buf_addf(&heading, "%-*s %s", width, "KIND", text);
    printf("\n");
    vd_print_heading(vd_buf_text(&heading));
    vd_buf_release(&heading);
    for (size_t i = 0; i < s->resources.n; i++)
        printf("%-*s %12llu %10s\n", width, s->resources.p[i].resource,
               (unsigned long long)s->resources.p[i].objects,
               vd_bytes_text(s->resources.p[i].bytes, text));
}

static void print_text(const struct vd_log_stats *s)
{
    char age[VD_QUANTITY_MAX];
    print_number("revision", s->revision);
    print_number("floor", s->floor);
    print_number("rows", s->rows);
    if (s->window_events)
        printf("%-16s %llu events, the oldest %s ago\n", "window",
               (unsigned long long)s->window_events, vd_duration_text(window_age_ms(s), age));
    else
        printf("%-16s empty\n", "window");
    print_number("objects", s->objects);
    print_bytes("bodies", s->object_bytes);
    print_bytes("file", s->file_bytes);
    print_bytes("of it free", s->free_bytes);
    print_bytes("write-ahead log", s->wal_bytes);
    if (s->resources.n)
        print_kinds(s);
}

static enum vd_exit run(const struct vd_option_value *values)
{
    const char *folder = values[OPTION_DATA].text;
    struct vd_log_stats stats = {0};
    struct vd_error error;
    int code = vd_data_folder_check(folder, &error);
    if (!code)
        code = vd_log_stats_read(&stats, folder, &error);
    if (code) {
        vd_complain("%s", error.text);
        return VD_EXIT_FAILED;
    }
    if (vd_option_is_json(&values[OPTION_OUTPUT]))
        print_json(&stats);
    else
        print_text(&stats);
    vd_log_stats_release(&stats);
    return VD_EXIT_OK;
}

const struct vd_command vd_command_store_stats = {
    .name = "stats",
    .summary = "Show what is in the data, while the server goes on.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
