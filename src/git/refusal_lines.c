/* See refusal_lines.h. */
#include "git/refusal_lines.h"

#include "base/buf.h"
#include "git/positions.h"

/* The places of an operation's fields; NULL if nobody sees them: a deletion has no place in a file
 * of the new commit, and a report that is full only counts. The document is read once, since a
 * refusal may have thousands of violations. */
static struct vd_git_positions *positions_of(const struct vd_git_report *report,
                                             const struct vd_plan_operation *o)
{
    if (o->action == VD_PLAN_DELETE || vd_git_report_is_full(report))
        return NULL;
    return vd_git_positions_new(&o->source->manifest->source);
}

static void add(struct vd_git_report *report, const struct vd_plan_operation *o,
                struct vd_git_positions *positions, enum vd_git_severity severity,
                struct vd_slice field, struct vd_slice reason)
{
    const struct vd_git_manifest *m = o->source->manifest;
    if (vd_slice_is(field, "<nil>"))
        field = VD_SLICE("");
    if (o->action != VD_PLAN_DELETE) {
        struct vd_yaml_position at = vd_git_manifest_position_in(m, positions, field);
        vd_git_report_add_text(report, severity, m->source.path, at, field, reason);
        return;
    }
    vd_git_report_add(report, severity, m->source.path, (struct vd_yaml_position){0}, VD_SLICE(""),
                      "%.*s %.*s cannot be deleted: %.*s", VD_FMT(m->kind), VD_FMT(m->name),
                      VD_FMT(reason));
}

static void write_text(struct vd_buf *out, const struct vd_refusal *r)
{
    switch (r->reason) {
    case VD_REFUSED_NOT_ALLOWED:
        vd_access_add_refusal(out, &r->access, r->text);
        break;
    case VD_REFUSED_NAMESPACE_NOT_FOUND:
        vd_buf_addf(out, "there is no namespace %.*s", VD_FMT(r->name));
        break;
    case VD_REFUSED_NAMESPACE_TERMINATING:
        vd_buf_addf(out, "namespace %.*s is being deleted", VD_FMT(r->name));
        break;
    case VD_REFUSED_KIND_NOT_FOUND:
        vd_buf_add_text(out, "the definition of its kind is gone");
        break;
    case VD_REFUSED_KIND_TERMINATING:
        vd_buf_add_text(out, "the definition of its kind is being deleted");
        break;
    case VD_REFUSED_EXISTS:
        vd_buf_addf(out, "%s%s%.*s",
                    r->deleting ? "the object that has this name is being deleted"
                                : "there is such an object already",
                    r->text.n ? ": " : "", VD_FMT(r->text));
        break;
    case VD_REFUSED_UID_PRECONDITION:
    case VD_REFUSED_UID_DIFFERS:
    case VD_REFUSED_CONFLICT:
        vd_buf_add_text(out, "somebody else has changed the object meanwhile; push again");
        break;
    case VD_REFUSED_NOT_FOUND:
        vd_buf_add_text(out, "the object is not there any more");
        break;
    case VD_REFUSED_NAME_DIFFERS:
        vd_buf_addf(out, "the object has the name %.*s, and %.*s was meant", VD_FMT(r->is),
                    VD_FMT(r->wanted));
        break;
    case VD_REFUSED_API_VERSION_DIFFERS:
        vd_buf_addf(out, "the object has the version %.*s, and %.*s was meant", VD_FMT(r->is),
                    VD_FMT(r->wanted));
        break;
    default:
        if (r->text.n)
            vd_buf_add_slice(out, r->text);
        else
            vd_buf_add_text(out, "the object was refused");
    }
}

static struct vd_slice field_of(enum vd_refusal_reason reason)
{
    switch (reason) {
    case VD_REFUSED_NAMESPACE_NOT_FOUND:
    case VD_REFUSED_NAMESPACE_TERMINATING:
    case VD_REFUSED_NAMESPACE_DIFFERS:
        return VD_SLICE("metadata.namespace");
    case VD_REFUSED_EXISTS:
    case VD_REFUSED_NAME_DIFFERS:
        return VD_SLICE("metadata.name");
    case VD_REFUSED_KIND_NOT_FOUND:
    case VD_REFUSED_KIND_TERMINATING:
        return VD_SLICE("kind");
    default:
        return VD_SLICE("");
    }
}

void vd_refusal_lines_add(struct vd_git_report *report, const struct vd_plan_operation *operation,
                          const struct vd_refusal *refusal)
{
    struct vd_git_positions *positions = positions_of(report, operation);
    struct vd_buf text = {0};
    bool is_invalid = refusal->reason == VD_REFUSED_INVALID && refusal->violations_n;
    for (size_t i = 0; is_invalid && i < refusal->violations_n; i++)
        add(report, operation, positions, VD_GIT_ERROR, refusal->violations[i].field,
            refusal->violations[i].message);
    if (!is_invalid) {
        write_text(&text, refusal);
        add(report, operation, positions, VD_GIT_ERROR, field_of(refusal->reason),
            vd_buf_slice(&text));
    }
    report->forbidden += refusal->reason == VD_REFUSED_NOT_ALLOWED ||
                         refusal->reason == VD_REFUSED_FORBIDDEN;
    vd_buf_release(&text);
    vd_git_positions_free(positions);
}

void vd_refusal_lines_add_warnings(struct vd_git_report *report,
                                   const struct vd_plan_operation *operation,
                                   const struct vd_write *write)
{
    static const struct vd_slice unknown = {"unknown field \"", 15};
    struct vd_git_positions *positions = write->warnings.n ? positions_of(report, operation) : NULL;
    for (size_t i = 0; i < write->warnings.n; i++) {
        struct vd_slice text = write->warnings.p[i];
        bool is_unknown = vd_slice_starts_with(text, unknown) && text.n > unknown.n;
        if (is_unknown)
            add(report, operation, positions, VD_GIT_ERROR,
                vd_slice(text.p + unknown.n, text.n - unknown.n - 1),
                VD_SLICE(VD_GIT_UNKNOWN_FIELD));
        else
            add(report, operation, positions, VD_GIT_WARNING, VD_SLICE(""), text);
    }
    vd_git_positions_free(positions);
}
