/* See partial.h. */
#include "kube/partial.h"

#include "json/span.h"

const char *vd_meta_version_name(enum vd_meta_version version)
{
    return version == VD_META_V1BETA1 ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1";
}

struct vd_slice vd_partial_metadata(struct vd_slice body)
{
    struct vd_slice metadata;
    if (!vd_span_get(body, VD_SLICE("metadata"), &metadata) || !metadata.n || metadata.p[0] != '{')
        return VD_SLICE("{}");
    return metadata;
}

static void write_head(struct vd_buf *out, const char *kind, enum vd_meta_version version)
{
    vd_buf_addf(out, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":", kind,
                vd_meta_version_name(version));
}

void vd_partial_write(struct vd_buf *out, enum vd_meta_version version, struct vd_slice body)
{
    write_head(out, "PartialObjectMetadata", version);
    vd_buf_add_slice(out, vd_partial_metadata(body));
    vd_buf_add_char(out, '}');
}

void vd_partial_list_begin(struct vd_partial_list *list, struct vd_buf *out,
                           enum vd_meta_version version, const struct vd_list_meta *meta)
{
    *list = (struct vd_partial_list){.version = version};
    write_head(out, "PartialObjectMetadataList", version);
    vd_list_meta_write(out, meta);
    vd_buf_add_text(out, ",\"items\":[");
}

void vd_partial_list_add(struct vd_partial_list *list, struct vd_buf *out, struct vd_slice body)
{
    if (list->started)
        vd_buf_add_char(out, ',');
    list->started = true;
    vd_partial_write(out, list->version, body);
}

void vd_partial_list_end(struct vd_partial_list *list, struct vd_buf *out)
{
    (void)list;
    vd_buf_add_text(out, "]}");
}
