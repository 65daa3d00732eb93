/*
 * See yaml_anchor.h.
 *
 * The set is a balanced tree (tsearch): a document may have as many anchors as
 * values, and names are chosen by whoever wrote it, so a list would be slow
 * and a hash would need a secret.
 */
#include "json/yaml_anchor.h"

#include <assert.h>
#include <search.h>
#include <stdlib.h>

static int anchor_cmp(const void *a, const void *b)
{
    return vd_slice_cmp(((const struct vd_yaml_anchor *)a)->name,
                        ((const struct vd_yaml_anchor *)b)->name);
}

static void anchor_keep(void *anchor)
{
    (void)anchor; /* it goes with the arena */
}

static struct vd_yaml_anchor *anchor_find(const struct vd_yaml_anchors *anchors, const char *name)
{
    struct vd_yaml_anchor wanted = {.name = vd_slice_of(name)};
    struct vd_yaml_anchor **found = tfind(&wanted, &anchors->tree, anchor_cmp);
    return found ? *found : NULL;
}

static struct vd_yaml_anchor *anchor_new(struct vd_yaml_anchors *anchors, const char *name)
{
    struct vd_yaml_anchor *made = vd_arena_alloc(&anchors->arena, sizeof *made);
    *made = (struct vd_yaml_anchor){.name = vd_arena_copy(&anchors->arena, vd_slice_of(name))};
    if (!tsearch(made, &anchors->tree, anchor_cmp))
        abort(); /* out of memory, as in alloc.h */
    return made;
}

void vd_yaml_anchors_release(struct vd_yaml_anchors *anchors)
{
    tdestroy(anchors->tree, anchor_keep);
    vd_arena_release(&anchors->arena);
    *anchors = (struct vd_yaml_anchors){0};
}

void vd_yaml_anchors_clear(struct vd_yaml_anchors *anchors)
{
    tdestroy(anchors->tree, anchor_keep);
    anchors->tree = NULL;
    vd_arena_reset(&anchors->arena);
}

void vd_yaml_anchors_set(struct vd_yaml_anchors *anchors, const char *name, struct vd_json *value,
                         bool open)
{
    if (!name)
        return;
    struct vd_yaml_anchor *anchor = anchor_find(anchors, name);
    if (!anchor)
        anchor = anchor_new(anchors, name);
    anchor->value = value;
    anchor->open = open;
}

void vd_yaml_anchors_close(struct vd_yaml_anchors *anchors, const char *name,
                           const struct vd_json *value)
{
    if (!name)
        return;
    struct vd_yaml_anchor *anchor = anchor_find(anchors, name);
    assert(anchor);
    if (anchor->value == value) /* or the name was given again inside the node */
        anchor->open = false;
}

const struct vd_yaml_anchor *vd_yaml_anchors_find(const struct vd_yaml_anchors *anchors,
                                                  const char *name)
{
    return anchor_find(anchors, name);
}
