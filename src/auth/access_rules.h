/*
 * The rules of access: RBAC from the roles and bindings that are in the store, kept up with its
 * log.
 *
 * The rules in force are always those of one revision, with every role and binding of it that can
 * be read. One that cannot, because its bytes are damaged or make no sense, is left out, which
 * grants less and never more; the log names it, and the metric rbac_left_out_objects counts them.
 *
 * They follow the log in bounded pieces on a loop. When the log cannot be read on from where they
 * stand (the window has passed it, or a row is damaged), all objects are loaded again, beside the
 * rules in force, which stay until the new ones are complete. A load that fails is begun again
 * after a while; until one has worked, what was taken away meanwhile is still in force, and
 * vd_access_rules_are_current() says no, for /readyz.
 */
#ifndef VD_AUTH_ACCESS_RULES_H
#define VD_AUTH_ACCESS_RULES_H

#include "auth/rbac.h"
#include "net/loop.h"
#include "store/store.h"

struct vd_access_rules;

struct vd_access_rules_options {
    struct vd_store *store;
    struct vd_loop *loop;       /* where changes are taken in */
    void (*changed)(void *arg); /* called on the loop after other rules are in force */
    void *arg;
};

struct vd_access_rules *vd_access_rules_new(const struct vd_access_rules_options *options);

/* The loop has stopped, or never ran. NULL is fine. */
void vd_access_rules_free(struct vd_access_rules *rules);

/* Loads all, before the loop starts. Damaged objects are no error. */
int vd_access_rules_load(struct vd_access_rules *rules, struct vd_error *error) VD_MUST_USE;

/* Of the writer, for each object of each commit: one of this kind, by its storage key, is in the
 * commit that followed the revision `after`. */
void vd_access_rules_hear(struct vd_access_rules *rules, struct vd_slice kind, uint64_t after);

/* On the loop: takes in a bounded piece. True: there is more to take in at once. The loop does this
 * by itself for what vd_access_rules_hear() was told. */
bool vd_access_rules_step(struct vd_access_rules *rules);

/* Any thread: a reference to the rules in force. */
struct vd_rbac *vd_access_rules_now(struct vd_access_rules *rules) VD_MUST_USE;

/* Any thread: whether they follow the log. Not when loading them again has failed and has not
 * worked since. */
bool vd_access_rules_are_current(const struct vd_access_rules *rules);

/* Any thread: how many roles and bindings are left out because they cannot be read. */
size_t vd_access_rules_left_out(const struct vd_access_rules *rules);

#endif
