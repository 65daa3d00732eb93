/* The option `timeout` of a query, which Kubernetes' clients may give with any request but a watch.
 */
#ifndef VD_REQUEST_TIMEOUT_OPTION_H
#define VD_REQUEST_TIMEOUT_OPTION_H

#include "net/url.h"

/* Whether `timeout`, if it is given, is a duration as Go writes them ("32s"); VD_ERR_INVALID if it
 * is not. Nothing else is done with it: it asks for an answer within that time, and the server has
 * limits of its own. */
int vd_timeout_option_check(const struct vd_url_query *query, struct vd_error *error) VD_MUST_USE;

#endif
