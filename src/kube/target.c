/* See target.h. */
#include "kube/target.h"

static struct vd_slice segment(const struct vd_target *t, size_t i)
{
    return i < t->segments.n ? t->segments.segments[i] : VD_SLICE("");
}

/* Subresources of a namespace itself; anything else below one is a resource. */
static bool is_namespace_subresource(struct vd_slice word)
{
    return vd_slice_is(word, "status") || vd_slice_is(word, "finalize");
}

/* What follows the version: [namespaces/NS/]RESOURCE[/NAME[/SUBRESOURCE...]]. */
static bool parse_resource(struct vd_target *t, size_t at)
{
    if (vd_slice_is(segment(t, at), "watch") && t->segments.n > at + 1) {
        t->old_watch = true;
        at++;
    }
    t->in_namespace = vd_slice_is(segment(t, at), "namespaces") && t->segments.n > at + 2 &&
                      !is_namespace_subresource(segment(t, at + 2));
    if (t->in_namespace) {
        t->namespace = segment(t, at + 1);
        at += 2;
    }
    if (at >= t->segments.n)
        return false;
    t->resource = segment(t, at);
    t->name = segment(t, at + 1);
    t->subresource = segment(t, at + 2);
    if (vd_slice_is(t->resource, "namespaces") && t->name.n) /* rules see it in itself */
        t->namespace = t->name;
    return t->segments.n <= at + 3;
}

static enum vd_verb verb_of(const struct vd_target *t, enum vd_http_method method, bool watch)
{
    bool named = t->name.n > 0;
    switch (method) {
    case VD_HTTP_GET:
    case VD_HTTP_HEAD:
        if (t->old_watch || (watch && !named))
            return VD_VERB_WATCH;
        return named ? VD_VERB_GET : VD_VERB_LIST;
    case VD_HTTP_POST:
        return VD_VERB_CREATE;
    case VD_HTTP_PUT:
        return VD_VERB_UPDATE;
    case VD_HTTP_PATCH:
        return VD_VERB_PATCH;
    case VD_HTTP_DELETE:
        return named ? VD_VERB_DELETE : VD_VERB_DELETECOLLECTION;
    default:
        return 0;
    }
}

int vd_target_parse(struct vd_target *out, struct vd_arena *arena, enum vd_http_method method,
                    struct vd_slice path, bool watch, struct vd_error *error)
{
    *out = (struct vd_target){.path = path};
    int code = vd_url_path_parse(&out->segments, arena, path, error);
    if (code)
        return code;
    bool core = vd_slice_is(segment(out, 0), "api");
    size_t at = core ? 2 : 3; /* behind the version */
    if ((!core && !vd_slice_is(segment(out, 0), "apis")) || out->segments.n <= at)
        return VD_OK;
    out->group = core ? VD_SLICE("") : segment(out, 1);
    out->version = segment(out, at - 1);
    out->is_resource = parse_resource(out, at);
    out->verb = verb_of(out, method, watch);
    return VD_OK;
}
