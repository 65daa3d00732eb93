/* See watch_fixture.h. */
#include "watch_fixture.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

struct vd_event *test_event(const struct vd_collection *collection, const char *namespace,
                            const char *name, enum vd_event_type type, uint64_t revision,
                            const char *json)
{
    static const char mark[] = "\"resourceVersion\":\"";
    struct vd_entry *entry = vd_entry_new(collection, vd_slice_of(namespace), vd_slice_of(name));
    struct vd_body *body = NULL;
    if (json) {
        const char *at = strstr(json, mark);
        uint32_t hole = at ? (uint32_t)(at - json) + (uint32_t)sizeof mark - 1 : 0;
        body = vd_body_new((struct vd_template){vd_slice_of(json), hole}, revision);
    }
    struct vd_event *event = vd_event_new(entry, body);
    event->type = (uint8_t)type;
    event->revision = revision;
    event->damaged = !json;
    vd_entry_unref(entry);
    return event;
}

static struct vd_slice slice_or_empty(const char *text)
{
    return text ? vd_slice_of(text) : VD_SLICE("");
}

static void must(int code, const struct vd_error *error)
{
    if (code) {
        fprintf(stderr, "test set-up failed: %s\n", error->text);
        abort();
    }
}

struct vd_filter *test_filter(struct filter_texts texts)
{
    struct vd_error error;
    struct vd_filter_spec spec = {
        .resource = slice_or_empty(texts.resource),
        .namespace = slice_or_empty(texts.namespace),
        .name = slice_or_empty(texts.name),
    };
    if (texts.labels)
        must(vd_selector_parse(&spec.labels, vd_slice_of(texts.labels), &error), &error);
    if (texts.fields)
        must(vd_field_selector_parse(&spec.fields, vd_slice_of(texts.fields), &error), &error);
    struct vd_filter *filter = vd_filter_new(&spec);
    vd_selector_unref(spec.labels);
    vd_field_selector_unref(spec.fields);
    return filter;
}

uint64_t put_batch(struct vd_store *store, const struct test_change *changes, size_t n)
{
    struct vd_wish *wishes = vd_calloc(n, sizeof *wishes);
    struct vd_buf *rooms = vd_calloc(n, sizeof *rooms);
    struct vd_outcome outcome;
    for (size_t i = 0; i < n; i++) {
        const struct test_change *c = &changes[i];
        wishes[i].key = test_key(c->resource, c->namespace, c->name);
        wishes[i].action = c->value ? VD_PUT : VD_DELETE;
        if (c->value)
            wishes[i].body = test_body(&rooms[i], c->name, c->labels, c->value);
    }
    must(vd_store_commit(store, wishes, n, &outcome), &outcome.error);
    for (size_t i = 0; i < n; i++)
        vd_buf_release(&rooms[i]);
    free(rooms);
    free(wishes);
    return outcome.revision;
}

uint64_t body_revision(const struct vd_body *body)
{
    uint64_t revision;
    if (!body || !body->hole ||
        vd_slice_to_u64(vd_slice(body->bytes + body->hole, body->digits), &revision))
        return 0;
    return revision;
}

void delivery_add_text(struct vd_buf *out, const struct vd_delivery *d)
{
    char room[64];
    vd_buf_addf(out, "%c%llu", "+~-"[d->type], (unsigned long long)d -> event -> revision);
    if (d->body && body_revision(d->body) != d->event->revision)
        vd_buf_addf(out, "(%llu)", (unsigned long long)body_revision(d->body));
    vd_buf_addf(out, " %.*s=%s ", VD_FMT(vd_entry_path(d->event->entry)),
                d->body ? body_value(d->body, room) : "?");
}

void deliveries_add_text(struct vd_buf *out, const struct vd_deliveries *deliveries)
{
    for (size_t i = 0; i < deliveries->list.n; i++)
        delivery_add_text(out, &deliveries->list.p[i]);
}

void deliveries_add_bytes(struct vd_buf *out, const struct vd_deliveries *deliveries)
{
    for (size_t i = 0; i < deliveries->list.n; i++) {
        const struct vd_delivery *d = &deliveries->list.p[i];
        vd_buf_addf(out, "%s %llu %.*s %.*s ", vd_delivery_name(d->type),
                    (unsigned long long)d->event->revision,
                    VD_FMT(vd_entry_resource(d->event->entry)),
                    VD_FMT(vd_entry_path(d->event->entry)));
        vd_buf_add_slice(out, d->body ? vd_body_slice(d->body) : VD_SLICE("lost"));
        vd_buf_add_char(out, '\n');
    }
}
