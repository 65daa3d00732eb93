/* See lint.h. */
#include "git/lint.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/hash_map.h"
#include "base/limits.h"
#include "base/vec.h"
#include "git/manifest_kinds.h"
#include "git/positions.h"
#include "kinds/builtin.h"
#include "kinds/kinds.h"
#include "kinds/object.h"
#include "kinds/object_meta.h"
#include "json/write.h"

/* Something that may be there once: an object's identity, or a path in lower case. */
struct claim {
    struct vd_slice key;
    struct vd_slice path;            /* of the first who claims it */
    const struct vd_git_manifest *m; /* of an identity: who it is */
};

struct vd_git_lint {
    struct vd_arena arena; /* has the texts, documents and claims */
    struct vd_slice namespace;
    struct vd_repository_config config;
    struct vd_git_manifests manifests;
    struct vd_kinds *kinds;
    struct vd_kind_set *known; /* before the tree's own were added; NULL before the check */
    struct vd_kind_set *set;   /* all */
    VD_VEC(struct vd_git_lint_object) passed;
    struct vd_hash_map paths, identities; /* of struct claim */
    size_t file_count;
};

static struct vd_slice claim_key(const void *item)
{
    return ((const struct claim *)item)->key;
}

struct vd_git_lint *vd_git_lint_new(struct vd_slice namespace)
{
    struct vd_git_lint *l = VD_NEW(struct vd_git_lint);
    l->namespace = vd_arena_copy(&l->arena, namespace);
    l->kinds = vd_kinds_new_builtin();
    vd_hash_map_init(&l->paths, claim_key);
    vd_hash_map_init(&l->identities, claim_key);
    return l;
}

void vd_git_lint_free(struct vd_git_lint *l)
{
    if (!l)
        return;
    vd_hash_map_release(&l->paths);
    vd_hash_map_release(&l->identities);
    vd_kind_set_unref(l->known);
    vd_kind_set_unref(l->set);
    VD_VEC_RELEASE(&l->passed);
    vd_kinds_free(l->kinds);
    vd_repository_config_release(&l->config);
    VD_VEC_RELEASE(&l->manifests.list);
    vd_arena_release(&l->arena);
    free(l);
}

const struct vd_git_manifests *vd_git_lint_manifests(const struct vd_git_lint *l)
{
    return &l->manifests;
}

size_t vd_git_lint_file_count(const struct vd_git_lint *l)
{
    return l->file_count;
}

/* Claims the key; gives the claim of who was first, or NULL. */
static const struct claim *claim(struct vd_git_lint *l, struct vd_hash_map *map,
                                 const struct claim *wanted)
{
    const struct claim *first = vd_hash_map_get(map, wanted->key);
    if (first)
        return first;
    struct claim *made = vd_arena_alloc(&l->arena, sizeof *made);
    *made = *wanted;
    made->key = vd_arena_copy(&l->arena, wanted->key);
    vd_hash_map_put(map, made);
    return NULL;
}

const struct vd_git_lint_object *vd_git_lint_object(const struct vd_git_lint *l, size_t at)
{
    return at < l->passed.n ? &l->passed.p[at] : NULL;
}

/* --- files --- */

void vd_git_lint_know(struct vd_git_lint *l, const struct vd_json *definition)
{
    struct vd_error error;
    if (vd_kinds_put(l->kinds, definition, false, &error))
        return; /* a built-in one, or one of a newer server */
}

bool vd_git_lint_configure(struct vd_git_lint *l, struct vd_slice text,
                           struct vd_git_report *report)
{
    return vd_repository_config_read(&l->config, text, report);
}

/* Warns of a path that some file systems cannot keep beside another. */
static void check_twin(struct vd_git_lint *l, struct vd_slice path, struct vd_git_report *report)
{
    struct vd_buf lower = {0};
    for (size_t i = 0; i < path.n; i++)
        vd_buf_add_char(&lower, (char)tolower((unsigned char)path.p[i]));
    const struct claim *twin = claim(
        l, &l->paths,
        &(struct claim){.key = vd_buf_slice(&lower), .path = vd_arena_copy(&l->arena, path)});
    if (twin)
        vd_git_report_add(report, VD_GIT_WARNING, path, (struct vd_yaml_position){0}, VD_SLICE(""),
                          "differs from %.*s in upper and lower case alone; some systems keep only "
                          "one of them",
                          VD_FMT(twin->path));
    vd_buf_release(&lower);
}

