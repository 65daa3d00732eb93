/* See repository_status.h. */
#include "git/repository_status.h"

#include "base/clock.h"

static struct vd_json *member_of(struct vd_arena *arena, struct vd_json *object,
                                 struct vd_slice key, bool is_array)
{
    struct vd_json *value = vd_json_get(object, key);
    if (vd_json_is(value, is_array ? VD_JSON_ARRAY : VD_JSON_OBJECT))
        return value;
    value = is_array ? vd_json_array(arena) : vd_json_object(arena);
    vd_json_set(arena, object, key, value);
    return value;
}

static struct vd_json *find_branch(const struct vd_json *branches, struct vd_slice name)
{
    VD_JSON_EACH (item, branches)
        if (vd_slice_eq(vd_json_text(vd_json_get(item, VD_SLICE("name"))), name))
            return item;
    return NULL;
}

static void set_text(struct vd_arena *arena, struct vd_json *object, const char *key,
                     struct vd_slice text)
{
    vd_json_set(arena, object, vd_slice_of(key), vd_json_string(arena, text));
}

bool vd_repository_status_is_as_before(const struct vd_json *repository,
                                       const struct vd_admitted_push *push)
{
    const struct vd_json *branches = vd_json_dig(repository, "status", "branches", NULL);
    for (size_t i = 0; i < push->branches_n; i++) {
        const struct vd_json *item = find_branch(branches, push->branches[i].name);
        struct vd_slice commit = vd_json_text(vd_json_get(item, VD_SLICE("commit")));
        if (!vd_slice_eq(commit, push->branches[i].before))
            return false;
    }
    return true;
}

static void record_branch(struct vd_arena *arena, struct vd_json *branches,
                          const struct vd_admitted_branch *branch)
{
    struct vd_json *item = find_branch(branches, branch->name);
    if (!item) {
        item = vd_json_object(arena);
        set_text(arena, item, "name", branch->name);
        vd_json_append(branches, item);
    }
    set_text(arena, item, "commit", branch->after);
}

static void record_counts(struct vd_arena *arena, struct vd_json *status, struct vd_json *last,
                          const struct vd_admitted_push *push)
{
    uint64_t resources;
    if (!vd_json_to_u64(vd_json_get(status, VD_SLICE("resources")), &resources))
        resources = 0;
    resources += push->created + push->adopted;
    resources -= push->deleted < resources ? push->deleted : resources;
    if (push->is_whole)
        resources = push->resources;
    vd_json_set(arena, status, VD_SLICE("resources"), vd_json_u64(arena, resources));
    vd_json_set(arena, last, VD_SLICE("created"), vd_json_u64(arena, push->created));
    vd_json_set(arena, last, VD_SLICE("updated"), vd_json_u64(arena, push->updated));
    vd_json_set(arena, last, VD_SLICE("deleted"), vd_json_u64(arena, push->deleted));
    vd_json_set(arena, last, VD_SLICE("unchanged"), vd_json_u64(arena, push->unchanged));
}

void vd_repository_status_admit(struct vd_arena *arena, struct vd_json *repository,
                                const struct vd_admitted_push *push)
{
    char time[VD_TIME_TEXT_MAX];
    struct vd_json *status = member_of(arena, repository, VD_SLICE("status"), false);
    struct vd_json *branches = member_of(arena, status, VD_SLICE("branches"), true);
    struct vd_json *last = vd_json_object(arena);
    for (size_t i = 0; i < push->branches_n; i++)
        record_branch(arena, branches, &push->branches[i]);
    if (push->branches_n) {
        set_text(arena, last, "branch", push->branches[0].name);
        set_text(arena, last, "commit", push->branches[0].after);
    }
    set_text(arena, last, "user", push->user);
    set_text(arena, last, "time", vd_time_format(push->wall_ms, time));
    record_counts(arena, status, last, push);
    vd_json_set(arena, status, VD_SLICE("lastAdmission"), last);
    vd_json_remove(status, VD_SLICE("lastError"));
    if (push->reset.n)
        set_text(arena, status, "lastReset", push->reset);
}

void vd_repository_status_settle(struct vd_arena *arena, struct vd_json *repository,
                                 uint64_t revision_first, uint64_t revision_last)
{
    char digits[20];
    struct vd_json *status = member_of(arena, repository, VD_SLICE("status"), false);
    struct vd_json *last = member_of(arena, status, VD_SLICE("lastAdmission"), false);
    struct vd_json *branches = member_of(arena, status, VD_SLICE("branches"), true);
    if (revision_first) {
        set_text(arena, last, "firstResourceVersion",
                 vd_slice(digits, vd_u64_digits(revision_first, digits)));
        set_text(arena, last, "lastResourceVersion",
                 vd_slice(digits, vd_u64_digits(revision_last, digits)));
    }
    for (size_t i = vd_json_count(branches); i > 0; i--) {
        const struct vd_json *commit = vd_json_get(vd_json_at(branches, i - 1), VD_SLICE("commit"));
        if (vd_json_is(commit, VD_JSON_STRING) && !vd_json_text(commit).n)
            vd_json_remove_at(branches, i - 1);
    }
}
