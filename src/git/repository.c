/* See repository.h. */
#include "git/repository.h"

#include "base/limits.h"
#include "kinds/deletion.h"
#include "kinds/object_meta.h"

static uint64_t limit_of(const struct vd_json *limits, const char *key, uint64_t by_default)
{
    uint64_t value;
    bool given = vd_json_to_u64(vd_json_get(limits, vd_slice_of(key)), &value) && value > 0;
    return given ? value : by_default;
}

static enum vd_visibility visibility_of(struct vd_slice text)
{
    return vd_slice_is(text, "public")     ? VD_VISIBILITY_PUBLIC
           : vd_slice_is(text, "internal") ? VD_VISIBILITY_INTERNAL
                                           : VD_VISIBILITY_PRIVATE;
}

static void read_spec(struct vd_repository *out, const struct vd_json *spec)
{
    const struct vd_json *limits = vd_json_get(spec, VD_SLICE("limits"));
    const struct vd_json *scope = vd_json_get(spec, VD_SLICE("scope"));
    const struct vd_json *remote = vd_json_get(spec, VD_SLICE("remote"));
    out->default_branch = vd_json_text(vd_json_get(spec, VD_SLICE("defaultBranch")));
    if (!out->default_branch.n)
        out->default_branch = VD_SLICE("main");
    out->branches = vd_json_get(spec, VD_SLICE("branches"));
    if (!vd_json_count(out->branches))
        out->branches = NULL;
    out->visibility = visibility_of(vd_json_text(vd_json_get(spec, VD_SLICE("visibility"))));
    out->pack_len_max = limit_of(limits, "packBytes", VD_GIT_PACK_LEN_DEFAULT);
    out->file_len_max = limit_of(limits, "fileBytes", VD_GIT_FILE_LEN_DEFAULT);
    out->files_max = limit_of(limits, "files", VD_GIT_FILES_DEFAULT);
    out->namespaces = vd_json_get(scope, VD_SLICE("namespaces"));
    out->cluster_scoped = vd_json_get(scope, VD_SLICE("clusterScoped"));
    out->cascades = vd_slice_is(vd_json_text(vd_json_get(spec, VD_SLICE("deletionPolicy"))),
                                "Cascade");
    out->remote = vd_json_is(remote, VD_JSON_OBJECT) ? remote : NULL;
}

static void read_status(struct vd_repository *out, const struct vd_json *status)
{
    out->recorded = vd_json_get(status, VD_SLICE("branches"));
    if (!vd_json_to_u64(vd_json_get(status, VD_SLICE("resources")), &out->resources))
        out->resources = 0;
}

int vd_repository_read(struct vd_repository *out, const struct vd_json *object,
                       struct vd_error *error)
{
    *out = (struct vd_repository){.namespace = vd_meta_namespace(object),
                                  .name = vd_meta_name(object),
                                  .generation = vd_meta_generation(object),
                                  .is_deleting = vd_meta_is_deleting(object)};
    vd_uid_format(vd_meta_uid(object), out->uid);
    read_spec(out, vd_json_get(object, VD_SLICE("spec")));
    read_status(out, vd_json_get(object, VD_SLICE("status")));
    out->cascades_elsewhere = vd_deletion_cascades_elsewhere(object);
    if (!vd_branch_name_is_valid(out->default_branch))
        return vd_error_set(error, VD_ERR_INVALID,
                            "spec.defaultBranch: \"%.*s\" is no name of a branch",
                            VD_FMT(out->default_branch));
    if (vd_repository_namespace_is_reserved(out->namespace))
        return vd_error_set(error, VD_ERR_INVALID,
                            "paths below /%.*s are the server's own: create the Repository in "
                            "another namespace",
                            VD_FMT(out->namespace));
    return VD_OK;
}

bool vd_repository_commit(const struct vd_repository *repository, struct vd_slice branch,
                          struct vd_slice *commit)
{
    VD_JSON_EACH (item, repository->recorded) {
        if (!vd_slice_eq(vd_json_text(vd_json_get(item, VD_SLICE("name"))), branch))
            continue;
        *commit = vd_json_text(vd_json_get(item, VD_SLICE("commit")));
        return true;
    }
    return false;
}

/* A part of a name between two slashes. */
static bool is_component(struct vd_slice part)
{
    return part.n && part.p[0] != '.' && !vd_slice_ends_with(part, VD_SLICE(".lock"));
}

bool vd_branch_name_is_valid(struct vd_slice name)
{
    struct vd_slice rest = name, part;
    if (!name.n || name.n > VD_BRANCH_LEN_MAX || name.p[0] == '-' || name.p[name.n - 1] == '.' ||
        vd_slice_is(name, "@") || vd_slice_is(name, "HEAD"))
        return false;
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        char next = i + 1 < name.n ? name.p[i + 1] : 0;
        if (c <= ' ' || c == 127 || strchr("~^:?*[\\", c) || (c == '.' && next == '.') ||
            (c == '@' && next == '{'))
            return false;
    }
    while (vd_slice_cut(&rest, '/', &part))
        if (!is_component(part))
            return false;
    return true;
}

bool vd_repository_namespace_is_reserved(struct vd_slice namespace)
{
    static const char *const names[] = {"api", "apis", "healthz", "livez", "metrics", "readyz"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (vd_slice_is(namespace, names[i]))
            return true;
    return false;
}
