/* vedette repo status */
#include "repo_client.h"
#include "terminal.h"
#include "json/write.h"

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

static void add_conditions(struct vd_buf *out, const struct vd_json *status)
{
    const char *label = "Conditions:";
    VD_JSON_EACH (c, vd_json_get(status, VD_SLICE("conditions"))) {
        struct vd_slice reason = vd_repo_text(c, "reason"), message = vd_repo_text(c, "message");
        vd_buf_addf(out, "%-15s %.*s: %.*s", label, VD_FMT(vd_repo_text(c, "type")),
                    VD_FMT(vd_repo_text(c, "status")));
        if (reason.n)
            vd_buf_addf(out, " (%.*s)", VD_FMT(reason));
        if (message.n)
            vd_buf_addf(out, ": %.*s", VD_FMT(message));
        vd_buf_add_char(out, '\n');
        label = "";
    }
}

static void add_branches(struct vd_buf *out, const struct vd_json *status)
{
    const char *label = "Branches:";
    VD_JSON_EACH (b, vd_json_get(status, VD_SLICE("branches"))) {
        struct vd_slice commit = vd_repo_text(b, "commit");
        vd_buf_addf(out, "%-15s %.*s %.*s\n", label, VD_FMT(vd_repo_text(b, "name")),
                    VD_FMT(commit.n ? commit : VD_SLICE("is being deleted")));
        label = "";
    }
    if (label[0])
        vd_buf_addf(out, "%-15s none was pushed yet\n", label);
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
    vd_buf_addf(out, "%-15s %.*s created, %.*s updated, %.*s deleted, %.*s unchanged", "",
                VD_FMT(vd_repo_text(last, "created")), VD_FMT(vd_repo_text(last, "updated")),
                VD_FMT(vd_repo_text(last, "deleted")), VD_FMT(vd_repo_text(last, "unchanged")));
    if (first.n)
        vd_buf_addf(out, "; resourceVersion %.*s..%.*s", VD_FMT(first), VD_FMT(end));
    vd_buf_add_char(out, '\n');
}

static void add_drift(struct vd_buf *out, const struct vd_json *status)
{
    const char *label = "Drift:";
    VD_JSON_EACH (d, vd_json_get(status, VD_SLICE("drift"))) {
        struct vd_slice namespace = vd_repo_text(d, "namespace");
        struct vd_slice user = vd_repo_text(d, "user"), time = vd_repo_text(d, "time");
        vd_buf_addf(out, "%-15s %.*s %.*s%s%.*s", label, VD_FMT(vd_repo_text(d, "resource")),
                    VD_FMT(namespace), namespace.n ? "/" : "", VD_FMT(vd_repo_text(d, "name")));
        if (user.n)
            vd_buf_addf(out, ", overridden by %.*s", VD_FMT(user));
        if (time.n)
            vd_buf_addf(out, " at %.*s", VD_FMT(time));
        vd_buf_add_char(out, '\n');
        label = "";
    }
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
    add_conditions(out, status);
    add_branches(out, status);
    add_admission(out, status);
    add_line(out, "Last error:", vd_repo_text(status, "lastError"));
    add_drift(out, status);
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
            vd_json_write(&out, repository);
            vd_buf_add_char(&out, '\n');
        } else {
            add_text(&out, &client, &name, repository);
        }
        printf("%s", vd_buf_text(&out));
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
