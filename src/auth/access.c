/* See access.h. Clients show these sentences as they are, and tools match
 * them, so they are Kubernetes' own. */
#include "auth/access.h"

#include "watch/excerpt.h"

void vd_quote_add(struct vd_buf *out, struct vd_slice text)
{
    vd_excerpt_add_quoted(out, text, SIZE_MAX);
}

void vd_quote_add_list(struct vd_buf *out, const struct vd_slice *list, size_t n)
{
    vd_buf_add_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            vd_buf_add_char(out, ' ');
        vd_quote_add(out, list[i]);
    }
    vd_buf_add_char(out, ']');
}

static void add_resource_refusal(struct vd_buf *out, const struct vd_access *access)
{
    struct vd_buf resource = {0};
    vd_buf_add_slice(&resource, access->resource);
    if (access->subresource.n) {
        vd_buf_add_char(&resource, '/');
        vd_buf_add_slice(&resource, access->subresource);
    }
    vd_buf_add_text(out, " resource ");
    vd_quote_add(out, vd_buf_slice(&resource));
    vd_buf_add_text(out, " in API group ");
    vd_quote_add(out, access->group);
    if (access->namespace.n) {
        vd_buf_add_text(out, " in the namespace ");
        vd_quote_add(out, access->namespace);
    } else {
        vd_buf_add_text(out, " at the cluster scope");
    }
    vd_buf_release(&resource);
}

void vd_access_add_refusal(struct vd_buf *out, const struct vd_access *access,
                           struct vd_slice reason)
{
    vd_buf_add_text(out, "User ");
    vd_quote_add(out, access->user->is.name);
    vd_buf_add_text(out, " cannot ");
    vd_buf_add_slice(out, access->verb);
    if (access->resource.n) {
        add_resource_refusal(out, access);
    } else {
        vd_buf_add_text(out, " path ");
        vd_quote_add(out, access->path);
    }
    if (reason.n) {
        vd_buf_add_text(out, ": ");
        vd_buf_add_slice(out, reason);
    }
}

void vd_access_add_forbidden(struct vd_buf *out, const struct vd_access *access,
                             struct vd_slice reason)
{
    if (access->resource.n) {
        vd_buf_add_slice(out, access->resource);
        if (access->group.n) {
            vd_buf_add_char(out, '.');
            vd_buf_add_slice(out, access->group);
        }
        vd_buf_add_char(out, ' ');
        if (access->name.n) {
            vd_quote_add(out, access->name);
            vd_buf_add_char(out, ' ');
        }
        vd_buf_add_text(out, "is forbidden: ");
    } else {
        vd_buf_add_text(out, "forbidden: ");
    }
    vd_access_add_refusal(out, access, reason);
}