bool vd_git_lint_wants(struct vd_git_lint *l, struct vd_slice path, uint32_t mode, uint64_t len,
                       struct vd_git_report *report)
{
    if ((mode & VD_GIT_MODE_TYPE) != VD_GIT_MODE_SUBMODULE && !vd_git_path_counts(&l->config, path))
        return false;
    if (!vd_git_entry_check(path, mode, len, 0, report))
        return false;
    check_twin(l, path, report);
    return true;
}

void vd_git_lint_add(struct vd_git_lint *l, struct vd_slice path, struct vd_slice text,
                     struct vd_git_report *report)
{
    struct vd_git_file file = {vd_arena_copy(&l->arena, path), vd_arena_copy(&l->arena, text)};
    l->file_count++;
    vd_git_file_read(&file, &l->config, &l->arena, &l->manifests, report);
}

/* --- objects --- */

/* Each field that the schema does not know is an error of its own. */
static void report_unknown(const struct vd_git_manifest *m, const struct vd_pruned *pruned,
                           struct vd_git_report *report)
{
    struct vd_git_positions *positions = vd_git_positions_new(&m->source);
    for (size_t i = 0; i < pruned->paths.n; i++)
        vd_git_report_add_text(report, VD_GIT_ERROR, m->source.path,
                               vd_git_positions_find(positions, pruned->paths.p[i]),
                               pruned->paths.p[i], VD_SLICE(VD_GIT_UNKNOWN_FIELD));
    vd_git_positions_free(positions);
}

/* Whether the object is small enough to be stored. */
static bool check_len(const struct vd_git_manifest *m, struct vd_git_report *report)
{
    struct vd_buf bytes = {0};
    if (m->source.text.n + m->body.n > VD_BODY_LEN_MAX / 8) /* aliases and escapes make it longer */
        vd_json_write(&bytes, m->document);
    bool ok = bytes.n <= VD_BODY_LEN_MAX;
    if (!ok)
        vd_git_manifest_refuse(m, VD_SLICE(""), report,
                               "the object has %zu bytes as JSON; objects have at most %d", bytes.n,
                               VD_BODY_LEN_MAX);
    vd_buf_release(&bytes);
    return ok;
}

/* The way of a new object in src/api/write, as far as it needs no store. */
static bool check_object(struct vd_git_lint *l, struct vd_git_manifest *m,
                         const struct vd_kind *kind, struct vd_git_report *report)
{
    struct vd_pruned pruned = {.empty_texts = kind->builtin};
    struct vd_violations violations = {0};
    struct vd_effort effort = {0};
    struct vd_error error;
    size_t errors = report->found[VD_GIT_ERROR];
    if (!vd_git_manifest_complete(m, kind, l->namespace, &l->arena, report))
        return false;
    vd_meta_fill_texts(m->document);
    if (vd_object_prepare(kind, &l->arena, m->document, true, &pruned, &effort, &error)) {
        vd_git_manifest_refuse(m, VD_SLICE(""), report, "%s", error.text);
    } else {
        report_unknown(m, &pruned, report);
        vd_meta_drop_empty(m->document);
        vd_object_validate(kind, m->document, NULL, &violations);
        vd_git_manifest_report(m, &violations, report);
    }
    vd_pruned_release(&pruned);
    vd_violations_release(&violations);
    return check_len(m, report) && report->found[VD_GIT_ERROR] == errors;
}

static void add_identity(struct vd_buf *out, struct vd_slice group, struct vd_slice kind,
                         struct vd_slice namespace, struct vd_slice name)
{
    vd_buf_addf(out, "%.*s %.*s %.*s/%.*s", VD_FMT(group), VD_FMT(kind), VD_FMT(namespace),
                VD_FMT(name));
}

