/*
 * What a server says of the objects of a work tree: which kinds it has, and what it would answer if
 * it were given each of them. Nothing is written there: every request that would is a dry run.
 * Blocking.
 */
#ifndef VD_CMD_LINT_SERVER_H
#define VD_CMD_LINT_SERVER_H

#include "client.h"
#include "git/lint.h"
#include "git/report.h"

/* Tells the lint of the server's definitions, before it checks. A user who may not see them gets a
 * warning in the report. */
int vd_lint_server_learn(struct vd_client *client, struct vd_git_lint *l,
                         struct vd_git_report *report, struct vd_error *error) VD_MUST_USE;

/* Asks the server about each object that the lint has passed. */
int vd_lint_server_check(struct vd_client *client, const struct vd_git_lint *l,
                         struct vd_git_report *report, struct vd_error *error) VD_MUST_USE;

#endif
