/* vedette store restore */
#include "base/clock.h"
#include "base/quantity.h"
#include "progress.h"
#include "store/sqlite_backup.h"
#include "terminal.h"

enum { OPTION_DATA, OPTION_FROM, OPTION_OUTPUT };

static const struct vd_option options[] = {
    [OPTION_DATA] = VD_OPTION_DATA_ENTRY("the data folder to fill; it must have no log"),
    [OPTION_FROM] = {.name = "from",
                     .value = "FILE",
                     .type = VD_OPTION_TEXT,
                     .required = true,
                     .help = "the backup"},
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
};

static void report_print(const struct vd_restore_report *r, bool json)
{
    char size[VD_QUANTITY_MAX];
    if (json)
        printf("{\"backupRevision\":%llu,\"revision\":%llu,\"rows\":%llu,\"objects\":%llu,"
               "\"bytes\":%llu}\n",
               (unsigned long long)r->revision_then, (unsigned long long)r->revision,
               (unsigned long long)r->rows, (unsigned long long)r->objects,
               (unsigned long long)r->bytes);
    else
        printf("restored the state of revision %llu: %llu objects, %s; it goes on at revision "
               "%llu, and watches from before will list again\n",
               (unsigned long long)r->revision_then, (unsigned long long)r->objects,
               vd_bytes_text(r->bytes, size), (unsigned long long)r->revision);
}

static enum vd_exit run(const struct vd_option_value *values)
{
    struct vd_restore_report report;
    struct vd_progress_line line;
    struct vd_error error;
    vd_progress_line_init(&line);
    int code = vd_log_restore(values[OPTION_FROM].text, values[OPTION_DATA].text,
                              vd_clock_wall_ms(vd_clock_system()), vd_progress_of(&line), &report,
                              &error);
    vd_progress_line_end(&line);
    if (code) {
        vd_complain("%s", error.text);
        return VD_EXIT_FAILED;
    }
    report_print(&report, vd_option_is_json(&values[OPTION_OUTPUT]));
    return VD_EXIT_OK;
}

const struct vd_command vd_command_store_restore = {
    .name = "restore",
    .summary = "Make a backup the data of a new folder.",
    .details = "Objects keep their resourceVersions. The log goes on far above any revision that\n"
               "the lost one can have given out, so watches from before the restore are told that\n"
               "they expired and list again, instead of resuming in a history that is no more.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
