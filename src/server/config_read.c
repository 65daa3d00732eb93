/*
 * Reading the YAML file and the environment into a configuration.
 *
 * The file is one document, a map. A setting with a dot in its name stands in a
 * map of its own:
 *
 *     listen: off
 *     watch:
 *       bookmark-period: 30s
 *
 * Values are texts, numbers or booleans, whose text is what a flag would have;
 * YAML reads a bare `off` as false, and we read it back. Lists may be written as
 * lists. What is not known is refused with its place, since a misspelt setting
 * that is silently ignored is found out at the worst time.
 */
#include <stdlib.h>

#include "auth/private_file.h"
#include "base/near_miss.h"
#include "server/config.h"
#include "json/yaml_read.h"

enum { FILE_LEN_MAX = 1 << 20 }; /* bytes of a configuration file */

struct reading {
    struct vd_config *config;
    const char *name; /* of the file */
    struct vd_yaml_reader *reader;
    struct vd_buf origin; /* room */
    struct vd_error *error;
};

static const char *place_of(struct reading *r, const struct vd_json *value)
{
    struct vd_yaml_position at;
    vd_buf_reset(&r->origin);
    vd_buf_add_text(&r->origin, r->name);
    if (vd_yaml_reader_position(r->reader, value, &at))
        vd_buf_addf(&r->origin, ":%u:%u", at.line, at.column);
    return vd_buf_text(&r->origin);
}

/* ---- names ---- */

/* Whether a setting's name starts with "group.". */
static bool in_group(const struct vd_setting *s, struct vd_slice group)
{
    struct vd_slice name = vd_slice_of(s->name);
    return name.n > group.n && name.p[group.n] == '.' && vd_slice_starts_with(name, group);
}

static bool is_group(struct vd_slice name)
{
    for (size_t i = 0; i < VD_SETTINGS_N; i++)
        if (in_group(&vd_settings[i], name))
            return true;
    return false;
}

static int unknown_key(struct reading *r, const struct vd_json *value, const struct vd_buf *name)
{
    struct vd_near_miss near = vd_near_miss(vd_buf_text(name));
    for (size_t i = 0; i < VD_SETTINGS_N; i++)
        vd_near_miss_try(&near, vd_settings[i].name);
    return vd_error_set(r->error, VD_ERR_INVALID, "%s: there is no setting '%.80s'%s%s%s",
                        place_of(r, value), vd_buf_text(name), near.best ? " (did you mean '" : "",
                        near.best ? near.best : "", near.best ? "'?)" : "");
}

/* ---- values ---- */

static bool scalar_text(const struct vd_json *value, struct vd_buf *out)
{
    switch ((enum vd_json_type)value->type) {
    case VD_JSON_STRING:
        vd_buf_add_slice(out, vd_json_text(value));
        return true;
    case VD_JSON_NUMBER:
        vd_buf_add_slice(out, vd_json_number_text(value));
        return true;
    case VD_JSON_BOOL:
        vd_buf_add_text(out, vd_json_truth(value) ? "on" : "off");
        return true;
    default:
        return false;
    }
}

static bool value_text(const struct vd_setting *s, const struct vd_json *value, struct vd_buf *out)
{
    if (s->type != VD_SETTING_LIST || !vd_json_is(value, VD_JSON_ARRAY))
        return scalar_text(value, out);
    VD_JSON_EACH (item, value) {
        if (item != vd_json_first(value))
            vd_buf_add_char(out, ',');
        if (!scalar_text(item, out))
            return false;
    }
    return true;
}

static int read_setting(struct reading *r, size_t i, const struct vd_json *value)
{
    const struct vd_setting *s = &vd_settings[i];
    struct vd_buf text = {0};
    int code;
    if (value_text(s, value, &text))
        code = vd_config_set(r->config, i, vd_buf_slice(&text), place_of(r, value), r->error);
    else
        code = vd_error_set(r->error, VD_ERR_INVALID, "%s: %s wants one value (%s), not %s",
                            place_of(r, value), s->name, s->value, vd_json_type_name(value));
    vd_buf_release(&text);
    return code;
}

/* A member of the root, or of the group that `prefix` names ("watch."). */
static int read_member(struct reading *r, struct vd_slice prefix, const struct vd_json *member)
{
    struct vd_buf name = {0};
    vd_buf_add_slice(&name, prefix);
    vd_buf_add_slice(&name, vd_json_key(member));
    size_t i = vd_setting_find(vd_buf_slice(&name));
    int code;
    if (i == VD_SETTINGS_N)
        code = unknown_key(r, member, &name);
    else if (prefix.n == 0 && memchr(name.p, '.', name.n))
        code = vd_error_set(r->error, VD_ERR_INVALID,
                            "%s: '%s' is two keys: write what is behind the dot below the first",
                            place_of(r, member), vd_buf_text(&name));
    else
        code = read_setting(r, i, member);
    vd_buf_release(&name);
    return code;
}

