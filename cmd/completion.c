/*
 * vedette completion: a script for the shell that completes commands, options and values.
 *
 * Everything in it is written from the tables of commands and options, so it knows exactly the
 * commands of the program that wrote it. The script runs no other program when it completes a word.
 *
 * What a value can be follows from its option: its choices if there are any, files for a FILE and
 * folders for a DIR.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "options.h"
#include "terminal.h"

enum { OPTION_SHELL };

static const struct vd_option options[] = {
    [OPTION_SHELL] = {.name = "shell",
                      .value = "SHELL",
                      .type = VD_OPTION_TEXT,
                      .required = true,
                      .operand = true,
                      .choices = "bash zsh",
                      .help = "bash or zsh"},
};

/* Visits `command` and each command below it; `path` is its words: " store backup". */
static void each_command(const struct vd_command *command, const char *path,
                         void (*visit)(const struct vd_command *command, const char *path))
{
    if (command->prepare)
        command->prepare();
    visit(command, path);
    for (size_t i = 0; i < command->children_n; i++) {
        struct vd_buf below = {0};
        vd_buf_addf(&below, "%s %s", path, command->children[i]->name);
        each_command(command->children[i], vd_buf_text(&below), visit);
        vd_buf_release(&below);
    }
}

static bool takes_value(const struct vd_option *o)
{
    return o->type != VD_OPTION_SWITCH;
}

/* ---- bash ---- */

static void bash_path(const struct vd_command *command, const char *path)
{
    (void)command;
    if (*path)
        printf("        '%s') path='%s' ;;\n", path, path);
}

static void bash_wants(const struct vd_command *command, const char *path)
{
    for (size_t i = 0; i < command->options_n; i++)
        if (takes_value(&command->options[i]) && !command->options[i].operand)
            printf("        '%s --%s') want=$word ;;\n", path, command->options[i].name);
}

static void bash_value(const struct vd_command *command, const char *path)
{
    for (size_t i = 0; i < command->options_n; i++) {
        const struct vd_option *o = &command->options[i];
        if (o->operand || !takes_value(o))
            continue;
        if (o->choices)
            printf("        '%s --%s') words='%s' ;;\n", path, o->name, o->choices);
        else if (strcmp(o->value, "FILE") == 0 || strcmp(o->value, "DIR") == 0)
            printf("        '%s --%s') files=-%c ;;\n", path, o->name,
                   o->value[0] == 'F' ? 'f' : 'd');
    }
}

static void bash_words(const struct vd_command *command, const char *path)
{
    const char *files = "";
    printf("        '%s') words='", path);
    for (size_t i = 0; i < command->children_n; i++)
        printf("%s ", command->children[i]->name);
    for (size_t i = 0; i < command->options_n; i++) {
        const struct vd_option *o = &command->options[i];
        if (!o->operand)
            printf("--%s ", o->name);
        else if (o->choices)
            printf("%s ", o->choices);
        else
            files = " files=-f";
    }
    printf("%s'%s ;;\n", *path ? "--help" : "help --help --version", files);
}

static void print_bash(const struct vd_command *root)
{
    printf("# Completion of vedette for bash, written by 'vedette completion bash'.\n"
           "_vedette()\n"
           "{\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} path='' want='' words='' files='' word i\n"
           "    COMPREPLY=()\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        word=${COMP_WORDS[i]}\n"
           "        if [[ $word == '=' ]]; then continue; fi\n"
           "        if [[ -n $want ]]; then want=''; continue; fi\n"
           "        case \"$path $word\" in\n"
           "        ' help') ;;\n");
    each_command(root, "", bash_path);
    each_command(root, "", bash_wants);
    printf("        esac\n"
           "    done\n"
           "    if [[ $cur == '=' ]]; then cur=''; fi\n"
           "    if [[ -n $want ]]; then\n"
           "        case \"$path $want\" in\n");
    each_command(root, "", bash_value);
    printf("        esac\n"
           "    else\n"
           "        case \"$path\" in\n");
    each_command(root, "", bash_words);
    printf("        esac\n"
           "        if [[ $cur == -* ]]; then files=''; fi\n"
           "    fi\n"
           "    local IFS=$' \\n'\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "    if [[ -n $files ]]; then\n"
           "        compopt -o filenames 2>/dev/null\n"
           "        IFS=$'\\n'\n"
           "        COMPREPLY+=($(compgen \"$files\" -- \"$cur\"))\n"
           "    fi\n"
           "}\n"
           "complete -F _vedette vedette\n");
}

