/*
 * See server.h. The main thread starts everything, then waits for signals; N
 * loops serve. Loop 0 also has the listeners, which deal connections out to all.
 *
 *   start   store (locks the folder), credentials, loops, listeners, "ready"
 *   SIGHUP  credentials again, and a new TLS context for connections to come;
 *           issuers, audit policy and audit log too;
 *           the same once a day, so that a made certificate is renewed in time
 *   stop    /readyz fails for shutdown-delay; the listeners close; each loop drains
 *           its connections, for drain-timeout at most; what is left is cut; the
 *           store closes last
 *
 * What a request means is up to the routes of faces.c, which every loop's service has.
 */
#include "server/server.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/converter.h"
#include "base/container_of.h"
#include "base/log.h"
#include "net/listener.h"
#include "request/audit.h"
#include "server/credentials.h"
#include "server/faces.h"
#include "server/garbage.h"
#include "server/heap_trim.h"
#include "server/namespaces.h"
#include "server/start_pages.h"
#include "store/folder.h"
#include "store/lock_file.h"

enum {
    RENEW_S = 86400,        /* seconds between two looks at the certificates */
    DRAIN_SPREAD_MS = 1000, /* watches end over so long: their clients come back at once */
};

struct server;

/* One loop and what belongs to it. */
struct worker {
    struct server *server;
    struct vd_loop loop;
    struct vd_task task;
    struct vd_turn_hook drain_hook;
    bool draining; /* its connections have been told; cleared when all are gone */
};

struct server {
    const struct vd_config *config;
    struct vd_store *store;
    struct vd_lock_file lock; /* of the data folder, where the store takes none */
    struct vd_faces faces;
    struct vd_definitions *definitions;
    struct vd_controller controller; /* of the next two */
    struct vd_namespaces *namespaces;
    struct vd_garbage *garbage;
    struct worker *workers;
    struct vd_http_service *services; /* of the loop of the same index */
    size_t n;                         /* that were initialised */
    struct vd_http_listener plain, tls;
    struct vd_http_listener_tls tls_context;
    sem_t done;    /* posted by each worker when it has done what the main thread asked */
    sem_t drained; /* and when, after that, its last connection is gone */
};

/* ---- requests ---- */

static void finished(struct vd_http_service *service, struct vd_exchange *x)
{
    struct server *server = service->arg;
    vd_faces_finished(&server->faces, x);
}

/* ---- loops ---- */

/* Runs at the end of each turn; closing the last connection causes one more. */
static bool notice_drained(struct vd_turn_hook *hook)
{
    struct worker *w = VD_CONTAINER_OF(hook, struct worker, drain_hook);
    if (w->draining && w->server->services[w->loop.index].count == 0) {
        w->draining = false;
        sem_post(&w->server->drained);
    }
    return false;
}

/* One CPU is left to the writer, which every write waits for. */
static size_t loops_wanted(const struct vd_config *config)
{
    cpu_set_t cpus;
    if (config->threads)
        return (size_t)config->threads;
    bool many = sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) > 2;
    return many ? (size_t)CPU_COUNT(&cpus) - 1 : 1;
}

static int make_loops(struct server *s, struct vd_error *error)
{
    size_t n = loops_wanted(s->config);
    int code = VD_OK;
    s->workers = vd_calloc(n, sizeof *s->workers);
    s->services = vd_calloc(n, sizeof *s->services);
    for (size_t i = 0; !code && i < n; i++) {
        struct worker *w = &s->workers[i];
        w->server = s;
        w->drain_hook.run = notice_drained;
        code = vd_loop_init(&w->loop, i, error);
        if (code)
            break;
        s->n++;
        vd_loop_hook(&w->loop, &w->drain_hook);
    }
    if (!code)
        code = vd_faces_open(&s->faces, s->store, s->config, s->n, &s->workers[0].loop, error);
    for (size_t i = 0; !code && i < s->n; i++) {
        vd_faces_join(&s->faces, i, &s->workers[i].loop);
        struct vd_http_service *service = &s->services[i];
        vd_http_service_init(service, &s->workers[i].loop); /* its hook sends */
        vd_faces_follow(&s->faces, i);
        vd_faces_serve(&s->faces, service);
        service->finished = finished;
        service->arg = s;
        service->streams_max = (uint32_t)s->config->http2_streams;
        service->strangers_max = (VD_HTTP_STRANGERS_MAX + s->n - 1) / s->n;
        service->strangers_len_max = VD_HTTP_STRANGERS_LEN_MAX / s->n;
    }
    return code;
}

