/* vedette token list */
#include "auth/token.h"
#include "base/clock.h"
#include "data_folder.h"
#include "terminal.h"
#include "text_table.h"

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

static void add_row(struct vd_text_table *table, const struct vd_token *t, int64_t now_ms)
{
    char time[VD_TIME_TEXT_MAX];
    struct vd_buf text = {0};
    vd_text_table_add(table, t->id);
    vd_text_table_add(table, t->user);
    for (size_t g = 0; g < t->groups_n; g++)
        vd_buf_addf(&text, "%s%.*s", g ? "," : "", VD_FMT(t->groups[g]));
    vd_text_table_add(table, vd_buf_slice(&text));
    vd_buf_reset(&text);
    if (!t->expires_ms)
        vd_buf_add_text(&text, "never");
    else if (now_ms >= t->expires_ms)
        vd_buf_add_text(&text, "expired");
    else
        vd_buf_addf(&text, "%.19sZ", vd_time_format(t->expires_ms, time).p);
    vd_text_table_add(table, vd_buf_slice(&text));
    vd_text_table_add(table, t->description);
    vd_buf_release(&text);
}

static void print_text(const struct vd_token_set *set)
{
    static const char *const heads[] = {"ID", "USER", "GROUPS", "EXPIRES", "DESCRIPTION"};
    struct vd_text_table table = {.heads = heads, .columns = VD_COUNT(heads)};
    int64_t now_ms = vd_clock_wall_ms(vd_clock_system());
    for (size_t i = 0; i < vd_token_set_count(set); i++)
        add_row(&table, vd_token_set_at(set, i), now_ms);
    vd_text_table_print(&table);
    vd_text_table_release(&table);
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
