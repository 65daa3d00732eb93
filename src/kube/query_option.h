/*
 * Options in a request's query, read as Kubernetes reads them. An option that is given
 * several times counts as it stands first.
 */
#ifndef VD_KUBE_QUERY_OPTION_H
#define VD_KUBE_QUERY_OPTION_H

#include <stdint.h>

#include "net/url.h"

/* A yes or no, in *out. Every word but "0" and "false" is a yes: the Python client says
 * watch=True, and "?watch" alone means it. False: it is not given, and *out is no. */
bool vd_query_flag(const struct vd_url_query *query, struct vd_slice key, bool *out);

/* A number; 0 and false in *given if there is none. VD_ERR_INVALID, in Go's words. */
int vd_query_number(const struct vd_url_query *query, struct vd_slice key, bool *given,
                    int64_t *out, struct vd_error *error) VD_MUST_USE;

#endif
