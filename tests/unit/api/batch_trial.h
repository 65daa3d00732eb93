/* What tests of batches share: a batch with the memory of its members. */
#ifndef VD_TESTS_BATCH_TRIAL_H
#define VD_TESTS_BATCH_TRIAL_H

#include "api/batch.h"
#include "base/container_of.h"
#include "write_setting.h"

struct batch_trial {
    struct vd_write_batch b;
    VD_VEC(struct trial *) members;
    VD_VEC(struct vd_write *) writes;
    struct vd_task task;
    bool cancels; /* as soon as it was started */
};

#define NAMED(name) "{\"metadata\":{\"name\":\"" name "\"}}"

static inline void on_batch(struct vd_write_batch *b)
{
    (void)b;
    sem_post(&setting.done);
}

static inline struct trial *add(struct batch_trial *t, enum vd_write_verb verb,
                                const char *resource, const char *name, const char *document)
{
    struct trial *member = vd_calloc(1, sizeof *member);
    prepare(member, verb, resource, name, document);
    *VD_VEC_PUSH(&t->members) = member;
    *VD_VEC_PUSH(&t->writes) = &member->w;
    return member;
}

/* The same for a kind of any group. */
static inline struct trial *add_of(struct batch_trial *t, enum vd_write_verb verb,
                                   const char *group, const char *plural, const char *name,
                                   const char *document)
{
    struct trial *member = add(t, verb, "configmaps", name, document);
    member->w.kind = vd_kind_set_resource(setting.set, vd_slice_of(group), VD_SLICE("v1"),
                                          vd_slice_of(plural));
    assert_non_null(member->w.kind);
    return member;
}

static inline void run_batch(struct vd_task *task)
{
    struct batch_trial *t = VD_CONTAINER_OF(task, struct batch_trial, task);
    bool cancels = t->cancels; /* it may be released when it was started */
    vd_write_batch_start(&t->b);
    if (cancels)
        vd_write_batch_cancel(&t->b);
}

/* Starts it on the loop. */
static inline void start_batch(struct batch_trial *t)
{
    t->b.l = &setting.api;
    if (!t->b.done)
        t->b.done = on_batch;
    vd_write_batch_init(&t->b, t->writes.p, t->writes.n);
    t->task.run = run_batch;
    vd_loop_post(&setting.loop, &t->task);
}

static inline enum vd_batch_result perform_batch(struct batch_trial *t)
{
    start_batch(t);
    wait_for_done();
    return t->b.result;
}

static inline void release_batch(struct batch_trial *t)
{
    vd_write_batch_release(&t->b);
    for (size_t i = 0; i < t->members.n; i++) {
        release_trial(t->members.p[i]);
        free(t->members.p[i]);
    }
    VD_VEC_RELEASE(&t->members);
    VD_VEC_RELEASE(&t->writes);
    *t = (struct batch_trial){0};
}

#endif
