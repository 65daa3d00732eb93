/* vedette store backup */
#include "base/buf.h"
#include "base/quantity.h"
#include "data_folder.h"
#include "progress.h"
#include "store/sqlite_backup.h"
#include "terminal.h"

enum { OPTION_DATA, OPTION_TO, OPTION_FORCE, OPTION_OUTPUT };

static const struct vd_option options[] = {
    [OPTION_DATA] = VD_OPTION_DATA_ENTRY("the server's data folder"),
    [OPTION_TO] = {.name = "to",
                   .value = "FILE",
                   .type = VD_OPTION_TEXT,
                   .required = true,
                   .help = "the backup to write; FILE.partial until it is whole"},
    [OPTION_FORCE] = {.name = "force", .help = "replace FILE when it exists"},
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
};

static void report_print(const struct vd_backup_report *r, const char *to, bool json)
{
    char size[VD_QUANTITY_MAX];
    struct vd_buf file = {0};
    vd_json_add_text(&file, vd_slice_of(to));
    if (json)
        printf("{\"file\":%s,\"revision\":%llu,\"rows\":%llu,\"objects\":%llu,\"bytes\":%llu}\n",
               vd_buf_text(&file), (unsigned long long)r->revision, (unsigned long long)r->rows,
               (unsigned long long)r->objects, (unsigned long long)r->bytes);
    else
        printf("backed up to %s: revision %llu, %llu rows, %llu objects, %s\n", to,
               (unsigned long long)r->revision, (unsigned long long)r->rows,
               (unsigned long long)r->objects, vd_bytes_text(r->bytes, size));
    vd_buf_release(&file);
}

static enum vd_exit run(const struct vd_option_value *values)
{
    const char *folder = values[OPTION_DATA].text, *to = values[OPTION_TO].text;
    struct vd_backup_report report;
    struct vd_progress_line line;
    struct vd_error error;
    vd_progress_line_init(&line);
    int code = vd_data_folder_check(folder, &error);
    if (!code)
        code = vd_log_backup(folder, to, values[OPTION_FORCE].given, vd_progress_of(&line), &report,
                             &error);
    vd_progress_line_end(&line);
    if (code) {
        vd_complain("%s", error.text);
        return VD_EXIT_FAILED;
    }
    report_print(&report, to, vd_option_is_json(&values[OPTION_OUTPUT]));
    return VD_EXIT_OK;
}

const struct vd_command vd_command_store_backup = {
    .name = "backup",
    .summary = "Write the data to one file, while the server goes on.",
    .details = "The backup is the state of one moment, and every row of it is checked before it\n"
               "gets its name. A damaged log is refused: see 'vedette store verify'.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