/* ---- zsh ---- */

/* Prints a text between single quotes, for _arguments and _describe: characters that have a meaning
 * to these get a backslash in front. */
static void zsh_text(const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            printf("'\\''");
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            printf("%c", *text);
}

static void zsh_action(const struct vd_option *o)
{
    printf(":%s:", o->value);
    if (o->choices)
        printf("(%s)", o->choices);
    else if (strcmp(o->value, "FILE") == 0)
        printf("_files");
    else if (strcmp(o->value, "DIR") == 0)
        printf("_files -/");
    else
        printf(" ");
}

static void zsh_options(const struct vd_command *command)
{
    for (size_t i = 0; i < command->options_n; i++) {
        const struct vd_option *o = &command->options[i];
        printf(" \\\n        '");
        if (!o->operand) {
            printf("--%s%s[", o->name, takes_value(o) ? "=" : "");
            zsh_text(o->help);
            printf("]");
        }
        if (takes_value(o))
            zsh_action(o);
        printf("'");
    }
    printf(" \\\n        '(- *)'{-h,--help}'[show the help]'");
}

/* Prints " store backup" as a part of a function's name. */
static void zsh_name(const char *path)
{
    printf("_vedette");
    for (; *path; path++)
        printf("%c", *path == ' ' ? '_' : *path);
}

static void zsh_function(const struct vd_command *command, const char *path)
{
    zsh_name(path);
    printf("()\n{\n");
    if (!command->children_n) {
        printf("    _arguments");
        zsh_options(command);
        printf("\n}\n\n");
        return;
    }
    printf("    local state line\n"
           "    local -a commands=(\n");
    for (size_t i = 0; i < command->children_n; i++) {
        printf("        '%s:", command->children[i]->name);
        zsh_text(command->children[i]->summary);
        printf("'\n");
    }
    printf("    )\n"
           "    _arguments -C");
    zsh_options(command);
    printf(" \\\n        '1:command:->command' '*::argument:->rest'\n"
           "    case $state in\n"
           "    command) _describe command commands ;;\n"
           "    rest) (( $+functions[");
    zsh_name(path);
    printf("_$words[1]] )) && ");
    zsh_name(path);
    printf("_$words[1] ;;\n"
           "    esac\n"
           "}\n\n");
}

static void print_zsh(const struct vd_command *root)
{
    printf("#compdef vedette\n"
           "# Completion of vedette for zsh, written by 'vedette completion zsh'.\n\n");
    each_command(root, "", zsh_function);
    printf("if [[ $funcstack[1] == _vedette ]]; then\n"
           "    _vedette \"$@\"\n"
           "else\n"
           "    compdef _vedette vedette\n"
           "fi\n");
}

static enum vd_exit run(const struct vd_option_value *values)
{
    const char *shell = values[OPTION_SHELL].text;
    if (strcmp(shell, "bash") == 0) {
        print_bash(&vd_command_root);
    } else if (strcmp(shell, "zsh") == 0) {
        print_zsh(&vd_command_root);
    } else {
        vd_complain("there is no completion for '%s', only for bash and zsh; run 'vedette "
                    "completion --help'",
                    shell);
        return VD_EXIT_USAGE;
    }
    return VD_EXIT_OK;
}

const struct vd_command vd_command_completion = {
    .name = "completion",
    .summary = "Print a script that completes commands and options in the shell.",
    .details = "For this bash alone:  source <(vedette completion bash)\n"
               "For every zsh, with a folder of its fpath:  vedette completion zsh >DIR/_vedette",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
