/* Writers: each a thread that patches one object after the other as answers come. */
#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "load.h"

struct writer {
    pthread_t thread;
    unsigned index;
    struct writers *all;
    struct latency latency;
};

static void *write_on(void *arg)
{
    struct writer *w = arg;
    struct vd_buf path = {0}, body = {0}, request = {0};
    struct link l;
    link_open(&l, false);
    for (unsigned object = w->index; !atomic_load(&w->all->stop); object += load.writers) {
        uint64_t start_ns = load_now_ns();
        vd_buf_reset(&path);
        vd_buf_addf(&path, "%s/load-%u", load.path, object % load.objects);
        vd_buf_reset(&body);
        vd_buf_addf(&body, "{\"data\":{\"at\":\"%llu\"}}", (unsigned long long)start_ns);
        link_request_text(&request, "PATCH", vd_buf_text(&path), "application/merge-patch+json",
                          vd_buf_slice(&body));
        unsigned status = link_ask(&l, vd_buf_slice(&request), NULL, NULL);
        atomic_fetch_add(status == 200 ? &w->all->done : &w->all->failed, 1);
        if (status == 200)
            latency_add(&w->latency, load_now_ns() - start_ns);
        if (status == 0) {
            link_close(&l);
            link_open(&l, false);
        }
    }
    link_close(&l);
    vd_buf_release(&path);
    vd_buf_release(&body);
    vd_buf_release(&request);
    return NULL;
}

void writers_start(struct writers *w)
{
    w->each = vd_calloc(load.writers, sizeof *w->each);
    for (unsigned i = 0; i < load.writers; i++) {
        w->each[i].index = i;
        w->each[i].all = w;
        pthread_create(&w->each[i].thread, NULL, write_on, &w->each[i]);
    }
}

void writers_stop(struct writers *w, struct latency *latency)
{
    atomic_store(&w->stop, true);
    for (unsigned i = 0; i < load.writers; i++) {
        pthread_join(w->each[i].thread, NULL);
        latency_merge(latency, &w->each[i].latency);
    }
    free(w->each);
}
