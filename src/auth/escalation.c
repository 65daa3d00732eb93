/*
 * See escalation.h.
 *
 * A rule is covered when one of the user's rules covers it whole. If none does,
 * it is broken down into single rights - one verb, one group, one resource, one
 * name, or one verb and one path - each of which some one rule has to cover.
 * The number of single rights is a product of lists, so it is bounded.
 */
#include "auth/escalation.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash_map.h"
#include "base/limits.h"
#include "base/vec.h"

/* A line of the message: what is missing of one resource, name or path. */
struct missing {
    struct vd_buf key; /* the rule's text without verbs: lines with one key are merged */
    struct vd_rule rule;
    VD_VEC(struct vd_slice) verbs;
    struct vd_buf text;
};

struct check {
    VD_VEC(const struct vd_rule *) held;
    VD_VEC(struct missing *) lines;
    struct vd_hash_map by_key;
    size_t rights; /* single rights that were looked at so far */
};

static struct vd_slice key_of(const void *item)
{
    return vd_buf_slice(&((const struct missing *)item)->key);
}

static bool collect(void *arg, const struct vd_grant *grant)
{
    struct check *c = arg;
    for (size_t i = 0; grant->role && i < grant->role->rules_n; i++)
        *VD_VEC_PUSH(&c->held) = &grant->role->rules[i];
    return true;
}

static bool is_held(const struct check *c, const struct vd_rule *rule)
{
    for (size_t i = 0; i < c->held.n; i++)
        if (vd_rule_covers(c->held.p[i], rule))
            return true;
    return false;
}

/* ---- what is missing ---- */

/* Verbs of one resource share a line; with names or paths each right has its
 * own, as in Kubernetes. */
static void note_missing(struct check *c, const struct vd_rule *right)
{
    struct missing *line = VD_NEW(struct missing);
    bool simple = !right->names.n && !right->paths.n;
    struct vd_rule shape = *right;
    if (simple)
        shape.verbs = (struct vd_words){0};
    vd_rule_add_text(&line->key, &shape);
    struct missing *known = vd_hash_map_get(&c->by_key, key_of(line));
    if (known) {
        vd_buf_release(&line->key);
        free(line);
        line = known;
    } else {
        line->rule = *right;
        *VD_VEC_PUSH(&c->lines) = line;
        vd_hash_map_put(&c->by_key, line);
    }
    if (!known || simple)
        *VD_VEC_PUSH(&line->verbs) = right->verbs.p[0];
}

static struct vd_words single(const struct vd_words *words, size_t i)
{
    return (struct vd_words){words->p + i, 1, vd_slice_is(words->p[i], "*")};
}

static bool check_right(struct check *c, const struct vd_rule *right)
{
    if (++c->rights > VD_GRANT_RIGHTS_MAX)
        return false;
    if (!is_held(c, right))
        note_missing(c, right);
    return true;
}

/* All names of one group, resource and verb. */
static bool check_names(struct check *c, struct vd_rule right, const struct vd_words *names)
{
    if (!names->n)
        return check_right(c, &right);
    for (size_t i = 0; i < names->n; i++) {
        right.names = single(names, i);
        if (!check_right(c, &right))
            return false;
    }
    return true;
}

static bool check_resources(struct check *c, const struct vd_rule *rule)
{
    for (size_t g = 0; g < rule->groups.n; g++)
        for (size_t r = 0; r < rule->resources.n; r++)
            for (size_t v = 0; v < rule->verbs.n; v++) {
                struct vd_rule right = {.groups = single(&rule->groups, g),
                                        .resources = single(&rule->resources, r),
                                        .verbs = single(&rule->verbs, v)};
                if (!check_names(c, right, &rule->names))
                    return false;
            }
    return true;
}

static bool check_paths(struct check *c, const struct vd_rule *rule)
{
    for (size_t p = 0; p < rule->paths.n; p++)
        for (size_t v = 0; v < rule->verbs.n; v++) {
            struct vd_rule right = {.paths = single(&rule->paths, p),
                                    .verbs = single(&rule->verbs, v)};
            if (!check_right(c, &right))
                return false;
        }
    return true;
}

/* ---- the message ---- */

/* How many lines a client is shown. */
enum { LINES_MAX = 100 };

static int compare_lines(const void *a, const void *b)
{
    const struct missing *x = *(struct missing *const *)a, *y = *(struct missing *const *)b;
    return vd_slice_cmp(vd_buf_slice(&x->text), vd_buf_slice(&y->text));
}