bool vd_git_lint_has_namespace(const struct vd_git_lint *l, struct vd_slice name)
{
    struct vd_buf key = {0};
    add_identity(&key, VD_SLICE(""), VD_SLICE("Namespace"), VD_SLICE(""), name);
    bool found = vd_hash_map_get(&l->identities, vd_buf_slice(&key));
    vd_buf_release(&key);
    return found;
}

/* No other manifest describes the same object. */
static bool check_identity(struct vd_git_lint *l, const struct vd_git_manifest *m,
                           struct vd_git_report *report)
{
    const struct vd_slice name = VD_SLICE("metadata.name");
    struct vd_buf key = {0};
    add_identity(&key, m->group, m->kind, m->namespace, m->name);
    const struct claim *first = claim(
        l, &l->identities,
        &(struct claim){.key = vd_buf_slice(&key), .path = m->source.path, .m = m});
    if (first)
        vd_git_manifest_refuse(m, name, report,
                               "%.*s:%u describes the same object; remove one of them",
                               VD_FMT(first->path), vd_git_manifest_position(first->m, name).line);
    vd_buf_release(&key);
    return !first;
}

static bool is_definition(const struct vd_git_manifest *m)
{
    return vd_slice_is(m->group, "apiextensions.k8s.io") &&
           vd_slice_is(m->kind, "CustomResourceDefinition");
}

/* The kind of the manifest, which objects can be of. NULL: that is reported. */
static const struct vd_kind *kind_of(const struct vd_kind_set *set, const struct vd_git_manifest *m,
                                     struct vd_git_report *report)
{
    const struct vd_kind *kind = vd_kind_set_kind(set, m->group, m->version, m->kind);
    if (kind && kind->served && kind->stored && !kind->subresource.n)
        return kind;
    const struct vd_kind *meant = kind ? NULL : vd_manifest_kind_meant(set, m);
    if (meant)
        vd_git_manifest_refuse(m, VD_SLICE("apiVersion"), report,
                               "there is no kind %.*s in %.*s; did you mean %.*s?", VD_FMT(m->kind),
                               VD_FMT(m->api_version), VD_FMT(meant->api_version));
    else if (!kind)
        vd_git_manifest_refuse(m, VD_SLICE("kind"), report,
                               "there is no kind %.*s in %.*s; add its CustomResourceDefinition to "
                               "the tree, or correct apiVersion and kind",
                               VD_FMT(m->kind), VD_FMT(m->api_version));
    else
        vd_git_manifest_refuse(m, VD_SLICE("kind"), report, "objects of kind %.*s in %.*s %s",
                               VD_FMT(m->kind), VD_FMT(m->api_version),
                               kind->served ? "cannot be stored" : "are not served");
    return NULL;
}

/* Checks one manifest; a definition is then known. */
static void check_manifest(struct vd_git_lint *l, struct vd_git_manifest *m,
                           struct vd_git_report *report)
{
    struct vd_error error;
    const struct vd_kind *kind = kind_of(l->set, m, report);
    if (!kind)
        return;
    bool ok = check_object(l, m, kind, report);
    ok = check_identity(l, m, report) && ok;
    if (ok && is_definition(m) && vd_kinds_put(l->kinds, m->document, false, &error)) {
        vd_git_manifest_refuse(m, VD_SLICE("spec.names"), report, "%s", error.text);
        ok = false;
    }
    if (ok)
        *VD_VEC_PUSH(&l->passed) = (struct vd_git_lint_object){
            .manifest = m,
            .kind = kind,
            .is_kind_known = vd_kind_set_kind(l->known, m->group, m->version, m->kind)};
}

/* Checks the definitions, or all others: their kinds are known by then. */
static void check_all(struct vd_git_lint *l, bool definitions, struct vd_git_report *report)
{
    vd_kind_set_unref(l->set);
    l->set = vd_kinds_snapshot(l->kinds);
    for (size_t i = 0; i < l->manifests.list.n; i++)
        if (is_definition(&l->manifests.list.p[i]) == definitions)
            check_manifest(l, &l->manifests.list.p[i], report);
}

void vd_git_lint_check(struct vd_git_lint *l, struct vd_git_report *report)
{
    l->known = vd_kinds_snapshot(l->kinds);
    l->set = vd_kind_set_ref(l->known);
    check_all(l, true, report);
    check_all(l, false, report);
}
