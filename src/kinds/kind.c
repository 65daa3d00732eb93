/*
 * See kind.h. Reading a CRD document: every field that is used is checked for its
 * type here, and what it must say is checked as far as serving depends on it. The
 * rules for CRDs that users send belong to the CRD's own kind.
 */
#include "kinds/kind.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "kinds/object_meta.h"
#include "json/compare.h"

/* Bytes of the arena's first chunk: kinds stay, and there may be thousands of them. */
enum { FIRST_CHUNK_LEN = 512 };

struct vd_kind_source {
    struct vd_refcount refs;
    struct vd_arena arena;
    const struct vd_json *document;
};

/* The work on one document. After the first failure `code` is set and the rest of
 * the reading is harmless. */
struct reading {
    struct vd_kind *kind;
    const struct vd_json *spec, *names, *version, *annotations;
    struct vd_error *error;
    int code;
};

const char *vd_verb_name(enum vd_verb_bit bit)
{
    static const char *const names[] = {
#define VERB_ROW(name, text) [VD_VERB_BIT_##name] = text,
        VD_VERBS(VERB_ROW)
#undef VERB_ROW
    };
    return names[bit];
}

static void fail(struct reading *r, const char *what)
{
    if (r->code == VD_OK)
        r->code = vd_error_set(r->error, VD_ERR_INVALID, "%s", what);
}

static struct vd_slice annotation(const struct reading *r, const char *name)
{
    struct vd_slice text = vd_json_text(vd_json_get(r->annotations, vd_slice_of(name)));
    return text.p ? text : vd_slice("", 0);
}

/* Of the annotations that only built-in kinds may have: another one's storage, say. */
static struct vd_slice own_annotation(const struct reading *r, const char *name)
{
    return r->kind->builtin ? annotation(r, name) : vd_slice("", 0);
}

static struct vd_slice text_or(const struct vd_json *object, const char *key, struct vd_slice other)
{
    struct vd_slice text = vd_json_text(vd_json_get(object, vd_slice_of(key)));
    return text.n ? text : other;
}

static struct vd_slice needed(struct reading *r, const struct vd_json *object, const char *key)
{
    struct vd_slice text = text_or(object, key, vd_slice("", 0));
    if (text.n == 0 && r->code == VD_OK)
        r->code = vd_error_set(r->error, VD_ERR_INVALID,
                               "the definition lacks \"%s\", which must be a string", key);
    return text;
}

static struct vd_slice joined(struct vd_arena *arena, struct vd_slice a, const char *separator,
                              struct vd_slice b)
{
    struct vd_buf text = {0};
    vd_buf_add_slice(&text, a);
    vd_buf_add_text(&text, separator);
    vd_buf_add_slice(&text, b);
    struct vd_slice copy = vd_arena_copy(arena, vd_buf_slice(&text));
    vd_buf_release(&text);
    return copy;
}

static struct vd_slice lowered(struct vd_arena *arena, struct vd_slice text)
{
    char *copy = vd_arena_alloc(arena, text.n + 1);
    for (size_t i = 0; i < text.n; i++)
        copy[i] = text.p[i] >= 'A' && text.p[i] <= 'Z' ? (char)(text.p[i] + 32) : text.p[i];
    copy[text.n] = 0;
    return vd_slice(copy, text.n);
}

static struct vd_slice *texts_of(struct vd_arena *arena, const struct vd_json *list, size_t *count)
{
    struct vd_slice *texts = vd_arena_alloc(arena, (vd_json_count(list) + 1) * sizeof *texts);
    *count = 0;
    VD_JSON_EACH (item, list) {
        if (vd_json_text(item).n)
            texts[(*count)++] = vd_json_text(item);
    }
    return texts;
}

