/* Writes as the Git pipeline makes them: in the process, since nothing that a client sends makes
 * somebody the pipeline. After face_check.h. */
#ifndef VD_TESTS_GIT_AUTHOR_H
#define VD_TESTS_GIT_AUTHOR_H

#include <semaphore.h>

#include "base/container_of.h"
#include "json_check.h"

struct git_write {
    struct vd_task task;
    struct vd_write w;
    struct vd_arena arena;
    sem_t done;
};

static inline void start_git_write(struct vd_task *task)
{
    vd_write_start(&VD_CONTAINER_OF(task, struct git_write, task)->w);
}

static inline void on_git_written(struct vd_write *w)
{
    sem_post(&VD_CONTAINER_OF(w, struct git_write, w)->done);
}

/* Replaces the object in the namespace "room", or creates it; without a document, it is deleted. */
static inline void write_as_git(struct vd_slice group, struct vd_slice version, const char *plural,
                                const char *name, const char *document, enum vd_write_result result)
{
    static const struct vd_write_ops ops = {.done = on_git_written};
    struct git_write g = {.task.run = start_git_write};
    struct vd_kind_set *kinds = vd_kinds_snapshot(face.env.kinds);
    g.w = (struct vd_write){
        .l = &face.api_loop,
        .ops = &ops,
        .arena = &g.arena,
        .user = face.user,
        .author = VD_AUTHOR_GIT,
        .kinds = kinds,
        .kind = vd_kind_set_resource(kinds, group, version, vd_slice_of(plural)),
        .verb = document ? VD_WRITE_REPLACE : VD_WRITE_DELETE,
        .namespace = VD_SLICE("room"),
        .name = vd_slice_of(name),
        .document = document ? json_of(&g.arena, document) : NULL,
        .manager = VD_SLICE("vedette-git"),
    };
    assert_non_null(g.w.kind);
    sem_init(&g.done, 0, 0);
    vd_loop_post(&face.server.loops[0], &g.task);
    while (sem_wait(&g.done) != 0) {
    }
    if (g.w.result != result)
        fail_msg("%s/%s: result %d, wanted %d: %.*s", plural, name, (int)g.w.result, (int)result,
                 VD_FMT(g.w.refusal.text));
    sem_destroy(&g.done);
    vd_write_release(&g.w);
    vd_buf_release(&g.w.body);
    vd_arena_release(&g.arena);
    vd_kind_set_unref(kinds);
}

#endif
