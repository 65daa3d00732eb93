/* vedette top */
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "base/terminal.h"
#include "client.h"
#include "data_folder.h"
#include "terminal.h"

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

/* What the server answered, and when. */
struct look {
    struct vd_arena arena;
    struct vd_json *document;
    uint64_t ns;
};

/* The server that runs on the folder is asked as its administrator. */
static int take_look(struct look *look, const char *folder, struct vd_error *error)
{
    struct vd_client client = {0};
    struct vd_json *document = NULL;
    int code = vd_client_open_folder(&client, folder, error);
    vd_arena_reset(&look->arena);
    look->ns = vd_clock_mono_ns(vd_clock_system());
    if (!code)
        code = vd_client_get(&client, "/debug/usage", &document, error);
    if (!code)
        look->document = vd_json_copy(&look->arena, document);
    else if (client.server.n && !client.status)
        code = vd_error_set(error, VD_ERR_IO, "no server answers at %s: is it running on %s?",
                            vd_buf_text(&client.server), folder);
    vd_client_release(&client);
    return code;
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

/* Prints a table of at most `rows_max` users, in the server's order: those who hold most come
 * first. Each line begins with `start`. */
static void print_table(const struct look *before, const struct look *now, size_t rows_max,
                        const char *start)
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
    printf("%s", start);
    vd_print_heading(vd_buf_text(&line));
    vd_buf_release(&line);
    size_t rows = users ? users->n < rows_max ? users->n : rows_max : 0;
    for (size_t i = 0; i < rows; i++) {
        const struct vd_json *user = vd_json_at(users, i);
        struct vd_slice name = vd_json_text(vd_json_get(user, VD_SLICE("user")));
        const struct vd_json *old = find_user(before, name);
        double more = number(user, "requestsTotal") - (old ? number(old, "requestsTotal") : 0);
        char queued[VD_QUANTITY_MAX];
        printf("%s%-*.*s %9.0f %10.1f %8.0f %10s %9.0f\n", start, width, VD_FMT(name),
               number(user, "requests"), seconds > 0 ? more / seconds : 0, number(user, "watches"),
               vd_bytes_text((uint64_t)number(user, "queuedBytes"), queued),
               number(user, "refusedTotal"));
    }
    double rest = number(now->document, "more") + (double)(users ? users->n - rows : 0);
    if (rest > 0)
        printf("%sand %.0f users more\n", start, rest);
}

/* ---- drawing again and again ---- */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    interrupted = signal;
}

/* Sleeps for so long, or until a signal interrupts it. */
static void pause_ms(uint64_t ms)
{
    struct timespec rest = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000 * 1000000)};
    while (!interrupted && nanosleep(&rest, &rest) != 0)
        ;
}

/* A table that is drawn again and again uses the terminal's alternate screen; at the end the normal
 * screen is shown as it was before. */
static void screen_take(void)
{
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    printf("\033[?1049h\033[?25l\033[2J");
}

static void screen_give_back(void)
{
    printf("\033[?25h\033[?1049l");
    fflush(stdout);
}

/* The lines of the terminal; SIZE_MAX when it does not say. */
static size_t screen_lines(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row ? size.ws_row : SIZE_MAX;
}

/* Draws the table from the first line of the screen on, and erases what was there before. */
static void draw(const struct look *before, const struct look *now, const char *folder)
{
    char clock[16] = "";
    time_t seconds = time(NULL);
    struct tm day;
    if (localtime_r(&seconds, &day))
        strftime(clock, sizeof clock, "%H:%M:%S", &day);
    printf("\033[H\033[2K%s, %s; Ctrl-C ends it\n\033[2K\n", folder, clock);
    size_t lines = screen_lines();
    print_table(before, now, lines > 5 ? lines - 5 : 1, "\033[2K");
    printf("\033[J");
}

static int show(const struct vd_option_value *values, struct look looks[2], struct vd_error *error)
{
    const char *folder = values[OPTION_DATA].text;
    bool json = vd_option_is_json(&values[OPTION_OUTPUT]);
    uint64_t interval_ms = values[OPTION_INTERVAL].given ? values[OPTION_INTERVAL].number : 1000;
    bool again = values[OPTION_WATCH].given;
    int code = take_look(&looks[0], folder, error);
    bool redraws = !code && again && !json && vd_terminal_is_capable(stdout);
    if (redraws)
        screen_take();
    for (size_t i = 1; !code; i++) {
        struct look *before = &looks[(i - 1) % 2], *now = &looks[i % 2];
        if (json && i == 1)
            now = before; /* JSON has no rates, so one answer is enough */
        else
            pause_ms(interval_ms);
        if (interrupted)
            break;
        if (now != before)
            code = take_look(now, folder, error);
        if (code)
            break;
        if (json)
            vd_print_json(now->document);
        else if (redraws)
            draw(before, now, folder);
        else
            print_table(before, now, SIZE_MAX, "");
        if (!again || fflush(stdout) != 0)
            break;
    }
    if (redraws)
        screen_give_back();
    return interrupted ? VD_OK : code;
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