static void read_names(struct reading *r)
{
    struct vd_kind *kind = r->kind;
    struct vd_arena *arena = &kind->arena;
    kind->group = text_or(r->spec, "group", vd_slice("", 0));
    kind->kind = needed(r, r->names, "kind");
    kind->plural = needed(r, r->names, "plural");
    if (r->code)
        return;
    kind->list_kind = text_or(r->names, "listKind",
                              joined(arena, kind->kind, "", VD_SLICE("List")));
    kind->singular = text_or(r->names, "singular", lowered(arena, kind->kind));
    kind->short_names = texts_of(arena, vd_json_get(r->names, VD_SLICE("shortNames")),
                                 &kind->short_name_count);
    kind->categories = texts_of(arena, vd_json_get(r->names, VD_SLICE("categories")),
                                &kind->category_count);
    kind->api_version = kind->group.n ? joined(arena, kind->group, "/", kind->version)
                                      : kind->version;
    kind->resource = kind->group.n ? joined(arena, kind->plural, ".", kind->group) : kind->plural;
    struct vd_slice storage = own_annotation(r, "vedette.dev/storage");
    if (storage.n)
        kind->resource = storage;
    struct vd_slice scope = text_or(r->spec, "scope", vd_slice("", 0));
    kind->namespaced = vd_slice_is(scope, "Namespaced");
    if (!kind->namespaced && !vd_slice_is(scope, "Cluster"))
        fail(r, "spec.scope must be Namespaced or Cluster");
}

static uint32_t verb_of(struct vd_slice word)
{
    for (unsigned bit = 0; bit < VD_VERB_COUNT; bit++)
        if (vd_slice_is(word, vd_verb_name((enum vd_verb_bit)bit)))
            return 1u << bit;
    return 0;
}

static void read_verbs(struct reading *r)
{
    struct vd_slice rest = own_annotation(r, "vedette.dev/verbs"), word;
    r->kind->verbs = rest.n ? 0 : VD_VERB_ALL;
    while (rest.n && vd_slice_cut(&rest, ' ', &word)) {
        if (word.n && !verb_of(word))
            fail(r, "the annotation vedette.dev/verbs names an unknown verb");
        r->kind->verbs |= verb_of(word);
    }
    r->kind->stored = (r->kind->verbs & VD_VERB_GET) != 0;
}

static void read_annotations(struct reading *r)
{
    static const struct {
        const char *text;
        enum vd_name_rule rule;
    } rules[] = {
        {"", VD_NAME_SUBDOMAIN},
        {"subdomain", VD_NAME_SUBDOMAIN},
        {"label", VD_NAME_LABEL},
        {"dns-1035", VD_NAME_DNS1035},
        {"path-segment", VD_NAME_PATH_SEGMENT},
    };
    struct vd_kind *kind = r->kind;
    struct vd_slice names = own_annotation(r, "vedette.dev/names"), owner;
    bool known = false;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (vd_slice_is(names, rules[i].text)) {
            kind->name_rule = rules[i].rule;
            known = true;
        }
    }
    if (!known)
        fail(r, "the annotation vedette.dev/names names an unknown rule");
    owner = annotation(r, "vedette.dev/spec-owner");
    kind->spec_owned_by_git = vd_slice_is(owner, "git");
    if (owner.n && !kind->spec_owned_by_git && !vd_slice_is(owner, "api"))
        fail(r, "the annotation vedette.dev/spec-owner must be api or git");
    kind->status_needs_version = vd_slice_is(annotation(r, "vedette.dev/status-precondition"),
                                             "required");
    kind->status_boundary_strict = vd_slice_is(annotation(r, "vedette.dev/status-boundary"),
                                               "strict");
    kind->status_conditions_strict = vd_slice_is(annotation(r, "vedette.dev/status-conditions"),
                                                 "strict");
    kind->hides_values = vd_slice_is(annotation(r, "vedette.dev/values"), "hidden");
    kind->unconditional_update = vd_slice_is(own_annotation(r, "vedette.dev/unconditional-update"),
                                             "allowed");
    kind->name_column = !vd_slice_is(own_annotation(r, "vedette.dev/name-column"), "none");
    kind->subresource = own_annotation(r, "vedette.dev/subresource");
}

