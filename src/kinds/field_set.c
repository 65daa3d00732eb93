/* See field_set.h. */
#include "kinds/field_set.h"

#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

/* Room in the arena for one more; the old array is left behind. */
static void grow(struct vd_field_level *level)
{
    size_t cap = level->cap ? level->cap * 2 : 4;
    struct vd_field_node *p = vd_arena_alloc(level->arena, cap * sizeof *p);
    if (level->n)
        memcpy(p, level->p, level->n * sizeof *p);
    level->p = p;
    level->cap = cap;
}

void vd_field_level_add(struct vd_field_level *level, const struct vd_path_element *at, bool member,
                        const struct vd_field_set *below)
{
    if (!member && !below)
        return;
    if (level->n == level->cap)
        grow(level);
    if (level->n && vd_path_element_cmp(&level->p[level->n - 1].at, at) >= 0)
        level->unsorted = true;
    level->p[level->n++] = (struct vd_field_node){*at, member, below};
}

static int by_step(const void *a, const void *b)
{
    const struct vd_field_node *x = a, *y = b;
    return vd_path_element_cmp(&x->at, &y->at);
}

static void sort(struct vd_field_level *level)
{
    size_t kept = 0;
    qsort(level->p, level->n, sizeof *level->p, by_step);
    for (size_t i = 1; i < level->n; i++) {
        struct vd_field_node *last = &level->p[kept], *node = &level->p[i];
        if (vd_path_element_cmp(&last->at, &node->at) != 0) {
            level->p[++kept] = *node;
            continue;
        }
        last->member |= node->member;
        last->below = vd_field_set_union(level->arena, last->below, node->below);
    }
    level->n = kept + 1;
    level->unsorted = false;
}

const struct vd_field_set *vd_field_level_set(struct vd_field_level *level)
{
    if (level->n == 0)
        return NULL;
    if (level->unsorted)
        sort(level);
    struct vd_field_set *set = vd_arena_alloc(level->arena, sizeof *set);
    *set = (struct vd_field_set){level->n, level->p};
    return set;
}

/* ---- looking ---- */

const struct vd_field_node *vd_field_set_find(const struct vd_field_set *set,
                                              const struct vd_path_element *at)
{
    size_t low = 0, high = set ? set->n : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int c = vd_path_element_cmp(&set->p[middle].at, at);
        if (c == 0)
            return &set->p[middle];
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool vd_field_set_has(const struct vd_field_set *set, const struct vd_path_element *path, size_t n)
{
    const struct vd_field_node *node = NULL;
    for (size_t i = 0; i < n; i++) {
        node = vd_field_set_find(set, &path[i]);
        if (!node)
            return false;
        set = node->below;
    }
    return node && node->member;
}

bool vd_field_set_eq(const struct vd_field_set *a, const struct vd_field_set *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->p[i].member != b->p[i].member ||
            vd_path_element_cmp(&a->p[i].at, &b->p[i].at) != 0 ||
            !vd_field_set_eq(a->p[i].below, b->p[i].below))
            return false;
    return true;
}

size_t vd_field_set_count(const struct vd_field_set *set)
{
    size_t count = 0;
    for (size_t i = 0; set && i < set->n; i++)
        count += set->p[i].member + vd_field_set_count(set->p[i].below);
    return count;
}

static void add_texts(struct vd_arena *a, const struct vd_field_set *set, struct vd_buf *path,
                      struct vd_field_texts *out, size_t max)
{
    size_t before = path->n;
    for (size_t i = 0; i < set->n && out->n < max; i++) {
        if (!set->p[i].member)
            continue;
        vd_path_element_show(path, &set->p[i].at);
        *VD_VEC_PUSH(out) = vd_arena_copy(a, vd_buf_slice(path));
        path->n = before;
    }
    for (size_t i = 0; i < set->n && out->n < max; i++) {
        if (!set->p[i].below)
            continue;
        vd_path_element_show(path, &set->p[i].at);
        add_texts(a, set->p[i].below, path, out, max);
        path->n = before;
    }
}

void vd_field_set_texts(struct vd_arena *a, const struct vd_field_set *set,
                        struct vd_field_texts *out, size_t max)
{
    struct vd_buf path = {0};
    if (set)
        add_texts(a, set, &path, out, max);
    vd_buf_release(&path);
}

/* ---- operations ---- */

/* Two sets side by side: each step of either once, in order. */
struct pair {
    const struct vd_field_set *x, *y;
    size_t i, j;
    const struct vd_field_node *left, *right; /* of this step; NULL where it has none */
};

static bool next_step(struct pair *p)
{
    p->left = p->x && p->i < p->x->n ? &p->x->p[p->i] : NULL;
    p->right = p->y && p->j < p->y->n ? &p->y->p[p->j] : NULL;
    if (p->left && p->right) {
        int c = vd_path_element_cmp(&p->left->at, &p->right->at);
        if (c < 0)
            p->right = NULL;
        else if (c > 0)
            p->left = NULL;
    }
    p->i += p->left != NULL;
    p->j += p->right != NULL;
    return p->left || p->right;
}

/* What an operation makes of a step that both have; those of one side are kept or not. */
struct operation {
    bool keep_left, keep_right;
    bool (*member)(bool left, bool right);
    const struct vd_field_set *(*below)(struct vd_arena *a, const struct vd_field_set *x,
                                        const struct vd_field_set *y);
};

static const struct vd_field_set *combine(struct vd_arena *a, const struct vd_field_set *x,
                                          const struct vd_field_set *y, const struct operation *op)
{
    struct vd_field_level level = {.arena = a};
    struct pair p = {.x = x, .y = y};
    bool is_x = true, is_y = true;
    while (next_step(&p)) {
        struct vd_field_node node;
        if (!p.left || !p.right) {
            bool kept = p.left ? op->keep_left : op->keep_right;
            is_x &= p.left ? kept : !kept;
            is_y &= p.right ? kept : !kept;
            if (!kept)
                continue;
            node = p.left ? *p.left : *p.right;
        } else {
            node = *p.left;
            node.member = op->member(p.left->member, p.right->member);
            node.below = op->below(a, p.left->below, p.right->below);
            is_x &= node.member == p.left->member && node.below == p.left->below;
            is_y &= node.member == p.right->member && node.below == p.right->below;
        }
        vd_field_level_add(&level, &node.at, node.member, node.below);
    }
    return is_x ? x : is_y ? y : vd_field_level_set(&level);
}

static bool either(bool left, bool right)
{
    return left || right;
}

static bool both(bool left, bool right)
{
    return left && right;
}

static bool only_left(bool left, bool right)
{
    return left && !right;
}

const struct vd_field_set *vd_field_set_union(struct vd_arena *a, const struct vd_field_set *x,
                                              const struct vd_field_set *y)
{
    static const struct operation op = {true, true, either, vd_field_set_union};
    if (!x || !y || x == y)
        return x ? x : y;
    return combine(a, x, y, &op);
}

const struct vd_field_set *vd_field_set_difference(struct vd_arena *a, const struct vd_field_set *x,
                                                   const struct vd_field_set *y)
{
    static const struct operation op = {true, false, only_left, vd_field_set_difference};
    if (!x || !y)
        return x;
    return x == y ? NULL : combine(a, x, y, &op);
}

const struct vd_field_set *vd_field_set_intersection(struct vd_arena *a,
                                                     const struct vd_field_set *x,
                                                     const struct vd_field_set *y)
{
    static const struct operation op = {false, false, both, vd_field_set_intersection};
    if (!x || !y)
        return NULL;
    return x == y ? x : combine(a, x, y, &op);
}
