/* What tests of writes share: a store in memory, a loop that runs, a user with all rights, and ways
 * to write and to wait for what becomes of it. There is no HTTP in it. */
#ifndef VD_TESTS_WRITE_SETTING_H
#define VD_TESTS_WRITE_SETTING_H

#include "check.h"

#include <semaphore.h>

#include "api/write.h"
#include "base/container_of.h"
#include "gatekeeper_fixture.h"
#include "json_check.h"
#include "kinds/builtin.h"
#include "kinds/object_meta.h"
#include "store/folder.h"
#include "widget_kinds.h"
#include "json/parse.h"

/* clang-format off */
static const char GADGET[] =
    "spec:\n"
    "  group: example.com\n"
    "  scope: Namespaced\n"
    "  names: {kind: Gadget, plural: gadgets}\n"
    "  versions:\n"
    "  - name: v1\n"
    "    served: true\n"
    "    storage: true\n"
    "    subresources: {status: {}}\n"
    "    schema:\n"
    "      openAPIV3Schema:\n"
    "        type: object\n"
    "        properties:\n"
    "          spec:\n"
    "            type: object\n"
    "            properties:\n"
    "              size: {type: integer, minimum: 1, default: 1}\n"
    "              color: {type: string, enum: [red, blue]}\n"
    "          status: {type: object, properties: {ready: {type: boolean}}}\n";
/* clang-format on */

static struct {
    struct vd_store *store;
    struct vd_kinds *kinds;
    struct vd_kind_set *set;
    struct vd_loop loop;
    struct vd_api_env env;
    struct vd_api_loop api;
    struct vd_user *user;
    sem_t done;
} setting;

/* A write, with the memory that it needs. */
struct trial {
    struct vd_write w;
    struct vd_arena arena;
    struct vd_task task;
};

static inline void wait_for_done(void)
{
    while (sem_wait(&setting.done) != 0) {
    }
}

static inline void on_written(struct vd_write *w)
{
    (void)w;
    sem_post(&setting.done);
}

static const struct vd_write_ops plain_ops = {.done = on_written};

/* Fills in a write. The resource is "gadgets", "configmaps" or "namespaces". */
static inline void prepare(struct trial *t, enum vd_write_verb verb, const char *resource,
                           const char *name, const char *document)
{
    bool custom = strcmp(resource, "gadgets") == 0;
    *t = (struct trial){0};
    t->w = (struct vd_write){
        .l = &setting.api,
        .ops = &plain_ops,
        .arena = &t->arena,
        .user = setting.user,
        .kinds = setting.set,
        .kind = vd_kind_set_resource(setting.set, custom ? VD_SLICE("example.com") : VD_SLICE(""),
                                     VD_SLICE("v1"), vd_slice_of(resource)),
        .verb = verb,
        .namespace = VD_SLICE("room"),
        .name = vd_slice_of(name),
        .document = document ? json_of(&t->arena, document) : NULL,
        .manager = VD_SLICE("tester"),
    };
    assert_non_null(t->w.kind);
}

static inline void run_trial(struct vd_task *task)
{
    vd_write_start(&VD_CONTAINER_OF(task, struct trial, task)->w);
}

/* Starts it on the loop, and waits until it is done. */
static inline enum vd_write_result perform(struct trial *t)
{
    t->task.run = run_trial;
    vd_loop_post(&setting.loop, &t->task);
    wait_for_done();
    return t->w.result;
}

static inline void release_trial(struct trial *t)
{
    vd_write_release(&t->w);
    vd_buf_release(&t->w.body);
    vd_arena_release(&t->arena);
}

static inline const char *result_name(enum vd_write_result result)
{
    static const char *const names[] = {
        [VD_WRITE_REFUSED] = "refused",  [VD_WRITE_CREATED] = "created",
        [VD_WRITE_UPDATED] = "updated",  [VD_WRITE_UNCHANGED] = "unchanged",
        [VD_WRITE_MARKED] = "marked",    [VD_WRITE_DELETED] = "deleted",
        [VD_WRITE_ABSENT] = "absent",    [VD_WRITE_CANCELLED] = "cancelled",
        [VD_WRITE_WITHHELD] = "withheld"};
    return names[result];
}

