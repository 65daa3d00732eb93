/* The options of commands that take the server's configuration: --config FILE, and
 * one for each setting, written from the table of settings. */
#ifndef VD_CMD_SERVER_OPTIONS_H
#define VD_CMD_SERVER_OPTIONS_H

#include "command.h"
#include "server/config.h"

enum { VD_SERVER_OPTIONS_N = 1 + VD_SETTINGS_N }; /* options of the server */

/* Filled in by vd_server_options_prepare, a command's `prepare`. */
extern struct vd_option vd_server_options[VD_SERVER_OPTIONS_N];
void vd_server_options_prepare(void);

/* Loads the configuration from file, environment and these values. Initialises *config, which must
 * be released even after an error. */
int vd_server_options_load(const struct vd_option_value *values, struct vd_config *config,
                           struct vd_error *error) VD_MUST_USE;

#endif
