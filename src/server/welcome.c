/*
 * See welcome.h. The page and the text are written from the same pieces: paragraphs, and blocks of
 * commands to paste. No script, nothing that is loaded, and a policy that allows the page's own
 * style alone, by its hash.
 */
#include "server/welcome.h"

#include <errno.h>
#include <openssl/sha.h>
#include <string.h>

#include "base/base64.h"
#include "net/connection.h"
#include "net/media_type.h"
#include "net/url.h"

enum {
    HOST_LEN_MAX = 120, /* bytes of a Host header that the page repeats */
    NAME_LEN_MAX = 120, /* bytes of a path that the page repeats */
};

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1c2330;--dim:#5b6575;--paper:#fbfbf9;--sheet:#fff;"
    "--line:#dfe2e6;--mark:#0b6e63}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e7ec;--dim:#98a2b3;--paper:#12151b;"
    "--sheet:#1a1f28;--line:#2d3440;--mark:#4cc2b0}}"
    "*{box-sizing:border-box}"
    "body{margin:0;background:var(--paper);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',sans-serif}"
    "main{max-width:46rem;margin:0 auto;padding:12vh 1.5rem 3rem}"
    "h1{font-size:1.9rem;letter-spacing:-.02em;margin:0 0 .2rem}"
    "h1::before{content:'';display:inline-block;width:.62em;height:.62em;border-radius:50%;"
    "background:var(--mark);margin-right:.45em}"
    "h2{font-size:1rem;margin:2.2rem 0 .5rem}"
    "p{margin:.5rem 0;color:var(--dim)}"
    "pre{margin:.75rem 0;padding:.9rem "
    "1.1rem;white-space:pre-wrap;overflow-wrap:anywhere;background:var(--sheet);"
    "border:1px solid var(--line);border-radius:8px;"
    "font:14px/1.7 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}";

/* ---- what may be shown ---- */

static bool is_shown(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
    size_t n = strlen(name);
    return n > 0 && n <= NAME_LEN_MAX && name[0] != '/' && name[0] != '-' &&
           strspn(name, letters) == n;
}

void vd_welcome_init(struct vd_welcome *w, const struct vd_config *config)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    struct vd_buf hash = {0};
    const char *initial = vd_settings[vd_setting_find(VD_SLICE("data"))].initial;
    *w = (struct vd_welcome){
        .program = is_shown(program_invocation_name) ? program_invocation_name : "vedette",
        .folder = is_shown(config->data) ? config->data : "DIR",
        .is_default_folder = strcmp(config->data, initial) == 0,
        .has_kubeconfig = config->tls_listen != NULL,
        .own_certificate = !config->tls_cert,
        .health = config->anonymous_health,
    };
    SHA256((const unsigned char *)style, sizeof style - 1, digest);
    vd_base64_encode(&hash, vd_slice((const char *)digest, sizeof digest), VD_BASE64_STANDARD);
    snprintf(w->policy, sizeof w->policy,
             "default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'; "
             "frame-ancestors 'none'",
             vd_buf_text(&hash));
    vd_buf_release(&hash);
}

/* Where this was asked for, as the client calls it; a host with anything odd in it is not said
 * again. */
static void add_url(struct vd_buf *out, const struct vd_exchange *x)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";
    struct vd_slice host;
    bool good = vd_http_head_find(x->head, VD_SLICE("host"), &host) && host.n &&
                host.n <= HOST_LEN_MAX;
    for (size_t i = 0; good && i < host.n; i++)
        good = memchr(letters, host.p[i], sizeof letters - 1) != NULL;
    vd_buf_add_text(out, x->connection->transport.ssl ? "https://" : "http://");
    vd_buf_add_slice(out, good ? host : VD_SLICE("HOST"));
}

/* ---- the pieces ---- */

/* The words and the commands, filled in. */
struct pieces {
    struct vd_buf admin, others, rest;
};

static void pieces_release(struct pieces *p)
{
    vd_buf_release(&p->admin);
    vd_buf_release(&p->others);
    vd_buf_release(&p->rest);
}

static void fill(struct pieces *p, const struct vd_welcome *w, const struct vd_exchange *x)
{
    struct vd_buf data = {0}, url = {0}, ca = {0};
    if (!w->is_default_folder)
        vd_buf_addf(&data, " --data %s", w->folder);
    if (x->connection->transport.ssl && w->own_certificate)
        vd_buf_addf(&ca, " --cacert %s/pki/ca.crt", w->folder);
    add_url(&url, x);
    if (w->has_kubeconfig) {
        vd_buf_addf(&p->admin, "export KUBECONFIG=%s/admin.kubeconfig\nkubectl get namespaces\n",
                    w->folder);
        vd_buf_addf(&p->others, "%s kubeconfig%s --user ann --output %s/ann.kubeconfig\n",
                    w->program, vd_buf_text(&data), w->folder);
    } else {
        vd_buf_addf(&p->admin, "token=$(%s token create%s --user me --groups system:masters)\n",
                    w->program, vd_buf_text(&data));
        vd_buf_addf(&p->admin, "curl -H \"Authorization: Bearer $token\" %s/api/v1/namespaces\n",
                    vd_buf_text(&url));
    }
    vd_buf_addf(&p->others, "token=$(%s token create%s --user ann)\n", w->program,
                vd_buf_text(&data));
    vd_buf_addf(&p->others, "curl%s -H \"Authorization: Bearer $token\" %s/api\n", vd_buf_text(&ca),
                vd_buf_text(&url));
    if (strcmp(w->folder, "DIR") == 0)
        vd_buf_add_text(&p->rest, "DIR is the server's data folder. ");
    if (w->health)
        vd_buf_add_text(&p->rest, "Anybody may ask for /livez and /readyz.");
    vd_buf_release(&data);
    vd_buf_release(&url);
    vd_buf_release(&ca);
}

