/* See health.h. The checks and the paths are tables: which path asks which checks. */
#include "server/health.h"

#include "net/url.h"

static bool check_ping(struct vd_health_endpoint *endpoint)
{
    (void)endpoint;
    return true;
}

/* A restart helps. */
static bool check_store(struct vd_health_endpoint *endpoint)
{
    struct vd_health health;
    vd_store_health(endpoint->store, &health);
    return !health.read_only;
}

/* Whether it takes writes just now. What passes by itself, as a full disk does, is no reason for
 * a restart. */
static bool check_store_writes(struct vd_health_endpoint *endpoint)
{
    struct vd_health health;
    vd_store_health(endpoint->store, &health);
    return !health.read_only && !health.full && !health.locked && !health.short_of_memory;
}

/* Rights that were taken away are still in force. */
static bool check_rbac(struct vd_health_endpoint *endpoint)
{
    return !endpoint->gatekeeper || vd_gatekeeper_is_current(endpoint->gatekeeper);
}

static bool check_shutdown(struct vd_health_endpoint *endpoint)
{
    return !atomic_load(&endpoint->stopping);
}

enum { LIVE = 1, READY = 2, HEALTHY = 4 };

static const struct check {
    const char *name;
    unsigned paths;
    bool (*passes)(struct vd_health_endpoint *endpoint);
} checks[] = {
    {"ping", LIVE | READY | HEALTHY, check_ping}, {"store", LIVE | HEALTHY, check_store},
    {"store", READY, check_store_writes},         {"rbac", READY, check_rbac},
    {"shutdown", READY, check_shutdown},
};

static const struct path {
    struct vd_slice name;
    unsigned bit;
} paths[] = {
    {VD_SLICE("/livez"), LIVE},
    {VD_SLICE("/readyz"), READY},
    {VD_SLICE("/healthz"), HEALTHY},
};

enum { CHECKS = sizeof checks / sizeof *checks, PATHS = sizeof paths / sizeof *paths };

/* Splits "/readyz/store" into its path and its check, which is empty for all. */
static const struct path *find_path(struct vd_slice text, struct vd_slice *only)
{
    for (size_t i = 0; i < PATHS; i++) {
        struct vd_slice rest = vd_slice_from(text, paths[i].name.n);
        if (!vd_slice_starts_with(text, paths[i].name) || (rest.n && rest.p[0] != '/'))
            continue;
        *only = vd_slice_from(rest, 1);
        return &paths[i];
    }
    return NULL;
}

/* Runs the checks of a path, a line for each. Gives how many ran and how many
 * failed. */
static size_t run_checks(struct vd_health_endpoint *endpoint, const struct path *path,
                         struct vd_slice only, struct vd_buf *lines, size_t *failed)
{
    size_t ran = 0;
    *failed = 0;
    for (size_t i = 0; i < CHECKS; i++) {
        if (!(checks[i].paths & path->bit) || (only.n && !vd_slice_is(only, checks[i].name)))
            continue;
        bool passes = checks[i].passes(endpoint);
        vd_buf_addf(lines, passes ? "[+]%s ok\n" : "[-]%s failed: reason withheld\n",
                    checks[i].name);
        *failed += !passes;
        ran++;
    }
    return ran;
}

static bool is_verbose(struct vd_slice query)
{
    struct vd_slice part;
    while (query.n && vd_slice_cut(&query, '&', &part))
        if (vd_slice_is(part, "verbose") || vd_slice_starts_with(part, VD_SLICE("verbose=")))
            return true;
    return false;
}

bool vd_health_answer(struct vd_health_endpoint *endpoint, struct vd_exchange *x)
{
    static const struct vd_http_field headers[] = {
        {VD_SLICE("Cache-Control"), VD_SLICE("no-cache, private")},
        {VD_SLICE("X-Content-Type-Options"), VD_SLICE("nosniff")},
    };
    struct vd_slice target, query, only;
    struct vd_buf lines = {0};
    size_t failed;
    vd_url_split(vd_http_head_target(x->head), &target, &query);
    const struct path *path = find_path(target, &only);
    if (!path || (x->head->method != VD_HTTP_GET && x->head->method != VD_HTTP_HEAD))
        return false;
    if (run_checks(endpoint, path, only, &lines, &failed) == 0) {
        vd_buf_release(&lines);
        return false;
    }
    struct vd_slice name = vd_slice_from(path->name, 1);
    if (failed || is_verbose(query))
        vd_buf_addf(&lines, "%.*s check %s\n", VD_FMT(name), failed ? "failed" : "passed");
    else {
        vd_buf_reset(&lines);
        vd_buf_add_text(&lines, "ok");
    }
    vd_exchange_respond(x,
                        &(struct vd_response){.status = failed ? 503 : 200,
                                              .content_type = VD_SLICE("text/plain; charset=utf-8"),
                                              .fields = headers,
                                              .fields_n = sizeof headers / sizeof *headers,
                                              .body = vd_buf_slice(&lines)});
    vd_buf_release(&lines);
    return true;
}

void vd_health_paths(struct vd_slice path, struct vd_buf *out)
{
    struct vd_slice none;
    const struct path *p = find_path(path, &none);
    vd_buf_addf(out, "%.*s\n", VD_FMT(p->name));
    for (size_t i = 0; i < CHECKS; i++)
        if (checks[i].paths & p->bit)
            vd_buf_addf(out, "%.*s/%s\n", VD_FMT(p->name), checks[i].name);
}
