/* vedette repo reset: asks by an annotation, which the server answers in status.lastReset. */
#include "base/clock.h"
#include "repo_client.h"
#include "terminal.h"
#include "json/write.h"

enum { OPTION_REPOSITORY, OPTION_TIMEOUT, OPTION_CLIENT };

enum { DONE_MS = 60000 }; /* that it is waited for, unless said otherwise */

static const struct vd_option options[] = {
    [OPTION_REPOSITORY] = VD_REPO_OPERAND,
    [OPTION_TIMEOUT] = {.name = "timeout",
                        .value = "TIME",
                        .type = VD_OPTION_DURATION,
                        .help = "how long to wait until it is done; 1m unless given"},
    [OPTION_CLIENT] = VD_CLIENT_OPTIONS,
};

static bool is_done(const void *arg, const struct vd_json *repository, struct vd_slice *reason)
{
    const struct vd_buf *wanted = arg;
    const struct vd_json *status = vd_json_get(repository, VD_SLICE("status"));
    *reason = vd_repo_text(status, "lastError");
    return vd_slice_eq(vd_repo_text(status, "lastReset"), vd_buf_slice(wanted));
}

/* Puts the annotation on the object. */
static int ask(struct vd_client *client, const struct vd_repo_name *name,
               const struct vd_buf *wanted, struct vd_error *error)
{
    struct vd_buf path = {0}, body = {0};
    struct vd_json *answer;
    vd_buf_add_text(&body, "{\"metadata\":{\"annotations\":{\"vedette.dev/reset\":");
    vd_json_add_text(&body, vd_buf_slice(wanted));
    vd_buf_add_text(&body, "}}}");
    vd_repo_add_path(&path, name);
    int code = vd_client_ask(
        client,
        &(struct vd_http_question){.method = "PATCH",
                                   .path = vd_buf_text(&path),
                                   .content_type = "application/merge-patch+json",
                                   .body = vd_buf_slice(&body)},
        &answer, error);
    vd_buf_release(&path);
    vd_buf_release(&body);
    return vd_repo_refuse(name, code, error);
}

static int reset(struct vd_client *client, const struct vd_repo_name *name, uint64_t timeout_ms,
                 struct vd_error *error)
{
    struct vd_json *repository = NULL;
    struct vd_buf wanted = {0};
    char time[VD_TIME_TEXT_MAX];
    const struct vd_clock *clock = vd_clock_system();
    vd_buf_addf(&wanted, "%.*s-%llu", VD_FMT(vd_time_format(vd_clock_wall_ms(clock), time)),
                (unsigned long long)vd_clock_mono_ns(clock));
    int code = ask(client, name, &wanted, error);
    if (!code)
        code = vd_repo_wait(client, name,
                            &(struct vd_repo_wait){.timeout_ms = timeout_ms,
                                                   .holds = is_done,
                                                   .arg = &wanted,
                                                   .otherwise = "is not reset"},
                            &repository, error);
    vd_buf_release(&wanted);
    return code;
}

static enum vd_exit run(const struct vd_option_value *values)
{
    struct vd_client client = {0};
    struct vd_repo_name name;
    struct vd_error error;
    enum vd_exit status;
    uint64_t timeout_ms = values[OPTION_TIMEOUT].given ? values[OPTION_TIMEOUT].number : DONE_MS;
    if (vd_repo_open(&client, &name, values[OPTION_REPOSITORY].text, &values[OPTION_CLIENT],
                     &status)) {
        if (reset(&client, &name, timeout_ms, &error)) {
            vd_complain("%s", error.text);
            status = VD_EXIT_FAILED;
        } else {
            printf("The objects of %.*s/%.*s are those of its commits.\n", VD_FMT(name.namespace),
                   VD_FMT(name.name));
        }
    }
    vd_client_release(&client);
    return status;
}

const struct vd_command vd_command_repo_reset = {
    .name = "reset",
    .summary = "Write all objects of a repository again as its commits have them.",
    .details = "What somebody has overridden is undone. Waits until the server has done it.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
