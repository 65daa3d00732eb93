/* See row.h. */
#include "store/row.h"

struct vd_event *vd_event_from_row(struct vd_entry *entry, const struct vd_row *row)
{
    bool has_body = !row->damaged && row->type != VD_EVENT_DELETED;
    struct vd_event *event = vd_event_new(entry,
                                          has_body ? vd_body_new(row->body, row->revision) : NULL);
    event->type = (uint8_t)row->type;
    event->more = row->more;
    event->damaged = row->damaged;
    event->revision = row->revision;
    event->previous = row->previous;
    event->time_ms = row->time_ms;
    event->uid = row->uid;
    return event;
}

void vd_event_set_deleted(struct vd_event *deletion, const struct vd_event *last)
{
    deletion->damaged = last->damaged;
    if (last->body)
        deletion->body = vd_body_restamp(last->body, deletion->revision);
}
