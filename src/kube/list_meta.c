/* See list_meta.h. The order of the fields is Kubernetes'. */
#include "kube/list_meta.h"

#include "json/escape.h"

void vd_list_meta_write(struct vd_buf *out, const struct vd_list_meta *meta)
{
    const char *separator = "";
    vd_buf_add_char(out, '{');
    if (meta->resource_version.n) {
        vd_buf_add_text(out, "\"resourceVersion\":");
        vd_escape_write(out, meta->resource_version);
        separator = ",";
    }
    if (meta->continue_token.n) {
        vd_buf_add_text(out, separator);
        vd_buf_add_text(out, "\"continue\":");
        vd_escape_write(out, meta->continue_token);
        separator = ",";
    }
    if (meta->has_remaining) {
        vd_buf_add_text(out, separator);
        vd_buf_add_text(out, "\"remainingItemCount\":");
        vd_buf_add_u64(out, meta->remaining);
    }
    vd_buf_add_char(out, '}');
}
