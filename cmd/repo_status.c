/* vedette repo status */
#include "repo_client.h"
#include "terminal.h"

enum { OPTION_REPOSITORY, OPTION_OUTPUT, OPTION_CLIENT };

static const struct vd_option options[] = {
    [OPTION_REPOSITORY] = VD_REPO_OPERAND,
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
    [OPTION_CLIENT] = VD_CLIENT_OPTIONS,
};

static void add_line(struct vd_buf *out, const char *label, struct vd_slice text)
{
    if (text.n)
        vd_buf_addf(out, "%-15s %.*s\n", label, VD_FMT(text));
}

/* A line for each element of a list; the label stands before the first. Returns whether there is
 * any. */
static bool add_list(struct vd_buf *out, const char *label, const struct vd_json *list,
                     void (*add)(struct vd_buf *out, const struct vd_json *element))
{
    VD_JSON_EACH (element, list) {
        vd_buf_addf(out, "%-15s ", label);
        add(out, element);
        vd_buf_add_char(out, '\n');
        label = "";
    }
    return vd_json_count(list) > 0;
}

/* The text in the words that stand around it, or nothing without one. */
static void add_part(struct vd_buf *out, const char *before, struct vd_slice text,
                     const char *behind)
{
    if (text.n)
        vd_buf_addf(out, "%s%.*s%s", before, VD_FMT(text), behind);
}

static void add_condition(struct vd_buf *out, const struct vd_json *c)
{
    vd_buf_addf(out, "%.*s: %.*s", VD_FMT(vd_repo_text(c, "type")),
                VD_FMT(vd_repo_text(c, "status")));
    add_part(out, " (", vd_repo_text(c, "reason"), ")");
    add_part(out, ": ", vd_repo_text(c, "message"), "");
}

static void add_branch(struct vd_buf *out, const struct vd_json *b)
{
    struct vd_slice commit = vd_repo_text(b, "commit");
    vd_buf_addf(out, "%.*s %.*s", VD_FMT(vd_repo_text(b, "name")),
                VD_FMT(commit.n ? commit : VD_SLICE("is being deleted")));
}

static void add_drift(struct vd_buf *out, const struct vd_json *d)
{
    add_part(out, "", vd_repo_text(d, "resource"), " ");
    add_part(out, "", vd_repo_text(d, "namespace"), "/");
    add_part(out, "", vd_repo_text(d, "name"), "");
    add_part(out, ", overridden by ", vd_repo_text(d, "user"), "");
    add_part(out, " at ", vd_repo_text(d, "time"), "");
}

static void add_admission(struct vd_buf *out, const struct vd_json *status)
{
    const struct vd_json *last = vd_json_get(status, VD_SLICE("lastAdmission"));
    struct vd_slice first = vd_repo_text(last, "firstResourceVersion");
    struct vd_slice end = vd_repo_text(last, "lastResourceVersion");
    if (!last)
        return;
    vd_buf_addf(out, "%-15s %.*s of branch %.*s, by %.*s at %.*s\n",
                "Last admission:", VD_FMT(vd_repo_text(last, "commit")),
                VD_FMT(vd_repo_text(last, "branch")), VD_FMT(vd_repo_text(last, "user")),
                VD_FMT(vd_repo_text(last, "time")));
    vd_buf_addf(out, "%-15s ", "");
    vd_repo_add_counts(out, last);
    if (first.n)
        vd_buf_addf(out, "; resourceVersion %.*s..%.*s", VD_FMT(first), VD_FMT(end));
    vd_buf_add_char(out, '\n');
}

static void add_text(struct vd_buf *out, const struct vd_client *client,
                     const struct vd_repo_name *name, const struct vd_json *repository)
{
    const struct vd_json *spec = vd_json_get(repository, VD_SLICE("spec"));
    const struct vd_json *status = vd_json_get(repository, VD_SLICE("status"));
    struct vd_buf text = {0};
    vd_buf_addf(&text, "%.*s/%.*s", VD_FMT(name->namespace), VD_FMT(name->name));
    add_line(out, "Repository:", vd_buf_slice(&text));
    vd_buf_reset(&text);
    vd_repo_add_url(&text, client, name);
    add_line(out, "URL:", vd_buf_slice(&text));
    vd_buf_release(&text);
    add_line(out, "Follows:", vd_repo_text(vd_json_get(spec, VD_SLICE("remote")), "url"));
    add_line(out, "Default branch:", vd_repo_text(spec, "defaultBranch"));
    add_line(out, "Visibility:", vd_repo_text(spec, "visibility"));
    add_line(out, "Resources:", vd_repo_text(status, "resources"));
    add_list(out, "Conditions:", vd_json_get(status, VD_SLICE("conditions")), add_condition);
    if (!add_list(out, "Branches:", vd_json_get(status, VD_SLICE("branches")), add_branch))
        add_line(out, "Branches:", VD_SLICE("none was pushed yet"));
    add_admission(out, status);
    add_line(out, "Last error:", vd_repo_text(status, "lastError"));
    add_list(out, "Drift:", vd_json_get(status, VD_SLICE("drift")), add_drift);
}

static enum vd_exit run(const struct vd_option_value *values)
{
    struct vd_client client = {0};
    struct vd_repo_name name;
    struct vd_json *repository = NULL;
    struct vd_buf out = {0};
    struct vd_error error;
    enum vd_exit status;
    if (vd_repo_open(&client, &name, values[OPTION_REPOSITORY].text, &values[OPTION_CLIENT],
                     &status)) {
        if (vd_repo_get(&client, &name, &repository, &error)) {
            vd_complain("%s", error.text);
            status = VD_EXIT_FAILED;
        } else if (vd_option_is_json(&values[OPTION_OUTPUT])) {
            vd_print_json(repository);
        } else {
            add_text(&out, &client, &name, repository);
            printf("%s", vd_buf_text(&out));
        }
    }
    vd_buf_release(&out);
    vd_client_release(&client);
    return status;
}

const struct vd_command vd_command_repo_status = {
    .name = "status",
    .summary = "Show what a repository is: branches, the last admission, conditions, drift.",
    .details = "JSON is the Repository object itself.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
