/*
 * What a server says of the objects of a work tree: which kinds it has, and what it would answer if
 * it were given each of them. Nothing is written there: every request that would is a dry run.
 * Blocking.
 */
#ifndef VD_CMD_LINT_SERVER_H
#define VD_CMD_LINT_SERVER_H

#include "base/attributes.h"
#include "base/error.h"
#include "git/lint.h"
#include "git/report.h"
#include "http_ask.h"

/* Fills the peer in: from a URL, the file of a token (NULL: the variable VEDETTE_TOKEN, or none)
 * and the file of an authority's certificate (NULL: the system's). */
int vd_lint_server_set(struct vd_http_peer *peer, const char *url, const char *token_file,
                       const char *ca_file, struct vd_error *error) VD_MUST_USE;

/* Tells the lint of the server's definitions, before it checks. A user who may not see them gets a
 * warning in the report. */
int vd_lint_server_learn(const struct vd_http_peer *peer, struct vd_git_lint *l,
                         struct vd_git_report *report, struct vd_error *error) VD_MUST_USE;

/* Asks the server about each object that the lint has passed. */
int vd_lint_server_check(const struct vd_http_peer *peer, const struct vd_git_lint *l,
                         struct vd_git_report *report, struct vd_error *error) VD_MUST_USE;

#endif
