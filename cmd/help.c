/* See help.h. Everything that a help text says of commands and options comes from
 * their tables; nothing is said twice. */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "server/setting.h"
#include "terminal.h"

static void print_usage(const struct vd_command_path *path)
{
    const struct vd_command *command = vd_command_path_end(path);
    printf("Usage:");
    for (size_t i = 0; i < path->n; i++)
        printf(" %s", path->at[i]->name);
    if (command->children_n)
        printf(" COMMAND");
    bool optional = false;
    for (size_t i = 0; i < command->options_n; i++) {
        const struct vd_option *o = &command->options[i];
        if (o->operand)
            printf(" %s%s%s", o->required ? "" : "[", o->value, o->required ? "" : "]");
        else if (o->required)
            printf(" --%s %s", o->name, o->value);
        optional |= !o->required && !o->operand;
    }
    printf("%s\n", optional || command->children_n ? " [OPTIONS]" : "");
}

/* "  --keep-events N" */
static void option_label(const struct vd_option *option, struct vd_buf *out)
{
    vd_buf_reset(out);
    if (option->operand) {
        vd_buf_add_text(out, option->value);
        return;
    }
    vd_buf_addf(out, "--%s%s%s", option->name, option->value ? " " : "",
                option->value ? option->value : "");
}

static void print_default(const struct vd_setting *setting)
{
    char variable[VD_SETTING_NAME_MAX];
    printf(" [%s, or %s]", setting->initial, vd_setting_variable(setting, variable));
}

static void print_options(const struct vd_command *command)
{
    static const struct vd_option help = {.name = "help", .help = "show this text (or -h)"};
    struct vd_buf label = {0};
    int width = (int)strlen("--help");
    for (size_t i = 0; i < command->options_n; i++) {
        option_label(&command->options[i], &label);
        width = (int)label.n > width ? (int)label.n : width;
    }
    printf("\n");
    vd_print_heading("Options:");
    for (size_t i = 0; i <= command->options_n; i++) {
        const struct vd_option *o = i < command->options_n ? &command->options[i] : &help;
        option_label(o, &label);
        printf("  %-*s  %s%s", width, vd_buf_text(&label), o->help,
               o->required ? " (required)" : "");
        if (o->setting)
            print_default(&vd_settings[vd_setting_find(vd_slice_of(o->setting))]);
        printf("\n");
    }
    vd_buf_release(&label);
}

static void print_children(const struct vd_command *command)
{
    int width = 0;
    for (size_t i = 0; i < command->children_n; i++) {
        int n = (int)strlen(command->children[i]->name);
        width = n > width ? n : width;
    }
    printf("\n");
    vd_print_heading("Commands:");
    for (size_t i = 0; i < command->children_n; i++)
        printf("  %-*s  %s\n", width, command->children[i]->name, command->children[i]->summary);
}

static void print_exit_codes(void)
{
    printf("\n");
    vd_print_heading("Exit status:");
    printf("  %d  it worked\n", VD_EXIT_OK);
    printf("  %d  the work failed, or found a problem\n", VD_EXIT_FAILED);
    printf("  %d  the command line is wrong\n", VD_EXIT_USAGE);
}

void vd_help_print(const struct vd_command_path *path)
{
    const struct vd_command *command = vd_command_path_end(path);
    printf("%s\n\n", command->summary);
    print_usage(path);
    if (command->details)
        printf("\n%s\n", command->details);
    if (command->children_n)
        print_children(command);
    print_options(command);
    print_exit_codes();
    if (command->children_n) {
        printf("\nRun '");
        for (size_t i = 0; i < path->n; i++)
            printf("%s ", path->at[i]->name);
        printf("COMMAND --help' for the options of a command.\n");
    }
}
