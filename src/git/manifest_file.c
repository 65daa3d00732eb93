/* See manifest.h: which files count, and the manifests of one. */
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "git/front_matter.h"
#include "git/manifest.h"
#include "git/manifest_internal.h"

/* --- which files count --- */

static bool has_extension(struct vd_slice path, const char *extension)
{
    size_t n = strlen(extension);
    return path.n > n && path.p[path.n - n - 1] != '/' &&
           strncasecmp(path.p + path.n - n, extension, n) == 0;
}

enum vd_git_file_type vd_git_file_type(struct vd_slice path)
{
    if (has_extension(path, ".md") || has_extension(path, ".markdown"))
        return VD_GIT_FILE_MARKDOWN;
    if (has_extension(path, ".yaml") || has_extension(path, ".yml"))
        return VD_GIT_FILE_YAML;
    return has_extension(path, ".json") ? VD_GIT_FILE_JSON : VD_GIT_FILE_OTHER;
}

bool vd_git_path_counts(const struct vd_repository_config *config, struct vd_slice path)
{
    return vd_git_file_type(path) != VD_GIT_FILE_OTHER &&
           !vd_slice_is(path, VD_REPOSITORY_CONFIG_PATH) &&
           vd_repository_config_takes(config, path);
}

/* Adds a finding about the whole file. */
static void tell(struct vd_git_report *report, enum vd_git_severity severity, struct vd_slice path,
                 const char *reason)
{
    vd_git_report_add(report, severity, path, (struct vd_yaml_position){0}, VD_SLICE(""), "%s",
                      reason);
}

bool vd_git_entry_check(struct vd_slice path, uint32_t mode, uint64_t len, uint64_t len_max,
                        struct vd_git_report *report)
{
    uint64_t max = len_max ? len_max : VD_GIT_FILE_LEN_DEFAULT;
    if ((mode & VD_GIT_MODE_TYPE) == VD_GIT_MODE_SYMLINK) {
        tell(report, VD_GIT_WARNING, path, "ignored: symbolic links are not followed");
        return false;
    }
    if ((mode & VD_GIT_MODE_TYPE) == VD_GIT_MODE_SUBMODULE) {
        tell(report, VD_GIT_WARNING, path, "ignored: submodules are not read");
        return false;
    }
    if (len <= max)
        return true;
    vd_git_report_add(report, VD_GIT_ERROR, path, (struct vd_yaml_position){0}, VD_SLICE(""),
                      "the file has %llu bytes; manifests have at most %llu. Split it, or exclude "
                      "it in .vedette.yaml",
                      (unsigned long long)len, (unsigned long long)max);
    return false;
}

/* --- bytes that are no text --- */

/* Where the first byte stands that is not UTF-8. */
static struct vd_yaml_position bad_byte(struct vd_slice text)
{
    struct vd_yaml_position at = {1, 1};
    for (size_t i = 0; i < text.n;) {
        size_t n = vd_utf8_len(text.p + i, text.p + text.n);
        if (!n)
            break;
        if (text.p[i] == '\n')
            at = (struct vd_yaml_position){at.line + 1, 1};
        else
            at.column++;
        i += n;
    }
    return at;
}

/* Whether the bytes are text. If not, that is an error. */
static bool check_text(const struct vd_git_file *file, struct vd_git_report *report)
{
    struct vd_slice text = file->text;
    if (vd_slice_starts_with(text, VD_SLICE("\xFF\xFE")) ||
        vd_slice_starts_with(text, VD_SLICE("\xFE\xFF"))) {
        tell(report, VD_GIT_ERROR, file->path, "the file is UTF-16; save it as UTF-8");
        return false;
    }
    if (text.n && memchr(text.p, 0, text.n)) {
        tell(report, VD_GIT_ERROR, file->path,
             "the file is binary; exclude it in .vedette.yaml if it is no manifest");
        return false;
    }
    if (vd_utf8_is_valid(text))
        return true;
    vd_git_report_add(report, VD_GIT_ERROR, file->path, bad_byte(text), VD_SLICE(""),
                      "the file is not UTF-8; save it as UTF-8");
    return false;
}

