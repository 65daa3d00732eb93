/*
 * The table of settings. Everything that is said of a setting - flags, help,
 * the YAML file, the environment, `vedette config print` - comes from here;
 * docs/man/vedette.yaml.5 is checked against it. The order is that of the
 * printed file: what one needs first comes first.
 */
#include "auth/audit_log.h"
#include "base/log_line.h"
#include "server/config.h"

#define FIELD(name) offsetof(struct vd_config, name)

enum {
    SECOND = 1000,        /* milliseconds of a second */
    MINUTE = 60 * SECOND, /* of a minute */
    HOUR = 60 * MINUTE,   /* of an hour */
};

#define DAYS(n) (UINT64_C(24) * HOUR * (n))
#define MIB     (UINT64_C(1) << 20)

static const struct vd_setting_choice stores[] = {
    {"sqlite", VD_CONFIG_STORE_SQLITE},
    {"memory", VD_CONFIG_STORE_MEMORY},
    {0},
};

static const struct vd_setting_choice levels[] = {
    {"debug", VD_LOG_DEBUG},
    {"info", VD_LOG_INFO},
    {"warn", VD_LOG_WARN},
    {"error", VD_LOG_ERROR},
    {0},
};

static const struct vd_setting_choice formats[] = {
    {"auto", VD_CONFIG_LOG_AUTO},
    {"text", VD_LOG_TEXT},
    {"logfmt", VD_LOG_LOGFMT},
    {"json", VD_LOG_JSON},
    {0},
};

static const struct vd_setting_choice audit_modes[] = {
    {"batch", VD_AUDIT_BATCH},
    {"blocking", VD_AUDIT_BLOCKING},
    {0},
};

