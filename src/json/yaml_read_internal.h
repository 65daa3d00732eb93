/*
 * The inside of a YAML reader, for yaml_read.c and yaml_node.c only.
 *
 * Errors are made in r->error without a place; vd_yaml_fail puts the line, the
 * column and the path in front, once, where the place is known.
 */
#ifndef VD_JSON_YAML_READ_INTERNAL_H
#define VD_JSON_YAML_READ_INTERNAL_H

#include <yaml.h>

#include "base/buf.h"
#include "base/vec.h"
#include "json/yaml_anchor.h"
#include "json/yaml_read.h"

/* A member of a map that is still open. */
struct vd_yaml_member {
    struct vd_slice key;
    struct vd_json *value; /* its own, or, if merged, the one to copy */
    struct vd_yaml_position position, value_at;
    bool merged;
    bool dropped; /* another member with this key wins */
};

/* One open container: the way from the root to here, for messages. */
struct vd_yaml_frame {
    const struct vd_yaml_frame *up;
    struct vd_slice key; /* of the member being read; p is NULL between two */
    size_t index;        /* of the element being read */
    bool in_map;
};

struct vd_yaml_reader {
    struct vd_slice text;
    struct vd_yaml_options options;
    yaml_parser_t parser;
    bool started;
    bool ended;
    struct vd_error error; /* set once reading has failed */
    struct vd_yaml_position failed_at;

    /* The rest is of the document being read. */
    struct vd_arena *arena;
    struct vd_yaml_anchors anchors;
    VD_VEC(struct vd_yaml_member) members;  /* of all open maps, outermost first */
    VD_VEC(struct vd_yaml_member *) sorted; /* of the map that is closing */
    const struct vd_yaml_frame *frame;
    struct vd_yaml_positions positions;
    size_t nodes;
    size_t bytes;
    size_t duplicates; /* reported */
    size_t flow;       /* brackets, [ and {, that are open */
    size_t flow_work;  /* the sum of `flow` over the values written */
};

struct vd_yaml_position vd_yaml_mark(const struct vd_yaml_reader *r, yaml_mark_t mark);

/* The path of what is being read, cut at its beginning if it is long. */
void vd_yaml_path(const struct vd_yaml_reader *r, struct vd_buf *out);

/* Puts the place and the path in front of r->error and gives its code. */
int vd_yaml_fail(struct vd_yaml_reader *r, struct vd_yaml_position at) VD_MUST_USE;

/* The next event, to be deleted by the caller. */
int vd_yaml_next_event(struct vd_yaml_reader *r, yaml_event_t *event) VD_MUST_USE;

/* So many more values, or candidates for one, and bytes of text. */
int vd_yaml_charge(struct vd_yaml_reader *r, struct vd_yaml_position at, size_t nodes,
                   size_t bytes) VD_MUST_USE;

/* Reads the value of the node that the event begins, inside `depth` containers. */
int vd_yaml_node_read(struct vd_yaml_reader *r, const yaml_event_t *event, size_t depth,
                      struct vd_json **out) VD_MUST_USE;

#endif
