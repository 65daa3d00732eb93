/* vedette version */
#include <sqlite3.h>
#include <stdio.h>

#include "cmd/build_info.h"
#include "command.h"

enum { OPTION_OUTPUT };

static const struct vd_option options[] = {
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
};

static enum vd_exit run(const struct vd_option_value *values)
{
    if (vd_option_is_json(&values[OPTION_OUTPUT]))
        printf("{\"version\":\"%s\",\"sqlite\":\"%s\",\"build\":\"%s\"}\n", VD_VERSION,
               sqlite3_libversion(), VD_BUILD_TYPE);
    else
        printf("vedette %s (SQLite %s, %s build)\n", VD_VERSION, sqlite3_libversion(),
               VD_BUILD_TYPE);
    return VD_EXIT_OK;
}

const struct vd_command vd_command_version = {
    .name = "version",
    .summary = "Show the versions of Vedette and of what it is built with.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
