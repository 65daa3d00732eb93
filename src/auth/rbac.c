/*
 * See rbac.h: the snapshot.
 *
 * It is indexed by who is asking. Two maps, of users (ServiceAccounts are users
 * by their long name) and of groups, lead to all grants of a subject: those of
 * ClusterRoleBindings, then those of RoleBindings ordered by namespace. A
 * decision costs one look-up for the user and each of his groups, a binary
 * search in each, and the rules of the roles that are found.
 *
 * Invariants: grants of a subject are ordered by (namespace, name) of their
 * binding, and the cluster's, which have the empty namespace, come first; so
 * answers do not depend on the order in which objects came. Roles were resolved
 * when the snapshot was built: it holds references to all that it shows.
 */
#include "auth/rbac.h"

#include <stdlib.h>

#include "auth/rbac_internal.h"
#include "base/alloc.h"
#include "base/hash_map.h"
#include "base/vec.h"
#include "json/write.h"

/* All grants of one user or group. */
struct entry {
    struct vd_slice name;
    VD_VEC(struct vd_grant) grants;
    size_t cluster_n; /* how many of them hold in the whole cluster */
};

struct vd_rbac {
    struct vd_refcount count;
    VD_VEC(struct vd_role *) roles;
    VD_VEC(struct vd_binding *) bindings;
    struct vd_hash_map cluster_roles;   /* by name */
    struct vd_hash_map namespace_roles; /* by "namespace/name" */
    struct vd_hash_map users, groups;   /* of struct entry, by name */
    VD_VEC(struct named_role *) named;
};

struct named_role {
    struct vd_buf key;
    const struct vd_role *role;
};

static struct vd_slice key_role(const void *item)
{
    return ((const struct vd_role *)item)->name;
}

static struct vd_slice key_named(const void *item)
{
    return vd_buf_slice(&((const struct named_role *)item)->key);
}

static struct vd_slice key_entry(const void *item)
{
    return ((const struct entry *)item)->name;
}

/* ---- building ---- */

static int compare_bindings(const void *a, const void *b)
{
    const struct vd_binding *x = *(struct vd_binding *const *)a;
    const struct vd_binding *y = *(struct vd_binding *const *)b;
    int c = vd_slice_cmp(x->namespace, y->namespace);
    return c ? c : vd_slice_cmp(x->name, y->name);
}

static void add_role(struct vd_rbac *rbac, struct vd_role *role)
{
    *VD_VEC_PUSH(&rbac->roles) = vd_role_ref(role);
    if (!role->namespace.n) {
        vd_hash_map_put(&rbac->cluster_roles, role);
        return;
    }
    struct named_role *named = VD_NEW(struct named_role);
    vd_buf_addf(&named->key, "%.*s/%.*s", VD_FMT(role->namespace), VD_FMT(role->name));
    named->role = role;
    *VD_VEC_PUSH(&rbac->named) = named;
    vd_hash_map_put(&rbac->namespace_roles, named);
}

static void add_grant(struct vd_rbac *rbac, const struct vd_grant *grant)
{
    struct vd_hash_map *map = grant->subject->kind == VD_SUBJECT_GROUP ? &rbac->groups
                                                                       : &rbac->users;
    struct entry *entry = vd_hash_map_get(map, grant->subject->matches);
    if (!entry) {
        entry = VD_NEW(struct entry);
        entry->name = grant->subject->matches;
        vd_hash_map_put(map, entry);
    }
    *VD_VEC_PUSH(&entry->grants) = *grant;
    entry->cluster_n += !grant->binding->namespace.n;
}

static void add_binding(struct vd_rbac *rbac, const struct vd_binding *binding)
{
    const struct vd_role *role = vd_rbac_role(rbac, binding->to_cluster_role, binding->namespace,
                                              binding->role_name);
    for (size_t i = 0; i < binding->subjects_n; i++)
        add_grant(rbac, &(struct vd_grant){binding, &binding->subjects[i], role});
}

