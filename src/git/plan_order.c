/* The order of a plan: what is referred to comes before what refers to it; of deletions, behind.
 *
 * Objects that wait for nothing are placed first, in the order in which they came; each that is
 * placed may be the last that others wait for, and these follow. What is left waits in a circle. */
#include "base/vec.h"
#include "git/plan_internal.h"

static void link_objects(const struct vd_plan *plan, struct vd_plan_object *o)
{
    for (size_t i = 0; i < o->references.list.n; i++) {
        struct vd_plan_object *other = vd_plan_object_meant(plan, &o->references.list.p[i]);
        if (!other || other == o || other->is_wrong || other->is_deleted != o->is_deleted)
            continue;
        struct vd_plan_object *first = o->is_deleted ? o : other;
        struct vd_plan_object *second = o->is_deleted ? other : o;
        *VD_VEC_PUSH(&first->next) = second;
        second->waits_for++;
    }
}

static void place(struct vd_plan_objects *placed, struct vd_plan_object *o)
{
    o->is_placed = true;
    *VD_VEC_PUSH(placed) = o;
}

/* Places everything that waits for nothing any more, from `from` on. */
static void follow(struct vd_plan_objects *placed, size_t from)
{
    for (size_t i = from; i < placed->n; i++) {
        struct vd_plan_object *o = placed->p[i];
        for (size_t k = 0; k < o->next.n; k++)
            if (--o->next.p[k]->waits_for == 0 && !o->next.p[k]->is_placed)
                place(placed, o->next.p[k]);
    }
}

void vd_plan_order(struct vd_plan *plan, struct vd_plan_objects *objects)
{
    struct vd_plan_objects placed = {0};
    for (size_t i = 0; i < objects->n; i++)
        link_objects(plan, objects->p[i]);
    for (size_t i = 0; i < objects->n; i++)
        if (objects->p[i]->waits_for == 0)
            place(&placed, objects->p[i]);
    follow(&placed, 0);
    for (size_t i = 0; i < objects->n; i++)
        if (!objects->p[i]->is_placed) {
            size_t from = placed.n;
            place(&placed, objects->p[i]);
            follow(&placed, from);
        }
    VD_VEC_RELEASE(objects);
    *objects = placed;
}
