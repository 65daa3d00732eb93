/* See fixture.h. */
#include "fixture.h"

#include <assert.h>
#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"

char *temp_folder_new(void)
{
    struct vd_buf path = {0};
    const char *base = getenv("TMPDIR");
    vd_buf_addf(&path, "%s/vedette-test-XXXXXX", base && *base ? base : "/tmp");
    char *folder = vd_buf_take(&path, NULL);
    if (!mkdtemp(folder))
        abort();
    return folder;
}

static int remove_one(const char *path, const struct stat *s, int flag, struct FTW *ftw)
{
    (void)s;
    (void)flag;
    (void)ftw;
    return remove(path);
}

void temp_folder_remove(char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

static int64_t held_wall_ms(const struct vd_clock *clock)
{
    return atomic_load(&((const struct test_clock *)clock)->wall_ms);
}

static uint64_t held_mono_ns(const struct vd_clock *clock)
{
    return atomic_load(&((const struct test_clock *)clock)->mono_ns);
}

void test_clock_init(struct test_clock *clock, int64_t wall_ms)
{
    clock->clock = (struct vd_clock){.wall_ms = held_wall_ms, .mono_ns = held_mono_ns};
    atomic_init(&clock->wall_ms, wall_ms);
    atomic_init(&clock->mono_ns, 1);
}

void test_clock_advance_ms(struct test_clock *clock, int64_t ms)
{
    atomic_fetch_add(&clock->wall_ms, ms);
    atomic_fetch_add(&clock->mono_ns, (uint64_t)ms * 1000000u);
}

struct vd_template test_body(struct vd_buf *room, const char *name, const char *labels,
                             const char *value)
{
    vd_buf_reset(room);
    vd_buf_addf(room, "{\"metadata\":{\"name\":\"%s\"", name);
    if (labels)
        vd_buf_addf(room, ",\"labels\":{%s}", labels);
    vd_buf_add_text(room, ",\"resourceVersion\":\"");
    uint32_t hole = (uint32_t)room->n;
    vd_buf_addf(room, "\"},\"value\":\"%s\"}", value);
    return (struct vd_template){vd_buf_slice(room), hole};
}

struct vd_key test_key(const char *resource, const char *namespace, const char *name)
{
    return (struct vd_key){vd_slice_of(resource), vd_slice_of(namespace), vd_slice_of(name)};
}

int test_put(struct vd_store *store, const char *resource, const char *namespace, const char *name,
             const char *labels, const char *value, struct vd_outcome *outcome)
{
    struct vd_buf room = {0};
    struct vd_outcome own;
    struct vd_wish wish = {.action = VD_PUT,
                           .key = test_key(resource, namespace, name),
                           .body = test_body(&room, name, labels, value)};
    int code = vd_store_commit(store, &wish, 1, outcome ? outcome : &own);
    vd_buf_release(&room);
    return code;
}

int test_delete(struct vd_store *store, const char *resource, const char *namespace,
                const char *name, struct vd_outcome *outcome)
{
    struct vd_outcome own;
    struct vd_wish wish = {.action = VD_DELETE, .key = test_key(resource, namespace, name)};
    return vd_store_commit(store, &wish, 1, outcome ? outcome : &own);
}

/* The revision of a write that must succeed. If it has failed, the test ends with the reason. */
static uint64_t revision_of(int code, const struct vd_outcome *outcome)
{
    if (code) {
        fprintf(stderr, "test write failed: %s\n", outcome->error.text);
        abort();
    }
    return outcome->revision;
}

uint64_t put(struct vd_store *store, const char *resource, const char *namespace, const char *name,
             const char *value)
{
    return put_labelled(store, resource, namespace, name, NULL, value);
}

uint64_t put_labelled(struct vd_store *store, const char *resource, const char *namespace,
                      const char *name, const char *labels, const char *value)
{
    struct vd_outcome outcome;
    int code = test_put(store, resource, namespace, name, labels, value, &outcome);
    return revision_of(code, &outcome);
}

uint64_t del(struct vd_store *store, const char *resource, const char *namespace, const char *name)
{
    struct vd_outcome outcome;
    int code = test_delete(store, resource, namespace, name, &outcome);
    return revision_of(code, &outcome);
}

const char *body_value(const struct vd_body *body, char room[64])
{
    static const char mark[] = "\"value\":\"";
    room[0] = 0;
    const char *at = body ? memmem(body->bytes, body->len, mark, sizeof mark - 1) : NULL;
    if (!at)
        return room;
    at += sizeof mark - 1;
    const char *end = memchr(at, '"', (size_t)(body->bytes + body->len - at));
    size_t n = end ? (size_t)(end - at) : 0;
    assert(n < 64);
    memcpy(room, at, n);
    room[n] = 0;
    return room;
}