#define WHAT   "A Kubernetes-style API server is here, and it is up."
#define WHY    "It answers whoever shows a credential. This request came without one that is good."
#define ADMIN  "As the administrator, on the machine where it runs"
#define OTHERS "As somebody else"
#define ROLES                                                                                      \
    "A kubeconfig is for kubectl, a token for other programs. Roles say what a user may do; a "    \
    "new one may do nothing yet."

static void add_block(struct vd_buf *out, const struct vd_buf *commands)
{
    struct vd_slice rest = vd_buf_slice(commands), line;
    while (rest.n && vd_slice_cut(&rest, '\n', &line))
        vd_buf_addf(out, "  %.*s\n", VD_FMT(line));
}

static void write_text(struct vd_buf *out, const struct pieces *p)
{
    vd_buf_add_text(out, "Vedette. " WHAT "\n" WHY "\n\n" ADMIN ":\n\n");
    add_block(out, &p->admin);
    vd_buf_add_text(out, "\n" OTHERS ":\n\n");
    add_block(out, &p->others);
    vd_buf_addf(out, "\n" ROLES "\n%s%s", vd_buf_text(&p->rest), p->rest.n ? "\n" : "");
}

static void add_html(struct vd_buf *out, struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++)
        switch (text.p[i]) {
        case '<':
            vd_buf_add_text(out, "&lt;");
            break;
        case '&':
            vd_buf_add_text(out, "&amp;");
            break;
        default:
            vd_buf_add_char(out, text.p[i]);
        }
}

static void write_page(struct vd_buf *out, const struct pieces *p)
{
    vd_buf_add_text(out, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                         "<meta name=\"viewport\" content=\"width=device-width\">\n"
                         "<title>Vedette</title>\n<style>");
    vd_buf_add_text(out, style);
    vd_buf_add_text(out, "</style>\n<main>\n<h1>Vedette</h1>\n<p>" WHAT "<br>" WHY "</p>\n"
                         "<h2>" ADMIN "</h2>\n<pre>");
    add_html(out, vd_buf_slice(&p->admin));
    vd_buf_add_text(out, "</pre>\n<h2>" OTHERS "</h2>\n<pre>");
    add_html(out, vd_buf_slice(&p->others));
    vd_buf_add_text(out, "</pre>\n<p>" ROLES "<br>");
    add_html(out, vd_buf_slice(&p->rest));
    vd_buf_add_text(out, "</p>\n</main>\n</html>\n");
}

/* ---- the answer ---- */

enum form { FORM_STATUS, FORM_TEXT, FORM_PAGE };

static bool is_named(const struct vd_accept *accept, const char *type, const char *subtype)
{
    for (size_t i = 0; i < accept->n; i++)
        if (accept->ranges[i].quality &&
            vd_media_type_is(&accept->ranges[i], vd_slice_of(type), vd_slice_of(subtype)))
            return true;
    return false;
}

/* Browsers name HTML. Clients of the API name JSON or one of Kubernetes' forms, mostly beside
 * anything else that there is. curl takes anything. */
static enum form form_of(const struct vd_exchange *x)
{
    struct vd_accept accept;
    struct vd_slice value;
    size_t at = 0;
    vd_accept_init(&accept);
    while (vd_http_head_next(x->head, VD_SLICE("accept"), &at, &value))
        if (vd_accept_add(&accept, value, NULL))
            break;
    if (is_named(&accept, "text", "html") && !is_named(&accept, "application", "json"))
        return FORM_PAGE;
    for (size_t i = 0; i < accept.n; i++)
        if (vd_slice_is(accept.ranges[i].type, "application"))
            return FORM_STATUS;
    return vd_accept_quality(&accept, VD_SLICE("text"), VD_SLICE("plain")) ? FORM_TEXT
                                                                           : FORM_STATUS;
}

bool vd_welcome_is_for(const struct vd_exchange *x)
{
    struct vd_slice path, query;
    vd_url_split(vd_http_head_target(x->head), &path, &query);
    return vd_slice_is(path, "/") &&
           (x->head->method == VD_HTTP_GET || x->head->method == VD_HTTP_HEAD) &&
           form_of(x) != FORM_STATUS;
}

void vd_welcome_answer(const struct vd_welcome *w, struct vd_exchange *x)
{
    const struct vd_http_field headers[] = {
        {VD_SLICE("WWW-Authenticate"), VD_SLICE("Bearer")},
        {VD_SLICE("Cache-Control"), VD_SLICE("no-store")},
        {VD_SLICE("Vary"), VD_SLICE("Accept")},
        {VD_SLICE("X-Content-Type-Options"), VD_SLICE("nosniff")},
        {VD_SLICE("Referrer-Policy"), VD_SLICE("no-referrer")},
        {VD_SLICE("Content-Security-Policy"), vd_slice_of(w->policy)},
    };
    struct pieces pieces = {0};
    struct vd_buf body = {0};
    enum form form = form_of(x);
    fill(&pieces, w, x);
    if (form == FORM_PAGE)
        write_page(&body, &pieces);
    else
        write_text(&body, &pieces);
    vd_exchange_respond(
        x, &(struct vd_response){.status = 401,
                                 .content_type = form == FORM_PAGE
                                                     ? VD_SLICE("text/html; charset=utf-8")
                                                     : VD_SLICE("text/plain; charset=utf-8"),
                                 .fields = headers,
                                 .fields_n = sizeof headers / sizeof *headers,
                                 .body = vd_buf_slice(&body)});
    pieces_release(&pieces);
    vd_buf_release(&body);
}
