/* vedette store init */
#include <stdio.h>

#include "base/clock.h"
#include "command.h"
#include "store/sqlite_backup.h"
#include "terminal.h"

enum { OPTION_DATA, OPTION_OUTPUT };

static const struct vd_option options[] = {
    [OPTION_DATA] = {.name = "data",
                     .value = "DIR",
                     .type = VD_OPTION_TEXT,
                     .required = true,
                     .help = "the data folder to begin anew in; it must have no log"},
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
};

static enum vd_exit run(const struct vd_option_value *values)
{
    struct vd_error error;
    uint64_t revision = 0;
    if (vd_log_init(values[OPTION_DATA].text, vd_clock_wall_ms(vd_clock_system()), &revision,
                    &error)) {
        vd_complain("%s", error.text);
        return VD_EXIT_FAILED;
    }
    if (vd_option_is_json(&values[OPTION_OUTPUT]))
        printf("{\"revision\":%llu}\n", (unsigned long long)revision);
    else
        printf("made a new log without objects, which begins behind revision %llu: watches from "
               "before will list again\n",
               (unsigned long long)revision);
    return VD_EXIT_OK;
}

const struct vd_command vd_command_store_init = {
    .name = "init",
    .summary = "Begin anew in a folder whose log is lost.",
    .details = "A server makes its log by itself when it starts for the first time. In a folder\n"
               "that has its keys but no log it does not: the log was lost, and may be somewhere.\n"
               "This makes an empty one on purpose; the keys and tokens of the folder stay. Where\n"
               "there is a backup, 'vedette store restore' is the better way.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