static void read_references(struct reading *r)
{
    struct vd_kind *kind = r->kind;
    struct vd_slice text = annotation(r, VD_REFERENCES_ANNOTATION);
    if (r->code)
        return;
    r->code = vd_reference_fields_parse(&kind->arena, text, &kind->references,
                                        &kind->reference_count, r->error);
    if (r->code)
        vd_error_prefix(r->error, "the annotation %s", VD_REFERENCES_ANNOTATION);
}

static void read_storage_fields(struct reading *r)
{
    struct vd_kind *kind = r->kind;
    struct vd_slice rest = own_annotation(r, "vedette.dev/storage-fields"), pair, here;
    kind->storage_fields = vd_arena_alloc(&kind->arena,
                                          (rest.n / 3 + 1) * sizeof(struct vd_storage_field));
    while (rest.n && vd_slice_cut(&rest, ' ', &pair)) {
        if (pair.n == 0)
            continue;
        if (!vd_slice_cut(&pair, '=', &here) || !here.n || !pair.n) {
            fail(r, "the annotation vedette.dev/storage-fields must be pairs of here=there");
            return;
        }
        kind->storage_fields[kind->storage_field_count++] = (struct vd_storage_field){here, pair};
    }
}

static void read_subresources(struct reading *r)
{
    struct vd_kind *kind = r->kind;
    const struct vd_json *subresources = vd_json_get(r->version, VD_SLICE("subresources"));
    const struct vd_json *scale = vd_json_get(subresources, VD_SLICE("scale"));
    kind->has_status = vd_json_is(vd_json_get(subresources, VD_SLICE("status")), VD_JSON_OBJECT);
    kind->has_scale = vd_json_is(scale, VD_JSON_OBJECT);
    if (!kind->has_scale)
        return;
    kind->scale.spec_replicas = needed(r, scale, "specReplicasPath");
    kind->scale.status_replicas = needed(r, scale, "statusReplicasPath");
    kind->scale.label_selector = text_or(scale, "labelSelectorPath", vd_slice("", 0));
}

static bool cell_of(struct vd_slice name, enum vd_cell *out)
{
    static const char *const names[] = {
#define CELL_ROW(cell, text) [VD_CELL_##cell] = text,
        VD_CELLS(CELL_ROW)
#undef CELL_ROW
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (vd_slice_is(name, names[i])) {
            *out = (enum vd_cell)i;
            return true;
        }
    }
    return false;
}

static void read_column(struct reading *r, const struct vd_json *source, struct vd_column *column)
{
    int64_t priority = 0;
    *column = (struct vd_column){
        .name = needed(r, source, "name"),
        .type = needed(r, source, "type"),
        .format = text_or(source, "format", vd_slice("", 0)),
        .description = text_or(source, "description", vd_slice("", 0)),
    };
    if (vd_json_to_i64(vd_json_get(source, VD_SLICE("priority")), &priority))
        column->priority = priority > INT32_MAX   ? INT32_MAX
                           : priority < INT32_MIN ? INT32_MIN
                                                  : (int32_t)priority;
    struct vd_slice cell = text_or(source, "x-vedette-cell", VD_SLICE("path"));
    if (!cell_of(cell, &column->cell))
        fail(r, "a printer column has an unknown x-vedette-cell");
    const struct vd_json *paths = vd_json_get(source, VD_SLICE("x-vedette-paths"));
    column->paths = texts_of(&r->kind->arena, paths, &column->path_count);
    if (column->path_count == 0) {
        column->paths = vd_arena_alloc(&r->kind->arena, sizeof *column->paths);
        column->paths[0] = needed(r, source, "jsonPath");
        column->path_count = 1;
    }
}

static void read_columns(struct reading *r)
{
    static struct vd_slice const age_path = {".metadata.creationTimestamp", 27};
    struct vd_kind *kind = r->kind;
    const struct vd_json *columns = vd_json_get(r->version, VD_SLICE("additionalPrinterColumns"));
    size_t count = vd_json_count(columns);
    kind->columns = vd_arena_alloc(&kind->arena, (count + 1) * sizeof *kind->columns);
    VD_JSON_EACH (column, columns)
        read_column(r, column, &kind->columns[kind->column_count++]);
    if (count)
        return;
    struct vd_slice *paths = vd_arena_alloc(&kind->arena, sizeof *paths);
    *paths = age_path;
    kind->columns[kind->column_count++] = (struct vd_column){
        .name = VD_SLICE("Age"),
        .type = VD_SLICE("date"),
        .description = VD_SLICE("When the object was created."),
        .paths = paths,
        .path_count = 1,
    };
}

