/*
 * Commands: what `vedette` can do, as constant tables.
 *
 * A command either runs, or has sub-commands. Its options are a table, from
 * which they are parsed (options.h) and the help text is written (help.h), so
 * that the two cannot differ.
 */
#ifndef VD_CMD_COMMAND_H
#define VD_CMD_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The exit status of `vedette`; the help says the same. */
enum vd_exit {
    VD_EXIT_OK = 0,
    VD_EXIT_FAILED = 1, /* the work failed, or found a problem */
    VD_EXIT_USAGE = 2,  /* the command line is wrong */
};

enum vd_option_type {
    VD_OPTION_SWITCH, /* has no value */
    VD_OPTION_TEXT,
    VD_OPTION_NUMBER,   /* 0 to 2^63-1 */
    VD_OPTION_DURATION, /* 1h30m; in milliseconds */
    VD_OPTION_OUTPUT,   /* text or json */
};

struct vd_option {
    const char *name;  /* without the dashes */
    const char *value; /* its name in the help: "DIR" */
    enum vd_option_type type;
    bool required;
    bool operand;        /* is given by its position, without its name: FILE */
    bool repeated;       /* is the last operand, and takes all words that are left: PATH... */
    const char *setting; /* the server's setting whose environment variable and default it has;
                            NULL: none */
    const char *choices; /* all values that are allowed, with spaces between them; NULL: any.
                            Those of an operand are only offered by completion */
    const char *help;
};

/* The value of the option at the same position in the table. An option that was not given but has a
 * setting gets the text of the setting's environment variable or its default. */
struct vd_option_value {
    bool given;
    const char *text;
    uint64_t number;
    char *const *texts; /* of a repeated operand, all of them; borrowed from argv */
    size_t count;
};

struct vd_command {
    const char *name;
    const char *summary; /* one line of the list of commands */
    const char *details; /* more lines of its own help; NULL: none */
    const struct vd_option *options;
    size_t options_n;
    void (*prepare)(void); /* fills `options` in before they are used; NULL: constant */
    const struct vd_command *const *children;
    size_t children_n;
    enum vd_exit (*run)(const struct vd_option_value *values);
};

/* Options that several commands share. */
#define VD_OPTION_DATA_ENTRY(text)                                                                 \
    {                                                                                              \
        .name = "data", .value = "DIR", .type = VD_OPTION_TEXT, .setting = "data", .help = (text)  \
    }
#define VD_OPTION_OUTPUT_ENTRY                                                                     \
    {                                                                                              \
        .name = "output", .value = "FORMAT", .type = VD_OPTION_OUTPUT, .choices = "text json",     \
        .help = "text or json"                                                                     \
    }

static inline bool vd_option_is_json(const struct vd_option_value *output)
{
    return output->given && output->number;
}

#define VD_COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* The program itself, with all commands below it. */
extern const struct vd_command vd_command_root;

extern const struct vd_command vd_command_completion;
extern const struct vd_command vd_command_config;
extern const struct vd_command vd_command_config_check;
extern const struct vd_command vd_command_config_print;
extern const struct vd_command vd_command_kubeconfig;
extern const struct vd_command vd_command_lint;
extern const struct vd_command vd_command_repo;
extern const struct vd_command vd_command_repo_adopt;
extern const struct vd_command vd_command_repo_create;
extern const struct vd_command vd_command_repo_credential;
extern const struct vd_command vd_command_repo_list;
extern const struct vd_command vd_command_repo_log;
extern const struct vd_command vd_command_repo_reset;
extern const struct vd_command vd_command_repo_status;
extern const struct vd_command vd_command_serve;
extern const struct vd_command vd_command_store;
extern const struct vd_command vd_command_store_backup;
extern const struct vd_command vd_command_store_compact;
extern const struct vd_command vd_command_store_init;
extern const struct vd_command vd_command_store_restore;
extern const struct vd_command vd_command_store_stats;
extern const struct vd_command vd_command_store_verify;
extern const struct vd_command vd_command_token;
extern const struct vd_command vd_command_token_create;
extern const struct vd_command vd_command_token_list;
extern const struct vd_command vd_command_token_revoke;
extern const struct vd_command vd_command_top;
extern const struct vd_command vd_command_version;

#endif
