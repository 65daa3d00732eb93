/*
 * Answers of the Git face that are sentences for people, and what is counted of all answers.
 *
 * Git shows the body of an answer that is an error only if it is text/plain, as lines that begin
 * with "remote:". So each refusal is one line of text, or a few.
 */
#ifndef VD_GIT_ANSWER_H
#define VD_GIT_ANSWER_H

#include "git/smart_http.h"
#include "net/exchange.h"

/* Headers of every answer: what was true of a repository is not kept by anybody on the way. */
extern const struct vd_http_field vd_git_no_cache[];
enum { VD_GIT_NO_CACHE = 3 }; /* of them */

/* Answers with a text, to which a line end is added. 401 asks for a password, 503 says when to try
 * again, 405 what is allowed, as the text has it. */
void vd_git_answer(struct vd_exchange *x, unsigned status, const char *text);

/* Registers the metrics of requests. */
void vd_git_meter_register(void);

/* Counts a request that was answered with this status, and the bytes of the answer. */
void vd_git_meter_answered(enum vd_git_service service, unsigned status, uint64_t duration_ns,
                           uint64_t sent);

/* Counts bytes of a body that have come. */
void vd_git_meter_received(enum vd_git_service service, uint64_t received);

#endif
