/*
 * The registry: what one event costs when 10 watchers match, and that this does not depend on the
 * number of other watchers.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "measure.h"
#include "watch/registry.h"

enum { MATCHING = 10, EVENTS = 2000 };

static size_t delivered;

static enum vd_take deliver(struct vd_watcher *watcher, const struct vd_deliveries *deliveries,
                            struct vd_shared **shared)
{
    (void)watcher;
    (void)shared;
    delivered += deliveries->list.n;
    return VD_TAKE_MORE;
}

static void ended(struct vd_watcher *watcher, const struct vd_error *error)
{
    (void)watcher;
    fprintf(stderr, "bench: a watcher ended: %s\n", error->text);
    exit(2);
}

static void wake(void *arg)
{
    (void)arg;
}

static const struct vd_watcher_ops ops = {.deliver = deliver, .ended = ended};

static void add(struct vd_registry *registry, struct vd_store *store, struct vd_watcher *watcher,
                const char *namespace, const char *name)
{
    struct vd_filter_spec spec = {.resource = VD_SLICE("things"),
                                  .namespace = vd_slice_of(namespace),
                                  .name = vd_slice_of(name)};
    struct vd_filter *filter = vd_filter_new(&spec);
    vd_cursor_open_now(&watcher->cursor, store, filter);
    watcher->ops = &ops;
    vd_registry_add(registry, watcher);
    vd_filter_unref(filter);
}

/* Nanoseconds of the loop's turn for one event, with this many watchers. */
static double cost(size_t watchers)
{
    struct vd_store *store = measure_open(NULL, NULL);
    struct vd_registry *registry = vd_registry_new(store, wake, NULL);
    struct vd_watcher *all = vd_calloc(watchers, sizeof *all);
    for (size_t i = 0; i < watchers; i++) {
        char namespace[24], name[24];
        snprintf(namespace, sizeof namespace, "ns-%zu", i % 1000);
        snprintf(name, sizeof name, "other-%zu", i);
        add(registry, store, &all[i], i < MATCHING ? "default" : namespace,
            i < MATCHING ? "o" : name);
    }
    struct vd_buf room = {0};
    double spent = 0;
    delivered = 0;
    for (uint64_t i = 0; i < EVENTS; i++) {
        struct vd_outcome outcome;
        struct vd_wish wish = {.key = {VD_SLICE("things"), VD_SLICE("default"), VD_SLICE("o")},
                               .body = measure_body(&room, "o", i, 1024)};
        if (vd_store_commit(store, &wish, 1, &outcome))
            exit(2);
        double start = measure_now_s();
        vd_registry_turn(registry, 1000);
        spent += measure_now_s() - start;
    }
    if (delivered != (size_t)EVENTS * MATCHING)
        exit(2);
    for (size_t i = 0; i < watchers; i++) {
        vd_registry_remove(&all[i]);
        vd_cursor_close(&all[i].cursor);
    }
    vd_buf_release(&room);
    vd_registry_free(registry);
    vd_store_close(store);
    free(all);
    return spent / EVENTS * 1e9;
}

int main(void)
{
    printf("one event, %d matching watchers\n", MATCHING);
    cost(MATCHING); /* warm up */
    double few = cost(MATCHING), many = cost(100000);
    measure_print("among 10 watchers", few, "ns", "");
    measure_print("among 1,000", cost(1000), "ns", "");
    /* With more watchers there are more cache misses, but the look-ups are the same. */
    measure_target("among 100,000", many, "ns", many < 3 * few, "independent of the 100,000");
    return 0;
}
