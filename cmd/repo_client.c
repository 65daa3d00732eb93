/* See repo_client.h. */
#include "repo_client.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "terminal.h"

enum {
    PAUSE_MS = 100, /* between two questions of a wait */
    SHORT_COMMIT = 12,
};

static bool is_name(struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!islower((unsigned char)text.p[i]) && !isdigit((unsigned char)text.p[i]) &&
            text.p[i] != '-' && text.p[i] != '.')
            return false;
    return text.n > 0;
}

int vd_repo_name_read(struct vd_repo_name *out, const char *word, struct vd_error *error)
{
    const char *slash = strchr(word, '/');
    struct vd_repo_name name = {0};
    if (slash) {
        name.namespace = vd_slice(word, (size_t)(slash - word));
        name.name = vd_slice_of(slash + 1);
    }
    if (!is_name(name.namespace) || !is_name(name.name))
        return vd_error_set(error, VD_ERR_INVALID,
                            "'%s' is no repository: write NAMESPACE/NAME, as shop/catalog, in "
                            "lower case letters, digits, '-' and '.'",
                            word);
    *out = name;
    return VD_OK;
}

void vd_repo_add_collection(struct vd_buf *out, struct vd_slice namespace)
{
    vd_buf_add_text(out, "/apis/git.vedette.dev/v1/");
    if (namespace.n) {
        vd_buf_add_text(out, "namespaces/");
        vd_http_add_encoded(out, namespace);
        vd_buf_add_char(out, '/');
    }
    vd_buf_add_text(out, "repositories");
}

void vd_repo_add_path(struct vd_buf *out, const struct vd_repo_name *name)
{
    vd_repo_add_collection(out, name->namespace);
    vd_buf_add_char(out, '/');
    vd_http_add_encoded(out, name->name);
}

int vd_repo_refuse(const struct vd_repo_name *name, int code, struct vd_error *error)
{
    if (code == VD_ERR_NOT_FOUND)
        vd_error_set(error, code, "there is no repository %.*s/%.*s: see 'vedette repo list'",
                     VD_FMT(name->namespace), VD_FMT(name->name));
    return code;
}

int vd_repo_get(struct vd_client *client, const struct vd_repo_name *name, struct vd_json **out,
                struct vd_error *error)
{
    struct vd_buf path = {0};
    vd_repo_add_path(&path, name);
    int code = vd_client_get(client, vd_buf_text(&path), out, error);
    vd_buf_release(&path);
    return vd_repo_refuse(name, code, error);
}

int vd_repo_wait(struct vd_client *client, const struct vd_repo_name *name,
                 const struct vd_repo_wait *wait, struct vd_json **out, struct vd_error *error)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    uint64_t end_ns = vd_clock_mono_ns(vd_clock_system()) + wait->timeout_ms * 1000000;
    for (;;) {
        struct vd_json *repository = NULL;
        struct vd_slice reason = VD_SLICE("");
        int code = vd_repo_get(client, name, &repository, error);
        if (code)
            return code;
        if (wait->holds(wait->arg, repository, &reason)) {
            *out = repository;
            return VD_OK;
        }
        if (vd_clock_mono_ns(vd_clock_system()) > end_ns)
            return vd_error_set(error, VD_ERR_IO,
                                "repository %.*s/%.*s %s after %llu seconds%s%.*s; the server goes "
                                "on trying: see 'vedette repo status %.*s/%.*s'",
                                VD_FMT(name->namespace), VD_FMT(name->name), wait->otherwise,
                                (unsigned long long)wait->timeout_ms / 1000, reason.n ? ": " : "",
                                VD_FMT(reason), VD_FMT(name->namespace), VD_FMT(name->name));
        (void)nanosleep(&pause, NULL);
    }
}

const struct vd_json *vd_repo_condition(const struct vd_json *repository, const char *type)
{
    VD_JSON_EACH (condition, vd_json_dig(repository, "status", "conditions", NULL))
        if (vd_slice_is(vd_json_text(vd_json_get(condition, VD_SLICE("type"))), type))
            return condition;
    return NULL;
}

struct vd_slice vd_repo_condition_status(const struct vd_json *repository, const char *type)
{
    return vd_repo_text(vd_repo_condition(repository, type), "status");
}

struct vd_slice vd_repo_text(const struct vd_json *object, const char *key)
{
    const struct vd_json *value = vd_json_get(object, vd_slice_of(key));
    struct vd_slice text = vd_json_is(value, VD_JSON_NUMBER) ? vd_json_number_text(value)
                                                             : vd_json_text(value);
    return text.p ? text : VD_SLICE("");
}

struct vd_slice vd_repo_short_commit(const struct vd_json *admission)
{
    struct vd_slice commit = vd_repo_text(admission, "commit");
    return vd_slice(commit.p, commit.n < SHORT_COMMIT ? commit.n : SHORT_COMMIT);
}

void vd_repo_add_counts(struct vd_buf *out, const struct vd_json *admission)
{
    vd_buf_addf(
        out, "%.*s created, %.*s updated, %.*s deleted, %.*s unchanged",
        VD_FMT(vd_repo_text(admission, "created")), VD_FMT(vd_repo_text(admission, "updated")),
        VD_FMT(vd_repo_text(admission, "deleted")), VD_FMT(vd_repo_text(admission, "unchanged")));
}

void vd_repo_add_url(struct vd_buf *out, const struct vd_client *client,
                     const struct vd_repo_name *name)
{
    vd_buf_addf(out, "%s/%.*s/%.*s.git", vd_buf_text(&client->server), VD_FMT(name->namespace),
                VD_FMT(name->name));
}

void vd_repo_add_shell_word(struct vd_buf *out, struct vd_slice word)
{
    bool plain = word.n > 0;
    for (size_t i = 0; i < word.n; i++)
        plain = plain && (isalnum((unsigned char)word.p[i]) || strchr("-._/:@%+=,", word.p[i]));
    if (plain) {
        vd_buf_add_slice(out, word);
        return;
    }
    vd_buf_add_char(out, '\'');
    for (size_t i = 0; i < word.n; i++)
        if (word.p[i] == '\'')
            vd_buf_add_text(out, "'\\''");
        else
            vd_buf_add_char(out, word.p[i]);
    vd_buf_add_char(out, '\'');
}

bool vd_repo_open(struct vd_client *client, struct vd_repo_name *name, const char *word,
                  const struct vd_option_value *values, enum vd_exit *status)
{
    struct vd_error error;
    int code = VD_OK;
    *status = VD_EXIT_USAGE;
    if (word)
        code = vd_repo_name_read(name, word, &error);
    if (!code) {
        code = vd_client_open(client, values, &error);
        *status = code == VD_ERR_INVALID ? VD_EXIT_USAGE : VD_EXIT_FAILED;
    }
    if (code)
        vd_complain("%s", error.text);
    else
        *status = VD_EXIT_OK;
    return !code;
}