/* Adds ".regarding.name" as "involvedObject.name". */
static void add_stored_path(struct vd_buf *out, const struct vd_kind *kind, struct vd_slice path)
{
    struct vd_slice rest = vd_slice_from(path, 1), first = VD_SLICE("");
    vd_slice_cut(&rest, '.', &first);
    for (size_t i = 0; i < kind->storage_field_count; i++)
        if (vd_slice_eq(first, kind->storage_fields[i].here)) {
            vd_buf_add_slice(out, kind->storage_fields[i].there);
            vd_buf_add_slice(out, vd_slice_from(path, 1 + first.n));
            return;
        }
    vd_buf_add_slice(out, vd_slice_from(path, 1));
}

static struct vd_slice stored_field(struct vd_kind *kind, struct vd_slice path,
                                    struct vd_slice otherwise)
{
    struct vd_buf text = {0};
    add_stored_path(&text, kind, path);
    if (otherwise.n) {
        vd_buf_add_char(&text, '|');
        add_stored_path(&text, kind, otherwise);
    }
    struct vd_slice stored = vd_arena_copy(&kind->arena, vd_buf_slice(&text));
    vd_buf_release(&text);
    return stored;
}

static void read_selectable(struct reading *r)
{
    struct vd_kind *kind = r->kind;
    const struct vd_json *fields = vd_json_get(r->version, VD_SLICE("selectableFields"));
    kind->selectable = vd_arena_alloc(&kind->arena,
                                      (vd_json_count(fields) + 1) * sizeof *kind->selectable);
    VD_JSON_EACH (field, fields) {
        struct vd_slice path = needed(r, field, "jsonPath");
        if (path.n < 2 || path.p[0] != '.') {
            fail(r, "a selectable field's jsonPath must start with a '.'");
            return;
        }
        kind->selectable[kind->selectable_count++] = (struct vd_selectable){
            text_or(field, "x-vedette-name", vd_slice_from(path, 1)),
            stored_field(kind, path, text_or(field, "x-vedette-else", VD_SLICE(""))),
        };
    }
}

static void read_schema(struct reading *r, const struct vd_kind_options *options)
{
    static const char any[] = "x-kubernetes-preserve-unknown-fields";
    struct vd_kind *kind = r->kind;
    const struct vd_json *schema = vd_json_dig(r->version, "schema", "openAPIV3Schema", NULL);
    struct vd_schema_options how = {
        .resource = true, .borrow = true, .metadata = options->metadata};
    /* Definitions are checked when they come, and our own kinds by the tests. */
    how.lazy = !kind->native;
    how.advisory = options->builtin && vd_slice_is(annotation(r, "vedette.dev/schema"), "advisory");
    kind->preserve_unknown = vd_json_truth(vd_json_get(r->spec, VD_SLICE("preserveUnknownFields")));
    if (!schema) { /* none said: anything goes */
        struct vd_json *open = vd_json_object(&kind->arena);
        vd_json_add_ref(open, vd_slice_of(any), vd_json_bool(&kind->arena, true));
        schema = open;
    }
    if (r->code == VD_OK) {
        r->code = vd_schema_new(&kind->schema, schema, &how, r->error);
        if (r->code)
            vd_error_prefix(r->error, "%.*s", VD_FMT(kind->resource));
    }
}

static bool schemas_differ(const struct reading *r)
{
    const struct vd_json *schema = vd_json_get(r->version, VD_SLICE("schema"));
    VD_JSON_EACH (version, vd_json_get(r->spec, VD_SLICE("versions"))) {
        if (!vd_json_eq(vd_json_get(version, VD_SLICE("schema")), schema))
            return true;
    }
    return false;
}