static void add_message(struct check *c, const struct vd_user *user, struct vd_buf *why)
{
    vd_buf_add_text(why, "user ");
    vd_quote_add(why, user->is.name);
    vd_buf_add_text(why, " (groups=");
    vd_quote_add_list(why, user->is.groups, user->is.groups_n);
    vd_buf_add_text(why, ") is attempting to grant RBAC permissions not currently held:");
    for (size_t i = 0; i < c->lines.n; i++) {
        struct missing *line = c->lines.p[i];
        line->rule.verbs = (struct vd_words){line->verbs.p, line->verbs.n, false};
        vd_rule_add_text(&line->text, &line->rule);
    }
    qsort(c->lines.p, c->lines.n, sizeof *c->lines.p, compare_lines);
    for (size_t i = 0; i < c->lines.n && i < LINES_MAX; i++) {
        vd_buf_add_char(why, '\n');
        vd_buf_add_slice(why, vd_buf_slice(&c->lines.p[i]->text));
    }
    if (c->lines.n > LINES_MAX)
        vd_buf_addf(why, "\nand %zu more", c->lines.n - LINES_MAX);
}

static void check_release(struct check *c)
{
    for (size_t i = 0; i < c->lines.n; i++) {
        struct missing *line = c->lines.p[i];
        vd_buf_release(&line->key);
        vd_buf_release(&line->text);
        VD_VEC_RELEASE(&line->verbs);
        free(line);
    }
    VD_VEC_RELEASE(&c->lines);
    VD_VEC_RELEASE(&c->held);
    vd_hash_map_release(&c->by_key);
}

static enum vd_escalation check_rules(const struct vd_rbac *rbac, const struct vd_user *user,
                                      struct vd_slice namespace, const struct vd_role *role,
                                      struct vd_buf *why)
{
    struct check c = {0};
    bool bounded = true;
    vd_hash_map_init(&c.by_key, key_of);
    vd_rbac_each_grant(rbac, user, namespace, collect, &c);
    for (size_t i = 0; bounded && i < role->rules_n; i++)
        if (!is_held(&c, &role->rules[i]))
            bounded = check_resources(&c, &role->rules[i]) && check_paths(&c, &role->rules[i]);
    if (!bounded)
        vd_buf_addf(why,
                    "the role has more than %d single rights (group x resource x verb x name): "
                    "split it, or let somebody grant it who holds its rules",
                    VD_GRANT_RIGHTS_MAX);
    else if (c.lines.n)
        add_message(&c, user, why);
    bool refused = !bounded || c.lines.n;
    check_release(&c);
    return refused ? VD_ESCALATION_REFUSED : VD_ESCALATION_NONE;
}

/* ---- the two questions ---- */

static bool may(const struct vd_rbac *rbac, const struct vd_user *user, const char *verb,
                bool cluster_role, struct vd_slice namespace, struct vd_slice name)
{
    return vd_rbac_allows(
        rbac, &(struct vd_access){
                  .user = user,
                  .verb = vd_slice_of(verb),
                  .group = VD_SLICE(VD_RBAC_GROUP),
                  .resource = cluster_role ? VD_SLICE("clusterroles") : VD_SLICE("roles"),
                  .namespace = namespace,
                  .name = name,
              });
}

enum vd_escalation vd_escalation_by_role(const struct vd_rbac *rbac, const struct vd_user *user,
                                         const struct vd_role *role, bool creating,
                                         struct vd_buf *why)
{
    struct vd_slice name = creating ? vd_slice("", 0) : role->name;
    if (vd_user_is_master(user) ||
        may(rbac, user, "escalate", !role->namespace.n, role->namespace, name))
        return VD_ESCALATION_NONE;
    return check_rules(rbac, user, role->namespace, role, why);
}

enum vd_escalation vd_escalation_by_binding_to(const struct vd_rbac *rbac,
                                               const struct vd_user *user,
                                               const struct vd_binding *binding,
                                               const struct vd_role *role, struct vd_buf *why)
{
    bool cluster_role = binding->to_cluster_role;
    if (vd_user_is_master(user) ||
        may(rbac, user, "bind", cluster_role, binding->namespace, binding->role_name))
        return VD_ESCALATION_NONE;
    if (!role) {
        vd_buf_addf(why, "%s." VD_RBAC_GROUP " ", cluster_role ? "clusterroles" : "roles");
        vd_quote_add(why, binding->role_name);
        vd_buf_add_text(why, " not found");
        return VD_ESCALATION_NO_ROLE;
    }
    return check_rules(rbac, user, binding->namespace, role, why);
}

enum vd_escalation vd_escalation_by_binding(const struct vd_rbac *rbac, const struct vd_user *user,
                                            const struct vd_binding *binding, struct vd_buf *why)
{
    const struct vd_role *role = vd_rbac_role(rbac, binding->to_cluster_role, binding->namespace,
                                              binding->role_name);
    return vd_escalation_by_binding_to(rbac, user, binding, role, why);
}
