/*
 * See config.h. Each value is kept twice: as the field that the server reads,
 * and as the text it came from, so that `vedette config print` shows what was
 * written and a message can say where.
 */
#include "server/config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"
#include "git/git.h"
#include "net/listener.h"

void vd_config_init(struct vd_config *config)
{
    *config = (struct vd_config){0};
    for (size_t i = 0; i < VD_SETTINGS_N; i++) {
        const struct vd_setting *s = &vd_settings[i];
        int code = VD_OK;
        config->entries[i].text = s->initial;
        if (s->initial[0])
            code = vd_setting_parse(s, vd_slice_of(s->initial), config, &config->arena, NULL);
        assert(code == VD_OK);
        (void)code;
    }
}

enum vd_log_format vd_config_log_format(const struct vd_config *config)
{
    bool text = config->log_format == VD_LOG_TEXT ||
                (config->log_format == VD_CONFIG_LOG_AUTO && vd_terminal_is(stderr));
    if (text)
        return vd_terminal_has_colour(stderr) ? VD_LOG_COLOUR : VD_LOG_TEXT;
    return config->log_format == VD_LOG_JSON ? VD_LOG_JSON : VD_LOG_LOGFMT;
}

bool vd_config_logs_access(const struct vd_config *config)
{
    return config->access_log == VD_CONFIG_ON ||
           (config->access_log == VD_CONFIG_AUTO && !vd_terminal_is(stderr));
}

void vd_config_release(struct vd_config *config)
{
    VD_VEC_RELEASE(&config->warnings);
    VD_VEC_RELEASE(&config->errors);
    vd_arena_release(&config->arena);
    *config = (struct vd_config){0};
}

void vd_config_warn(struct vd_config *config, const char *format, ...)
{
    struct vd_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    vd_buf_vaddf(&text, format, arguments);
    va_end(arguments);
    *VD_VEC_PUSH(&config->warnings) = vd_arena_copy(&config->arena, vd_buf_slice(&text)).p;
    vd_buf_release(&text);
}

int vd_config_judge(struct vd_config *config, int code, const struct vd_error *error)
{
    if (!code || !config->collects)
        return code;
    *VD_VEC_PUSH(&config->errors) = vd_arena_copy(&config->arena, vd_slice_of(error->text)).p;
    return VD_OK;
}

int vd_config_set(struct vd_config *config, size_t i, struct vd_slice text, const char *origin,
                  struct vd_error *error)
{
    const struct vd_setting *s = &vd_settings[i];
    struct vd_error reason;
    int code = vd_setting_parse(s, text, config, &config->arena, &reason);
    if (code) {
        /* A flag and a variable say which setting it is; a place in a file does not. */
        bool in_file = strchr(origin, ':') != NULL;
        return vd_error_set(error, reason.code, "%s%s%s %s", origin, in_file ? ": " : "",
                            in_file ? s->name : "", reason.text);
    }
    config->entries[i] = (struct vd_config_entry){
        .text = vd_arena_copy(&config->arena, text).p,
        .origin = vd_arena_copy(&config->arena, vd_slice_of(origin)).p,
    };
    return VD_OK;
}

/* ---- the whole ---- */

/* Where the value of a field comes from, for messages. */
static const char *origin_of(const struct vd_config *config, const void *field)
{
    size_t at = (size_t)((const char *)field - (const char *)config), i = 0;
    while (vd_settings[i].field != at)
        i++;
    return config->entries[i].origin ? config->entries[i].origin : "default";
}

static int check_listeners(const struct vd_config *c, struct vd_error *error)
{
    if (!c->listen && !c->tls_listen)
        return vd_error_set(error, VD_ERR_INVALID,
                            "listen (%s) and tls-listen (%s) are both off: nobody could reach the "
                            "server; give one of them an address",
                            origin_of(c, &c->listen), origin_of(c, &c->tls_listen));
    if (c->listen && !vd_address_is_loopback(c->listen))
        return vd_error_set(error, VD_ERR_INVALID,
                            "listen (%s) is plain HTTP, which would send tokens readable over the "
                            "network from %s: use TLS with tls-listen, and a loopback address or "
                            "off here",
                            origin_of(c, &c->listen), c->listen);
    return VD_OK;
}

static int check_tls(const struct vd_config *c, struct vd_error *error)
{
    if (!c->tls_cert == !c->tls_key)
        return VD_OK;
    return vd_error_set(error, VD_ERR_INVALID,
                        "%s (%s) is given without %s: give both, or neither to have a certificate "
                        "made",
                        c->tls_cert ? "tls-cert" : "tls-key",
                        origin_of(c, c->tls_cert ? &c->tls_cert : &c->tls_key),
                        c->tls_cert ? "tls-key" : "tls-cert");
}

