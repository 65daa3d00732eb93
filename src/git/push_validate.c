/* pre-receive: the push is read, planned and tried out, and all that is wrong with it is told. */
#include "base/container_of.h"
#include "base/failpoint.h"
#include "base/limits.h"
#include "git/lost_contents.h"
#include "git/path_pattern.h"
#include "git/push_internal.h"

static void refuse(struct vd_push *p, const char *result, const char *format, ...) VD_PRINTF(3, 4);

static void refuse(struct vd_push *p, const char *result, const char *format, ...)
{
    struct vd_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    vd_buf_vaddf(&text, format, arguments);
    va_end(arguments);
    vd_buf_add_char(&text, '\n');
    vd_push_count(result);
    vd_push_answer(p, vd_buf_slice(&text), false);
    vd_buf_release(&text);
    vd_push_rest(p);
}

/* ---- the outcome ---- */

static void tell_refusal(struct vd_push *p, struct vd_git_report *report)
{
    struct vd_buf text = {0};
    size_t n = report->found[VD_GIT_ERROR];
    vd_git_report_sort(report);
    vd_git_report_write_text(&text, report);
    vd_buf_addf(&text, "the push is refused for %zu error%s; nothing has changed\n", n,
                n == 1 ? "" : "s");
    vd_push_count("refused");
    vd_push_answer(p, vd_buf_slice(&text), false);
    vd_buf_release(&text);
}

/* Says why no object changes, to somebody who pushes branches of which none is admitted. */
static void add_hint(struct vd_buf *out, const struct vd_push *p)
{
    struct vd_slice branch;
    for (size_t i = 0; !p->branches.branches_n && i < p->commands.n; i++) {
        const struct vd_ref_command *c = &p->commands.p[i];
        if (vd_object_id_is_none(c->after) || !vd_ref_branch(c->ref, &branch))
            continue;
        vd_buf_addf(out,
                    "branch %.*s is not admitted, so no objects change: spec.branches of "
                    "Repository %.*s/%.*s says which branches are\n",
                    VD_FMT(branch), VD_FMT(p->namespace), VD_FMT(p->name));
        return;
    }
}

static void tell_success(struct vd_push *p, struct vd_git_report *report)
{
    struct vd_buf text = {0};
    vd_git_report_sort(report);
    vd_git_report_write_text(&text, report);
    add_hint(&text, p);
    vd_push_answer(p, vd_buf_slice(&text), true);
    vd_buf_release(&text);
}

static void on_validated(struct vd_branch_admission *b)
{
    struct vd_push *p = VD_CONTAINER_OF(b, struct vd_push, branches);
    if (b->result == VD_BRANCH_STALE) {
        refuse(p, "stale", "somebody else has pushed to the branch meanwhile; fetch first");
        return;
    }
    if (b->result == VD_BRANCH_FAILED) {
        refuse(p, "failed", "%s", b->error.text);
        return;
    }
    if (b->result == VD_BRANCH_REFUSED)
        tell_refusal(p, &b->changes.report);
    else
        tell_success(p, &b->changes.report);
    vd_push_rest(p);
}

/* ---- which branches ---- */

/* Whether spec.branches admits the branch. A pattern that cannot be read admits nothing. */
static bool is_admitted(const struct vd_repository *repository, struct vd_slice branch)
{
    bool matches = false;
    if (!repository->branches)
        return vd_slice_eq(branch, repository->default_branch);
    VD_JSON_EACH (item, repository->branches) {
        struct vd_path_pattern *pattern = NULL;
        if (vd_path_pattern_new(&pattern, vd_json_text(item), NULL))
            continue;
        matches = matches || vd_path_pattern_matches(pattern, branch);
        vd_path_pattern_free(pattern);
    }
    return matches;
}

static void add_branch(struct vd_push *p, struct vd_slice name, struct vd_slice before,
                       struct vd_slice after)
{
    struct vd_branch_admission *b = &p->branches;
    size_t i = b->branches_n++;
    before = vd_arena_copy(&p->arena, before);
    b->changed[i] = (struct vd_branch_change){
        .name = name,
        .before = {.commit = before},
        .after = {.commit = after},
    };
    b->branches[i] = (struct vd_admitted_branch){name, before, after};
}

