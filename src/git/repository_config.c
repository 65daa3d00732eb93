/* See repository_config.h. */
#include "git/repository_config.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "git/documents.h"
#include "git/positions.h"
#include "kinds/name.h"
#include "watch/label.h"
#include "json/document.h"

/* The file while it is read. */
struct reading {
    struct vd_repository_config *config;
    struct vd_git_report *report;
    struct vd_git_positions *positions;
    bool wrong;
};

void vd_repository_config_release(struct vd_repository_config *c)
{
    vd_path_patterns_release(&c->paths);
    vd_path_patterns_release(&c->exclude);
    VD_VEC_RELEASE(&c->labels);
    vd_arena_release(&c->arena);
    *c = (struct vd_repository_config){0};
}

/* --- reading --- */

static void complain(struct reading *r, struct vd_slice field, const char *format, ...)
    VD_PRINTF(3, 4);

static void complain(struct reading *r, struct vd_slice field, const char *format, ...)
{
    struct vd_buf reason = {0};
    va_list arguments;
    va_start(arguments, format);
    vd_buf_vaddf(&reason, format, arguments);
    va_end(arguments);
    vd_git_report_add_text(r->report, VD_GIT_ERROR, VD_SLICE(VD_REPOSITORY_CONFIG_PATH),
                           vd_git_positions_find(r->positions, field), field,
                           vd_buf_slice(&reason));
    vd_buf_release(&reason);
    r->wrong = true;
}

/* Adds the pattern of one item. */
static void read_pattern(struct reading *r, const char *key, size_t index,
                         const struct vd_json *item, struct vd_path_patterns *out)
{
    struct vd_path_pattern *pattern = NULL;
    struct vd_error error;
    char field[64];
    snprintf(field, sizeof field, "%s[%zu]", key, index);
    if (!vd_json_is(item, VD_JSON_STRING))
        complain(r, vd_slice_of(field), "must be a pattern of paths, not %s",
                 vd_json_type_name(item));
    else if (vd_path_pattern_new(&pattern, vd_json_text(item), &error))
        complain(r, vd_slice_of(field), "%s", error.text);
    else
        *VD_VEC_PUSH(&out->list) = pattern;
}

static void read_patterns(struct reading *r, const char *key, const struct vd_json *value,
                          struct vd_path_patterns *out)
{
    size_t index = 0;
    if (!vd_json_is(value, VD_JSON_ARRAY)) {
        complain(r, vd_slice_of(key), "must be a list of patterns, not %s",
                 vd_json_type_name(value));
    } else if (vd_json_count(value) > VD_GIT_PATTERNS_MAX) {
        complain(r, vd_slice_of(key), "has more than %d patterns", VD_GIT_PATTERNS_MAX);
    } else {
        VD_JSON_EACH (item, value)
            read_pattern(r, key, index++, item, out);
    }
}

static void read_paths(struct reading *r, const struct vd_json *value)
{
    read_patterns(r, "paths", value, &r->config->paths);
    if (vd_json_is(value, VD_JSON_ARRAY) && !vd_json_count(value))
        complain(r, VD_SLICE("paths"), "is empty; leave it out to take all files");
}

static void read_exclude(struct reading *r, const struct vd_json *value)
{
    read_patterns(r, "exclude", value, &r->config->exclude);
}

static void read_namespace(struct reading *r, const struct vd_json *value)
{
    struct vd_slice field = VD_SLICE("defaultNamespace"), name = vd_json_text(value);
    struct vd_name_faults faults;
    if (!vd_json_is(value, VD_JSON_STRING))
        complain(r, field, "must be a namespace, not %s", vd_json_type_name(value));
    else if (!vd_name_check(VD_NAME_LABEL, name, &faults))
        complain(r, field, "%s", faults.p[0]);
    else
        r->config->default_namespace = vd_arena_copy(&r->config->arena, name);
}

static void read_label(struct reading *r, const struct vd_json *label)
{
    struct vd_buf field = {0}, fault = {0};
    struct vd_slice key = vd_json_key(label), value = vd_json_text(label);
    struct vd_arena *a = &r->config->arena;
    vd_buf_addf(&field, "labels[%.*s]", VD_FMT(key));
    if (!vd_json_is(label, VD_JSON_STRING))
        complain(r, vd_buf_slice(&field), "must be a text, not %s; write it in quotes",
                 vd_json_type_name(label));
    else if (!vd_label_key_check(key, &fault) || !vd_label_value_check(value, &fault))
        complain(r, vd_buf_slice(&field), "%s", vd_buf_text(&fault));
    else
        *VD_VEC_PUSH(&r->config->labels) = (struct vd_repository_label){vd_arena_copy(a, key),
                                                                        vd_arena_copy(a, value)};
    vd_buf_release(&field);
    vd_buf_release(&fault);
}