const struct vd_setting vd_settings[VD_SETTINGS_N] = {
    {"data", "DIR", VD_SETTING_TEXT, "vedette-data", 0, 0, NULL, FIELD(data),
     "the folder of the log, keys and tokens; made when missing"},
    {"store", "ENGINE", VD_SETTING_CHOICE, "sqlite", 0, 0, stores, FIELD(store),
     "what keeps the log: sqlite, or memory, which forgets"},
    {"listen", "HOST:PORT", VD_SETTING_ADDRESS, "127.0.0.1:8080", 0, 0, NULL, FIELD(listen),
     "plain HTTP, on a loopback address only; port 0 picks one"},
    {"tls-listen", "HOST:PORT", VD_SETTING_ADDRESS, "127.0.0.1:6443", 0, 0, NULL, FIELD(tls_listen),
     "HTTPS; port 0 picks one"},
    {"tls-cert", "FILE", VD_SETTING_TEXT, "", 0, 0, NULL, FIELD(tls_cert),
     "the HTTPS certificate with its chain; none: made and renewed in DIR/pki"},
    {"tls-key", "FILE", VD_SETTING_TEXT, "", 0, 0, NULL, FIELD(tls_key), "the key of tls-cert"},
    {"tls-ca", "FILE", VD_SETTING_TEXT, "", 0, 0, NULL, FIELD(tls_ca),
     "the CA of tls-cert, for admin.kubeconfig; none: the client's system knows it"},
    {"tls-hosts", "LIST", VD_SETTING_LIST, "", 0, 0, NULL, FIELD(tls_hosts),
     "more names and addresses that the made certificate is good for"},
    {"client-ca", "FILE", VD_SETTING_TEXT, "", 0, 0, NULL, FIELD(client_ca),
     "a CA whose client certificates are taken, besides the server's own"},
    {"authentication-config", "FILE", VD_SETTING_TEXT, "", 0, 0, NULL, FIELD(authentication_config),
     "issuers of tokens (OIDC): an AuthenticationConfiguration as Kubernetes has it"},
    {"anonymous-health", "on|off", VD_SETTING_SWITCH, "on", 0, 0, NULL, FIELD(anonymous_health),
     "answer /livez, /readyz and /healthz to anybody"},
    {"threads", "N", VD_SETTING_COUNT, "0", 0, 256, NULL, FIELD(threads),
     "event loops; 0: one for each CPU but one"},
    {"http2-streams", "N", VD_SETTING_COUNT, "250", 0, 10000, NULL, FIELD(http2_streams),
     "requests and watches at a time on one HTTP/2 connection; 0: HTTP/1.1 only"},
    {"window.events", "N", VD_SETTING_COUNT, "1000000", 1, 1000000000, NULL, FIELD(window_events),
     "events that a watch can be resumed from"},
    {"window.age", "TIME", VD_SETTING_DURATION, "24h", MINUTE, DAYS(3650), NULL,
     FIELD(window_age_ms), "how far back a watch can be resumed from"},
    {"tail.events", "N", VD_SETTING_COUNT, "100000", 1, 100000000, NULL, FIELD(tail_events),
     "newest events of the window that are kept in memory"},
    {"tail.bytes", "SIZE", VD_SETTING_SIZE, "64MiB", MIB, MIB << 20, NULL, FIELD(tail_bytes),
     "bytes of superseded bodies that are kept in memory for them"},
    {"watch.bookmark-period", "TIME", VD_SETTING_DURATION, "60s", SECOND, HOUR, NULL,
     FIELD(watch_bookmark_period_ms), "time between the bookmarks of a watch"},
    {"watch.timeout-min", "TIME", VD_SETTING_DURATION, "30m", SECOND, DAYS(365), NULL,
     FIELD(watch_timeout_min_ms), "the least time that a watch without its own timeout lasts"},
    {"watch.timeout-max", "TIME", VD_SETTING_DURATION, "60m", SECOND, DAYS(365), NULL,
     FIELD(watch_timeout_max_ms), "the most; each watch gets a time between the two"},
    {"limits.user-requests", "N", VD_SETTING_COUNT, "400", 1, 1000000, NULL,
     FIELD(limits_user_requests), "requests that one user may have in flight"},
    {"limits.user-watches", "N", VD_SETTING_COUNT, "10000", 1, 10000000, NULL,
     FIELD(limits_user_watches), "watches that one user may have open"},
    {"limits.user-queued-bytes", "SIZE", VD_SETTING_SIZE, "64MiB", MIB, MIB << 20, NULL,
     FIELD(limits_user_queued_bytes), "bytes that may wait for one user to read them"},
    {"limits.user-body-bytes", "SIZE", VD_SETTING_SIZE, "64MiB", 4 * MIB, MIB << 20, NULL,
     FIELD(limits_user_body_bytes), "bytes of requests that one user may be sending"},
    {"limits.requests", "N", VD_SETTING_COUNT, "4000", 4, 1000000, NULL, FIELD(limits_requests),
     "requests in flight of all users; a quarter is reserved for the system"},
    {"limits.watches", "N", VD_SETTING_COUNT, "100000", 4, 10000000, NULL, FIELD(limits_watches),
     "open watches of all users; a quarter is reserved for the system"},
    {"limits.queued-bytes", "SIZE", VD_SETTING_SIZE, "512MiB", MIB, MIB << 20, NULL,
     FIELD(limits_queued_bytes), "bytes that may wait for all users"},
    {"limits.body-bytes", "SIZE", VD_SETTING_SIZE, "256MiB", 4 * MIB, MIB << 20, NULL,
     FIELD(limits_body_bytes),
     "bytes of requests that all users may be sending; a quarter is reserved"},
    {"git.remote-schemes", "LIST", VD_SETTING_LIST, "https,ssh,http-loopback", 0, 0, NULL,
     FIELD(git_remote_schemes), "how remotes may be followed: https, ssh, http, http-loopback"},
    {"kubernetes-version", "VERSION", VD_SETTING_VERSION, "v1.32.4", 0, 0, NULL,
     FIELD(kubernetes_version), "the version of Kubernetes that /version tells clients"},
    {"log.level", "LEVEL", VD_SETTING_CHOICE, "info", 0, 0, levels, FIELD(log_level),
     "the least that is logged: debug, info, warn or error"},
    {"log.format", "FORMAT", VD_SETTING_CHOICE, "auto", 0, 0, formats, FIELD(log_format),
     "text, logfmt or json; auto: text on a terminal, else logfmt"},
    {"access-log", "on|off|auto", VD_SETTING_AUTO, "auto", 0, 0, NULL, FIELD(access_log),
     "log each request; auto: unless the log goes to a terminal"},
    {"audit-log", "FILE", VD_SETTING_TEXT, "", 0, 0, NULL, FIELD(audit_log),
     "audit events, one line each; -: the standard output"},
    {"audit-policy", "FILE", VD_SETTING_TEXT, "", 0, 0, NULL, FIELD(audit_policy),
     "an audit.k8s.io Policy: what is audited; none: all requests, their metadata"},
    {"audit-mode", "MODE", VD_SETTING_CHOICE, "batch", 0, 0, audit_modes, FIELD(audit_mode),
     "batch: events are dropped when the log cannot follow; blocking: requests wait"},
    {"shutdown-delay", "TIME", VD_SETTING_DURATION, "0s", 0, HOUR, NULL, FIELD(shutdown_delay_ms),
     "how long to serve on, with /readyz failing, when told to stop"},
    {"drain-timeout", "TIME", VD_SETTING_DURATION, "20s", 0, HOUR, NULL, FIELD(drain_timeout_ms),
     "how long requests may then take to finish"},
};