/* False: the push was refused. */
static bool look_at_command(struct vd_push *p, const struct vd_repository *repository,
                            const struct vd_ref_command *c)
{
    struct vd_slice branch, recorded = VD_SLICE("");
    struct vd_slice after = vd_object_id_is_none(c->after) ? VD_SLICE("") : c->after;
    if (vd_ref_is_tag(c->ref))
        return true;
    if (!vd_ref_branch(c->ref, &branch)) {
        refuse(p, "refused",
               "%.*s: only branches (refs/heads/) and tags (refs/tags/) can be pushed",
               VD_FMT(c->ref));
        return false;
    }
    (void)vd_repository_commit(repository, branch, &recorded);
    bool admitted = is_admitted(repository, branch);
    if (!admitted && recorded.n && after.n) {
        refuse(p, "refused",
               "branch %.*s is not admitted any more (spec.branches of Repository %.*s), but "
               "it has objects; admit it again, or delete the branch",
               VD_FMT(branch), VD_FMT(p->name));
        return false;
    }
    if (!admitted && !recorded.n)
        return true;
    if (recorded.n && vd_contents_are_mended(c, recorded)) {
        p->mends = true;
    } else if (recorded.n && vd_object_id_is_none(c->before)) {
        refuse(p, "stale",
               "branch %.*s is recorded at commit %.*s, which the repository does not have at this "
               "branch; if its contents were lost, bring them back first: git push origin "
               "%.*s:refs/heads/%.*s",
               VD_FMT(branch), VD_FMT(recorded), VD_FMT(recorded), VD_FMT(branch));
        return false;
    } else if (recorded.n && !vd_slice_eq(recorded, c->before)) {
        refuse(p, "stale", "somebody else has pushed to branch %.*s meanwhile; fetch first",
               VD_FMT(branch));
        return false;
    }
    add_branch(p, branch, recorded, after);
    return true;
}

static bool read_repository(struct vd_push *p, struct vd_repository *repository)
{
    struct vd_error error;
    if (vd_stored_repository(p->pushes->all->l->env, p->namespace, p->name, p->uid, &p->arena,
                             repository, &error)) {
        refuse(p, "failed", "%s", error.text);
        return false;
    }
    if (repository->is_deleting) {
        refuse(p, "refused", "Repository %.*s is being deleted", VD_FMT(p->name));
        return false;
    }
    if (repository->remote) {
        struct vd_slice url = vd_json_text(vd_json_get(repository->remote, VD_SLICE("url")));
        refuse(p, "refused", "Repository %.*s follows %.*s: push there", VD_FMT(p->name),
               VD_FMT(url));
        return false;
    }
    return true;
}

static void begin(struct vd_push *p, const struct vd_repository *repository)
{
    size_t n = p->commands.n;
    p->branches = (struct vd_branch_admission){
        .all = p->pushes->all,
        .namespace = p->namespace,
        .name = p->name,
        .uid = p->uid,
        .folder = p->folder,
        .user = p->user,
        .changed = vd_arena_alloc(&p->arena, (n + 1) * sizeof(struct vd_branch_change)),
        .branches = vd_arena_alloc(&p->arena, (n + 1) * sizeof(struct vd_admitted_branch)),
        .file_len_max = repository->file_len_max,
        .files_max = repository->files_max,
        .adopts = p->adopts,
        .is_cancelled = p->is_gone,
    };
}

void vd_push_validate(struct vd_push *p)
{
    struct vd_repository repository;
    struct vd_pushes *pushes = p->pushes;
    VD_FAILPOINT("git.before_validation");
    p->is_busy = true;
    p->phase = VD_PUSH_VALIDATING;
    if (pushes->counted >= VD_PUSHES_MAX) {
        refuse(p, "failed", "the server has too many pushes at once; push again in a moment");
        return;
    }
    pushes->counted++;
    p->is_counted = true;
    if (!read_repository(p, &repository))
        return;
    begin(p, &repository);
    for (size_t i = 0; i < p->commands.n; i++) {
        *VD_VEC_PUSH(&p->validated) = p->commands.p[i];
        if (!look_at_command(p, &repository, &p->commands.p[i]))
            return;
    }
    struct vd_git_place place = {pushes->all->program, p->folder, p->begin.objects,
                                 p->begin.alternates};
    vd_branch_admission_validate(&p->branches, &place, on_validated);
}
