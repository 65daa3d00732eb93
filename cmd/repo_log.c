/*
 * vedette repo log
 *
 * The status of a Repository tells of the last push only. The pushes before it are in the server's
 * history: a watch from the oldest resourceVersion shows each version that the object has had since
 * then. A push writes the status twice, since the resourceVersions of its objects are known only
 * when it is over; the second version counts.
 */
#include <string.h>

#include "base/clock.h"
#include "repo_client.h"
#include "terminal.h"
#include "text_table.h"
#include "json/parse.h"
#include "json/write.h"

enum { OPTION_REPOSITORY, OPTION_LIMIT, OPTION_OUTPUT, OPTION_CLIENT };

enum { PATIENCE_MS = 60000 }; /* for the whole history */

static const struct vd_option options[] = {
    [OPTION_REPOSITORY] = VD_REPO_OPERAND,
    [OPTION_LIMIT] = {.name = "limit",
                      .value = "N",
                      .type = VD_OPTION_NUMBER,
                      .help = "only the last N; all unless given"},
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
    [OPTION_CLIENT] = VD_CLIENT_OPTIONS,
};

/* What was read of the history. */
struct history {
    struct vd_client *client;
    struct vd_slice uid;        /* of the Repository; one of the same name before it is another */
    uint64_t from;              /* where the watch begins */
    uint64_t begins;            /* where the server's history begins */
    uint64_t at;                /* the last version that was seen */
    struct vd_json *admissions; /* the oldest first */
};

/* ---- the events ---- */

static bool is_same_push(const struct vd_json *a, const struct vd_json *b)
{
    static const char *const keys[] = {"branch", "commit", "user", "time"};
    for (size_t i = 0; i < VD_COUNT(keys); i++)
        if (!vd_slice_eq(vd_repo_text(a, keys[i]), vd_repo_text(b, keys[i])))
            return false;
    return true;
}

static void take_admission(struct history *h, const struct vd_json *admission)
{
    size_t n = vd_json_count(h->admissions);
    if (!vd_json_is(admission, VD_JSON_OBJECT))
        return;
    if (n && is_same_push(vd_json_at(h->admissions, n - 1), admission))
        vd_json_remove_at(h->admissions, n - 1);
    vd_json_append(h->admissions, vd_json_clone(&h->client->arena, admission));
}

/* The resourceVersion in "too old resource version: 1 (213)", from which on there is a history. */
static bool read_begin(struct vd_slice message, uint64_t *out)
{
    const char *open = memchr(message.p, '(', message.n);
    struct vd_slice rest = open ? vd_slice_from(message, (size_t)(open + 1 - message.p))
                                : VD_SLICE("");
    struct vd_slice number;
    return vd_slice_cut(&rest, ')', &number) && vd_slice_to_u64(number, out) == 0;
}

/* False: the history begins later than where it was asked for. */
static bool take_event(struct history *h, const struct vd_json *event)
{
    const struct vd_json *object = vd_json_get(event, VD_SLICE("object"));
    const struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    uint64_t revision = 0;
    if (vd_slice_is(vd_repo_text(event, "type"), "ERROR"))
        return !read_begin(vd_repo_text(object, "message"), &h->from);
    if (vd_slice_to_u64(vd_repo_text(metadata, "resourceVersion"), &revision) == 0)
        h->at = revision;
    if (vd_slice_eq(vd_repo_text(metadata, "uid"), h->uid))
        take_admission(h, vd_json_dig(object, "status", "lastAdmission", NULL));
    return true;
}

/* One watch of a second. False in *whole: the history begins later, at h->from. */
static int watch(struct history *h, const struct vd_repo_name *name, bool *whole,
                 struct vd_error *error)
{
    struct vd_http_answer answer = {0};
    struct vd_buf path = {0};
    vd_repo_add_collection(&path, name->namespace);
    vd_buf_addf(&path,
                "?watch=1&timeoutSeconds=1&resourceVersion=%llu&fieldSelector=metadata.name%%3D",
                (unsigned long long)h->from);
    vd_http_add_encoded(&path, name->name);
    int code = vd_http_ask(&h->client->peer,
                           &(struct vd_http_question){.method = "GET", .path = vd_buf_text(&path)},
                           &answer, error);
    struct vd_slice rest = vd_arena_copy(&h->client->arena, answer.body), line;
    struct vd_json *event = NULL;
    *whole = true;
    if (!code && answer.status != 200)
        code = vd_error_set(error, VD_ERR_FORBIDDEN,
                            "the server does not show the history (%u): the verb watch on "
                            "repositories of namespace %.*s is needed",
                            answer.status, VD_FMT(name->namespace));
    while (!code && *whole && vd_slice_cut(&rest, '\n', &line)) {
        if (line.n)
            code = vd_json_parse(&h->client->arena, line, NULL, &event, error);
        if (!code && line.n)
            *whole = take_event(h, event);
    }
    vd_http_answer_release(&answer);
    vd_buf_release(&path);
    return code;
}

