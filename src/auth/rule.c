/* See rule.h. Lists are short, and comparing lengths first settles nearly every
 * comparison, so they are searched from end to end. */
#include "auth/rule.h"

static bool has(const struct vd_words *words, struct vd_slice word)
{
    for (size_t i = 0; i < words->n; i++)
        if (vd_slice_eq(words->p[i], word))
            return true;
    return false;
}

static bool has_all(const struct vd_words *words, const struct vd_words *wanted)
{
    for (size_t i = 0; i < wanted->n; i++)
        if (!has(words, wanted->p[i]))
            return false;
    return true;
}

/* ---- reading ---- */

static int read_words(struct vd_words *out, struct vd_arena *arena, const struct vd_json *rule,
                      struct vd_slice key, struct vd_error *error)
{
    const struct vd_json *list = vd_json_get(rule, key);
    *out = (struct vd_words){0};
    if (!list || vd_json_is(list, VD_JSON_NULL))
        return VD_OK;
    if (!vd_json_is(list, VD_JSON_ARRAY))
        return vd_error_set(error, VD_ERR_INVALID, "%.*s is not a list of texts", VD_FMT(key));
    struct vd_slice *words = vd_arena_alloc(arena, vd_json_count(list) * sizeof *words);
    VD_JSON_EACH (item, list) {
        if (!vd_json_is(item, VD_JSON_STRING))
            return vd_error_set(error, VD_ERR_INVALID, "%.*s is not a list of texts", VD_FMT(key));
        words[out->n++] = vd_arena_copy(arena, vd_json_text(item));
    }
    out->p = words;
    out->all = has(out, VD_SLICE("*"));
    return VD_OK;
}

int vd_rule_from_json(struct vd_rule *out, struct vd_arena *arena, const struct vd_json *json,
                      struct vd_error *error)
{
    if (!vd_json_is(json, VD_JSON_OBJECT))
        return vd_error_set(error, VD_ERR_INVALID, "a rule is not an object");
    int code = read_words(&out->verbs, arena, json, VD_SLICE("verbs"), error);
    if (!code)
        code = read_words(&out->groups, arena, json, VD_SLICE("apiGroups"), error);
    if (!code)
        code = read_words(&out->resources, arena, json, VD_SLICE("resources"), error);
    if (!code)
        code = read_words(&out->names, arena, json, VD_SLICE("resourceNames"), error);
    if (!code)
        code = read_words(&out->paths, arena, json, VD_SLICE("nonResourceURLs"), error);
    return code;
}

/* ---- allowing ---- */

/* Whether `word` is "a/b" in two pieces. */
static bool is_joined(struct vd_slice word, struct vd_slice a, struct vd_slice b)
{
    return word.n == a.n + 1 + b.n && word.p[a.n] == '/' && memcmp(word.p, a.p, a.n) == 0 &&
           memcmp(word.p + a.n + 1, b.p, b.n) == 0;
}

static bool resource_matches(const struct vd_words *resources, const struct vd_access *access)
{
    if (resources->all)
        return true;
    if (!access->subresource.n)
        return has(resources, access->resource);
    for (size_t i = 0; i < resources->n; i++)
        if (is_joined(resources->p[i], access->resource, access->subresource) ||
            is_joined(resources->p[i], VD_SLICE("*"), access->subresource))
            return true;
    return false;
}

/* Whether the pattern, which may end with stars, covers the path. */
static bool path_covers(struct vd_slice pattern, struct vd_slice path)
{
    struct vd_slice prefix = pattern;
    while (prefix.n && prefix.p[prefix.n - 1] == '*')
        prefix.n--;
    return prefix.n == pattern.n ? vd_slice_eq(pattern, path) : vd_slice_starts_with(path, prefix);
}

static bool path_matches(const struct vd_words *paths, struct vd_slice path)
{
    for (size_t i = 0; i < paths->n; i++)
        if (path_covers(paths->p[i], path))
            return true;
    return false;
}

bool vd_rule_allows(const struct vd_rule *rule, const struct vd_access *access)
{
    if (!rule->verbs.all && !has(&rule->verbs, access->verb))
        return false;
    if (!access->resource.n)
        return path_matches(&rule->paths, access->path);
    return (rule->groups.all || has(&rule->groups, access->group)) &&
           resource_matches(&rule->resources, access) &&
           (!rule->names.n || has(&rule->names, access->name));
}

/* ---- covering ---- */

static bool covers_resource(const struct vd_words *owner, struct vd_slice resource)
{
    if (has(owner, resource))
        return true;
    const char *slash = resource.n ? memchr(resource.p, '/', resource.n) : NULL;
    if (!slash)
        return false;
    struct vd_slice subresource = vd_slice_from(resource, (size_t)(slash - resource.p) + 1);
    for (size_t i = 0; i < owner->n; i++)
        if (is_joined(owner->p[i], VD_SLICE("*"), subresource))
            return true;
    return false;
}

static bool covers_resources(const struct vd_words *owner, const struct vd_words *wanted)
{
    for (size_t i = 0; !owner->all && i < wanted->n; i++)
        if (!covers_resource(owner, wanted->p[i]))
            return false;
    return true;
}

static bool covers_paths(const struct vd_words *owner, const struct vd_words *wanted)
{
    for (size_t i = 0; i < wanted->n; i++)
        if (!path_matches(owner, wanted->p[i]))
            return false;
    return true;
}

bool vd_rule_covers(const struct vd_rule *owner, const struct vd_rule *rule)
{
    return (owner->verbs.all || has_all(&owner->verbs, &rule->verbs)) &&
           (owner->groups.all || has_all(&owner->groups, &rule->groups)) &&
           covers_resources(&owner->resources, &rule->resources) &&
           (!owner->names.n || (rule->names.n && has_all(&owner->names, &rule->names))) &&
           covers_paths(&owner->paths, &rule->paths);
}

/* ---- showing ---- */

static void add_part(struct vd_buf *out, const char *title, const struct vd_words *words)
{
    if (!words->n)
        return;
    if (out->p[out->n - 1] != '{')
        vd_buf_add_text(out, ", ");
    vd_buf_add_text(out, title);
    vd_quote_add_list(out, words->p, words->n);
}

void vd_rule_add_text(struct vd_buf *out, const struct vd_rule *rule)
{
    vd_buf_add_char(out, '{');
    add_part(out, "APIGroups:", &rule->groups);
    add_part(out, "Resources:", &rule->resources);
    add_part(out, "NonResourceURLs:", &rule->paths);
    add_part(out, "ResourceNames:", &rule->names);
    add_part(out, "Verbs:", &rule->verbs);
    vd_buf_add_char(out, '}');
}

struct vd_json *vd_words_to_json(struct vd_arena *arena, const struct vd_words *words)
{
    struct vd_json *array = vd_json_array(arena);
    for (size_t i = 0; i < words->n; i++)
        vd_json_append(array, vd_json_string_ref(arena, words->p[i]));
    return array;
}
