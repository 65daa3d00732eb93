/* A gatekeeper for tests of faces: a real one, with fixed rules, that reads no store. */
#ifndef VD_TESTS_GATEKEEPER_FIXTURE_H
#define VD_TESTS_GATEKEEPER_FIXTURE_H

#include "auth/gatekeeper.h"

/* Rules that allow every known user these verbs on everything. The verbs are the items of a JSON
 * list: "\"get\",\"list\"", or "\"*\"". One reference. */
struct vd_rbac *rules_for_all(const char *verbs);

/* A gatekeeper with those rules, by the system's clock; to be freed with vd_gatekeeper_free(). */
struct vd_gatekeeper *gatekeeper_for_all(const char *verbs);

#endif