static int start_loops(struct server *s, struct vd_error *error)
{
    int code = VD_OK;
    for (size_t i = 0; !code && i < s->n; i++)
        code = vd_loop_start(&s->workers[i].loop, error);
    return code;
}

/* ---- starting ---- */

/* A watcher is a descriptor: take as many as the system gives. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Whoever may write into the folder can put his own log or keys in the place of ours. */
static void warn_of_open_folder(const char *folder)
{
    struct stat found;
    if (stat(folder, &found) == 0 && (found.st_mode & S_IWOTH))
        vd_log_warn("everybody may write into the data folder: take the right away with chmod o-w",
                    VD_F_STR("folder", folder));
}

static int open_store(struct server *s, struct vd_error *error)
{
    const struct vd_config *c = s->config;
    bool in_memory = c->store == VD_CONFIG_STORE_MEMORY;
    int code = in_memory ? vd_lock_file_open(&s->lock, c->data, error) : VD_OK;
    if (code)
        return code;
    struct vd_folder folder = {.path = c->data, .trace = "pki/admin.key"};
    struct vd_store_options options = {.window_events_max = (size_t)c->window_events,
                                       .window_age_ms_max = (int64_t)c->window_age_ms,
                                       .tail_events_max = (size_t)c->tail_events,
                                       .tail_bytes_max = (size_t)c->tail_bytes};
    code = vd_store_open_in(&s->store, in_memory ? NULL : &folder, &options, error);
    if (!code)
        warn_of_open_folder(c->data);
    return code;
}

/* The error ends with what to choose; this says how. */
static int refuse_listener(const char *setting, const struct vd_error *reason,
                           struct vd_error *error)
{
    const struct vd_setting *s = &vd_settings[vd_setting_find(vd_slice_of(setting))];
    char flag[VD_SETTING_NAME_MAX], variable[VD_SETTING_NAME_MAX];
    return vd_error_set(error, reason->code, "%s, with --%s %s or %s", reason->text,
                        vd_setting_flag(s, flag), s->value, vd_setting_variable(s, variable));
}

/* `setting` has the address. */
static int open_listener(struct server *s, struct vd_http_listener *listener, const char *setting,
                         const char *address, struct vd_http_listener_tls *tls,
                         struct vd_error *error)
{
    struct vd_error reason;
    if (!address)
        return VD_OK;
    if (vd_http_listener_bind(listener, address, &reason))
        return refuse_listener(setting, &reason, error);
    listener->loop = &s->workers[0].loop;
    listener->services = s->services;
    listener->services_n = s->n;
    listener->tls = tls;
    return vd_http_listener_open(listener, error);
}

/* A server whose disk is full starts all the same: somebody has to be able to delete something. */
static int write_kubeconfig(const struct server *s, struct vd_error *error)
{
    int code = vd_credentials_write_kubeconfig(s->config, s->tls.address, error);
    if (code != VD_ERR_FULL)
        return code;
    vd_log_warn("admin.kubeconfig could not be written, and may have an old address or "
                "certificate: make room on the disk, then restart the server or send it SIGHUP",
                VD_F_ERROR(error));
    return VD_OK;
}

