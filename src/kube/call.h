/*
 * A call: one request to the Kubernetes face, from its first look to its answer.
 *
 * A call owns its arena and all that hangs on it. It lives until it is answered:
 * every vd_call_reply... ends it. A write is a write (api/write.h), of whose outcome the answer
 * is made: see call_write.h.
 */
#ifndef VD_KUBE_CALL_H
#define VD_KUBE_CALL_H

#include "api/read.h"
#include "api/revision_wait.h"
#include "api/write.h"
#include "kube/continue_token.h"
#include "kube/kube_internal.h"
#include "kube/list_options.h"
#include "kube/output.h"
#include "kube/status/status.h"
#include "kube/target.h"

struct vd_conversion;
struct vd_offload;

struct vd_call {
    struct vd_kube *kube;
    struct vd_kube_loop *l;
    struct vd_exchange *x; /* NULL: the client has gone */
    struct vd_user *user;
    struct vd_arena arena;
    struct vd_target target;
    struct vd_url_query query;
    struct vd_kind_set *kinds;
    const struct vd_kind *kind; /* NULL: the target is no resource that there is */
    struct vd_kube_output output;
    /* Made by a worker's thread; see offload.h. */
    struct vd_offload *away; /* NULL: it is on the loop */
    struct {
        bool copied;
        struct vd_slice body, content_type, user_agent;
    } request;
    /* What a write changes; its options and warnings are also those of other requests. */
    struct vd_write write;
    const struct vd_status *refused; /* why its body cannot be read; NULL: it can */
    bool scales;                     /* the answer is the object's Scale */

    void (*redo)(struct vd_call *call); /* makes the answer again, on a worker's thread */
    unsigned success;                   /* the HTTP status when a webhook has converted it */
    struct vd_conversion *conversion;   /* that the answer waits for; NULL: it does not */
    void (*then)(struct vd_call *call, struct vd_body *served);

    struct vd_revision_wait wait; /* of a read, for the revision that it names */
    void (*awaited_by)(struct vd_call *call);

    struct vd_call *next; /* while it is nobody's: of those kept for the next requests */
};

/* A call for the next request, with the memory of an earlier one. */
struct vd_call *vd_call_new(struct vd_kube_loop *l) VD_MUST_USE;

/* Frees those that are kept. */
void vd_kube_loop_free_calls(struct vd_kube_loop *l);

/* What an answer is about. */
struct vd_status_target vd_call_status_target(const struct vd_call *call);

/* The object that the target names. */
struct vd_key vd_call_key(const struct vd_call *call);

/* What a continue token of the target's list may say. */
struct vd_continue_scope vd_call_continue_scope(const struct vd_call *call);

/* 403 for what was asked for; in the arena. */
struct vd_status vd_access_status(struct vd_arena *arena, const struct vd_access *access,
                                  struct vd_slice why);

/* "get", "deletecollection"; of a path that is no resource, the method. */
struct vd_slice vd_call_verb(const struct vd_call *call);

/* ---- answers: each ends the call ---- */

void vd_call_free(struct vd_call *call); /* without an answer */
void vd_call_reply(struct vd_call *call, unsigned status, struct vd_slice content_type,
                   struct vd_slice body);
/* A document, in the encoding that was asked for. */
void vd_call_reply_json(struct vd_call *call, unsigned status, struct vd_slice json);
/* One stored object, written at this revision, in the form and encoding that were asked for; 500
 * if it has become too large to be shown. If that takes too long here, a worker calls call->redo.
 */
void vd_call_reply_object(struct vd_call *call, unsigned status, struct vd_slice body,
                          uint64_t written);
/* The same with 200, of a body of the store: a large one that is sent as it is stored is not
 * copied. */
void vd_call_reply_body(struct vd_call *call, struct vd_body *body, uint64_t written);
void vd_call_reply_status(struct vd_call *call, const struct vd_status *status);
void vd_call_reply_error(struct vd_call *call, int code, const struct vd_error *error);
/* 500: an object cannot be shown; the error names it. */
void vd_call_reply_unshowable(struct vd_call *call, const struct vd_error *error);

/* 429, in the words of Kubernetes' fairness. */
void vd_call_reply_too_many(struct vd_call *call);

/* A path that nobody serves: plain text, as client-go knows it. */
void vd_call_reply_no_path(struct vd_call *call);

/* The error of vd_list_options_parse(). */
void vd_call_reply_options(struct vd_call *call, int code, const struct vd_error *error);
/* 422 of an option of a write. */
void vd_call_reply_option(struct vd_call *call, struct vd_status_cause cause);
/* Whether a value of dryRun is one: a word that was mistyped must not turn a trial into a
 * change. False: the call has been answered. */
bool vd_call_check_dry_run(struct vd_call *call, struct vd_slice word) VD_MUST_USE;

/* Gives a loop's scratch memory back if it has become large. */
void vd_scratch_let_go(struct vd_buf *scratch);

/* ---- parts that several verbs need ---- */

/* The filter that a list or watch asks for. VD_ERR_INVALID: a field that cannot be
 * selected by, in Kubernetes' words. */
int vd_call_filter(struct vd_call *call, const struct vd_list_options *options,
                   struct vd_filter **out, struct vd_error *error) VD_MUST_USE;

/*
 * True: go on, there is such a revision, or the call has waited long enough for it.
 * False: `verb` is called for it when that is so, once, on the loop.
 */
bool vd_call_await(struct vd_call *call, uint64_t revision,
                   void (*verb)(struct vd_call *call)) VD_MUST_USE;

/* The header that warns of a version that is deprecated; 0 if it is not, else 1. */
size_t vd_deprecation_field(const struct vd_kind *kind, struct vd_arena *a,
                            struct vd_http_field *out);

/* ---- the verbs, each in its file ---- */

/* Answers if the path is that of a document; false: it is not. */
bool vd_call_document(struct vd_call *call);

void vd_call_get(struct vd_call *call);
void vd_call_list(struct vd_call *call);
void vd_call_watch(struct vd_call *call);
void vd_call_create(struct vd_call *call);
void vd_call_update(struct vd_call *call);
void vd_call_patch(struct vd_call *call);
void vd_call_delete(struct vd_call *call);
void vd_call_delete_collection(struct vd_call *call);

#endif
