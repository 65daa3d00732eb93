/* vedette repo list */
#include <string.h>

#include "repo_client.h"
#include "terminal.h"
#include "json/write.h"

enum { OPTION_NAMESPACE, OPTION_ALL, OPTION_OUTPUT, OPTION_CLIENT };

enum { PAGE = 200, SHORT_COMMIT = 12, COLUMNS = 8 };

static const struct vd_option options[] = {
    [OPTION_NAMESPACE] = {.name = "namespace",
                          .value = "NAME",
                          .type = VD_OPTION_TEXT,
                          .help = "only those of this namespace"},
    [OPTION_ALL] = {.name = "all-namespaces", .help = "those of all namespaces, as without it"},
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
    [OPTION_CLIENT] = VD_CLIENT_OPTIONS,
};

/* All pages, as one array. */
static int read_all(struct vd_client *client, struct vd_slice namespace, struct vd_json *all,
                    struct vd_error *error)
{
    struct vd_slice next = VD_SLICE("");
    struct vd_buf path = {0};
    int code;
    do {
        struct vd_json *page = NULL;
        vd_buf_reset(&path);
        vd_repo_add_collection(&path, namespace);
        vd_buf_addf(&path, "?limit=%d&continue=", PAGE);
        vd_http_add_encoded(&path, next);
        code = vd_client_get(client, vd_buf_text(&path), &page, error);
        VD_JSON_EACH (item, vd_json_get(page, VD_SLICE("items")))
            vd_json_append(all, vd_json_clone(&client->arena, item));
        next = vd_json_text(vd_json_dig(page, "metadata", "continue", NULL));
    } while (!code && next.n);
    vd_buf_release(&path);
    return code;
}

static struct vd_slice or_dash(struct vd_slice text)
{
    return text.n ? text : VD_SLICE("-");
}

static void row_of(const struct vd_json *r, struct vd_slice row[COLUMNS])
{
    const struct vd_json *metadata = vd_json_get(r, VD_SLICE("metadata"));
    const struct vd_json *last = vd_json_dig(r, "status", "lastAdmission", NULL);
    struct vd_slice commit = vd_repo_text(last, "commit");
    row[0] = vd_repo_text(metadata, "namespace");
    row[1] = vd_repo_text(metadata, "name");
    row[2] = vd_repo_text(vd_json_get(r, VD_SLICE("spec")), "defaultBranch");
    row[3] = vd_repo_condition_status(r, "Ready");
    row[4] = vd_repo_condition_status(r, "Synced");
    row[5] = vd_repo_text(vd_json_get(r, VD_SLICE("status")), "resources");
    row[6] = vd_slice(commit.p, commit.n < SHORT_COMMIT ? commit.n : SHORT_COMMIT);
    row[7] = vd_repo_text(last, "time");
}

static void print_table(const struct vd_json *all)
{
    static const char *const heads[COLUMNS] = {"NAMESPACE", "NAME",      "BRANCH", "READY",
                                               "SYNCED",    "RESOURCES", "COMMIT", "ADMITTED"};
    int widths[COLUMNS];
    struct vd_slice row[COLUMNS];
    struct vd_buf line = {0};
    for (size_t i = 0; i < COLUMNS; i++)
        widths[i] = (int)strlen(heads[i]);
    VD_JSON_EACH (item, all) {
        row_of(item, row);
        for (size_t i = 0; i < COLUMNS; i++)
            widths[i] = (int)row[i].n > widths[i] ? (int)row[i].n : widths[i];
    }
    for (size_t i = 0; i < COLUMNS; i++)
        vd_buf_addf(&line, "%-*s%s", i + 1 < COLUMNS ? widths[i] : 0, heads[i],
                    i + 1 < COLUMNS ? "  " : "");
    vd_print_heading(vd_buf_text(&line));
    VD_JSON_EACH (item, all) {
        row_of(item, row);
        vd_buf_reset(&line);
        for (size_t i = 0; i < COLUMNS; i++)
            vd_buf_addf(&line, "%-*.*s%s", i + 1 < COLUMNS ? widths[i] : 0, VD_FMT(or_dash(row[i])),
                        i + 1 < COLUMNS ? "  " : "\n");
        printf("%s", vd_buf_text(&line));
    }
    vd_buf_release(&line);
}

static enum vd_exit run(const struct vd_option_value *values)
{
    struct vd_client client = {0};
    struct vd_buf out = {0};
    struct vd_error error;
    enum vd_exit status;
    if (values[OPTION_NAMESPACE].given && values[OPTION_ALL].given) {
        vd_complain("options '--namespace' and '--all-namespaces' exclude each other; run 'vedette "
                    "repo list --help'");
        return VD_EXIT_USAGE;
    }
    if (vd_repo_open(&client, NULL, NULL, &values[OPTION_CLIENT], &status)) {
        struct vd_json *all = vd_json_array(&client.arena);
        struct vd_slice namespace = vd_slice_of(
            values[OPTION_NAMESPACE].given ? values[OPTION_NAMESPACE].text : "");
        if (read_all(&client, namespace, all, &error)) {
            vd_complain("%s", error.text);
            status = VD_EXIT_FAILED;
        } else if (vd_option_is_json(&values[OPTION_OUTPUT])) {
            vd_json_write(&out, all);
            printf("%s\n", vd_buf_text(&out));
        } else if (vd_json_count(all)) {
            print_table(all);
        } else {
            fprintf(stderr, "there are no repositories\n");
        }
    }
    vd_buf_release(&out);
    vd_client_release(&client);
    return status;
}

const struct vd_command vd_command_repo_list = {
    .name = "list",
    .summary = "Show the repositories of a namespace, or of all.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
