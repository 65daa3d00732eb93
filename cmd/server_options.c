/* See server_options.h. */
#include "server_options.h"

#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"

enum { HELP_MAX = 160 };

struct vd_option vd_server_options[VD_SERVER_OPTIONS_N];

static char names[VD_SETTINGS_N][VD_SETTING_NAME_MAX];
static char helps[VD_SETTINGS_N][HELP_MAX];

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
