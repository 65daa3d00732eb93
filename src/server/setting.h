/*
 * Settings: what can be configured, as one table (settings.c).
 *
 * A setting has one name, from which its other names follow:
 *
 *     watch.bookmark-period            the name
 *     watch: {bookmark-period: 60s}    in the YAML file
 *     --watch-bookmark-period          the flag
 *     VEDETTE_WATCH_BOOKMARK_PERIOD    the environment variable
 *
 * No setting holds a secret: keys and certificates are named by their files.
 */
#ifndef VD_SERVER_SETTING_H
#define VD_SERVER_SETTING_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"

/* With the type of the field in struct vd_config that the value goes to. */
enum vd_setting_type {
    VD_SETTING_TEXT,     /* const char *; NULL: none */
    VD_SETTING_VERSION,  /* const char *; v1.32.4 */
    VD_SETTING_ADDRESS,  /* const char *; HOST:PORT, NULL: off */
    VD_SETTING_LIST,     /* struct vd_config_list; commas between the items */
    VD_SETTING_SWITCH,   /* bool; on or off */
    VD_SETTING_AUTO,     /* int, enum vd_config_auto; on, off or auto */
    VD_SETTING_CHOICE,   /* int; one of `choices` */
    VD_SETTING_COUNT,    /* uint64_t */
    VD_SETTING_SIZE,     /* uint64_t, bytes; 64MiB */
    VD_SETTING_DURATION, /* uint64_t, milliseconds; 1m30s */
};

struct vd_setting_choice {
    const char *name; /* NULL ends the table */
    int value;
};

struct vd_setting {
    const char *name;
    const char *value; /* its name in help texts: "DIR" */
    enum vd_setting_type type;
    const char *initial; /* the default; "" is none */
    uint64_t min, max;   /* of numbers */
    const struct vd_setting_choice *choices;
    size_t field; /* its place in struct vd_config */
    const char *help;
};

struct vd_config_list {
    const char *const *items;
    size_t n;
};

enum {
    VD_SETTINGS_N = 38,       /* settings there are */
    VD_SETTING_NAME_MAX = 48, /* bytes of a setting's flag or variable, with its NUL */
};

/* Those of one group, like watch.*, stand together. */
extern const struct vd_setting vd_settings[VD_SETTINGS_N];

/* The index of a setting, or VD_SETTINGS_N. */
size_t vd_setting_find(struct vd_slice name);

/* Its other names, written to `out`, which is returned. */
const char *vd_setting_flag(const struct vd_setting *s, char out[VD_SETTING_NAME_MAX]);
const char *vd_setting_variable(const struct vd_setting *s, char out[VD_SETTING_NAME_MAX]);

/*
 * Reads a value into the setting's field of the configuration at `config`. Texts
 * are made in the arena. VD_ERR_INVALID says what is wanted: "wants ..., not 'x'".
 */
int vd_setting_parse(const struct vd_setting *s, struct vd_slice text, void *config,
                     struct vd_arena *arena, struct vd_error *error) VD_MUST_USE;

#endif
