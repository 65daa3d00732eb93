/* vedette top */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "base/terminal.h"
#include "data_folder.h"
#include "server_ask.h"
#include "terminal.h"
#include "json/write.h"

enum { OPTION_DATA, OPTION_WATCH, OPTION_INTERVAL, OPTION_OUTPUT };

static const struct vd_option options[] = {
    [OPTION_DATA] = VD_OPTION_DATA_ENTRY("the server's data folder"),
    [OPTION_WATCH] = {.name = "watch", .type = VD_OPTION_SWITCH, .help = "show it again and again"},
    [OPTION_INTERVAL] = {.name = "interval",
                         .value = "TIME",
                         .type = VD_OPTION_DURATION,
                         .help = "over which rates are taken; 1s unless given"},
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
};

/* What the server said, and when. */
struct look {
    struct vd_arena arena;
    struct vd_json *document;
    uint64_t ns;
};

static int take_look(struct look *look, const char *folder, struct vd_error *error)
{
    vd_arena_reset(&look->arena);
    look->ns = vd_clock_mono_ns(vd_clock_system());
    return vd_server_ask(&look->arena, folder, "/debug/usage", &look->document, error);
}

static double number(const struct vd_json *user, const char *key)
{
    int64_t value = 0;
    const struct vd_json *member = vd_json_get(user, vd_slice_of(key));
    return member && vd_json_to_i64(member, &value) ? (double)value : 0;
}

static const struct vd_json *users_of(const struct look *look)
{
    const struct vd_json *users = vd_json_get(look->document, VD_SLICE("users"));
    return users && vd_json_is(users, VD_JSON_ARRAY) ? users : NULL;
}

static const struct vd_json *find_user(const struct look *look, struct vd_slice name)
{
    const struct vd_json *users = users_of(look);
    for (size_t i = 0; users && i < users->n; i++) {
        const struct vd_json *user = vd_json_at(users, i);
        if (vd_slice_eq(vd_json_text(vd_json_get(user, VD_SLICE("user"))), name))
            return user;
    }
    return NULL;
}

/* A table, in the server's order: those who hold most first. */
static void print_table(const struct look *before, const struct look *now)
{
    const struct vd_json *users = users_of(now);
    double seconds = (double)(now->ns - before->ns) / 1e9;
    int width = (int)strlen("USER");
    struct vd_buf line = {0};
    for (size_t i = 0; users && i < users->n; i++) {
        int n = (int)vd_json_text(vd_json_get(vd_json_at(users, i), VD_SLICE("user"))).n;
        width = n > width ? n : width;
    }
    vd_buf_addf(&line, "%-*s %9s %10s %8s %10s %9s", width, "USER", "IN FLIGHT", "REQUESTS/S",
                "WATCHES", "QUEUED", "REFUSED");
    vd_print_heading(vd_buf_text(&line));
    vd_buf_release(&line);
    for (size_t i = 0; users && i < users->n; i++) {
        const struct vd_json *user = vd_json_at(users, i);
        struct vd_slice name = vd_json_text(vd_json_get(user, VD_SLICE("user")));
        const struct vd_json *old = find_user(before, name);
        double more = number(user, "requestsTotal") - (old ? number(old, "requestsTotal") : 0);
        char queued[VD_QUANTITY_MAX];
        printf("%-*.*s %9.0f %10.1f %8.0f %10s %9.0f\n", width, VD_FMT(name),
               number(user, "requests"), seconds > 0 ? more / seconds : 0, number(user, "watches"),
               vd_bytes_text((uint64_t)number(user, "queuedBytes"), queued),
               number(user, "refusedTotal"));
    }
    double rest = number(now->document, "more");
    if (rest > 0)
        printf("and %.0f users more\n", rest);
}

static void print_json(const struct look *now)
{
    struct vd_buf out = {0};
    vd_json_write(&out, now->document);
    printf("%s\n", vd_buf_text(&out));
    vd_buf_release(&out);
}

static void pause_ms(uint64_t ms)
{
    nanosleep(
        &(struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000 * 1000000)},
        NULL);
}

static int show(const struct vd_option_value *values, struct look looks[2], struct vd_error *error)
{
    const char *folder = values[OPTION_DATA].text;
    bool json = vd_option_is_json(&values[OPTION_OUTPUT]);
    uint64_t interval_ms = values[OPTION_INTERVAL].given ? values[OPTION_INTERVAL].number : 1000;
    bool again = values[OPTION_WATCH].given;
    int code = take_look(&looks[0], folder, error);
    for (size_t i = 1; !code; i++) {
        struct look *before = &looks[(i - 1) % 2], *now = &looks[i % 2];
        if (json && i == 1)
            now = before; /* it has no rates */
        else
            pause_ms(interval_ms);
        if (now != before)
            code = take_look(now, folder, error);
        if (code)
            break;
        if (again && !json && vd_terminal_is_capable(stdout))
            printf("\033[H\033[2J");
        if (json)
            print_json(now);
        else
            print_table(before, now);
        if (!again || fflush(stdout) != 0)
            break;
    }
    return code;
}

static enum vd_exit run(const struct vd_option_value *values)
{
    struct look looks[2] = {0};
    struct vd_error error;
    int code = vd_data_folder_exists(values[OPTION_DATA].text, &error);
    if (!code)
        code = show(values, looks, &error);
    if (code)
        vd_complain("%s", error.text);
    vd_arena_release(&looks[0].arena);
    vd_arena_release(&looks[1].arena);
    return code ? VD_EXIT_FAILED : VD_EXIT_OK;
}

const struct vd_command vd_command_top = {
    .name = "top",
    .summary = "Show who uses the running server: requests, watches, bytes that wait.",
    .details = "Those who hold most come first. The server is asked over HTTPS with\n"
               "DIR/admin.kubeconfig.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
