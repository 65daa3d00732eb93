/* See manifest.h: from a document to a manifest, and from that to an object of its kind. */
#include "git/manifest.h"

#include <string.h>

#include "base/buf.h"
#include "git/manifest_internal.h"
#include "git/positions.h"
#include "kinds/object_meta.h"
#include "kinds/schema.h"

/* --- reports --- */

struct vd_yaml_position vd_git_manifest_position_in(const struct vd_git_manifest *m,
                                                    struct vd_git_positions *p,
                                                    struct vd_slice field)
{
    if (!p)
        return m->source.from;
    if (m->has_body && vd_slice_is(field, "body"))
        return m->body_at;
    return vd_git_positions_find(p, vd_slice_is(field, "<nil>") ? VD_SLICE("") : field);
}

struct vd_yaml_position vd_git_manifest_position(const struct vd_git_manifest *m,
                                                 struct vd_slice field)
{
    struct vd_git_positions *p = vd_git_positions_new(&m->source);
    struct vd_yaml_position at = vd_git_manifest_position_in(m, p, field);
    vd_git_positions_free(p);
    return at;
}

void vd_git_manifest_refuse(const struct vd_git_manifest *m, struct vd_slice field,
                            struct vd_git_report *report, const char *format, ...)
{
    struct vd_buf reason = {0};
    va_list arguments;
    va_start(arguments, format);
    vd_buf_vaddf(&reason, format, arguments);
    va_end(arguments);
    vd_git_report_add_text(report, VD_GIT_ERROR, m->source.path,
                           vd_git_report_is_full(report) ? m->source.from
                                                         : vd_git_manifest_position(m, field),
                           field, vd_buf_slice(&reason));
    vd_buf_release(&reason);
}

void vd_git_manifest_report(const struct vd_git_manifest *m, const struct vd_violations *violations,
                            struct vd_git_report *report)
{
    bool is_full = vd_git_report_is_full(report); /* then nobody sees the places */
    struct vd_git_positions *p = violations->list.n && !is_full ? vd_git_positions_new(&m->source)
                                                                : NULL;
    for (size_t i = 0; i < violations->list.n; i++) {
        const struct vd_violation *v = &violations->list.p[i];
        struct vd_slice field = vd_slice_is(v->field, "<nil>") ? VD_SLICE("") : v->field;
        vd_git_report_add_text(report, VD_GIT_ERROR, m->source.path,
                               vd_git_manifest_position_in(m, p, v->field), field, v->message);
    }
    report->found[VD_GIT_ERROR] += violations->dropped;
    vd_git_positions_free(p);
}

/* --- reading --- */

/* Labels of the configuration that the manifest does not have. */
static void add_labels(struct vd_json *document, const struct vd_repository_config *config,
                       struct vd_arena *arena)
{
    struct vd_json *metadata = vd_json_get(document, VD_SLICE("metadata"));
    struct vd_json *labels = vd_json_get(metadata, VD_SLICE("labels"));
    if (!config->labels.n)
        return;
    if (!labels) {
        labels = vd_json_object(arena);
        vd_json_add_ref(metadata, VD_SLICE("labels"), labels);
    }
    for (size_t i = 0; i < config->labels.n; i++) {
        const struct vd_repository_label *label = &config->labels.p[i];
        if (!vd_json_get(labels, label->key))
            vd_json_add_ref(labels, vd_arena_copy(arena, label->key),
                            vd_json_string(arena, label->value));
    }
}

static void read_identity(struct vd_git_manifest *m, const struct vd_repository_config *config,
                          struct vd_arena *arena)
{
    m->api_version = vd_json_text(vd_json_get(m->document, VD_SLICE("apiVersion")));
    m->kind = vd_json_text(vd_json_get(m->document, VD_SLICE("kind")));
    m->name = vd_meta_name(m->document);
    m->namespace = vd_meta_namespace(m->document);
    if (!m->namespace.n && config->default_namespace.n) {
        m->namespace = vd_arena_copy(arena, config->default_namespace);
        m->namespace_is_default = true;
    }
    const char *slash = memchr(m->api_version.p, '/', m->api_version.n);
    size_t n = slash ? (size_t)(slash - m->api_version.p) : 0;
    m->group = vd_slice(m->api_version.p, n);
    m->version = vd_slice_from(m->api_version, slash ? n + 1 : 0);
}

