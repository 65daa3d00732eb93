/*
 * The options of list and watch requests, and Kubernetes' rules about them.
 */
#ifndef VD_KUBE_LIST_OPTIONS_H
#define VD_KUBE_LIST_OPTIONS_H

#include "net/url.h"
#include "watch/field_selector.h"
#include "watch/selector.h"

enum vd_version_match {
    VD_MATCH_UNSET,
    VD_MATCH_EXACT,
    VD_MATCH_NOT_OLDER,
};

struct vd_list_options {
    struct vd_selector *labels;       /* a reference, or NULL */
    struct vd_field_selector *fields; /* likewise */
    bool has_version;                 /* resourceVersion is not empty */
    uint64_t version;
    enum vd_version_match match;
    struct vd_slice match_text;
    uint64_t limit; /* 0: none */
    struct vd_slice continue_token;
    bool bookmarks;
    bool has_initial; /* sendInitialEvents is given */
    bool initial;
    uint64_t timeout_s; /* 0: the server's choice */
};

/*
 * Reads the options. Errors come in two forms. VD_ERR_INVALID: a value that
 * cannot be read (400); the sentence is Kubernetes'. VD_ERR_CONFLICT: values that
 * do not go together (422); the sentence starts with the field's name, as a cause
 * has it: "resourceVersionMatch: Forbidden: ...".
 */
int vd_list_options_parse(struct vd_list_options *out, const struct vd_url_query *query, bool watch,
                          struct vd_error *error) VD_MUST_USE;

/* Whether a watch is told where its initial events end: it takes bookmarks, and begins with all
 * there is, because it says so or because it does not say where to begin. Kubernetes 1.32 has no
 * Tables for such a watch: a client would look for the end in the Table and not in its rows. */
bool vd_query_is_watch_list(const struct vd_url_query *query);

/* The resourceVersion that is asked for; 0 when none is given. VD_ERR_INVALID. */
int vd_version_parse(const struct vd_url_query *query, bool *given, uint64_t *out,
                     struct vd_error *error) VD_MUST_USE;

void vd_list_options_release(struct vd_list_options *options);

#endif
