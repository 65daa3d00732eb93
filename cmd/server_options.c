/* See server_options.h. */
#include "server_options.h"

#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"

enum {
    HELP_MAX = 160,   /* bytes of an option's help */
    CHOICES_MAX = 64, /* bytes of an option's choices */
};

struct vd_option vd_server_options[VD_SERVER_OPTIONS_N];

static char names[VD_SETTINGS_N][VD_SETTING_NAME_MAX];
static char helps[VD_SETTINGS_N][HELP_MAX];
static char choices[VD_SETTINGS_N][CHOICES_MAX];

/* All values of a setting, if it has a fixed set of them. */
static const char *choices_of(const struct vd_setting *s, char out[CHOICES_MAX])
{
    size_t n = 0;
    if (s->type == VD_SETTING_SWITCH)
        return "on off";
    if (s->type == VD_SETTING_AUTO)
        return "on off auto";
    if (s->type != VD_SETTING_CHOICE)
        return NULL;
    for (const struct vd_setting_choice *c = s->choices; c->name; c++)
        n += (size_t)snprintf(out + n, CHOICES_MAX - n, "%s%s", n ? " " : "", c->name);
    return out;
}

void vd_server_options_prepare(void)
{
    vd_server_options[0] = (struct vd_option){
        .name = "config",
        .value = "FILE",
        .type = VD_OPTION_TEXT,
        .help = "the configuration, vedette.yaml(5); options win over it",
    };
    for (size_t i = 0; i < VD_SETTINGS_N; i++) {
        const struct vd_setting *s = &vd_settings[i];
        bool has_initial = s->initial[0];
        snprintf(helps[i], HELP_MAX, "%s%s%s%s", s->help, has_initial ? " [" : "", s->initial,
                 has_initial ? "]" : "");
        vd_server_options[1 + i] = (struct vd_option){
            .name = vd_setting_flag(s, names[i]),
            .value = s->value,
            .type = VD_OPTION_TEXT,
            .choices = choices_of(s, choices[i]),
            .help = helps[i],
        };
    }
}

int vd_server_options_load(const struct vd_option_value *values, struct vd_config *config,
                           struct vd_error *error)
{
    const char *flags[VD_SETTINGS_N];
    for (size_t i = 0; i < VD_SETTINGS_N; i++)
        flags[i] = values[1 + i].given ? values[1 + i].text : NULL;
    vd_config_init(config);
    return vd_config_load(config,
                          &(struct vd_config_origins){
                              .file = values[0].given ? values[0].text : NULL,
                              .environment = environ,
                              .flags = flags,
                          },
                          error);
}
