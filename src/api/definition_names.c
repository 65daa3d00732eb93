/* See definition_names.h. A claim's key is "r/group/name" or "k/group/Kind". */
#include "api/definition_names.h"

#include "base/alloc.h"
#include "base/buf.h"

struct vd_name_claim {
    const struct vd_name_holder *holder;
    bool kept; /* while a holder's names are being changed */
    size_t len;
    char key[];
};

enum name_space { RESOURCES, KINDS };

static struct vd_slice key_of(const void *item)
{
    const struct vd_name_claim *claim = item;
    return vd_slice(claim->key, claim->len);
}

void vd_name_claims_init(struct vd_name_claims *claims)
{
    vd_hash_map_init(&claims->map, key_of);
}

void vd_name_claims_release(struct vd_name_claims *claims)
{
    vd_hash_map_release(&claims->map);
}

static struct vd_name_claim *find(const struct vd_name_claims *claims, enum name_space name_space,
                                  struct vd_slice group, struct vd_slice name, struct vd_buf *key)
{
    vd_buf_reset(key);
    vd_buf_addf(key, "%c/%.*s/%.*s", name_space == KINDS ? 'k' : 'r', VD_FMT(group), VD_FMT(name));
    return vd_hash_map_get(&claims->map, vd_buf_slice(key));
}

/* ---- judging ---- */

struct judging {
    const struct vd_name_claims *claims;
    const struct vd_name_holder *holder;
    struct vd_slice group;
    struct vd_arena *arena;
    struct vd_buf key, message;
    struct vd_name_verdict verdict;
};

static bool is_free(struct judging *j, enum name_space name_space, struct vd_slice name)
{
    const struct vd_name_claim *claim = find(j->claims, name_space, j->group, name, &j->key);
    return !claim || claim->holder == j->holder;
}

static void refuse(struct judging *j, const char *reason)
{
    j->verdict.accepted = false;
    j->verdict.reason = vd_slice_of(reason);
    j->verdict.message = vd_arena_copy(j->arena, vd_buf_slice(&j->message));
}

static void take(struct judging *j, const char *field, const struct vd_json *value)
{
    if (value)
        vd_json_add_ref(j->verdict.names, vd_slice_of(field), vd_json_copy(j->arena, value));
}

static void judge_one(struct judging *j, enum name_space name_space, const char *field,
                      const char *reason, const struct vd_json *wanted,
                      const struct vd_json *accepted)
{
    const struct vd_json *name = vd_json_get(wanted, vd_slice_of(field));
    if (is_free(j, name_space, vd_json_text(name))) {
        take(j, field, name);
        return;
    }
    vd_buf_reset(&j->message);
    vd_buf_addf(&j->message, "\"%.*s\" is already in use", VD_FMT(vd_json_text(name)));
    refuse(j, reason);
    take(j, field, vd_json_get(accepted, vd_slice_of(field)));
}

static void judge_short_names(struct judging *j, const struct vd_json *wanted,
                              const struct vd_json *accepted)
{
    const struct vd_json *names = vd_json_get(wanted, VD_SLICE("shortNames"));
    size_t taken = 0;
    vd_buf_reset(&j->message);
    VD_JSON_EACH (name, names) {
        if (!is_free(j, RESOURCES, vd_json_text(name)))
            vd_buf_addf(&j->message, "%s\"%.*s\" is already in use", taken++ ? ", " : "",
                        VD_FMT(vd_json_text(name)));
    }
    if (taken)
        refuse(j, "ShortNamesConflict");
    take(j, "shortNames", taken ? vd_json_get(accepted, VD_SLICE("shortNames")) : names);
}

struct vd_name_verdict vd_name_claims_judge(const struct vd_name_claims *claims,
                                            const struct vd_name_holder *holder,
                                            struct vd_slice group, const struct vd_json *wanted,
                                            const struct vd_json *accepted, struct vd_arena *a)
{
    struct judging j = {.claims = claims, .holder = holder, .group = group, .arena = a};
    j.verdict = (struct vd_name_verdict){.accepted = true,
                                         .reason = VD_SLICE("NoConflicts"),
                                         .message = VD_SLICE("no conflicts found"),
                                         .names = vd_json_object(a)};
    judge_one(&j, RESOURCES, "plural", "PluralConflict", wanted, accepted);
    judge_one(&j, RESOURCES, "singular", "SingularConflict", wanted, accepted);
    judge_short_names(&j, wanted, accepted);
    judge_one(&j, KINDS, "kind", "KindConflict", wanted, accepted);
    judge_one(&j, KINDS, "listKind", "ListKindConflict", wanted, accepted);
    take(&j, "categories", vd_json_get(wanted, VD_SLICE("categories")));
    vd_buf_release(&j.key);
    vd_buf_release(&j.message);
    return j.verdict;
}

/* ---- holding ---- */

struct holding {
    struct vd_name_claims *claims;
    struct vd_name_holder *holder;
    struct vd_slice group;
    struct vd_buf key;
};

static void hold(struct holding *h, enum name_space name_space, struct vd_slice name)
{
    if (!name.n)
        return;
    struct vd_name_claim *claim = find(h->claims, name_space, h->group, name, &h->key);
    if (!claim) {
        claim = vd_calloc(1, sizeof *claim + h->key.n);
        claim->holder = h->holder;
        claim->len = h->key.n;
        memcpy(claim->key, h->key.p, h->key.n);
        vd_hash_map_put(&h->claims->map, claim);
        *VD_VEC_PUSH(&h->holder->claims) = claim;
    }
    if (claim->holder == h->holder)
        claim->kept = true;
}

/* Lets go of what is not kept. */
static bool settle(struct holding *h)
{
    size_t kept = 0, n = h->holder->claims.n;
    for (size_t i = 0; i < n; i++) {
        struct vd_name_claim *claim = h->holder->claims.p[i];
        if (claim->kept) {
            claim->kept = false;
            h->holder->claims.p[kept++] = claim;
        } else {
            vd_hash_map_remove(&h->claims->map, key_of(claim));
            free(claim);
        }
    }
    h->holder->claims.n = kept;
    if (!kept)
        VD_VEC_RELEASE(&h->holder->claims);
    return kept < n;
}

bool vd_name_claims_hold(struct vd_name_claims *claims, struct vd_name_holder *holder,
                         struct vd_slice group, const struct vd_json *names)
{
    struct holding h = {.claims = claims, .holder = holder, .group = group};
    hold(&h, RESOURCES, vd_json_text(vd_json_get(names, VD_SLICE("plural"))));
    hold(&h, RESOURCES, vd_json_text(vd_json_get(names, VD_SLICE("singular"))));
    VD_JSON_EACH (name, vd_json_get(names, VD_SLICE("shortNames")))
        hold(&h, RESOURCES, vd_json_text(name));
    hold(&h, KINDS, vd_json_text(vd_json_get(names, VD_SLICE("kind"))));
    hold(&h, KINDS, vd_json_text(vd_json_get(names, VD_SLICE("listKind"))));
    bool gave_up = settle(&h);
    vd_buf_release(&h.key);
    return gave_up;
}
