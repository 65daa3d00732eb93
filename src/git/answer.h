/*
 * Answers of the Git face that are sentences for people.
 *
 * Git shows the body of an answer that is an error only if it is text/plain, as lines that begin
 * with "remote:". So each refusal is one line of text, or a few.
 */
#ifndef VD_GIT_ANSWER_H
#define VD_GIT_ANSWER_H

#include "net/exchange.h"

/* Headers of every answer: what was true of a repository is not kept by anybody on the way. */
extern const struct vd_http_field vd_git_no_cache[];
enum { VD_GIT_NO_CACHE = 3 }; /* of them */

/* Answers with a text, to which a line end is added. 401 asks for a password, 503 says when to try
 * again, 405 what is allowed, as the text has it. */
void vd_git_answer(struct vd_exchange *x, unsigned status, const char *text);

#endif
