/*
 * Nobody uses rights that they do not have through a Repository that follows a remote.
 *
 * The server fetches such a repository with the credentials of a Secret, and writes what it has
 * fetched with the rights of a ServiceAccount. Whoever writes its spec decides what the account is
 * made to do and where the credentials are sent. So whoever makes or changes that spec must be
 * allowed to impersonate the account and to get every Secret that the spec refers to.
 */
#include "api/write/write_internal.h"
#include "kinds/deletion.h"
#include "kinds/object_meta.h"
#include "json/compare.h"

/* The account of a spec that names none; the schema fills it in. */
#define ACCOUNT_DEFAULT VD_SLICE("default")

/* What of the namespace the spec makes the server use. */
struct use {
    const char *field; /* of the spec, that names it */
    const char *verb, *resource;
    struct vd_slice name;
    const char *way_out;
};

static bool may_use(struct vd_write *w, const struct vd_json *object, const struct use *use)
{
    struct vd_buf text = {0};
    struct vd_access access = {.user = w->user,
                               .verb = vd_slice_of(use->verb),
                               .resource = vd_slice_of(use->resource),
                               .namespace = w->namespace,
                               .name = use->name};
    if (vd_gatekeeper_allows(w->l->env->gatekeeper, &access, &text)) {
        vd_buf_release(&text);
        return true;
    }
    vd_buf_reset(&text);
    vd_buf_addf(&text, "%s: user ", use->field);
    vd_quote_add(&text, w->user->is.name);
    vd_buf_addf(&text, " needs the verb \"%s\" on %s ", use->verb, use->resource);
    vd_quote_add(&text, use->name);
    vd_buf_add_text(&text, " in the namespace ");
    vd_quote_add(&text, w->namespace);
    vd_buf_addf(&text, ", %s, or have this Repository written by somebody who has that right",
                use->way_out);
    struct vd_slice kept = vd_arena_copy(w->arena, vd_buf_slice(&text));
    vd_buf_release(&text);
    return vd_write_refuse(
        w, &(struct vd_refusal){.reason = VD_REFUSED_FORBIDDEN,
                                .text = kept,
                                .name = vd_arena_copy(w->arena, vd_meta_name(object))});
}

static bool may_use_account(struct vd_write *w, const struct vd_json *object,
                            const struct vd_json *remote)
{
    struct vd_slice name = vd_json_text(vd_json_get(remote, VD_SLICE("serviceAccountName")));
    struct use use = {
        .field = "spec.remote.serviceAccountName",
        .verb = "impersonate",
        .resource = "serviceaccounts",
        .name = name.n ? name : ACCOUNT_DEFAULT,
        .way_out = "since the server writes what it fetches with the rights of that account: name "
                   "an account that you may impersonate",
    };
    return may_use(w, object, &use);
}

static bool may_use_secret(struct vd_write *w, const struct vd_json *object,
                           const struct vd_json *reference, const char *field)
{
    struct use use = {
        .field = field,
        .verb = "get",
        .resource = "secrets",
        .name = vd_json_text(vd_json_get(reference, VD_SLICE("name"))),
        .way_out = "since the server uses what is in that Secret: name a Secret that you may read",
    };
    return !use.name.n || may_use(w, object, &use);
}

static bool is_same(const struct vd_json *a, const struct vd_json *b)
{
    return a && b ? vd_json_eq(a, b) : a == b;
}

bool vd_write_check_follower(struct vd_write *w, const struct vd_json *object,
                             const struct vd_json *old)
{
    if (!vd_slice_eq(w->kind->resource, VD_REPOSITORIES) || w->part != VD_PART_OBJECT)
        return true;
    const struct vd_json *spec = vd_json_get(object, VD_SLICE("spec"));
    const struct vd_json *remote = vd_json_get(spec, VD_SLICE("remote"));
    if (!vd_json_is(remote, VD_JSON_OBJECT) ||
        (old && is_same(spec, vd_json_get(old, VD_SLICE("spec")))))
        return true;
    return may_use_account(w, object, remote) &&
           may_use_secret(w, object, vd_json_get(remote, VD_SLICE("secretRef")),
                          "spec.remote.secretRef") &&
           may_use_secret(w, object, vd_json_get(remote, VD_SLICE("webhookSecretRef")),
                          "spec.remote.webhookSecretRef");
}