/* The newest version after this one that is served and not deprecated, or empty. */
static struct vd_slice better_version(const struct reading *r)
{
    struct vd_slice best = r->kind->version;
    VD_JSON_EACH (version, vd_json_get(r->spec, VD_SLICE("versions"))) {
        struct vd_slice name = vd_json_text(vd_json_get(version, VD_SLICE("name")));
        if (name.n && vd_json_truth(vd_json_get(version, VD_SLICE("served"))) &&
            !vd_json_truth(vd_json_get(version, VD_SLICE("deprecated"))) &&
            vd_version_cmp(name, best) < 0)
            best = name;
    }
    return vd_slice_eq(best, r->kind->version) ? VD_SLICE("") : best;
}

/* "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget", unless the version has
 * words of its own. */
static struct vd_slice deprecation_warning(const struct reading *r)
{
    struct vd_kind *kind = r->kind;
    struct vd_slice better = better_version(r);
    struct vd_buf text = {0};
    vd_buf_addf(&text, "%.*s %.*s is deprecated", VD_FMT(kind->api_version), VD_FMT(kind->kind));
    if (better.n)
        vd_buf_addf(&text, "; use %.*s%s%.*s %.*s", VD_FMT(kind->group), kind->group.n ? "/" : "",
                    VD_FMT(better), VD_FMT(kind->kind));
    struct vd_slice made = vd_arena_copy(&kind->arena, vd_buf_slice(&text));
    vd_buf_release(&text);
    return text_or(r->version, "deprecationWarning", made);
}

static void read_version(struct reading *r)
{
    struct vd_kind *kind = r->kind;
    struct vd_slice uid = vd_meta_text(kind->document, VD_SLICE("uid"));
    kind->definition_uid = kind->builtin ? VD_SLICE("") : uid;
    struct vd_slice since = vd_meta_resource_version(kind->document);
    if (kind->builtin || vd_slice_to_u64(since, &kind->schema_since))
        kind->schema_since = 0;
    kind->schemas_differ = !kind->builtin && schemas_differ(r);
    kind->definition_alive = vd_arena_alloc(&kind->arena, sizeof *kind->definition_alive);
    atomic_init(kind->definition_alive, 0);
    kind->served = vd_json_truth(vd_json_get(r->version, VD_SLICE("served")));
    kind->terminating = vd_meta_is_deleting(kind->document);
    kind->counts_generation = !kind->native ||
                              vd_slice_is(annotation(r, "vedette.dev/generation"), "counted");
    struct vd_slice strategy = vd_json_text(vd_json_dig(r->spec, "conversion", "strategy", NULL));
    kind->webhook = !kind->builtin && vd_slice_is(strategy, "Webhook");
    kind->converts = kind->storage_field_count > 0 || kind->webhook ||
                     (!kind->builtin &&
                      vd_json_count(vd_json_get(r->spec, VD_SLICE("versions"))) > 1);
    kind->storage_version = vd_json_truth(vd_json_get(r->version, VD_SLICE("storage")));
    kind->deprecated = vd_json_truth(vd_json_get(r->version, VD_SLICE("deprecated")));
    if (kind->deprecated)
        kind->deprecation_warning = deprecation_warning(r);
}

static const struct vd_json *version_named(const struct vd_json *spec, struct vd_slice name)
{
    VD_JSON_EACH (version, vd_json_get(spec, VD_SLICE("versions"))) {
        if (vd_slice_eq(vd_json_text(vd_json_get(version, VD_SLICE("name"))), name))
            return version;
    }
    return NULL;
}

struct vd_kind_source *vd_kind_source_new(const struct vd_json *document)
{
    struct vd_kind_source *source = VD_NEW(struct vd_kind_source);
    vd_refcount_init(&source->refs);
    /* It stays for long, and there may be thousands: no room that is not needed. */
    struct vd_arena measured = {0};
    vd_json_copy(&measured, document);
    vd_arena_reserve(&source->arena, vd_arena_used(&measured));
    vd_arena_release(&measured);
    source->document = vd_json_copy(&source->arena, document);
    return source;
}