static int open_listeners(struct server *s, struct vd_error *error)
{
    const struct vd_config *c = s->config;
    int code = VD_OK;
    if (c->tls_listen)
        code = vd_credentials_load(c, &s->tls_context.context, error);
    if (!code)
        code = open_listener(s, &s->tls, "tls-listen", c->tls_listen, &s->tls_context, error);
    if (!code && c->tls_listen)
        code = write_kubeconfig(s, error);
    return code ? code : open_listener(s, &s->plain, "listen", c->listen, NULL, error);
}

/* A path in the shell's words, from the root: whoever pastes it may be elsewhere. */
static void add_shell_path(struct vd_buf *out, const char *path)
{
    char *whole = realpath(path, NULL);
    vd_buf_add_text(out, "'");
    for (const char *p = whole ? whole : path; *p; p++) {
        if (*p == '\'')
            vd_buf_add_text(out, "'\\'"); /* out of the quotes, one quote, and in again */
        vd_buf_add(out, p, 1);
    }
    vd_buf_add_text(out, "'");
    free(whole);
}

/* For people: what to do with a server that is up. */
static void suggest(const char *kubeconfig)
{
    static const char example[] = "examples/configmap.yaml";
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "\nTo try it, paste into another terminal:\n\n"
                           "  export KUBECONFIG=");
    add_shell_path(&text, kubeconfig);
    vd_buf_add_text(&text, "\n  kubectl create configmap hello --from-literal=greeting=hi\n");
    if (access(example, R_OK) == 0) { /* started in the source tree */
        vd_buf_add_text(&text, "  kubectl apply -f ");
        add_shell_path(&text, example);
        vd_buf_add_text(&text, "\n");
    }
    vd_buf_add_text(&text, "  kubectl get cm -w\n\n");
    printf("%s", vd_buf_text(&text));
    vd_buf_release(&text);
}

/* The first two lines are for programs as well: "ready URL..." and "kubeconfig FILE". */
static void announce(const struct server *s)
{
    struct vd_buf line = {0};
    vd_buf_add_text(&line, "ready");
    if (s->tls.fd >= 0)
        vd_buf_addf(&line, " https://%s", s->tls.address);
    if (s->plain.fd >= 0)
        vd_buf_addf(&line, " http://%s", s->plain.address);
    printf("%s\n", vd_buf_text(&line));
    if (s->tls.fd >= 0) {
        struct vd_buf kubeconfig = {0};
        vd_buf_addf(&kubeconfig, "%s/admin.kubeconfig", s->config->data);
        printf("kubeconfig %s\n", vd_buf_text(&kubeconfig));
        suggest(vd_buf_text(&kubeconfig));
        vd_buf_release(&kubeconfig);
    }
    fflush(stdout);
    vd_log_info("ready", VD_F_SLICE("urls", vd_slice_from(vd_buf_slice(&line), sizeof "ready")),
                VD_F_U64("loops", s->n), VD_F_U64("revision", vd_store_revision(s->store)));
    vd_buf_release(&line);
    vd_start_pages_release();
}

static struct vd_controller_env controller_env(struct server *s)
{
    return (struct vd_controller_env){.store = s->store,
                                      .kinds = s->faces.env.kinds,
                                      .clock = vd_clock_system(),
                                      .loop = &s->workers[0].loop};
}

/* Before the loops start: whoever writes a definition waits for this one. */
static void start_definitions(struct server *s)
{
    struct vd_controller_env env = controller_env(s);
    s->definitions = vd_definitions_start(&env);
    vd_faces_follow_definitions(&s->faces, s->definitions);
}

/* The other controllers that every server runs; before the loops start, as requests ask them. */
static void make_controllers(struct server *s, struct vd_slice ca_pem)
{
    struct vd_controller_env env = controller_env(s);
    vd_controller_init(&s->controller, &env, &(struct vd_controller_options){.name = "server"});
    s->namespaces = vd_namespaces_new(&s->controller, ca_pem);
    s->garbage = vd_garbage_new(&s->controller);
    vd_faces_follow_controller(&s->faces, &s->controller);
}

