/* See initial_events.h. */
#include "kube/initial_events.h"

#include "base/base64.h"

static void list_write(struct vd_buf *out, const struct vd_kind *kind,
                       const struct vd_kube_output *output)
{
    bool partial = output->form == VD_OUTPUT_PARTIAL;
    struct vd_slice list_kind = partial ? VD_SLICE("PartialObjectMetadataList") : kind->list_kind;
    struct vd_slice api_version = partial ? vd_slice_of(vd_meta_version_name(output->version))
                                          : kind->api_version;
    vd_buf_addf(out, "{\"kind\":\"%.*s\",\"apiVersion\":\"%.*s\",\"metadata\":{},\"items\":[]}\n",
                VD_FMT(list_kind), VD_FMT(api_version));
}

void vd_initial_events_end_write(struct vd_buf *out, const struct vd_kind *kind,
                                 const struct vd_kube_output *output)
{
    struct vd_buf list = {0};
    vd_buf_add_text(out, "{\"k8s.io/initial-events-end\":\"true\"");
    list_write(&list, kind, output);
    vd_buf_add_text(out, ",\"kubernetes.io/initial-events-list-blueprint\":\"");
    vd_base64_encode(out, vd_buf_slice(&list), VD_BASE64_STANDARD);
    vd_buf_add_text(out, "\"}");
    vd_buf_release(&list);
}