/* Whether the document says to be an object at all. If not, that is told. */
static bool is_manifest(const struct vd_git_manifest *m, struct vd_git_report *report)
{
    const char *what = NULL;
    if (!vd_json_is(m->document, VD_JSON_OBJECT))
        what = "the document is no map";
    else if (!vd_json_get(m->document, VD_SLICE("apiVersion")) &&
             !vd_json_get(m->document, VD_SLICE("kind")))
        what = "the document has neither apiVersion nor kind";
    if (what)
        vd_git_report_add(report, VD_GIT_WARNING, m->source.path,
                          vd_git_manifest_position(m, VD_SLICE("")), VD_SLICE(""),
                          "ignored: %s; exclude the file in .vedette.yaml if it is no manifest",
                          what);
    return !what;
}

bool vd_git_manifest_read(struct vd_git_manifest *m, const struct vd_git_document *document,
                          const struct vd_repository_config *config, struct vd_arena *arena,
                          struct vd_git_report *report)
{
    struct vd_violations violations = {0};
    *m = (struct vd_git_manifest){.document = document->value, .source = document->source};
    if (!is_manifest(m, report))
        return false;
    vd_git_manifest_check_fields(m->document, &violations);
    bool ok = true; /* what is only forbidden was left out: the rest is to be looked at, too */
    for (size_t i = 0; i < violations.list.n; i++)
        ok = ok && violations.list.p[i].type == VD_VIOLATION_FORBIDDEN;
    vd_git_manifest_report(m, &violations, report);
    vd_violations_release(&violations);
    if (!ok)
        return false;
    add_labels(m->document, config, arena);
    read_identity(m, config, arena);
    return true;
}

/* --- an object of the kind --- */

static bool set_namespace(struct vd_git_manifest *m, const struct vd_kind *kind,
                          struct vd_slice namespace, struct vd_arena *arena,
                          struct vd_git_report *report)
{
    if (!kind->namespaced) {
        if (m->namespace.n && !m->namespace_is_default) {
            vd_git_manifest_refuse(m, VD_SLICE("metadata.namespace"), report,
                                   "objects of kind %.*s are in no namespace; remove it",
                                   VD_FMT(m->kind));
            return false;
        }
        m->namespace = VD_SLICE("");
        vd_json_remove(vd_json_get(m->document, VD_SLICE("metadata")), VD_SLICE("namespace"));
        return true;
    }
    if (!m->namespace.n)
        m->namespace = vd_arena_copy(arena, namespace);
    vd_meta_set_text(arena, m->document, VD_SLICE("namespace"), m->namespace);
    return true;
}

static bool has_body_field(const struct vd_kind *kind)
{
    const struct vd_schema_node *body = vd_schema_member(vd_schema_root(kind->schema),
                                                         VD_SLICE("body"));
    return body && vd_slice_is(vd_json_text(vd_json_get(vd_schema_source(body), VD_SLICE("type"))),
                               "string");
}

static bool set_body(struct vd_git_manifest *m, const struct vd_kind *kind, struct vd_arena *arena,
                     struct vd_git_report *report)
{
    const struct vd_slice field = VD_SLICE("body");
    if (!m->has_body)
        return true;
    if (!has_body_field(kind)) {
        if (!vd_slice_trim(m->body).n) /* a newline behind the front matter is nobody's text */
            return true;
        vd_git_manifest_refuse(m, field, report,
                               "objects of kind %.*s have no body; remove the text behind the "
                               "front matter, or write the file as YAML",
                               VD_FMT(m->kind));
        return false;
    }
    struct vd_json *there = vd_json_get(m->document, field);
    if (there && vd_json_text(there).p == m->body.p)
        return true; /* it was complete before */
    if (there) {
        vd_git_manifest_refuse(m, field, report,
                               "the body is both in the front matter and behind it");
        return false;
    }
    vd_json_add_ref(m->document, field, vd_json_string_ref(arena, m->body));
    return true;
}

bool vd_git_manifest_complete(struct vd_git_manifest *m, const struct vd_kind *kind,
                              struct vd_slice namespace, struct vd_arena *arena,
                              struct vd_git_report *report)
{
    bool placed = set_namespace(m, kind, namespace, arena, report);
    return set_body(m, kind, arena, report) && placed;
}
