/* The objects that are written to and listed: load-0, load-1... */
#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "load.h"

enum { MAKERS = 16 }; /* threads that create objects, and so share the syncs */

static void create(struct link *l, unsigned i, struct vd_slice pad)
{
    struct vd_buf body = {0}, request = {0};
    vd_buf_addf(&body,
                "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"load-%u\","
                "\"labels\":{\"app\":\"load\"}},\"data\":{\"at\":\"0\",\"pad\":\"%.*s\"}}",
                load.api_version, load.kind, i, VD_FMT(pad));
    link_request_text(&request, "POST", load.path, "application/json", vd_buf_slice(&body));
    unsigned status = link_ask(l, vd_buf_slice(&request), NULL, NULL);
    if (status != 201 && status != 409) /* another run may have made it */
        load_die("creating load-%u was answered with %u", i, status);
    vd_buf_release(&body);
    vd_buf_release(&request);
}

static void *make(void *arg)
{
    struct vd_buf pad = {0};
    struct link l;
    link_open(&l, false);
    for (unsigned i = 0; i < load.size; i++)
        vd_buf_add_char(&pad, 'x');
    for (unsigned i = (unsigned)(uintptr_t)arg; i < load.objects; i += MAKERS)
        create(&l, i, vd_buf_slice(&pad));
    vd_buf_release(&pad);
    link_close(&l);
    return NULL;
}

void objects_create(void)
{
    pthread_t makers[MAKERS];
    for (uintptr_t i = 0; i < MAKERS; i++)
        pthread_create(&makers[i], NULL, make, (void *)i);
    for (unsigned i = 0; i < MAKERS; i++)
        pthread_join(makers[i], NULL);
}

static void keep(void *arg, struct vd_slice part)
{
    vd_buf_add_slice(arg, part);
}

/* A list's own resourceVersion is at least that of each object in it, so it is the greatest one in
 * the answer. */
uint64_t objects_revision(void)
{
    static const char member[] = "\"resourceVersion\":\"";
    struct vd_buf path = {0}, request = {0}, list = {0};
    struct link l;
    link_open(&l, false);
    vd_buf_addf(&path, "%s?limit=1", load.path);
    link_request_text(&request, "GET", vd_buf_text(&path), NULL, VD_SLICE(""));
    unsigned status = link_ask(&l, vd_buf_slice(&request), keep, &list);
    if (status != 200)
        load_die("the list was answered with %u", status);
    uint64_t revision = 0;
    for (const char *at = vd_buf_text(&list); (at = strstr(at, member));) {
        at += sizeof member - 1;
        uint64_t found = strtoull(at, NULL, 10);
        if (found > revision)
            revision = found;
    }
    link_close(&l);
    vd_buf_release(&path);
    vd_buf_release(&request);
    vd_buf_release(&list);
    return revision;
}
