/* What tests of src/api share: a store in memory, one loop, and a kind of the test's own. */
#ifndef VD_TESTS_API_FIXTURE_H
#define VD_TESTS_API_FIXTURE_H

#include <stdatomic.h>

#include "api/loop.h"
#include "kinds/kinds.h"

/* A cluster-scoped kind of example.com with spec and status: "lights". */
extern const char LIGHT_YAML[];

struct api_fixture {
    struct vd_store *store;
    struct vd_loop loop;
    struct vd_api_env env;
    struct vd_api_loop api;
    struct vd_user *user;
    struct vd_kind_set *kinds;
    const struct vd_kind *kind;
};

/* Opens the store, with a window of so many events (0: the default), and starts the loop. */
void api_open(struct api_fixture *f, size_t window_events);
void api_close(struct api_fixture *f);

/* Runs something on the loop, and waits until it has. */
void api_do(struct api_fixture *f, void (*run)(void *arg), void *arg);

/* Waits until the counter has this value; fails the test after a while. */
void api_wait_for(const _Atomic size_t *counter, size_t value);

/* Writes a light straight into the store, without a verb of src/api. Returns its revision. */
uint64_t api_put(struct api_fixture *f, const char *name, const char *spec);

#endif