void vd_kind_source_unref(struct vd_kind_source *source)
{
    if (!vd_unref(&source->refs))
        return;
    vd_arena_release(&source->arena);
    free(source);
}

int vd_kind_new(struct vd_kind **out, struct vd_kind_source *source, struct vd_slice version,
                const struct vd_kind_options *options, struct vd_error *error)
{
    struct vd_kind *kind = VD_NEW(struct vd_kind);
    vd_refcount_init(&kind->refs);
    vd_ref(&source->refs);
    vd_arena_reserve(&kind->arena, FIRST_CHUNK_LEN);
    kind->builtin = options->builtin;
    kind->source = source;
    kind->document = source->document;
    struct reading r = {.kind = kind, .error = error};
    r.spec = vd_json_get(kind->document, VD_SLICE("spec"));
    r.names = vd_json_get(r.spec, VD_SLICE("names"));
    r.annotations = vd_meta_annotations(kind->document);
    kind->native = kind->builtin &&
                   !vd_slice_is(annotation(&r, "vedette.dev/behaves-as"), "custom");
    r.version = version_named(r.spec, version);
    if (!r.version) {
        r.code = vd_error_set(error, VD_ERR_NOT_FOUND, "the definition has no version \"%.*s\"",
                              VD_FMT(version));
        goto out;
    }
    kind->version = vd_json_text(vd_json_get(r.version, VD_SLICE("name")));
    read_names(&r);
    read_verbs(&r);
    read_annotations(&r);
    read_references(&r);
    read_storage_fields(&r);
    read_version(&r);
    read_subresources(&r);
    read_columns(&r);
    read_selectable(&r);
    read_schema(&r, options);
out:
    if (r.code)
        vd_kind_unref(kind);
    else
        *out = kind;
    return r.code;
}

void vd_kind_introduce(struct vd_kind *kind, struct vd_kind *const *versions, size_t n)
{
    if (!kind->schemas_differ)
        return;
    kind->siblings = vd_arena_alloc(&kind->arena, (n + 1) * sizeof *kind->siblings);
    for (size_t i = 0; i < n; i++)
        if (versions[i] != kind)
            kind->siblings[kind->sibling_count++] = (struct vd_sibling){
                vd_arena_copy(&kind->arena, versions[i]->api_version),
                vd_schema_ref(versions[i]->schema)};
}

const struct vd_schema *vd_kind_schema_of(const struct vd_kind *kind, struct vd_slice api_version)
{
    for (size_t i = 0; i < kind->sibling_count; i++)
        if (vd_slice_eq(kind->siblings[i].api_version, api_version))
            return kind->siblings[i].schema;
    return kind->schema;
}

struct vd_kind *vd_kind_ref(struct vd_kind *kind)
{
    vd_ref(&kind->refs);
    return kind;
}

void vd_kind_unref(struct vd_kind *kind)
{
    if (!kind || !vd_unref(&kind->refs))
        return;
    vd_schema_unref(kind->schema);
    for (size_t i = 0; i < kind->sibling_count; i++)
        vd_schema_unref(kind->siblings[i].schema);
    vd_kind_source_unref(kind->source);
    vd_arena_release(&kind->arena);
    free(kind);
}

bool vd_kind_selectable(const struct vd_kind *kind, struct vd_slice name, struct vd_slice *stored)
{
    if (vd_slice_is(name, "metadata.name") ||
        (vd_slice_is(name, "metadata.namespace") && (kind->namespaced || !kind->builtin))) {
        *stored = vd_slice_is(name, "metadata.name") ? VD_SLICE("metadata.name")
                                                     : VD_SLICE("metadata.namespace");
        return true;
    }
    for (size_t i = 0; i < kind->selectable_count; i++) {
        if (vd_slice_eq(kind->selectable[i].name, name)) {
            *stored = kind->selectable[i].stored;
            return true;
        }
    }
    return false;
}
