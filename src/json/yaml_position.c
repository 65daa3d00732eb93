/*
 * See yaml_position.h.
 *
 * Entries are appended while a document is read and sorted by address at the
 * first question, because most documents are right and nobody asks. A sorted
 * array needs no hash, so nobody can choose collisions.
 */
#include "json/yaml_position.h"

#include <assert.h>
#include <stdlib.h>

void vd_yaml_positions_release(struct vd_yaml_positions *p)
{
    VD_VEC_RELEASE(&p->entries);
    p->sorted = false;
}

void vd_yaml_positions_clear(struct vd_yaml_positions *p)
{
    p->entries.n = 0;
    p->sorted = false;
}

void vd_yaml_positions_add(struct vd_yaml_positions *p, const struct vd_json *value,
                           struct vd_yaml_position position)
{
    *VD_VEC_PUSH(&p->entries) = (struct vd_yaml_position_entry){.value = value,
                                                                .position = position};
    p->sorted = false;
}

void vd_yaml_positions_add_copy(struct vd_yaml_positions *p, const struct vd_json *value,
                                const struct vd_json *original)
{
    assert(value != original);
    *VD_VEC_PUSH(&p->entries) = (struct vd_yaml_position_entry){.value = value,
                                                                .same_as = original};
    p->sorted = false;
}

static int entry_cmp(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct vd_yaml_position_entry *)a)->value;
    uintptr_t y = (uintptr_t)((const struct vd_yaml_position_entry *)b)->value;
    return (x > y) - (x < y);
}

bool vd_yaml_positions_find(struct vd_yaml_positions *p, const struct vd_json *value,
                            struct vd_yaml_position *out)
{
    if (!p->sorted && p->entries.n)
        qsort(p->entries.p, p->entries.n, sizeof *p->entries.p, entry_cmp);
    p->sorted = true;
    /* Copies of copies: each step leads to a value that was read earlier. */
    while (value && p->entries.n) {
        struct vd_yaml_position_entry wanted = {.value = value};
        const struct vd_yaml_position_entry *entry = bsearch(&wanted, p->entries.p, p->entries.n,
                                                             sizeof wanted, entry_cmp);
        if (!entry)
            return false;
        if (!entry->same_as) {
            *out = entry->position;
            return true;
        }
        value = entry->same_as;
    }
    return false;
}
