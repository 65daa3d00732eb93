/*
 * The rules of access: RBAC from the roles and bindings in the store, kept up to date with its log.
 *
 * The rules in force are always those of one revision, with every role and binding of it that can
 * be read. One that cannot, because its bytes are damaged or make no sense, is left out, which
 * grants less and never more; the log names it, and the metric rbac_left_out_objects counts them.
 *
 * An informer (watch/informer.h) tells of the objects, on a loop. When it has to list them again, a
 * second set of rules is filled, and the rules in force stay until that is complete. A list that
 * fails is begun again after a pause; until one succeeds, rights that were taken away meanwhile are
 * still in force, and vd_access_rules_are_current() says no, for /readyz.
 */
#ifndef VD_AUTH_ACCESS_RULES_H
#define VD_AUTH_ACCESS_RULES_H

#include "auth/rbac.h"
#include "net/loop.h"
#include "watch/informer.h"

struct vd_access_rules;

struct vd_access_rules_options {
    struct vd_store *store;
    struct vd_loop *loop;       /* the loop on which changes are taken in */
    void (*changed)(void *arg); /* called on the loop after other rules are in force */
    void *arg;
};

struct vd_access_rules *vd_access_rules_new(const struct vd_access_rules_options *options);

/* To be called when the loop has stopped, or never ran, and the store is still open. NULL
 * allowed. */
void vd_access_rules_free(struct vd_access_rules *rules);

/* Adds a handler to the rules' informer: it is told of roles, bindings and all commits. To be
 * called before the rules are loaded. */
void vd_access_rules_add_handler(struct vd_access_rules *rules,
                                 struct vd_informer_handler *handler);

/* Loads all rules, before the loop starts, and follows the log from then on. Damaged objects are no
 * error. */
int vd_access_rules_load(struct vd_access_rules *rules, struct vd_error *error) VD_MUST_USE;

/* On the loop: takes in a bounded piece. True: there is more to take in at once. The loop does this
 * by itself when the log has moved. */
bool vd_access_rules_step(struct vd_access_rules *rules);

/* Any thread: a reference to the rules in force. */
struct vd_rbac *vd_access_rules_now(struct vd_access_rules *rules) VD_MUST_USE;

/* Any thread: whether the rules follow the log. They do not when loading them again has failed and
 * has not succeeded since. */
bool vd_access_rules_are_current(const struct vd_access_rules *rules);

/* Any thread: how many roles and bindings are left out because they cannot be read. */
size_t vd_access_rules_left_out(const struct vd_access_rules *rules);

#endif