struct vd_rbac *vd_rbac_build(const struct vd_hash_map *objects)
{
    struct vd_rbac *rbac = VD_NEW(struct vd_rbac);
    size_t at = 0;
    vd_refcount_init(&rbac->count);
    vd_hash_map_init(&rbac->cluster_roles, key_role);
    vd_hash_map_init(&rbac->namespace_roles, key_named);
    vd_hash_map_init(&rbac->users, key_entry);
    vd_hash_map_init(&rbac->groups, key_entry);
    for (struct vd_policy_object *o; (o = vd_hash_map_next(objects, &at));) {
        if (o->role)
            add_role(rbac, o->role);
        else
            *VD_VEC_PUSH(&rbac->bindings) = vd_binding_ref(o->binding);
    }
    if (rbac->bindings.n)
        qsort(rbac->bindings.p, rbac->bindings.n, sizeof *rbac->bindings.p, compare_bindings);
    for (size_t i = 0; i < rbac->bindings.n; i++)
        add_binding(rbac, rbac->bindings.p[i]);
    return rbac;
}

struct vd_rbac *vd_rbac_ref(struct vd_rbac *rbac)
{
    vd_ref(&rbac->count);
    return rbac;
}

static void entries_free(struct vd_hash_map *map)
{
    size_t at = 0;
    for (struct entry *e; (e = vd_hash_map_next(map, &at));) {
        VD_VEC_RELEASE(&e->grants);
        free(e);
    }
    vd_hash_map_release(map);
}

void vd_rbac_unref(struct vd_rbac *rbac)
{
    if (!rbac || !vd_unref(&rbac->count))
        return;
    entries_free(&rbac->users);
    entries_free(&rbac->groups);
    vd_hash_map_release(&rbac->cluster_roles);
    vd_hash_map_release(&rbac->namespace_roles);
    for (size_t i = 0; i < rbac->named.n; i++) {
        vd_buf_release(&rbac->named.p[i]->key);
        free(rbac->named.p[i]);
    }
    for (size_t i = 0; i < rbac->roles.n; i++)
        vd_role_unref(rbac->roles.p[i]);
    for (size_t i = 0; i < rbac->bindings.n; i++)
        vd_binding_unref(rbac->bindings.p[i]);
    VD_VEC_RELEASE(&rbac->named);
    VD_VEC_RELEASE(&rbac->roles);
    VD_VEC_RELEASE(&rbac->bindings);
    free(rbac);
}

const struct vd_role *vd_rbac_role(const struct vd_rbac *rbac, bool cluster_role,
                                   struct vd_slice namespace, struct vd_slice name)
{
    if (cluster_role)
        return vd_hash_map_get(&rbac->cluster_roles, name);
    struct vd_buf key = {0};
    vd_buf_addf(&key, "%.*s/%.*s", VD_FMT(namespace), VD_FMT(name));
    const struct named_role *named = vd_hash_map_get(&rbac->namespace_roles, vd_buf_slice(&key));
    vd_buf_release(&key);
    return named ? named->role : NULL;
}

/* ---- walking ---- */

/* How many entries a walk remembers from its first pass for its second; the entries of further
 * groups, which few users have, are looked up twice. */
enum { FOUND_MAX = 32 };

static const struct entry *entry_of(const struct vd_rbac *rbac, const struct vd_user *user,
                                    size_t i)
{
    return i ? vd_hash_map_get(&rbac->groups, user->is.groups[i - 1])
             : vd_hash_map_get(&rbac->users, user->is.name);
}