static void read_labels(struct reading *r, const struct vd_json *value)
{
    if (!vd_json_is(value, VD_JSON_OBJECT))
        complain(r, VD_SLICE("labels"), "must be a map of labels, not %s",
                 vd_json_type_name(value));
    else if (vd_json_count(value) > VD_GIT_LABELS_MAX)
        complain(r, VD_SLICE("labels"), "has more than %d labels", VD_GIT_LABELS_MAX);
    else
        VD_JSON_EACH (label, value)
            read_label(r, label);
}

static void read_api_version(struct reading *r, const struct vd_json *value)
{
    if (!vd_slice_is(vd_json_text(value), "git.vedette.dev/v1"))
        complain(r, VD_SLICE("apiVersion"), "must be git.vedette.dev/v1");
}

static void read_kind(struct reading *r, const struct vd_json *value)
{
    if (!vd_slice_is(vd_json_text(value), "RepositoryConfig"))
        complain(r, VD_SLICE("kind"), "must be RepositoryConfig");
}

static const struct {
    const char *key;
    void (*read)(struct reading *r, const struct vd_json *value);
} keys[] = {
    {"apiVersion", read_api_version},
    {"kind", read_kind},
    {"paths", read_paths},
    {"exclude", read_exclude},
    {"defaultNamespace", read_namespace},
    {"labels", read_labels},
};

static void read_member(struct reading *r, const struct vd_json *member)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (vd_slice_is(vd_json_key(member), keys[i].key)) {
            if (!vd_json_is(member, VD_JSON_NULL))
                keys[i].read(r, member);
            return;
        }
    }
    complain(r, vd_json_key(member),
             "unknown field; known are paths, exclude, defaultNamespace and labels");
}

static void read_document(struct reading *r, const struct vd_git_document *document)
{
    r->positions = vd_git_positions_new(&document->source);
    if (!vd_json_is(document->value, VD_JSON_OBJECT))
        complain(r, VD_SLICE(""), "must be a map, not %s", vd_json_type_name(document->value));
    else
        VD_JSON_EACH (member, document->value)
            read_member(r, member);
    vd_git_positions_free(r->positions);
    r->positions = NULL;
}

bool vd_repository_config_read(struct vd_repository_config *c, struct vd_slice text,
                               struct vd_git_report *report)
{
    const struct vd_slice path = VD_SLICE(VD_REPOSITORY_CONFIG_PATH);
    struct reading r = {.config = c, .report = report};
    size_t errors = report->found[VD_GIT_ERROR], count = 0;
    struct vd_git_documents documents;
    struct vd_git_document document;
    struct vd_arena arena = {0};
    const char *problem = NULL;
    if (text.n > VD_GIT_CONFIG_LEN_MAX)
        problem = "the file is too large for a configuration";
    else if (!vd_utf8_is_valid(text))
        problem = "the file is not UTF-8";
    vd_git_documents_open(&documents, path, problem ? VD_SLICE("") : text, VD_GIT_YAML,
                          (struct vd_yaml_position){1, 1});
    while (vd_git_documents_next(&documents, &arena, &document, report))
        if (count++ == 0)
            read_document(&r, &document);
    if (count > 1)
        problem = "the file has several documents; one is expected";
    if (problem)
        vd_git_report_add(report, VD_GIT_ERROR, path, (struct vd_yaml_position){1, 1}, VD_SLICE(""),
                          "%s", problem);
    vd_arena_release(&arena);
    return report->found[VD_GIT_ERROR] == errors;
}

/* --- asking --- */

static bool is_hidden(struct vd_slice path)
{
    struct vd_slice rest = path, part;
    while (vd_slice_cut(&rest, '/', &part))
        if (part.n && part.p[0] == '.')
            return true;
    return false;
}

bool vd_repository_config_takes(const struct vd_repository_config *c, struct vd_slice path)
{
    bool taken = c->paths.list.n ? vd_path_patterns_match(&c->paths, path) : !is_hidden(path);
    return taken && !vd_path_patterns_match(&c->exclude, path);
}