static void start_controllers(struct server *s)
{
    vd_controller_start(&s->controller);
    vd_issuers_start(vd_gatekeeper_issuers(s->faces.gatekeeper));
}

static int start(struct server *s, struct vd_error *error)
{
    struct vd_buf ca_pem = {0};
    raise_descriptor_limit();
    int code = open_store(s, error);
    if (!code)
        code = vd_credentials_prepare(s->config, error);
    if (!code)
        code = vd_credentials_read_ca(s->config, &ca_pem, error);
    if (!code)
        code = make_loops(s, error);
    if (!code)
        code = open_listeners(s, error);
    if (!code) {
        start_definitions(s);
        make_controllers(s, vd_buf_slice(&ca_pem));
        code = start_loops(s, error);
    }
    if (!code)
        start_controllers(s);
    vd_buf_release(&ca_pem);
    return code;
}

/* ---- running ---- */

static void reload(struct server *s)
{
    struct vd_error error;
    SSL_CTX *context = NULL;
    int code = vd_credentials_prepare(s->config, &error);
    if (!code && s->config->tls_listen)
        code = vd_credentials_load(s->config, &context, &error);
    if (context)
        vd_http_listener_tls_set(&s->tls_context, context);
    if (!code && s->config->tls_listen)
        code = vd_credentials_write_kubeconfig(s->config, s->tls.address, &error);
    if (code)
        vd_log_error("could not load the certificates again; the old ones stay",
                     VD_F_ERROR(&error));
    else
        vd_log_info("certificates loaded");
    vd_faces_reload(&s->faces);
}

static sigset_t signal_set(bool with_reload)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    if (with_reload)
        sigaddset(&set, SIGHUP);
    return set;
}

static void run_until_told(struct server *s)
{
    sigset_t signals = signal_set(true);
    struct vd_heap_trim trim = {0};
    for (unsigned looks = 1;; looks++) {
        int signal = sigtimedwait(&signals, NULL, &(struct timespec){.tv_sec = VD_HEAP_TRIM_S});
        if (signal == SIGTERM || signal == SIGINT) {
            vd_log_info("stopping", VD_F_STR("signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"));
            return;
        }
        bool looked = signal < 0 && errno == EAGAIN;
        if (looked)
            vd_heap_trim_look(&trim);
        if (signal == SIGHUP || (looked && looks % (RENEW_S / VD_HEAP_TRIM_S) == 0))
            reload(s);
    }
}

/* ---- stopping ---- */

static void close_listeners(struct vd_task *task)
{
    struct worker *w = VD_CONTAINER_OF(task, struct worker, task);
    vd_http_listener_close(&w->server->plain);
    vd_http_listener_close(&w->server->tls);
    sem_post(&w->server->done);
}

static void drain(struct vd_task *task)
{
    struct worker *w = VD_CONTAINER_OF(task, struct worker, task);
    vd_http_service_drain(&w->server->services[w->loop.index], DRAIN_SPREAD_MS);
    w->draining = true;
    sem_post(&w->server->done);
}

static void nothing(struct vd_task *task)
{
    sem_post(&VD_CONTAINER_OF(task, struct worker, task)->server->done);
}

static void cut(struct vd_task *task)
{
    struct worker *w = VD_CONTAINER_OF(task, struct worker, task);
    w->draining = false;
    vd_http_service_close_all(&w->server->services[w->loop.index]);
    sem_post(&w->server->done);
}

/* Has the first n loops run a task that posts `done`, and waits until they have. */
static void ask(struct server *s, size_t n, void (*run)(struct vd_task *task))
{
    for (size_t i = 0; i < n; i++) {
        s->workers[i].task.run = run;
        vd_loop_post(&s->workers[i].loop, &s->workers[i].task);
    }
    while (n)
        if (sem_wait(&s->done) == 0)
            n--;
}