static int read_group(struct reading *r, const struct vd_json *group)
{
    struct vd_buf prefix = {0};
    int code = VD_OK;
    vd_buf_add_slice(&prefix, vd_json_key(group));
    vd_buf_add_char(&prefix, '.');
    if (!vd_json_is(group, VD_JSON_OBJECT))
        code = vd_error_set(r->error, VD_ERR_INVALID,
                            "%s: %.*s is a group of settings: write them below it, indented",
                            place_of(r, group), VD_FMT(vd_json_key(group)));
    VD_JSON_EACH (member, group)
        if (!code)
            code = vd_config_judge(r->config, read_member(r, vd_buf_slice(&prefix), member),
                                   r->error);
    vd_buf_release(&prefix);
    return code;
}

static int read_document(struct reading *r, const struct vd_json *root)
{
    int code = VD_OK;
    if (!vd_json_is(root, VD_JSON_OBJECT))
        return vd_error_set(r->error, VD_ERR_INVALID,
                            "%s: the file must be a map of settings, not %s", place_of(r, root),
                            vd_json_type_name(root));
    VD_JSON_EACH (member, root)
        if (!code)
            code = vd_config_judge(r->config,
                                   is_group(vd_json_key(member))
                                       ? read_group(r, member)
                                       : read_member(r, VD_SLICE(""), member),
                                   r->error);
    return code;
}

/* The reader's own errors, "line 3, column 5: ...", in the manner of the others. */
static int syntax_error(struct reading *r, const struct vd_error *reason)
{
    struct vd_yaml_position at = vd_yaml_reader_failed_at(r->reader);
    const char *text = reason->text;
    if (!at.line)
        return vd_error_set(r->error, reason->code, "%s: %s", r->name, text);
    const char *behind = strstr(text, ": ");
    return vd_error_set(r->error, reason->code, "%s:%u:%u: %s", r->name, at.line, at.column,
                        behind ? behind + 2 : text);
}

int vd_config_read_yaml(struct vd_config *config, const char *name, struct vd_slice text,
                        struct vd_error *error)
{
    struct vd_yaml_options options = {.positions = true};
    struct reading r = {.config = config, .name = name, .error = error};
    struct vd_arena arena = {0};
    struct vd_json *document = NULL, *second = NULL;
    struct vd_error reason;
    r.reader = vd_yaml_reader_new(text, &options);
    int code = vd_yaml_reader_next(r.reader, &arena, &document, &reason);
    if (code)
        code = syntax_error(&r, &reason);
    else if (document)
        code = read_document(&r, document);
    if (!code && document && vd_yaml_reader_next(r.reader, &arena, &second, &reason))
        code = syntax_error(&r, &reason);
    if (!code && second)
        code = vd_error_set(error, VD_ERR_INVALID, "%s: a second document: one file, one map",
                            place_of(&r, second));
    vd_yaml_reader_free(r.reader);
    vd_arena_release(&arena);
    vd_buf_release(&r.origin);
    return code;
}

int vd_config_read_file(struct vd_config *config, const char *path, struct vd_error *error)
{
    struct vd_buf text = {0};
    int code = vd_private_file_read(&text, path, FILE_LEN_MAX, error);
    if (code)
        vd_error_prefix(error, "could not read the configuration");
    else
        code = vd_config_read_yaml(config, path, vd_buf_slice(&text), error);
    vd_buf_release(&text);
    return code;
}

/* ---- the environment ---- */

static size_t find_variable(struct vd_slice name)
{
    char room[VD_SETTING_NAME_MAX];
    size_t i = 0;
    while (i < VD_SETTINGS_N && !vd_slice_is(name, vd_setting_variable(&vd_settings[i], room)))
        i++;
    return i;
}

static void warn_of_near_miss(struct vd_config *config, const char *name)
{
    char names[VD_SETTINGS_N][VD_SETTING_NAME_MAX];
    size_t skip = sizeof "VEDETTE_" - 1;
    struct vd_near_miss near = vd_near_miss(name + skip);
    for (size_t i = 0; i < VD_SETTINGS_N; i++)
        vd_near_miss_try(&near, vd_setting_variable(&vd_settings[i], names[i]) + skip);
    if (near.best)
        vd_config_warn(config, "%s in the environment is no setting; did you mean VEDETTE_%s?",
                       name, near.best);
}

int vd_config_read_environment(struct vd_config *config, char *const *environment,
                               struct vd_error *error)
{
    struct vd_buf name = {0};
    int code = VD_OK;
    for (; environment && *environment && !code; environment++) {
        struct vd_slice rest = vd_slice_of(*environment), part;
        if (!vd_slice_starts_with(rest, VD_SLICE("VEDETTE_")) || !vd_slice_cut(&rest, '=', &part) ||
            vd_slice_is(part, "VEDETTE_CONFIG") || rest.n == 0)
            continue; /* an empty variable counts as none */
        vd_buf_reset(&name);
        vd_buf_add_slice(&name, part);
        size_t i = find_variable(part);
        if (i == VD_SETTINGS_N)
            warn_of_near_miss(config, vd_buf_text(&name));
        else
            code = vd_config_judge(
                config, vd_config_set(config, i, rest, vd_buf_text(&name), error), error);
    }
    vd_buf_release(&name);
    return code;
}
