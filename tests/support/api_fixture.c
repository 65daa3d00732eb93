/* See api_fixture.h. */
#include "api_fixture.h"

#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/container_of.h"
#include "check.h"
#include "fixture.h"
#include "gatekeeper_fixture.h"
#include "kinds/uid.h"
#include "store/folder.h"
#include "widget_kinds.h"

enum { DEADLINE_S = 60 };

/* clang-format off */
const char LIGHT_YAML[] =
    CLUSTER_KIND_YAML("Light", "lights")
    "        properties:\n"
    "          spec:\n"
    "            type: object\n"
    "            properties: {color: {type: string}}\n"
    "          status:\n"
    "            type: object\n"
    "            properties: {phase: {type: string}}\n";
/* clang-format on */

void api_open(struct api_fixture *f, size_t window_events)
{
    struct vd_error error;
    *f = (struct api_fixture){0};
    assert_ok(vd_store_open_in(&f->store, NULL,
                               &(struct vd_store_options){.window_events_max = window_events},
                               &error),
              &error);
    f->env = (struct vd_api_env){.store = f->store,
                                 .kinds = vd_kinds_new(NULL),
                                 .clock = vd_clock_system(),
                                 .gatekeeper = gatekeeper_for_all("\"*\"")};
    put_kind(f->env.kinds, LIGHT_YAML, false);
    f->kinds = vd_kinds_snapshot(f->env.kinds);
    f->kind = vd_kind_set_resource(f->kinds, VD_SLICE("example.com"), VD_SLICE("v1"),
                                   VD_SLICE("lights"));
    f->user = vd_user_new(
        &(struct vd_identity){.name = VD_SLICE("tester"), .method = VD_AUTH_CERTIFICATE});
    assert_ok(vd_loop_init(&f->loop, 0, &error), &error);
    vd_api_loop_init(&f->api, &f->env, &f->loop);
    vd_api_loop_follow(&f->api);
    assert_ok(vd_loop_start(&f->loop, &error), &error);
}

void api_close(struct api_fixture *f)
{
    vd_loop_stop(&f->loop);
    vd_api_loop_release(&f->api);
    vd_loop_release(&f->loop);
    vd_user_unref(f->user);
    vd_gatekeeper_free(f->env.gatekeeper);
    vd_kind_set_unref(f->kinds);
    vd_kinds_free(f->env.kinds);
    vd_store_close(f->store);
}

struct job {
    struct vd_task task;
    void (*run)(void *arg);
    void *arg;
    sem_t done;
};

static void run_job(struct vd_task *task)
{
    struct job *job = VD_CONTAINER_OF(task, struct job, task);
    job->run(job->arg);
    sem_post(&job->done);
}

void api_do(struct api_fixture *f, void (*run)(void *arg), void *arg)
{
    struct job job = {.task.run = run_job, .run = run, .arg = arg};
    sem_init(&job.done, 0, 0);
    vd_loop_post(&f->loop, &job.task);
    while (sem_wait(&job.done) != 0)
        ;
    sem_destroy(&job.done);
}

void api_wait_for(const _Atomic size_t *counter, size_t value)
{
    uint64_t start_ns = vd_clock_mono_ns(vd_clock_system());
    while (atomic_load(counter) != value) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        if (vd_clock_mono_ns(vd_clock_system()) - start_ns > DEADLINE_S * UINT64_C(1000000000))
            fail_msg("waited for %zu, still %zu", value, atomic_load(counter));
    }
}

uint64_t api_put(struct api_fixture *f, const char *name, const char *spec)
{
    struct vd_buf text = {0};
    char uid[VD_UID_TEXT_MAX];
    struct vd_wish wish = {.key = {f->kind->resource, VD_SLICE(""), vd_slice_of(name)},
                           .uid = vd_uid_generate()};
    struct vd_outcome outcome;
    vd_buf_addf(&text,
                "{\"kind\":\"Light\",\"apiVersion\":\"example.com/v1\",\"metadata\":{\"name\":"
                "\"%s\",\"uid\":\"%.*s\",\"labels\":{\"name\":\"%s\"},\"resourceVersion\":\"",
                name, VD_FMT(vd_uid_format(wish.uid, uid)), name);
    size_t hole = text.n;
    vd_buf_addf(&text, "\"},\"spec\":{%s}}", spec);
    wish.body = (struct vd_template){vd_buf_slice(&text), (uint32_t)hole};
    assert_ok(vd_store_commit(f->store, &wish, 1, &outcome), &outcome.error);
    vd_buf_release(&text);
    return outcome.revision;
}
