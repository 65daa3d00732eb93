/* See list_options.h. The sentences are those of Kubernetes 1.32 and later. */
#include "kube/list_options.h"

#include "kube/query_option.h"

/* ---- single values ---- */

/* A number; a negative one counts as not given. */
static int parse_count(const struct vd_url_query *query, struct vd_slice key, uint64_t *out,
                       struct vd_error *error)
{
    bool given;
    int64_t number;
    int code = vd_query_number(query, key, &given, &number, error);
    *out = number > 0 ? (uint64_t)number : 0;
    return code;
}

/* Digits alone, the first no zero: a number, which is then too large. */
static bool is_whole_number(struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
    return text.n && text.p[0] != '0';
}

int vd_version_parse(const struct vd_url_query *query, bool *given, uint64_t *out,
                     struct vd_error *error)
{
    struct vd_slice value;
    *given = false;
    *out = 0;
    if (!vd_url_query_find(query, VD_SLICE("resourceVersion"), &value) || value.n == 0)
        return VD_OK;
    *given = true;
    if (vd_slice_to_u64(value, out) != 0)
        return vd_error_set(error, VD_ERR_INVALID,
                            "invalid resource version: resourceVersion: Invalid value: \"%.*s\": "
                            "strconv.ParseUint: parsing \"%.*s\": %s",
                            VD_FMT(value), VD_FMT(value),
                            is_whole_number(value) ? "value out of range" : "invalid syntax");
    return VD_OK;
}

bool vd_query_is_watch_list(const struct vd_url_query *query)
{
    struct vd_slice match = VD_SLICE(""), version = VD_SLICE("");
    bool bookmarks, initial;
    vd_query_flag(query, VD_SLICE("allowWatchBookmarks"), &bookmarks);
    if (!bookmarks || vd_query_flag(query, VD_SLICE("sendInitialEvents"), &initial))
        return bookmarks && initial;
    if (!vd_url_query_find(query, VD_SLICE("resourceVersionMatch"), &match))
        match = VD_SLICE("");
    if (!vd_url_query_find(query, VD_SLICE("resourceVersion"), &version))
        version = VD_SLICE("");
    return !match.n && (!version.n || vd_slice_is(version, "0"));
}

static int parse_selectors(const struct vd_url_query *query, struct vd_list_options *o,
                           struct vd_error *error)
{
    struct vd_slice value;
    int code = VD_OK;
    if (vd_url_query_find(query, VD_SLICE("labelSelector"), &value))
        code = vd_selector_parse(&o->labels, value, error);
    if (!code && vd_url_query_find(query, VD_SLICE("fieldSelector"), &value))
        code = vd_field_selector_parse(&o->fields, value, error);
    return code ? VD_ERR_INVALID : VD_OK;
}

/* ---- what goes together ---- */

static int forbid(struct vd_error *error, const char *field, const char *why)
{
    return vd_error_set(error, VD_ERR_CONFLICT, "%s: Forbidden: %s", field, why);
}

static int check_list(const struct vd_list_options *o, struct vd_error *error)
{
    static const char field[] = "resourceVersionMatch";
    if (o->has_initial)
        return forbid(error, "sendInitialEvents", "sendInitialEvents is forbidden for list");
    if (!o->match_text.n)
        return VD_OK;
    if (!o->has_version)
        return forbid(error, field,
                      "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (o->continue_token.n)
        return forbid(error, field, "resourceVersionMatch is forbidden when continue is provided");
    if (o->match == VD_MATCH_UNSET)
        return vd_error_set(error, VD_ERR_CONFLICT,
                            "%s: Unsupported value: \"%.*s\": supported values: \"Exact\", "
                            "\"NotOlderThan\", \"\"",
                            field, VD_FMT(o->match_text));
    if (o->match == VD_MATCH_EXACT && o->version == 0)
        return forbid(error, field,
                      "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    return VD_OK;
}

static int check_watch(const struct vd_list_options *o, struct vd_error *error)
{
    static const char field[] = "resourceVersionMatch";
    if (o->has_initial && !o->match_text.n)
        return forbid(error, field,
                      "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (o->match_text.n && !o->has_initial)
        return forbid(error, field,
                      "resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
                      "provided");
    if (o->match_text.n && o->match != VD_MATCH_NOT_OLDER)
        return vd_error_set(error, VD_ERR_CONFLICT,
                            "%s: Unsupported value: \"%.*s\": supported values: \"NotOlderThan\"",
                            field, VD_FMT(o->match_text));
    return VD_OK;
}

int vd_list_options_parse(struct vd_list_options *o, const struct vd_url_query *query, bool watch,
                          struct vd_error *error)
{
    *o = (struct vd_list_options){0};
    if (!vd_url_query_find(query, VD_SLICE("resourceVersionMatch"), &o->match_text))
        o->match_text = VD_SLICE("");
    if (!vd_url_query_find(query, VD_SLICE("continue"), &o->continue_token))
        o->continue_token = VD_SLICE("");
    o->match = vd_slice_is(o->match_text, "Exact")          ? VD_MATCH_EXACT
               : vd_slice_is(o->match_text, "NotOlderThan") ? VD_MATCH_NOT_OLDER
                                                            : VD_MATCH_UNSET;
    vd_query_flag(query, VD_SLICE("allowWatchBookmarks"), &o->bookmarks);
    o->has_initial = vd_query_flag(query, VD_SLICE("sendInitialEvents"), &o->initial);
    int code = parse_count(query, VD_SLICE("limit"), &o->limit, error);
    if (!code)
        code = parse_count(query, VD_SLICE("timeoutSeconds"), &o->timeout_s, error);
    if (!code)
        code = vd_version_parse(query, &o->has_version, &o->version, error);
    if (!code)
        code = parse_selectors(query, o, error);
    if (!code)
        code = watch ? check_watch(o, error) : check_list(o, error);
    if (code)
        vd_list_options_release(o);
    return code;
}

void vd_list_options_release(struct vd_list_options *o)
{
    vd_selector_unref(o->labels);
    vd_field_selector_unref(o->fields);
    o->labels = NULL;
    o->fields = NULL;
}
