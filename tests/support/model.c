/* See model.h. */
#include "model.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"

void model_init(struct model *m, uint64_t first)
{
    *m = (struct model){.first = first};
}

void model_release(struct model *m)
{
    VD_VEC_RELEASE(&m->versions);
}

uint64_t model_newest(const struct model *m)
{
    return m->versions.n ? m->versions.p[m->versions.n - 1].revision : m->first;
}

uint64_t model_batch_end(const struct model *m, uint64_t revision)
{
    for (size_t i = 0; i < m->versions.n; i++) {
        const struct model_version *v = &m->versions.p[i];
        if (v->more && v->revision <= revision && v[1].revision > revision)
            revision = v[1].revision;
    }
    return revision;
}

/* The newest version up to a revision, deletions too. */
static const struct model_version *last_version(const struct model *m, const char *resource,
                                                const char *path, uint64_t revision)
{
    for (size_t i = m->versions.n; i-- > 0;) {
        const struct model_version *v = &m->versions.p[i];
        if (v->revision <= revision && strcmp(v->resource, resource) == 0 &&
            strcmp(v->path, path) == 0)
            return v;
    }
    return NULL;
}

const struct model_version *model_at(const struct model *m, const char *resource, const char *path,
                                     uint64_t revision)
{
    const struct model_version *v = last_version(m, resource, path, revision);
    return v && v->type != VD_EVENT_DELETED ? v : NULL;
}

void model_add(struct model *m, uint64_t revision, const char *resource, const char *path,
               const char *value, bool more)
{
    const struct model_version *before = model_at(m, resource, path, UINT64_MAX);
    struct model_version v = {.revision = revision, .more = more};
    assert(value || before);
    v.type = !value ? VD_EVENT_DELETED : before ? VD_EVENT_UPDATED : VD_EVENT_CREATED;
    snprintf(v.resource, sizeof v.resource, "%s", resource);
    snprintf(v.path, sizeof v.path, "%s", path);
    snprintf(v.value, sizeof v.value, "%s", value ? value : before->value);
    *VD_VEC_PUSH(&m->versions) = v;
}

void model_compact(struct model *m, uint64_t target)
{
    uint64_t newest = model_newest(m);
    for (size_t i = 0; i < m->versions.n; i++) {
        const struct model_version *v = &m->versions.p[i];
        if (!v->more && v->revision <= target && v->revision < newest && v->revision > m->floor)
            m->floor = v->revision;
    }
}

size_t model_list(const struct model *m, const char *resource, const char *prefix,
                  const char *after, uint64_t revision, struct vd_buf *out)
{
    size_t n = 0;
    const char *last = after;
    for (;;) { /* finds the smallest path after the last one, again and again */
        const struct model_version *next = NULL;
        for (size_t i = 0; i < m->versions.n; i++) {
            const struct model_version *v = &m->versions.p[i];
            if (v->revision <= revision && strcmp(v->resource, resource) == 0 &&
                strcmp(v->path, last) > 0 && strncmp(v->path, prefix, strlen(prefix)) == 0 &&
                (!next || strcmp(v->path, next->path) < 0))
                next = v;
        }
        if (!next)
            return n;
        last = next->path;
        const struct model_version *v = model_at(m, resource, last, revision);
        if (!v)
            continue;
        n++;
        vd_buf_addf(out, "%s=%s@%llu ", v->path, v->value, (unsigned long long)v->revision);
    }
}

void model_log(const struct model *m, const char *resource, uint64_t after, uint64_t upto,
               struct vd_buf *out)
{
    for (size_t i = 0; i < m->versions.n; i++) {
        const struct model_version *v = &m->versions.p[i];
        if (v->revision <= after || v->revision > upto ||
            (*resource && strcmp(v->resource, resource) != 0))
            continue;
        const struct model_version *before = model_at(m, v->resource, v->path, v->revision - 1);
        vd_buf_addf(out, "%llu:%d:%s=%s<%s ", (unsigned long long)v->revision, v->type, v->path,
                    v->value, before ? before->value : "-");
    }
}

static const char *mark(const struct vd_event *event)
{
    char digits[64];
    int n = snprintf(digits, sizeof digits, "\"resourceVersion\":\"%llu\"",
                     (unsigned long long)event->revision);
    bool stamped = event->body && memmem(event->body->bytes, event->body->len, digits, (size_t)n);
    return stamped ? "" : "!";
}

void model_show_object(struct vd_buf *out, const struct vd_event *event)
{
    char room[64];
    vd_buf_addf(out, "%.*s=%s@%llu%s ", VD_FMT(vd_entry_path(event->entry)),
                body_value(event->body, room), (unsigned long long)event->revision, mark(event));
}

void model_show_change(struct vd_buf *out, const struct vd_change *change)
{
    char now[64], before[64];
    const struct vd_event *event = change->now;
    vd_buf_addf(out, "%llu:%d:%.*s=%s%s", (unsigned long long)event->revision, event->type,
                VD_FMT(vd_entry_path(event->entry)), body_value(event->body, now), mark(event));
    vd_buf_addf(out, "<%s%s ", change->before ? body_value(change->before->body, before) : "-",
                change->before ? mark(change->before) : "");
}
