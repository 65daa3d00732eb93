/*
 * The command line.
 *
 *   vedette WORD... [OPERAND | --NAME VALUE | --NAME=VALUE | --SWITCH]...
 *   vedette help WORD...
 *
 * Words lead down the tree of commands until one runs; options belong to that one, so they come
 * after it. `--help` (or -h) may stand anywhere, and then mistakes in the options do not matter; an
 * unknown command is a mistake even with --help.
 */
#include "options.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/near_miss.h"
#include "base/quantity.h"
#include "server/setting.h"

/* "store backup", for sentences. */
static void path_words(const struct vd_command_path *path, struct vd_buf *out)
{
    vd_buf_reset(out);
    for (size_t i = 0; i < path->n; i++)
        vd_buf_addf(out, "%s%s", i ? " " : "", path->at[i]->name);
}

/* Adds the way out to the sentence, and gives the code. */
static int usage_error(const struct vd_command_path *path, struct vd_error *error,
                       const char *format, ...) VD_PRINTF(3, 4);

static int usage_error(const struct vd_command_path *path, struct vd_error *error,
                       const char *format, ...)
{
    struct vd_buf text = {0}, words = {0};
    va_list arguments;
    va_start(arguments, format);
    vd_buf_vaddf(&text, format, arguments);
    va_end(arguments);
    path_words(path, &words);
    int code = vd_error_set(error, VD_ERR_INVALID, "%s; run '%s --help'", vd_buf_text(&text),
                            vd_buf_text(&words));
    vd_buf_release(&text);
    vd_buf_release(&words);
    return code;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* ---- words ---- */

static const struct vd_command *child_find(const struct vd_command *group, const char *word)
{
    for (size_t i = 0; i < group->children_n; i++)
        if (strcmp(group->children[i]->name, word) == 0)
            return group->children[i];
    return NULL;
}

static int unknown_command(const struct vd_command_path *path, const char *word,
                           struct vd_error *error)
{
    const struct vd_command *group = vd_command_path_end(path);
    struct vd_near_miss near = vd_near_miss(word);
    for (size_t i = 0; i < group->children_n; i++)
        vd_near_miss_try(&near, group->children[i]->name);
    if (near.best)
        return usage_error(path, error, "unknown command '%s' (did you mean '%s'?)", word,
                           near.best);
    return usage_error(path, error, "unknown command '%s'", word);
}

/* Gives the word to the command's next operand that has no value yet, or takes several. Words of a
 * repeated one are gathered at the front of argv, whose words have been read already. */
static int take_operand(struct vd_command_line *line, char **argv, int at, struct vd_error *error)
{
    const struct vd_command *command = vd_command_path_end(&line->path);
    char *word = argv[at];
    for (size_t i = 0; i < command->options_n; i++) {
        struct vd_option_value *value = &line->values[i];
        if (!command->options[i].operand || (value->given && !command->options[i].repeated))
            continue;
        if (!value->given)
            *value = (struct vd_option_value){.given = true, .text = word, .texts = argv};
        if (command->options[i].repeated)
            argv[value->count++] = word;
        return VD_OK;
    }
    return usage_error(&line->path, error, "surplus argument '%s'", word);
}

/* Follows one word down the tree; at its end, the word is an operand. */
static int descend(struct vd_command_line *line, char **argv, int at, struct vd_error *error)
{
    const char *word = argv[at];
    struct vd_command_path *path = &line->path;
    const struct vd_command *here = vd_command_path_end(path);
    if (here->children_n == 0)
        return take_operand(line, argv, at, error);
    const struct vd_command *child = child_find(here, word);
    if (!child)
        return unknown_command(path, word, error);
    assert(path->n < VD_COMMAND_DEPTH_MAX && child->options_n <= VD_OPTIONS_MAX);
    path->at[path->n++] = child;
    if (child->prepare)
        child->prepare();
    return VD_OK;
}

/* ---- options ---- */

static const struct vd_option *option_find(const struct vd_command *command, struct vd_slice name)
{
    for (size_t i = 0; i < command->options_n; i++)
        if (!command->options[i].operand && vd_slice_is(name, command->options[i].name))
            return &command->options[i];
    return NULL;
}

static int unknown_option(const struct vd_command_path *path, const char *word,
                          struct vd_slice name, struct vd_error *error)
{
    const struct vd_command *command = vd_command_path_end(path);
    struct vd_buf text = {0};
    vd_buf_add_slice(&text, name);
    struct vd_near_miss near = vd_near_miss(vd_buf_text(&text));
    for (size_t i = 0; i < command->options_n; i++)
        if (!command->options[i].operand)
            vd_near_miss_try(&near, command->options[i].name);
    int code = near.best ? usage_error(path, error, "unknown option '%s' (did you mean '--%s'?)",
                                       word, near.best)
                         : usage_error(path, error, "unknown option '%s'", word);
    vd_buf_release(&text);
    return code;
}

/* Whether the value is one of the option's choices, if it has any. */
static bool is_choice(const struct vd_option *option, struct vd_slice text)
{
    struct vd_slice rest = vd_slice_of(option->choices ? option->choices : ""), choice;
    bool found = !option->choices;
    while (option->choices && vd_slice_cut(&rest, ' ', &choice))
        found |= vd_slice_eq(choice, text);
    return found;
}

/* "option '--output' wants text, json or github, not 'xml'" */
static int wrong_choice(const struct vd_command_path *path, const struct vd_option *option,
                        const char *text, struct vd_error *error)
{
    struct vd_buf list = {0};
    struct vd_slice rest = vd_slice_of(option->choices), choice;
    while (vd_slice_cut(&rest, ' ', &choice)) {
        bool is_last = !rest.n;
        vd_buf_addf(&list, "%s%.*s", !list.n ? "" : is_last ? " or " : ", ", VD_FMT(choice));
    }
    int code = usage_error(path, error, "option '--%s' wants %s, not '%s'", option->name,
                           vd_buf_text(&list), text);
    vd_buf_release(&list);
    return code;
}

static int read_value(const struct vd_command_path *path, const struct vd_option *option,
                      struct vd_option_value *value, struct vd_error *error)
{
    struct vd_slice text = vd_slice_of(value->text);
    if (option->type != VD_OPTION_SWITCH && text.n && !is_choice(option, text))
        return wrong_choice(path, option, value->text, error);
    switch (option->type) {
    case VD_OPTION_SWITCH:
        break;
    case VD_OPTION_TEXT:
        if (text.n == 0)
            return usage_error(path, error, "option '--%s' has an empty value", option->name);
        break;
    case VD_OPTION_NUMBER:
        if (vd_slice_to_u64(text, &value->number) != 0 || value->number > INT64_MAX)
            return usage_error(path, error, "option '--%s' wants a number, not '%s'", option->name,
                               value->text);
        break;
    case VD_OPTION_DURATION:
        if (vd_duration_parse(text, &value->number) != 0)
            return usage_error(path, error,
                               "option '--%s' wants a duration such as 1h30m, 45s or 7d, not '%s'",
                               option->name, value->text);
        break;
    case VD_OPTION_OUTPUT:
        if (!text.n)
            return wrong_choice(path, option, value->text, error);
        value->number = vd_slice_is(text, "json");
        break;
    }
    return VD_OK;
}

/* Takes the option at argv[*at]; its value may be the next word. */
static int take_option(struct vd_command_line *line, int argc, char **argv, int *at,
                       struct vd_error *error)
{
    const struct vd_command *command = vd_command_path_end(&line->path);
    const char *word = argv[*at], *equals = strchr(word, '=');
    struct vd_slice name = vd_slice_from(vd_slice_of(word), 2);
    if (equals)
        name.n = (size_t)(equals - name.p);
    const struct vd_option *option = word[1] == '-' ? option_find(command, name) : NULL;
    if (!option)
        return unknown_option(&line->path, word, name, error);
    struct vd_option_value *value = &line->values[option - command->options];
    if (value->given)
        return usage_error(&line->path, error, "option '--%s' is given twice", option->name);
    if (option->type == VD_OPTION_SWITCH && equals)
        return usage_error(&line->path, error, "option '--%s' takes no value", option->name);
    value->given = true;
    if (option->type == VD_OPTION_SWITCH)
        return VD_OK;
    if (!equals && *at + 1 >= argc)
        return usage_error(&line->path, error, "option '--%s' misses its value %s", option->name,
                           option->value);
    value->text = equals ? equals + 1 : argv[++*at];
    return read_value(&line->path, option, value, error);
}

/* Gives options that were not given the value of the environment or the server's default. */
static void fill_in(struct vd_command_line *line)
{
    const struct vd_command *command = vd_command_path_end(&line->path);
    for (size_t i = 0; i < command->options_n; i++) {
        if (!command->options[i].setting || line->values[i].given)
            continue;
        size_t at = vd_setting_find(vd_slice_of(command->options[i].setting));
        char variable[VD_SETTING_NAME_MAX];
        assert(at < VD_SETTINGS_N && command->options[i].type == VD_OPTION_TEXT);
        const char *text = getenv(vd_setting_variable(&vd_settings[at], variable));
        line->values[i].text = text && *text ? text : vd_settings[at].initial;
    }
}

static int check_required(const struct vd_command_line *line, struct vd_error *error)
{
    const struct vd_command *command = vd_command_path_end(&line->path);
    for (size_t i = 0; i < command->options_n; i++)
        if (command->options[i].required && !line->values[i].given) {
            const struct vd_option *o = &command->options[i];
            if (o->operand)
                return usage_error(&line->path, error, "%s is missing", o->value);
            return usage_error(&line->path, error, "option '--%s %s' is missing", o->name,
                               o->value);
        }
    return VD_OK;
}

int vd_command_line_parse(struct vd_command_line *line, const struct vd_command *root, int argc,
                          char **argv, struct vd_error *error)
{
    *line = (struct vd_command_line){.path = {{root}, 1}};
    int code = VD_OK, at = 0;
    if (argc > 0 && strcmp(argv[0], "help") == 0) {
        line->help = true;
        at = 1;
    }
    for (; !code && at < argc; at++) {
        const char *word = argv[at];
        if (is_help(word)) {
            line->help = true;
            return VD_OK;
        }
        bool leads_on = vd_command_path_end(&line->path)->children_n > 0;
        if (word[0] == '-' && word[1])
            code = take_option(line, argc, argv, &at, error);
        else
            code = descend(line, argv, at, error);
        if (code && leads_on && word[0] != '-')
            return code;
    }
    for (int i = at; code && i < argc; i++)
        if (is_help(argv[i])) {
            line->help = true;
            return VD_OK;
        }
    if (code || line->help)
        return code;
    if (vd_command_path_end(&line->path)->children_n) {
        if (line->path.n > 1)
            return usage_error(&line->path, error, "'%s' wants a command",
                               vd_command_path_end(&line->path)->name);
        line->help = true;
        return VD_OK;
    }
    fill_in(line);
    return check_required(line, error);
}