static int check_data(const struct vd_config *c, struct vd_error *error)
{
    if (c->data)
        return VD_OK;
    return vd_error_set(error, VD_ERR_INVALID, "data (%s) is empty: name a folder",
                        origin_of(c, &c->data));
}

static int check_watches(const struct vd_config *c, struct vd_error *error)
{
    if (c->watch_timeout_min_ms <= c->watch_timeout_max_ms)
        return VD_OK;
    return vd_error_set(
        error, VD_ERR_INVALID,
        "watch.timeout-min (%s) is more than watch.timeout-max (%s): lower the one or raise the "
        "other",
        origin_of(c, &c->watch_timeout_min_ms), origin_of(c, &c->watch_timeout_max_ms));
}

static int check_git(const struct vd_config *c, struct vd_error *error)
{
    struct vd_error reason;
    if (!vd_git_check_schemes(c->git_remote_schemes.items, c->git_remote_schemes.n, &reason))
        return VD_OK;
    return vd_error_set(error, VD_ERR_INVALID, "git.remote-schemes (%s): %s",
                        origin_of(c, &c->git_remote_schemes), reason.text);
}

static void warn_of_oddities(struct vd_config *c)
{
    if (c->tls_cert && !c->tls_listen)
        vd_config_warn(c, "tls-cert (%s) is not used: tls-listen is off",
                       origin_of(c, &c->tls_cert));
    if (c->tls_cert && c->tls_hosts.n)
        vd_config_warn(c, "tls-hosts (%s) is not used: tls-cert names its own hosts",
                       origin_of(c, &c->tls_hosts));
    if (c->tls_ca && !c->tls_cert)
        vd_config_warn(c, "tls-ca (%s) is not used without tls-cert", origin_of(c, &c->tls_ca));
    if (c->audit_policy && !c->audit_log)
        vd_config_warn(c, "audit-policy (%s) is not used without audit-log",
                       origin_of(c, &c->audit_policy));
    if (c->store == VD_CONFIG_STORE_MEMORY && strcmp(origin_of(c, &c->data), "default") != 0)
        vd_config_warn(c,
                       "data (%s) gets keys, tokens and the kubeconfig only: store is memory, and "
                       "objects are lost when the server stops",
                       origin_of(c, &c->data));
}

int vd_config_check(struct vd_config *c, struct vd_error *error)
{
    static int (*const checks[])(const struct vd_config *, struct vd_error *) = {
        check_listeners, check_tls, check_data, check_watches, check_git};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        struct vd_error reason;
        int code = vd_config_judge(c, checks[i](c, &reason), &reason);
        if (code)
            return vd_error_set(error, reason.code, "%s", reason.text);
    }
    warn_of_oddities(c);
    return VD_OK;
}

/* ---- reading it all ---- */

static int read_flags(struct vd_config *config, const char *const *flags, struct vd_error *error)
{
    int code = VD_OK;
    for (size_t i = 0; flags && !code && i < VD_SETTINGS_N; i++) {
        char name[VD_SETTING_NAME_MAX], origin[VD_SETTING_NAME_MAX + 2] = "--";
        if (!flags[i])
            continue;
        vd_setting_flag(&vd_settings[i], name);
        memcpy(origin + 2, name, sizeof name);
        code = vd_config_judge(
            config, vd_config_set(config, i, vd_slice_of(flags[i]), origin, error), error);
    }
    return code;
}

static const char *variable_value(char *const *environment, const char *name)
{
    size_t n = strlen(name);
    for (; environment && *environment; environment++)
        if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
            return *environment + n + 1;
    return NULL;
}

int vd_config_load(struct vd_config *config, const struct vd_config_origins *origins,
                   struct vd_error *error)
{
    const char *file = origins->file;
    if (!file)
        file = variable_value(origins->environment, "VEDETTE_CONFIG");
    int code = file && file[0] ? vd_config_read_file(config, file, error) : VD_OK;
    if (!code)
        code = vd_config_read_environment(config, origins->environment, error);
    if (!code)
        code = read_flags(config, origins->flags, error);
    return code ? code : vd_config_check(config, error);
}

size_t vd_config_load_all(struct vd_config *config, const struct vd_config_origins *origins)
{
    struct vd_error error;
    config->collects = true;
    int code = vd_config_load(config, origins, &error);
    if (vd_config_judge(config, code, &error))
        assert(false); /* it collects */
    return config->errors.n;
}