/* Git LFS leaves a small text in place of the content. */
static bool is_lfs_pointer(struct vd_slice text)
{
    return vd_slice_starts_with(text, VD_SLICE("version https://git-lfs.github.com/spec/v"));
}

/* --- reading --- */

struct reading {
    const struct vd_git_file *file;
    const struct vd_repository_config *config;
    struct vd_arena *arena;
    struct vd_git_manifests *out;
    struct vd_git_report *report;
};

static void read_documents(const struct reading *r, enum vd_git_syntax syntax)
{
    struct vd_git_documents documents;
    struct vd_git_document document;
    struct vd_git_manifest m;
    vd_git_documents_open(&documents, r->file->path, r->file->text, syntax,
                          (struct vd_yaml_position){1, 1});
    while (vd_git_documents_next(&documents, r->arena, &document, r->report))
        if (vd_git_manifest_read(&m, &document, r->config, r->arena, r->report))
            *VD_VEC_PUSH(&r->out->list) = m;
}

/* The one object that the front matter describes. */
static void read_front_matter(const struct reading *r, const struct vd_front_matter *front)
{
    struct vd_git_documents documents;
    struct vd_git_document document;
    struct vd_git_manifest m;
    size_t before = r->out->list.n;
    vd_git_documents_open(&documents, r->file->path, front->yaml, VD_GIT_YAML,
                          (struct vd_yaml_position){1, 1});
    while (vd_git_documents_next(&documents, r->arena, &document, r->report)) {
        if (document.source.item) {
            vd_git_report_add(r->report, VD_GIT_ERROR, r->file->path, document.source.from,
                              VD_SLICE("items"), "front matter describes one object, not a list");
            r->out->list.n = before;
            return;
        }
        if (!vd_git_manifest_read(&m, &document, r->config, r->arena, r->report))
            continue;
        m.body = front->body;
        m.body_at = front->at;
        m.has_body = front->body.n > 0;
        *VD_VEC_PUSH(&r->out->list) = m;
    }
}

static void read_markdown(const struct reading *r)
{
    struct vd_front_matter front = {0};
    const char *wrong = NULL;
    switch (vd_front_matter_split(r->file->text, &front)) {
    case VD_FRONT_MATTER_NONE: /* a page like any other */
        return;
    case VD_FRONT_MATTER_UNCLOSED:
        front.at = (struct vd_yaml_position){1, 1};
        wrong = "the front matter has no end; end it with a line that is exactly ---";
        break;
    case VD_FRONT_MATTER_UNCLEAR:
        wrong = "the front matter ends here, but the line is not exactly --- ; remove what else is "
                "in it, or indent it if it belongs to a value";
        break;
    case VD_FRONT_MATTER_FOUND:
        break;
    }
    if (wrong)
        vd_git_report_add(r->report, VD_GIT_ERROR, r->file->path, front.at, VD_SLICE(""), "%s",
                          wrong);
    else if (check_text(r->file, r->report))
        read_front_matter(r, &front);
}

bool vd_git_file_read(const struct vd_git_file *file, const struct vd_repository_config *config,
                      struct vd_arena *arena, struct vd_git_manifests *out,
                      struct vd_git_report *report)
{
    struct reading r = {file, config, arena, out, report};
    enum vd_git_file_type type = vd_git_file_type(file->path);
    size_t errors = report->found[VD_GIT_ERROR];
    if (is_lfs_pointer(file->text))
        tell(report, VD_GIT_ERROR, file->path,
             "the file is a pointer of Git LFS, without its content; take it out of LFS, or "
             "exclude it in .vedette.yaml");
    else if (type == VD_GIT_FILE_MARKDOWN)
        read_markdown(&r);
    else if (type != VD_GIT_FILE_OTHER && check_text(file, report))
        read_documents(&r, type == VD_GIT_FILE_JSON ? VD_GIT_JSON : VD_GIT_YAML);
    return report->found[VD_GIT_ERROR] == errors;
}
