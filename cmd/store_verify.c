/* vedette store verify */
#include "base/buf.h"
#include "data_folder.h"
#include "progress.h"
#include "store/sqlite_file.h"
#include "store/sqlite_verify.h"
#include "terminal.h"

enum { OPTION_DATA, OPTION_FILE, OPTION_QUICK, OPTION_OUTPUT };

static const struct vd_option options[] = {
    [OPTION_DATA] = VD_OPTION_DATA_ENTRY("the server's data folder"),
    [OPTION_FILE] = {.name = "file",
                     .value = "FILE",
                     .type = VD_OPTION_TEXT,
                     .help = "a backup to check instead"},
    [OPTION_QUICK] = {.name = "quick", .help = "SQLite's quick_check instead of integrity_check"},
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
};

/* Findings are printed as they are found: the check may take long, and there may be many. */
struct printer {
    struct vd_progress_line line;
    bool json;
    bool any;
};

static void print_json(struct printer *p, const struct vd_finding *f)
{
    struct vd_buf out = {0};
    vd_buf_addf(&out, "%s{\"type\":\"%s\"", p->any ? "," : "", vd_finding_name(f->type));
    if (f->revision)
        vd_buf_addf(&out, ",\"revision\":%llu", (unsigned long long)f->revision);
    if (f->key) {
        vd_buf_add_text(&out, ",\"kind\":");
        vd_json_add_text(&out, f->key->resource);
        vd_buf_add_text(&out, ",\"namespace\":");
        vd_json_add_text(&out, f->key->namespace);
        vd_buf_add_text(&out, ",\"name\":");
        vd_json_add_text(&out, f->key->name);
    }
    vd_buf_add_text(&out, ",\"message\":");
    vd_json_add_text(&out, vd_slice_of(f->text));
    vd_buf_add_char(&out, '}');
    fputs(vd_buf_text(&out), stdout);
    vd_buf_release(&out);
}

static void print_text(const struct vd_finding *f)
{
    if (f->revision)
        printf("revision %llu", (unsigned long long)f->revision);
    if (f->key)
        printf(" %.*s %.*s%s%.*s", VD_FMT(f->key->resource), VD_FMT(f->key->namespace),
               f->key->namespace.n ? "/" : "", VD_FMT(f->key->name));
    printf("%s%s\n", f->revision ? ": " : "", f->text);
}

static void print_finding(void *arg, const struct vd_finding *f)
{
    struct printer *p = arg;
    vd_progress_line_end(&p->line);
    if (p->json)
        print_json(p, f);
    else
        print_text(f);
    p->any = true;
}

/* The check was broken off by an error: output that was begun as JSON is ended as JSON. */
static void print_broken_off(const struct vd_error *error)
{
    struct vd_buf out = {0};
    vd_json_add_text(&out, vd_slice_of(error->text));
    printf("],\"error\":%s}\n", vd_buf_text(&out));
    vd_buf_release(&out);
}

static void print_result(const struct printer *p, const struct vd_verify_result *r)
{
    if (p->json)
        printf("],\"rows\":%llu,\"objects\":%llu,\"revisionFirst\":%llu,\"revision\":%llu,"
               "\"problems\":%llu}\n",
               (unsigned long long)r->rows, (unsigned long long)r->objects,
               (unsigned long long)r->revision_first, (unsigned long long)r->revision,
               (unsigned long long)r->problems);
    else
        printf("%llu rows, %llu objects, revision %llu..%llu, %llu problem%s\n",
               (unsigned long long)r->rows, (unsigned long long)r->objects,
               (unsigned long long)r->revision_first, (unsigned long long)r->revision,
               (unsigned long long)r->problems, r->problems == 1 ? "" : "s");
}

/* The log of a folder, or a single file. */
static int log_open(sqlite3 **db, const struct vd_option_value *values, struct vd_error *error)
{
    struct vd_buf path = {0};
    int code = VD_OK;
    if (values[OPTION_FILE].given) {
        vd_buf_add_text(&path, values[OPTION_FILE].text);
    } else {
        code = vd_data_folder_check(values[OPTION_DATA].text, error);
        vd_log_path(&path, values[OPTION_DATA].text);
    }
    if (!code)
        code = vd_log_open(db, vd_buf_text(&path), NULL, VD_LOG_READ_ONLY, error);
    vd_buf_release(&path);
    return code;
}

static enum vd_exit run(const struct vd_option_value *values)
{
    if (values[OPTION_DATA].given && values[OPTION_FILE].given) {
        vd_complain("give either '--data DIR' or '--file FILE'; run 'vedette store verify --help'");
        return VD_EXIT_USAGE;
    }
    struct printer printer = {.json = vd_option_is_json(&values[OPTION_OUTPUT])};
    struct vd_verify_result result;
    struct vd_error error;
    sqlite3 *db = NULL;
    vd_progress_line_init(&printer.line);
    int code = log_open(&db, values, &error);
    if (!code) {
        struct vd_verify how = {
            .pages = values[OPTION_QUICK].given ? VD_VERIFY_PAGES_QUICK : VD_VERIFY_PAGES_FULL,
            .found = print_finding,
            .arg = &printer,
            .progress = vd_progress_of(&printer.line),
        };
        if (printer.json)
            printf("{\"findings\":[");
        code = vd_log_verify(db, &how, &result, &error);
        if (code && printer.json)
            print_broken_off(&error);
    }
    vd_progress_line_end(&printer.line);
    sqlite3_close(db);
    if (code) {
        vd_complain("%s", error.text);
        return VD_EXIT_FAILED;
    }
    print_result(&printer, &result);
    return result.problems ? VD_EXIT_FAILED : VD_EXIT_OK;
}

const struct vd_command vd_command_store_verify = {
    .name = "verify",
    .summary = "Check the data, row by row, while the server goes on.",
    .details =
        "Checks the file's pages, every row's checksums, that each version follows from the\n"
        "one before it, and that no revision is missing. Nothing is changed. Findings are\n"
        "printed one on a line; the last line is the summary.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