/* Reads up to the version that the object has now. */
static int read_history(struct history *h, const struct vd_repo_name *name, uint64_t now,
                        struct vd_error *error)
{
    uint64_t end_ns = vd_clock_mono_ns(vd_clock_system()) + (uint64_t)PATIENCE_MS * 1000000;
    int code = VD_OK;
    h->from = h->begins = 1;
    while (!code && h->at < now) {
        bool whole;
        code = watch(h, name, &whole, error);
        if (!code && !whole)
            h->begins = h->from;
        else if (h->at >= h->from)
            h->from = h->at;
        else if (!code)
            break; /* the object has not changed in all of the history */
        if (!code && vd_clock_mono_ns(vd_clock_system()) > end_ns)
            code = vd_error_set(error, VD_ERR_IO, "the history was not read within %d seconds",
                                PATIENCE_MS / 1000);
    }
    return code;
}

/* ---- the answer ---- */

static void add_row(struct vd_text_table *table, const struct vd_json *a)
{
    struct vd_slice first = vd_repo_text(a, "firstResourceVersion");
    struct vd_slice last = vd_repo_text(a, "lastResourceVersion");
    struct vd_buf text = {0};
    vd_text_table_add(table, vd_repo_text(a, "time"));
    vd_text_table_add(table, vd_repo_short_commit(a));
    vd_text_table_add(table, vd_repo_text(a, "branch"));
    vd_text_table_add(table, vd_repo_text(a, "user"));
    if (first.n)
        vd_buf_addf(&text, "%.*s..%.*s", VD_FMT(first), VD_FMT(last));
    vd_text_table_add(table, vd_buf_slice(&text));
    vd_buf_reset(&text);
    vd_repo_add_counts(&text, a);
    vd_text_table_add(table, vd_buf_slice(&text));
    vd_buf_release(&text);
}

static void print_text(const struct history *h)
{
    static const char *const heads[] = {"TIME", "COMMIT",          "BRANCH",
                                        "USER", "RESOURCEVERSION", "RESOURCES"};
    struct vd_text_table table = {.heads = heads, .columns = VD_COUNT(heads)};
    VD_JSON_EACH (a, h->admissions)
        add_row(&table, a);
    vd_text_table_print(&table);
    vd_text_table_release(&table);
    fflush(stdout);
    fprintf(stderr, "the server's history begins at resourceVersion %llu\n",
            (unsigned long long)h->begins);
}

static void print_json(const struct history *h)
{
    struct vd_buf out = {0};
    vd_buf_addf(&out, "{\"historyBegins\":\"%llu\",\"admissions\":", (unsigned long long)h->begins);
    vd_json_write(&out, h->admissions);
    printf("%s}\n", vd_buf_text(&out));
    vd_buf_release(&out);
}

static int read_all(struct history *h, const struct vd_repo_name *name, struct vd_error *error)
{
    struct vd_json *repository = NULL;
    uint64_t now = 0;
    int code = vd_repo_get(h->client, name, &repository, error);
    if (code)
        return code;
    const struct vd_json *metadata = vd_json_get(repository, VD_SLICE("metadata"));
    h->uid = vd_repo_text(metadata, "uid");
    h->admissions = vd_json_array(&h->client->arena);
    if (vd_slice_to_u64(vd_repo_text(metadata, "resourceVersion"), &now))
        return vd_error_set(error, VD_ERR_IO, "the server's answer has no resourceVersion");
    code = read_history(h, name, now, error);
    if (!code) /* it may have changed last before the history begins */
        take_admission(h, vd_json_dig(repository, "status", "lastAdmission", NULL));
    return code;
}

static enum vd_exit run(const struct vd_option_value *values)
{
    struct vd_client client = {0};
    struct history history = {.client = &client};
    struct vd_repo_name name;
    struct vd_error error;
    enum vd_exit status;
    if (vd_repo_open(&client, &name, values[OPTION_REPOSITORY].text, &values[OPTION_CLIENT],
                     &status)) {
        int code = read_all(&history, &name, &error);
        while (!code && values[OPTION_LIMIT].given &&
               vd_json_count(history.admissions) > values[OPTION_LIMIT].number)
            vd_json_remove_at(history.admissions, 0);
        if (code) {
            vd_complain("%s", error.text);
            status = VD_EXIT_FAILED;
        } else if (vd_option_is_json(&values[OPTION_OUTPUT])) {
            print_json(&history);
        } else {
            print_text(&history);
        }
    }
    vd_client_release(&client);
    return status;
}

const struct vd_command vd_command_repo_log = {
    .name = "log",
    .summary = "Show the pushes that were admitted, the oldest first.",
    .details = "They are read from the server's history, which says where it begins.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
