/* vedette token list */
#include <string.h>

#include "auth/token.h"
#include "base/clock.h"
#include "data_folder.h"
#include "terminal.h"

enum { OPTION_DATA, OPTION_OUTPUT };

static const struct vd_option options[] = {
    [OPTION_DATA] = VD_OPTION_DATA_ENTRY("the server's data folder"),
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
};

static void add_time(struct vd_buf *out, const char *key, int64_t ms)
{
    char text[VD_TIME_TEXT_MAX];
    vd_buf_addf(out, ",\"%s\":\"%.*s\"", key, VD_FMT(vd_time_format(ms, text)));
}

static void print_json(const struct vd_token_set *set)
{
    struct vd_buf out = {0};
    vd_buf_add_text(&out, "{\"tokens\":[");
    for (size_t i = 0; i < vd_token_set_count(set); i++) {
        const struct vd_token *t = vd_token_set_at(set, i);
        vd_buf_add_text(&out, i ? ",{\"id\":" : "{\"id\":");
        vd_json_add_text(&out, t->id);
        vd_buf_add_text(&out, ",\"user\":");
        vd_json_add_text(&out, t->user);
        vd_buf_add_text(&out, ",\"groups\":[");
        for (size_t g = 0; g < t->groups_n; g++) {
            vd_buf_add_text(&out, g ? "," : "");
            vd_json_add_text(&out, t->groups[g]);
        }
        vd_buf_add_char(&out, ']');
        add_time(&out, "created", t->created_ms);
        if (t->expires_ms)
            add_time(&out, "expires", t->expires_ms);
        vd_buf_add_text(&out, ",\"description\":");
        vd_json_add_text(&out, t->description);
        vd_buf_add_char(&out, '}');
    }
    vd_buf_add_text(&out, "]}\n");
    fputs(vd_buf_text(&out), stdout);
    vd_buf_release(&out);
}

/* The columns but the last, each as wide as its widest text. */
enum { COLUMN_ID, COLUMN_USER, COLUMN_GROUPS, COLUMN_EXPIRES, COLUMNS };

static void add_column(struct vd_buf *out, const struct vd_token *t, int column, int64_t now_ms)
{
    char time[VD_TIME_TEXT_MAX];
    vd_buf_reset(out);
    switch (column) {
    case COLUMN_ID:
        vd_buf_add_slice(out, t->id);
        break;
    case COLUMN_USER:
        vd_buf_add_slice(out, t->user);
        break;
    case COLUMN_GROUPS:
        for (size_t g = 0; g < t->groups_n; g++)
            vd_buf_addf(out, "%s%.*s", g ? "," : "", VD_FMT(t->groups[g]));
        break;
    default:
        if (!t->expires_ms)
            vd_buf_add_text(out, "never");
        else if (now_ms >= t->expires_ms)
            vd_buf_add_text(out, "expired");
        else
            vd_buf_addf(out, "%.19sZ", vd_time_format(t->expires_ms, time).p);
    }
}

static void print_text(const struct vd_token_set *set)
{
    static const char *const titles[COLUMNS] = {"ID", "USER", "GROUPS", "EXPIRES"};
    int64_t now_ms = vd_clock_wall_ms(vd_clock_system());
    int widths[COLUMNS];
    struct vd_buf text = {0}, line = {0};
    for (int c = 0; c < COLUMNS; c++) {
        widths[c] = (int)strlen(titles[c]);
        for (size_t i = 0; i < vd_token_set_count(set); i++) {
            add_column(&text, vd_token_set_at(set, i), c, now_ms);
            widths[c] = (int)text.n > widths[c] ? (int)text.n : widths[c];
        }
        vd_buf_addf(&line, "%-*s  ", widths[c], titles[c]);
    }
    vd_buf_add_text(&line, "DESCRIPTION");
    vd_print_heading(vd_buf_text(&line));
    for (size_t i = 0; i < vd_token_set_count(set); i++) {
        const struct vd_token *t = vd_token_set_at(set, i);
        for (int c = 0; c < COLUMNS; c++) {
            add_column(&text, t, c, now_ms);
            printf("%-*s  ", widths[c], vd_buf_text(&text));
        }
        printf("%.*s\n", VD_FMT(t->description));
    }
    vd_buf_release(&text);
    vd_buf_release(&line);
}

static enum vd_exit run(const struct vd_option_value *values)
{
    struct vd_token_set *set = NULL;
    struct vd_error error;
    int code = vd_data_folder_exists(values[OPTION_DATA].text, &error);
    if (!code)
        code = vd_token_set_load(&set, values[OPTION_DATA].text, &error);
    if (code) {
        vd_complain("%s", error.text);
        return VD_EXIT_FAILED;
    }
    if (vd_option_is_json(&values[OPTION_OUTPUT]))
        print_json(set);
    else
        print_text(set);
    vd_token_set_unref(set);
    return VD_EXIT_OK;
}

const struct vd_command vd_command_token_list = {
    .name = "list",
    .summary = "Show the tokens: whose they are and when they expire.",
    .details = "Expired tokens are shown for a week.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
