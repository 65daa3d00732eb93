/*
 * Where the values of a YAML document stand in its text.
 *
 * A side table from a value's address to a line and a column, so that a later
 * layer can point at the line when it finds a value wrong. It costs 32 bytes a
 * value and nothing when it is not asked for. `= {0}` is an empty table. One
 * owner at a time: finding sorts.
 */
#ifndef VD_JSON_YAML_POSITION_H
#define VD_JSON_YAML_POSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/vec.h"
#include "json/document.h"

struct vd_yaml_position {
    uint32_t line;   /* from 1 */
    uint32_t column; /* from 1, in characters */
};

struct vd_yaml_position_entry {
    const struct vd_json *value;
    const struct vd_json *same_as; /* NULL: `position` holds */
    struct vd_yaml_position position;
};

struct vd_yaml_positions {
    VD_VEC(struct vd_yaml_position_entry) entries;
    bool sorted; /* by address, no entry is newer */
};

void vd_yaml_positions_release(struct vd_yaml_positions *p);

/* Forgets the entries but keeps the memory. */
void vd_yaml_positions_clear(struct vd_yaml_positions *p);

/* `value`, which has no entry yet, stands at `position`. */
void vd_yaml_positions_add(struct vd_yaml_positions *p, const struct vd_json *value,
                           struct vd_yaml_position position);

/* `value`, which has no entry yet, is a copy of `original` and stands there. */
void vd_yaml_positions_add_copy(struct vd_yaml_positions *p, const struct vd_json *value,
                                const struct vd_json *original);

/* False if nothing is known of the value. Sorts after additions, then log n. */
bool vd_yaml_positions_find(struct vd_yaml_positions *p, const struct vd_json *value,
                            struct vd_yaml_position *out) VD_MUST_USE;

#endif