/* Waits until all loops are without connections. False when the time is up first. */
static bool wait_until_drained(struct server *s, int64_t wall_ms)
{
    struct timespec until = {.tv_sec = wall_ms / 1000, .tv_nsec = wall_ms % 1000 * 1000000};
    for (size_t n = s->n; n;) {
        if (sem_timedwait(&s->drained, &until) == 0)
            n--;
        else if (errno == ETIMEDOUT)
            return false;
    }
    return true;
}

/* Connections that were accepted before the listeners closed are in their loops'
 * inboxes before these tasks, so nobody is forgotten. */
static void drain_connections(struct server *s)
{
    const struct vd_config *c = s->config;
    sigset_t signals = signal_set(false);
    atomic_store(&s->faces.health.stopping, true);
    vd_audit_stop_blocking(s->faces.audit);
    if (c->shutdown_delay_ms)
        sigtimedwait(&signals, NULL,
                     &(struct timespec){.tv_sec = (time_t)(c->shutdown_delay_ms / 1000),
                                        .tv_nsec = (long)(c->shutdown_delay_ms % 1000 * 1000000)});
    /* From here a second signal ends the process at once; the store is made for it. */
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    ask(s, 1, close_listeners);
    int64_t deadline_ms = vd_clock_wall_ms(vd_clock_system()) + (int64_t)c->drain_timeout_ms;
    ask(s, s->n, drain);
    if (!wait_until_drained(s, deadline_ms))
        vd_log_warn("requests were cut off: drain-timeout has passed",
                    VD_F_U64("drain_timeout_ms", c->drain_timeout_ms));
    ask(s, s->n, cut);
    ask(s, s->n, nothing); /* what the last turn has proposed is with the store ... */
    ask(s, s->n, nothing); /* ... also what was posted in it */
    vd_faces_settle(&s->faces);
    vd_definitions_stop(s->definitions);
    vd_controller_stop(&s->controller);
    vd_garbage_free(s->garbage);
    vd_namespaces_free(s->namespaces);
    vd_issuers_stop(vd_gatekeeper_issuers(s->faces.gatekeeper));
    vd_converter_stop(s->faces.env.converter);
    ask(s, s->n, nothing); /* the answers that came meanwhile are behind them now */
}

static void release(struct server *s)
{
    if (s->n && !s->workers[0].loop.started) { /* never ran: nobody else can close them */
        vd_http_listener_close(&s->plain);
        vd_http_listener_close(&s->tls);
    }
    for (size_t i = 0; i < s->n; i++)
        vd_loop_stop(&s->workers[i].loop);
    vd_faces_close(&s->faces);
    for (size_t i = 0; i < s->n; i++)
        vd_loop_release(&s->workers[i].loop);
    free(s->workers);
    free(s->services);
    SSL_CTX_free(s->tls_context.context);
    vd_store_close(s->store);
    vd_lock_file_close(&s->lock);
    pthread_mutex_destroy(&s->tls_context.lock);
    sem_destroy(&s->done);
    sem_destroy(&s->drained);
}

int vd_server_run(const struct vd_config *config, struct vd_error *error)
{
    struct server s = {.config = config, .lock = {-1}};
    sigset_t signals = signal_set(true);
    sigaddset(&signals, SIGCHLD); /* is the loops' */
    s.plain.fd = s.tls.fd = -1;
    sem_init(&s.done, 0, 0);
    sem_init(&s.drained, 0, 0);
    pthread_mutex_init(&s.tls_context.lock, NULL);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* in every thread to come */
    vd_log_start(&(struct vd_log_options){.level = (enum vd_log_level)config->log_level,
                                          .format = vd_config_log_format(config)});
    for (size_t i = 0; i < config->warnings.n; i++)
        vd_log_warn("configuration", VD_F_STR("warning", config->warnings.p[i]));
    int code = start(&s, error);
    if (!code) {
        announce(&s);
        run_until_told(&s);
        drain_connections(&s);
    }
    release(&s);
    if (!code)
        vd_log_info("stopped");
    vd_log_stop();
    return code;
}
