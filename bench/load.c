/*
 * load: puts a Kubernetes-style server under load and says what it did.
 *
 *   load fanout   watchers see what writers patch: events/s, latency, order, nothing missing
 *   load idle     watchers whose objects do not change: memory of each
 *   load replay   watchers resume from an old version: events/s
 *   load list     clients list the collection: lists/s, MB/s
 *   load write    writers patch: writes/s; --watchers and --watch-path: beside watches of others
 *   load greedy   opens watches that it does not read, and keeps connections busy
 *   load pulse    one user's reads and writes, to run beside `greedy`: latency
 *   load requests sends a flood of requests
 *   load resets   sends a flood of HTTP/2 requests and resets each at once
 *   load slow     opens many watches at once and does not read them
 *   load vigil    asks for /readyz, reads and writes, to run beside a flood: latency
 *   load definitions  makes many definitions of kinds: seconds, memory, discovery
 *
 * It speaks plain Kubernetes REST over HTTP/1.1, so it drives kube-apiserver as well. With
 * --http2-connections N, watchers share N connections of HTTP/2. Each mode prints one line of JSON;
 * "right" is false when a promise was broken.
 */
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

struct load_options load = {
    .path = "/api/v1/namespaces/default/configmaps",
    .kind = "ConfigMap",
    .api_version = "v1",
    .writers = 8,
    .clients = 2,
    .objects = 100,
    .size = 512,
    .events = 10000,
    .requests = 100000,
    .ahead = 4,
    .check_every = 64,
    .seconds = 3,
};

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"fanout", mode_fanout},     {"idle", mode_idle},
    {"replay", mode_replay},     {"list", mode_list},
    {"write", mode_write},       {"greedy", mode_greedy},
    {"pulse", mode_pulse},       {"definitions", mode_definitions},
    {"requests", mode_requests}, {"resets", mode_resets},
    {"slow", mode_slow},         {"vigil", mode_vigil},
};

/* Options by what they set. */
static const struct {
    const char *name;
    const char **text;
    unsigned *number;
} settings[] = {
    {"token", &load.token, NULL},
    {"cert", &load.cert, NULL},
    {"key", &load.key, NULL},
    {"path", &load.path, NULL},
    {"watch-path", &load.watch_path, NULL},
    {"kind", &load.kind, NULL},
    {"api-version", &load.api_version, NULL},
    {"watchers", NULL, &load.watchers},
    {"writers", NULL, &load.writers},
    {"clients", NULL, &load.clients},
    {"objects", NULL, &load.objects},
    {"size", NULL, &load.size},
    {"events", NULL, &load.events},
    {"check-every", NULL, &load.check_every},
    {"http2-connections", NULL, &load.bundles},
    {"requests", NULL, &load.requests},
    {"ahead", NULL, &load.ahead},
    {"receive-buffer", NULL, &load.receive_buffer},
};
enum { SETTINGS = sizeof settings / sizeof *settings };
enum { OPTION_SERVER = 256, OPTION_PID, OPTION_SECONDS };

uint64_t load_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void load_sleep_ms(unsigned ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

/* ---- the end ---- */

static atomic_bool told_to_stop;
static uint64_t end_ns;

/* Blocks the signal, so that it interrupts nothing; load_stops_within() waits for it. */
void load_stop_on_signal(void)
{
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &stop, NULL);
    end_ns = load_now_ns() + (uint64_t)(load.seconds * 1e9);
}

bool load_stops_within(unsigned ms)
{
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    const struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    if (!atomic_load(&told_to_stop) && sigtimedwait(&stop, NULL, &wait) == SIGTERM)
        atomic_store(&told_to_stop, true);
    return atomic_load(&told_to_stop) || load_now_ns() >= end_ns;
}

void load_await_stop(void)
{
    while (!load_stops_within(20))
        ;
}

void load_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("load: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

double server_resident_kb(void)
{
    char path[64], line[256];
    long kb = 0;
    snprintf(path, sizeof path, "/proc/%d/status", load.pid);
    FILE *file = load.pid ? fopen(path, "r") : NULL;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return (double)kb;
}

double server_cpu_s(void)
{
    char path[64], text[1024] = "";
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", load.pid);
    FILE *file = load.pid ? fopen(path, "r") : NULL;
    if (file && fgets(text, sizeof text, file)) {
        const char *rest = strrchr(text, ')'); /* the name may have spaces in it */
        for (int i = 0; rest && i < 12; i++)   /* the 14th field, and the next */
            rest = strchr(rest + 1, ' ');
        char *end = NULL;
        user = rest ? strtoul(rest, &end, 10) : 0;
        system = end ? strtoul(end, NULL, 10) : 0;
    }
    if (file)
        fclose(file);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static _Noreturn void usage(void)
{
    fputs("usage: load "
          "fanout|idle|replay|list|write|definitions|greedy|pulse|requests|resets|slow|vigil "
          "--server http[s]://ADDRESS:PORT "
          "[OPTION "
          "VALUE]...\n"
          "  --pid N --seconds S",
          stderr);
    for (unsigned i = 0; i < SETTINGS; i++)
        fprintf(stderr, " --%s %s", settings[i].name, settings[i].text ? "TEXT" : "N");
    fputc('\n', stderr);
    exit(2);
}

static void set_server(const char *url)
{
    load.tls = strncmp(url, "https://", 8) == 0;
    const char *address = strstr(url, "://");
    size_t n = address ? strcspn(address + 3, ":/") : 0;
    unsigned long port = n && address[3 + n] == ':' ? strtoul(address + 4 + n, NULL, 10) : 0;
    if (n >= sizeof load.host || port == 0 || port > UINT16_MAX)
        load_die("%s is not http[s]://ADDRESS:PORT", url);
    memcpy(load.host, address + 3, n);
    load.host[n] = 0;
    load.port = (uint16_t)port;
}

static void set_option(int option, const char *value)
{
    if (option == OPTION_SERVER)
        set_server(value);
    else if (option == OPTION_PID)
        load.pid = (int)strtol(value, NULL, 10);
    else if (option == OPTION_SECONDS)
        load.seconds = strtod(value, NULL);
    else if (option < 0 || option >= SETTINGS)
        usage();
    else if (settings[option].text)
        *settings[option].text = value;
    else
        *settings[option].number = (unsigned)strtoul(value, NULL, 10);
}

static void read_options(int argc, char **argv)
{
    struct option names[SETTINGS + 4] = {
        [SETTINGS] = {"server", required_argument, NULL, OPTION_SERVER},
        [SETTINGS + 1] = {"pid", required_argument, NULL, OPTION_PID},
        [SETTINGS + 2] = {"seconds", required_argument, NULL, OPTION_SECONDS},
    };
    for (int i = 0; i < SETTINGS; i++)
        names[i] = (struct option){settings[i].name, required_argument, NULL, i};
    optind = 2;
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;)
        set_option(option == '?' ? -1 : option, optarg);
    if (!load.port || !load.objects || !load.check_every || !load.writers || optind < argc)
        usage();
}

int main(int argc, char **argv)
{
    struct rlimit limit;
    if (argc < 2)
        usage();
    read_options(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    link_setup();
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, argv[1]) == 0) {
            modes[i].run();
            return 0;
        }
    usage();
}
