/* See references.h. */
#include "kinds/references.h"

#include <ctype.h>

#include "base/buf.h"
#include "base/limits.h"
#include "kinds/kind.h"
#include "json/parse.h"

/* ---- the annotation ---- */

static bool is_field_name(struct vd_slice word)
{
    for (size_t i = 0; i < word.n; i++)
        if (!isalnum((unsigned char)word.p[i]) && word.p[i] != '_' && word.p[i] != '-')
            return false;
    return word.n > 0;
}

/* Takes the first field off the path; *in_list says that "[]" stood behind it. False: there is no
 * field any more. */
static bool cut_field(struct vd_slice *rest, struct vd_slice *field, bool *in_list)
{
    if (!rest->n || !vd_slice_cut(rest, '.', field))
        return false;
    *in_list = vd_slice_ends_with(*field, VD_SLICE("[]"));
    if (*in_list)
        field->n -= 2;
    return true;
}

static bool is_path(struct vd_slice path)
{
    struct vd_slice rest = path, field;
    bool in_list;
    bool ok = path.n > 0 && path.n <= VD_REFERENCE_PATH_LEN_MAX && path.p[path.n - 1] != '.';
    while (ok && cut_field(&rest, &field, &in_list))
        ok = is_field_name(field);
    return ok;
}

/* Always VD_ERR_INVALID. */
static int complain(struct vd_error *error, size_t i, const char *member, const char *what)
{
    return vd_error_set(error, VD_ERR_INVALID, "[%zu]%s%s: %s", i, *member ? "." : "", member,
                        what);
}

static const char *unknown_member(const struct vd_json *from)
{
    VD_JSON_EACH (member, from) {
        struct vd_slice key = vd_json_key(member);
        if (!vd_slice_is(key, "path") && !vd_slice_is(key, "kind") && !vd_slice_is(key, "group") &&
            !vd_slice_is(key, "blocksDeletion"))
            return "has only path, kind, group and blocksDeletion";
    }
    return NULL;
}

static int read_field(struct vd_arena *arena, const struct vd_json *from, size_t i,
                      struct vd_reference_field *out, struct vd_error *error)
{
    const struct vd_json *group = vd_json_get(from, VD_SLICE("group"));
    const struct vd_json *blocks = vd_json_get(from, VD_SLICE("blocksDeletion"));
    struct vd_slice path = vd_json_text(vd_json_get(from, VD_SLICE("path")));
    struct vd_slice kind = vd_json_text(vd_json_get(from, VD_SLICE("kind")));
    if (!vd_json_is(from, VD_JSON_OBJECT))
        return complain(error, i, "", "must be an object");
    if (unknown_member(from))
        return complain(error, i, "", unknown_member(from));
    if (!is_path(path))
        return complain(error, i, "path",
                        "must be the names of fields with dots between them, and [] behind a list, "
                        "such as spec.media[].fileRef");
    if (!is_field_name(kind))
        return complain(error, i, "kind", "must be the name of a kind");
    if (group && !vd_json_is(group, VD_JSON_STRING))
        return complain(error, i, "group", "must be the name of an API group");
    if (blocks && !vd_json_is(blocks, VD_JSON_BOOL))
        return complain(error, i, "blocksDeletion", "must be true or false");
    *out = (struct vd_reference_field){.path = vd_arena_copy(arena, path),
                                       .kind = vd_arena_copy(arena, kind),
                                       .group = group ? vd_arena_copy(arena, vd_json_text(group))
                                                      : VD_SLICE(""),
                                       .blocks_deletion = vd_json_truth(blocks)};
    return VD_OK;
}

int vd_reference_fields_parse(struct vd_arena *arena, struct vd_slice text,
                              struct vd_reference_field **fields, size_t *n, struct vd_error *error)
{
    struct vd_arena scratch = {0};
    struct vd_json *list = NULL;
    size_t i = 0;
    *fields = NULL;
    *n = 0;
    if (!text.n)
        return VD_OK;
    int code = vd_json_parse_copy(&scratch, text, NULL, &list, error);
    if (!code && !vd_json_is(list, VD_JSON_ARRAY))
        code = vd_error_set(error, VD_ERR_INVALID, "must be a JSON list");
    else if (!code && vd_json_count(list) > VD_REFERENCE_FIELDS_MAX)
        code = vd_error_set(error, VD_ERR_INVALID, "must have at most %d elements",
                            VD_REFERENCE_FIELDS_MAX);
    if (!code)
        *fields = vd_arena_alloc(arena, (vd_json_count(list) + 1) * sizeof **fields);
    for (const struct vd_json *item = vd_json_first(list); !code && item;
         item = vd_json_next(item), i++)
        code = read_field(arena, item, i, &(*fields)[i], error);
    *n = code ? 0 : i;
    vd_arena_release(&scratch);
    return code;
}

/* ---- an object ---- */

struct search {
    const struct vd_reference_field *field;
    struct vd_slice namespace;
    struct vd_arena *arena;
    struct vd_references *out;
    struct vd_buf path; /* so far */
};

static void take(struct search *s, const struct vd_json *value)
{
    bool is_text = vd_json_is(value, VD_JSON_STRING);
    struct vd_slice name = vd_json_text(is_text ? value : vd_json_get(value, VD_SLICE("name")));
    struct vd_slice namespace = is_text ? VD_SLICE("")
                                        : vd_json_text(vd_json_get(value, VD_SLICE("namespace")));
    if (!name.n)
        return;
    if (s->out->list.n == VD_REFERENCES_MAX) {
        s->out->too_many = true;
        return;
    }
    *VD_VEC_PUSH(&s->out->list) = (struct vd_reference){
        .field = s->field,
        .path = vd_arena_copy(s->arena, vd_buf_slice(&s->path)),
        .namespace = namespace.n ? namespace : s->namespace,
        .name = name,
        .optional = !is_text && vd_json_truth(vd_json_get(value, VD_SLICE("optional"))),
    };
}

/* Takes the end of the path off again. */
static void shorten(struct vd_buf *path, size_t n)
{
    path->n = n;
    path->p[n] = 0;
}

/* Goes along the rest of the path, whose length bounds how deep that is. */
static void follow(struct search *s, const struct vd_json *value, struct vd_slice rest)
{
    struct vd_slice field;
    size_t was = s->path.n, i = 0;
    bool in_list;
    if (!value)
        return;
    if (!cut_field(&rest, &field, &in_list)) {
        take(s, value);
        return;
    }
    if (!vd_json_is(value, VD_JSON_OBJECT))
        return;
    vd_buf_addf(&s->path, "%s%.*s", was ? "." : "", VD_FMT(field));
    const struct vd_json *member = vd_json_get(value, field);
    if (!in_list) {
        follow(s, member, rest);
    } else if (vd_json_is(member, VD_JSON_ARRAY)) {
        size_t list = s->path.n;
        VD_JSON_EACH (item, member) {
            vd_buf_addf(&s->path, "[%zu]", i++);
            follow(s, item, rest);
            shorten(&s->path, list);
        }
    }
    shorten(&s->path, was);
}

void vd_references_of(const struct vd_kind *kind, const struct vd_json *object,
                      struct vd_slice namespace, struct vd_arena *arena, struct vd_references *out)
{
    struct search s = {.namespace = namespace, .arena = arena, .out = out};
    for (size_t i = 0; i < kind->reference_count; i++) {
        s.field = &kind->references[i];
        follow(&s, object, s.field->path);
    }
    vd_buf_release(&s.path);
}

void vd_references_release(struct vd_references *references)
{
    VD_VEC_RELEASE(&references->list);
}
