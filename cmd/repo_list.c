/* vedette repo list */
#include "repo_client.h"
#include "terminal.h"
#include "text_table.h"

enum { OPTION_NAMESPACE, OPTION_ALL, OPTION_OUTPUT, OPTION_CLIENT };

static const struct vd_option options[] = {
    [OPTION_NAMESPACE] = {.name = "namespace",
                          .value = "NAME",
                          .type = VD_OPTION_TEXT,
                          .help = "only those of this namespace"},
    [OPTION_ALL] = {.name = "all-namespaces", .help = "those of all namespaces, as without it"},
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
    [OPTION_CLIENT] = VD_CLIENT_OPTIONS,
};

/* The objects that were read, in the client's arena. */
struct found {
    struct vd_client *client;
    struct vd_json *all;
};

static int take(void *arg, struct vd_json *repository, struct vd_error *error)
{
    struct found *found = arg;
    (void)error;
    vd_json_append(found->all, vd_json_copy(&found->client->arena, repository));
    return VD_OK;
}

static int read_all(struct found *found, struct vd_slice namespace, struct vd_error *error)
{
    struct vd_buf path = {0};
    vd_repo_add_collection(&path, namespace);
    int code = vd_client_list(found->client, vd_buf_text(&path), "", take, found, error);
    vd_buf_release(&path);
    return code;
}

static void add_row(struct vd_text_table *table, const struct vd_json *r)
{
    const struct vd_json *metadata = vd_json_get(r, VD_SLICE("metadata"));
    const struct vd_json *last = vd_json_dig(r, "status", "lastAdmission", NULL);
    vd_text_table_add(table, vd_repo_text(metadata, "namespace"));
    vd_text_table_add(table, vd_repo_text(metadata, "name"));
    vd_text_table_add(table, vd_repo_text(vd_json_get(r, VD_SLICE("spec")), "defaultBranch"));
    vd_text_table_add(table, vd_repo_condition_status(r, "Ready"));
    vd_text_table_add(table, vd_repo_condition_status(r, "Synced"));
    vd_text_table_add(table, vd_repo_text(vd_json_get(r, VD_SLICE("status")), "resources"));
    vd_text_table_add(table, vd_repo_short_commit(last));
    vd_text_table_add(table, vd_repo_text(last, "time"));
}

static void print_table(const struct vd_json *all)
{
    static const char *const heads[] = {"NAMESPACE", "NAME",      "BRANCH", "READY",
                                        "SYNCED",    "RESOURCES", "COMMIT", "ADMITTED"};
    struct vd_text_table table = {.heads = heads, .columns = VD_COUNT(heads)};
    VD_JSON_EACH (item, all)
        add_row(&table, item);
    vd_text_table_print(&table);
    vd_text_table_release(&table);
}

static enum vd_exit run(const struct vd_option_value *values)
{
    struct vd_client client = {0};
    struct vd_error error;
    enum vd_exit status;
    if (values[OPTION_NAMESPACE].given && values[OPTION_ALL].given) {
        vd_complain("options '--namespace' and '--all-namespaces' exclude each other; run 'vedette "
                    "repo list --help'");
        return VD_EXIT_USAGE;
    }
    if (vd_repo_open(&client, NULL, NULL, &values[OPTION_CLIENT], &status)) {
        struct found found = {.client = &client, .all = vd_json_array(&client.arena)};
        struct vd_slice namespace = vd_slice_of(
            values[OPTION_NAMESPACE].given ? values[OPTION_NAMESPACE].text : "");
        if (read_all(&found, namespace, &error)) {
            vd_complain("%s", error.text);
            status = VD_EXIT_FAILED;
        } else if (vd_option_is_json(&values[OPTION_OUTPUT])) {
            vd_print_json(found.all);
        } else if (vd_json_count(found.all)) {
            print_table(found.all);
        } else {
            fprintf(stderr, "there are no repositories%s%.*s\n",
                    namespace.n ? " in namespace " : "", VD_FMT(namespace));
        }
    }
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
