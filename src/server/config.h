/*
 * The server's configuration: every setting with its value and its origin.
 *
 * Values come from four places, and the later wins: defaults, the YAML file,
 * the environment (VEDETTE_*), flags. vd_config_load() reads them all; then the
 * configuration is immutable, and threads may share it.
 */
#ifndef VD_SERVER_CONFIG_H
#define VD_SERVER_CONFIG_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/log_line.h"
#include "base/vec.h"
#include "server/setting.h"

enum vd_config_store { VD_CONFIG_STORE_SQLITE, VD_CONFIG_STORE_MEMORY };

/* A switch that may be left to the server. */
enum vd_config_auto { VD_CONFIG_OFF, VD_CONFIG_ON, VD_CONFIG_AUTO };

/* Beside enum vd_log_format: for people on a terminal, else for programs. */
enum { VD_CONFIG_LOG_AUTO = -1 };

/* As it was written, and where: "--listen", "VEDETTE_LISTEN", "vedette.yaml:3:5";
 * NULL for a default. */
struct vd_config_entry {
    const char *text;
    const char *origin;
};

/* What the settings of settings.c mean; texts may be NULL for none or off. */
struct vd_config {
    const char *data;
    int store; /* enum vd_config_store */
    const char *listen;
    const char *tls_listen;
    const char *tls_cert; /* NULL: made in the data folder */
    const char *tls_key;
    const char *tls_ca;
    struct vd_config_list tls_hosts;
    const char *client_ca;
    const char *authentication_config; /* NULL: no issuers but ourselves */
    bool anonymous_health;
    uint64_t threads;       /* 0: one for each CPU but one, which is the writer's */
    uint64_t http2_streams; /* 0: HTTP/1.1 only */
    uint64_t window_events;
    uint64_t window_age_ms;
    uint64_t tail_events;
    uint64_t tail_bytes;
    uint64_t watch_bookmark_period_ms;
    uint64_t watch_timeout_min_ms;
    uint64_t watch_timeout_max_ms;
    struct vd_config_list git_remote_schemes;
    uint64_t limits_user_requests;
    uint64_t limits_user_watches;
    uint64_t limits_user_queued_bytes;
    uint64_t limits_user_body_bytes;
    uint64_t limits_requests;
    uint64_t limits_watches;
    uint64_t limits_queued_bytes;
    uint64_t limits_body_bytes;
    const char *kubernetes_version;
    int log_level;            /* enum vd_log_level */
    int log_format;           /* enum vd_log_format, or VD_CONFIG_LOG_AUTO */
    int access_log;           /* enum vd_config_auto */
    const char *audit_log;    /* NULL: none; "-": stdout */
    const char *audit_policy; /* NULL: all at Metadata */
    int audit_mode;           /* enum vd_audit_mode */
    uint64_t shutdown_delay_ms;
    uint64_t drain_timeout_ms;

    struct vd_config_entry entries[VD_SETTINGS_N]; /* in the order of vd_settings */
    VD_VEC(const char *) warnings;                 /* sentences about what is odd but works */
    bool collects;               /* goes on behind a mistake, and keeps its sentence in ... */
    VD_VEC(const char *) errors; /* ... this list */
    struct vd_arena arena;       /* has all texts */
};

/* The form of the log, and whether each request is logged, when stderr is as it is now. */
enum vd_log_format vd_config_log_format(const struct vd_config *config);
bool vd_config_logs_access(const struct vd_config *config);

/* The defaults. To be released. */
void vd_config_init(struct vd_config *config);
void vd_config_release(struct vd_config *config);

/*
 * Where values come from besides the defaults. `flags` has an entry for each
 * setting, NULL where none was given; `flags` and `environment` may be NULL.
 * Without `file`, VEDETTE_CONFIG of the environment names one.
 */
struct vd_config_origins {
    const char *file;
    char *const *environment; /* "NAME=value", ended by NULL */
    const char *const *flags;
};

/*
 * Reads everything into *config, which was initialised, and checks it as a whole.
 * The error starts with the place: "vedette.yaml:3:5: ...", "--listen ...". A
 * variable VEDETTE_* that is no setting is a warning at most, since others name
 * variables too: Kubernetes gives VEDETTE_SERVICE_HOST to the pods beside a
 * service called vedette.
 */
int vd_config_load(struct vd_config *config, const struct vd_config_origins *origins,
                   struct vd_error *error) VD_MUST_USE;

/* The same for whoever wants to know all mistakes: how many there are in config->errors then. What
 * a mistake stands at keeps its default. */
size_t vd_config_load_all(struct vd_config *config, const struct vd_config_origins *origins);

/* ---- the steps of it ---- */

/* Sets vd_settings[i]. `origin` is copied, and stands in front of an error. */
int vd_config_set(struct vd_config *config, size_t i, struct vd_slice text, const char *origin,
                  struct vd_error *error) VD_MUST_USE;

/* `name` is what messages call the text. Unknown keys are errors. */
int vd_config_read_yaml(struct vd_config *config, const char *name, struct vd_slice text,
                        struct vd_error *error) VD_MUST_USE;
int vd_config_read_file(struct vd_config *config, const char *path,
                        struct vd_error *error) VD_MUST_USE;
int vd_config_read_environment(struct vd_config *config, char *const *environment,
                               struct vd_error *error) VD_MUST_USE;

/* What no setting can say alone: listeners, certificates, bounds. Adds warnings. */
int vd_config_check(struct vd_config *config, struct vd_error *error) VD_MUST_USE;

/* Adds the configuration as YAML, with the origin of each value as a comment.
 * Reading it back gives the same values. */
void vd_config_write(const struct vd_config *config, struct vd_buf *out);

/* For the steps, at each place where one can go on: VD_OK when all is well, or when the error's
 * sentence has been collected; else the code. */
int vd_config_judge(struct vd_config *config, int code, const struct vd_error *error) VD_MUST_USE;

/* For the steps: adds a sentence to the warnings. */
void vd_config_warn(struct vd_config *config, const char *format, ...) VD_PRINTF(2, 3);

#endif