/* The first of the entry's grants whose namespace is this one or comes after it. */
static size_t first_in(const struct entry *entry, struct vd_slice namespace)
{
    size_t low = entry->cluster_n, high = entry->grants.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (vd_slice_cmp(entry->grants.p[middle].binding->namespace, namespace) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void vd_rbac_each_grant(const struct vd_rbac *rbac, const struct vd_user *user,
                        struct vd_slice namespace,
                        bool (*visit)(void *arg, const struct vd_grant *grant), void *arg)
{
    const struct entry *found[FOUND_MAX];
    size_t n = user->is.groups_n + 1;
    for (size_t i = 0; i < n; i++) {
        const struct entry *entry = entry_of(rbac, user, i);
        if (i < FOUND_MAX)
            found[i] = entry;
        for (size_t k = 0; entry && k < entry->cluster_n; k++)
            if (!visit(arg, &entry->grants.p[k]))
                return;
    }
    for (size_t i = 0; namespace.n && i < n; i++) {
        const struct entry *entry = i < FOUND_MAX ? found[i] : entry_of(rbac, user, i);
        if (!entry)
            continue;
        for (size_t k = first_in(entry, namespace);
             k < entry->grants.n && vd_slice_eq(entry->grants.p[k].binding->namespace, namespace);
             k++)
            if (!visit(arg, &entry->grants.p[k]))
                return;
    }
}

/* ---- deciding ---- */

struct decision {
    const struct vd_access *access;
    struct vd_grant by; /* the grant that allows the request */
    bool allowed;
};

static bool try_grant(void *arg, const struct vd_grant *grant)
{
    struct decision *d = arg;
    for (size_t i = 0; grant->role && i < grant->role->rules_n; i++) {
        if (vd_rule_allows(&grant->role->rules[i], d->access)) {
            d->allowed = true;
            d->by = *grant;
            return false;
        }
    }
    return true;
}

bool vd_rbac_allows(const struct vd_rbac *rbac, const struct vd_access *access)
{
    return vd_rbac_decide(rbac, access, NULL);
}

/* ---- what is missing ---- */

struct missing {
    struct vd_buf text;
    VD_VEC(const struct vd_grant *) seen;
};

static bool same_role(const struct vd_binding *a, const struct vd_binding *b)
{
    return a->to_cluster_role == b->to_cluster_role && vd_slice_eq(a->role_name, b->role_name);
}

static bool note_missing(void *arg, const struct vd_grant *grant)
{
    struct missing *m = arg;
    if (grant->role)
        return true;
    for (size_t i = 0; i < m->seen.n; i++)
        if (same_role(m->seen.p[i]->binding, grant->binding))
            return true;
    *VD_VEC_PUSH(&m->seen) = grant;
    if (m->text.n)
        vd_buf_add_text(&m->text, ", ");
    vd_buf_addf(&m->text, "%s." VD_RBAC_GROUP " ",
                grant->binding->to_cluster_role ? "clusterrole" : "role");
    vd_quote_add(&m->text, grant->binding->role_name);
    vd_buf_add_text(&m->text, " not found");
    return true;
}

/* Adds `prefix` and the missing roles that are bound to the user, if any. */
static void add_missing(const struct vd_rbac *rbac, const struct vd_user *user,
                        struct vd_slice namespace, const char *prefix, struct vd_buf *out)
{
    struct missing m = {0};
    vd_rbac_each_grant(rbac, user, namespace, note_missing, &m);
    if (m.seen.n) {
        vd_buf_add_text(out, prefix);
        vd_buf_add_text(out, m.seen.n > 1 ? "[" : "");
        vd_buf_add_slice(out, vd_buf_slice(&m.text));
        vd_buf_add_text(out, m.seen.n > 1 ? "]" : "");
    }
    VD_VEC_RELEASE(&m.seen);
    vd_buf_release(&m.text);
}

bool vd_rbac_decide(const struct vd_rbac *rbac, const struct vd_access *access,
                    struct vd_buf *reason)
{
    if (vd_user_is_master(access->user))
        return true;
    struct decision d = {.access = access};
    /* A request for a path is in no namespace. */
    struct vd_slice namespace = access->resource.n ? access->namespace : vd_slice("", 0);
    vd_rbac_each_grant(rbac, access->user, namespace, try_grant, &d);
    if (reason && d.allowed) {
        vd_buf_add_text(reason, "RBAC: allowed by ");
        vd_binding_add_text(reason, d.by.binding, d.by.subject);
    } else if (reason) {
        add_missing(rbac, access->user, namespace, "RBAC: ", reason);
    }
    return d.allowed;
}

/* ---- listing ---- */

struct listing {
    struct vd_arena *arena;
    struct vd_json *resources, *paths;
    struct vd_hash_map seen; /* texts of listed rules: several roles may have the same one */
    struct vd_buf text;
};

static struct vd_slice seen_key(const void *item)
{
    return *(const struct vd_slice *)item;
}

/* Whether l->text has not been listed before; from now on it has. */
static bool is_new(struct listing *l)
{
    if (vd_hash_map_get(&l->seen, vd_buf_slice(&l->text)))
        return false;
    struct vd_slice *item = vd_arena_alloc(l->arena, sizeof *item);
    *item = vd_arena_copy(l->arena, vd_buf_slice(&l->text));
    vd_hash_map_put(&l->seen, item);
    return true;
}

static void list_resources(struct listing *l, const struct vd_rule *rule)
{
    struct vd_arena *a = l->arena;
    struct vd_json *item = vd_json_object(a);
    vd_json_add_ref(item, VD_SLICE("verbs"), vd_words_to_json(a, &rule->verbs));
    vd_json_add_ref(item, VD_SLICE("apiGroups"), vd_words_to_json(a, &rule->groups));
    vd_json_add_ref(item, VD_SLICE("resources"), vd_words_to_json(a, &rule->resources));
    if (rule->names.n)
        vd_json_add_ref(item, VD_SLICE("resourceNames"), vd_words_to_json(a, &rule->names));
    vd_buf_reset(&l->text);
    vd_json_write(&l->text, item);
    if (is_new(l))
        vd_json_append(l->resources, item);
}

/* The paths of a rule that were not listed before with its verbs. */
static void list_paths(struct listing *l, const struct vd_rule *rule)
{
    struct vd_arena *a = l->arena;
    struct vd_json *verbs = vd_words_to_json(a, &rule->verbs), *paths = vd_json_array(a);
    for (size_t i = 0; i < rule->paths.n; i++) {
        vd_buf_reset(&l->text);
        vd_json_write(&l->text, verbs);
        vd_buf_add_slice(&l->text, rule->paths.p[i]);
        if (is_new(l))
            vd_json_append(paths, vd_json_string_ref(a, rule->paths.p[i]));
    }
    if (!vd_json_count(paths))
        return;
    struct vd_json *item = vd_json_object(a);
    vd_json_add_ref(item, VD_SLICE("verbs"), verbs);
    vd_json_add_ref(item, VD_SLICE("nonResourceURLs"), paths);
    vd_json_append(l->paths, item);
}

static void list_rule(struct listing *l, const struct vd_rule *rule)
{
    if (rule->resources.n)
        list_resources(l, rule);
    if (rule->paths.n)
        list_paths(l, rule);
}

static bool list_grant(void *arg, const struct vd_grant *grant)
{
    for (size_t i = 0; grant->role && i < grant->role->rules_n; i++)
        list_rule(arg, &grant->role->rules[i]);
    return true;
}

struct vd_json *vd_rbac_rules_review(const struct vd_rbac *rbac, const struct vd_user *user,
                                     struct vd_slice namespace, struct vd_arena *arena)
{
    static const struct vd_slice star = {"*", 1};
    static const struct vd_words any = {&star, 1, true};
    struct listing l = {
        .arena = arena, .resources = vd_json_array(arena), .paths = vd_json_array(arena)};
    struct vd_json *status = vd_json_object(arena);
    struct vd_buf errors = {0};
    vd_hash_map_init(&l.seen, seen_key);
    if (vd_user_is_master(user))
        list_rule(&l, &(struct vd_rule){any, any, any, {0}, any});
    vd_rbac_each_grant(rbac, user, namespace, list_grant, &l);
    add_missing(rbac, user, namespace, "", &errors);
    vd_json_add_ref(status, VD_SLICE("resourceRules"), l.resources);
    vd_json_add_ref(status, VD_SLICE("nonResourceRules"), l.paths);
    vd_json_add_ref(status, VD_SLICE("incomplete"), vd_json_bool(arena, false));
    if (errors.n)
        vd_json_add_ref(status, VD_SLICE("evaluationError"),
                        vd_json_string(arena, vd_buf_slice(&errors)));
    vd_buf_release(&errors);
    vd_buf_release(&l.text);
    vd_hash_map_release(&l.seen);
    return status;
}