/* It must come to this. */
static inline void expect(struct trial *t, enum vd_write_result result)
{
    if (t->w.result != result)
        fail_msg("%s and not %s: reason %d, %.*s", result_name(t->w.result), result_name(result),
                 (int)t->w.refusal.reason, VD_FMT(t->w.refusal.text));
}

static inline void expect_refusal(struct trial *t, enum vd_refusal_reason reason)
{
    expect(t, VD_WRITE_REFUSED);
    assert_int_equal(t->w.refusal.reason, reason);
}

/* Writes and comes to this; the revision. */
static inline uint64_t write_it(enum vd_write_verb verb, const char *resource, const char *name,
                                const char *document, enum vd_write_result result)
{
    struct trial t;
    prepare(&t, verb, resource, name, document);
    perform(&t);
    expect(&t, result);
    uint64_t revision = t.w.revision;
    release_trial(&t);
    return revision;
}

static inline struct vd_key key_of(const char *resource, const char *name)
{
    bool namespace = strcmp(resource, "namespaces") != 0;
    return (struct vd_key){strcmp(resource, "gadgets") == 0 ? VD_SLICE("gadgets.example.com")
                                                            : vd_slice_of(resource),
                           namespace ? VD_SLICE("room") : VD_SLICE(""), vd_slice_of(name)};
}

/* The stored object, or NULL. */
static inline struct vd_json *stored(struct vd_arena *a, const char *resource, const char *name)
{
    struct vd_key key = key_of(resource, name);
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    struct vd_error error;
    if (vd_store_get(setting.store, &key, 0, &event, NULL))
        return NULL;
    assert_ok(vd_json_parse_copy(a, vd_body_slice(event->body), NULL, &object, &error), &error);
    vd_event_unref(event);
    return object;
}

/* A patch: spec.size becomes one more. */
static inline bool count_up(struct vd_write *w, const struct vd_json *old, struct vd_json **out)
{
    int64_t size = 0;
    *out = vd_write_pruned_copy(w, old);
    struct vd_json *spec = vd_json_get(*out, VD_SLICE("spec"));
    if (!vd_json_to_i64(vd_json_get(spec, VD_SLICE("size")), &size))
        return false;
    vd_json_set(w->arena, spec, VD_SLICE("size"), vd_json_i64(w->arena, size + 1));
    vd_meta_set_resource_version(w->arena, *out, VD_SLICE(""));
    return true;
}

/* Opens all of it on this store, which belongs to the setting then. */
static inline int open_setting_on(void **state, struct vd_store *store)
{
    struct vd_error error;
    setting.store = store;
    setting.kinds = vd_kinds_new_builtin();
    put_kind(setting.kinds, GADGET, false);
    setting.set = vd_kinds_snapshot(setting.kinds);
    setting.env = (struct vd_api_env){.store = setting.store,
                                      .kinds = setting.kinds,
                                      .clock = vd_clock_system(),
                                      .gatekeeper = gatekeeper_for_all("\"*\"")};
    setting.user = vd_user_new(
        &(struct vd_identity){.name = VD_SLICE("tester"), .method = VD_AUTH_CERTIFICATE});
    sem_init(&setting.done, 0, 0);
    assert_ok(vd_loop_init(&setting.loop, 0, &error), &error);
    vd_api_loop_init(&setting.api, &setting.env, &setting.loop);
    assert_ok(vd_loop_start(&setting.loop, &error), &error);
    write_it(VD_WRITE_CREATE, "namespaces", "", "{\"metadata\":{\"name\":\"room\"}}",
             VD_WRITE_CREATED);
    return arena_setup(state);
}

static inline int open_setting(void **state)
{
    struct vd_store *store = NULL;
    struct vd_error error;
    assert_ok(vd_store_open_in(&store, NULL, NULL, &error), &error);
    return open_setting_on(state, store);
}

static inline int close_setting(void **state)
{
    arena_teardown(state);
    vd_loop_stop(&setting.loop);
    vd_api_loop_release(&setting.api);
    vd_loop_release(&setting.loop);
    vd_user_unref(setting.user);
    vd_gatekeeper_free(setting.env.gatekeeper);
    vd_kind_set_unref(setting.set);
    vd_kinds_free(setting.kinds);
    vd_store_close(setting.store);
    sem_destroy(&setting.done);
    return 0;
}

#define write_test(f) cmocka_unit_test_setup_teardown(f, open_setting, close_setting)

#endif
