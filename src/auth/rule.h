/*
 * The rules of roles, decoded: what a rule allows, and whether it covers another one.
 *
 * A rule allows verbs x API groups x resources (x resourceNames), or verbs x
 * paths. "*" stands for all; "*" "/scale" for that subresource of all resources;
 * "pods/log" for a subresource (which "pods" does not include); a path may end
 * with "*".
 */
#ifndef VD_AUTH_RULE_H
#define VD_AUTH_RULE_H

#include <stdbool.h>
#include <stddef.h>

#include "auth/access.h"
#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"
#include "json/document.h"

struct vd_words {
    const struct vd_slice *p;
    size_t n;
    bool all; /* "*" is among them */
};

struct vd_rule {
    struct vd_words verbs;
    struct vd_words groups;
    struct vd_words resources;
    struct vd_words names; /* none: every name, and requests without one */
    struct vd_words paths;
};

/* From a PolicyRule's JSON; the texts are copied into the arena.
 * VD_ERR_INVALID: something is not a list of texts. */
int vd_rule_from_json(struct vd_rule *out, struct vd_arena *arena, const struct vd_json *json,
                      struct vd_error *error) VD_MUST_USE;

/* Whether the rule alone allows the request, whoever sends it. */
bool vd_rule_allows(const struct vd_rule *rule, const struct vd_access *access);

/* Whether `owner` grants everything that `rule` grants. If each list of `rule` has one word, the
 * answer is exact; otherwise several owners together may still cover a rule that no single one
 * covers. */
bool vd_rule_covers(const struct vd_rule *owner, const struct vd_rule *rule);

/* Adds {APIGroups:[""], Resources:["pods"], Verbs:["get"]}, as Kubernetes'
 * messages show a rule. */
void vd_rule_add_text(struct vd_buf *out, const struct vd_rule *rule);

/* The words as a JSON array of texts, which stay borrowed. */
struct vd_json *vd_words_to_json(struct vd_arena *arena, const struct vd_words *words);

#endif
