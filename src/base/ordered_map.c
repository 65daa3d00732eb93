/*
 * A B+tree of item pointers, made for long keys that begin alike.
 *
 * Every node, leaf or inner, is a sorted run of entries. A leaf's entries are
 * items. An inner node's entries are children, each with the first item of
 * its subtree, so that separators need no memory of their own:
 *
 *     inner       [ a ........ | k ........ | t ........ ]
 *                   |            |            |
 *     leaves      [ a b c ] -> [ k m p ] -> [ t u ]
 *
 * Reading an item's key costs a cache miss or two, so a node answers most
 * comparisons by itself. It knows how many first bytes all its keys share
 * (prefix_len), and keeps the four bytes after them of each entry (heads) as
 * a big-endian number; a key that ends early is padded with zeros. Search is
 * over heads, and looks at keys only where heads are equal. Whether the
 * wanted key shares the prefix is seldom asked either: two neighbouring
 * separators around it that share n bytes prove that it shares them too.
 *
 * Invariants, asserted by vd_ordered_map_check:
 *  - keys ascend strictly within a node and along the `next` links of a level;
 *  - an inner entry's item is the first item of its child's subtree;
 *  - prefix_len bytes are common to all keys of a node, and heads match keys;
 *  - all leaves are at the same depth; an inner node has at least 2 children;
 *  - a node holds at least NODE_MIN entries, unless it is the root or the last
 *    of its level (ascending inserts fill a node wholly, then begin the next).
 */
#include "base/ordered_map.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
    NODE_MAX = 64,                 /* entries of a node */
    NODE_MIN = NODE_MAX / 4,       /* entries below which a node is merged with its neighbour */
    MERGED_MAX = NODE_MAX * 3 / 4, /* entries after a merge: the next insert must not split it */
    HEIGHT_MAX = 16,               /* levels: NODE_MIN to the 16th is more than memory holds */
    HEAD_LEN = 4,                  /* bytes of a key that are kept in the node itself */
};

struct vd_ordered_map_node {
    uint32_t n;
    uint32_t level; /* 0 for a leaf */
    uint32_t prefix_len;
    uint32_t run_at; /* where an entry just behind the last new one would go */
    uint32_t heads[NODE_MAX];
    struct vd_ordered_map_node *next; /* to the right on the same level */
    void *items[NODE_MAX];
    struct vd_ordered_map_node *children[]; /* NODE_MAX of them; none in a leaf */
};

/* The way from the root to a leaf; `at` is the entry taken, or found. */
struct path {
    struct {
        struct vd_ordered_map_node *node;
        uint32_t at;
    } steps[HEIGHT_MAX];
    uint32_t n; /* steps[n - 1] is the leaf */
    bool found;
};

/* ---- entries of one node ---- */

static size_t node_size(uint32_t level)
{
    size_t children = level ? NODE_MAX * sizeof(struct vd_ordered_map_node *) : 0;
    return sizeof(struct vd_ordered_map_node) + children;
}

static struct vd_ordered_map_node *node_new(struct vd_ordered_map *m, uint32_t level)
{
    struct vd_ordered_map_node *node = vd_malloc(node_size(level));
    node->n = 0;
    node->level = level;
    node->prefix_len = 0;
    node->run_at = 0;
    node->next = NULL;
    m->bytes += node_size(level);
    return node;
}

static void node_free(struct vd_ordered_map *m, struct vd_ordered_map_node *node)
{
    m->bytes -= node_size(node->level);
    free(node);
}

static struct vd_slice key_at(const struct vd_ordered_map *m,
                              const struct vd_ordered_map_node *node, uint32_t at)
{
    return m->key_of(node->items[at]);
}

static uint32_t key_head(struct vd_slice key, size_t from)
{
    if (key.n >= from + HEAD_LEN) {
        const unsigned char *p = (const unsigned char *)key.p + from;
        return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
    uint32_t head = 0;
    for (size_t i = 0; i < HEAD_LEN && from + i < key.n; i++)
        head |= (uint32_t)(unsigned char)key.p[from + i] << (24 - 8 * i);
    return head;
}

/* The number of first bytes that two keys share, looking at `max` at most. */
static uint32_t shared_len(struct vd_slice a, struct vd_slice b, size_t max)
{
    size_t end = a.n < b.n ? a.n : b.n, i = 0;
    if (end > max)
        end = max;
    while (i < end && a.p[i] == b.p[i])
        i++;
    return (uint32_t)i;
}

static void node_set_prefix(const struct vd_ordered_map *m, struct vd_ordered_map_node *node,
                            uint32_t prefix_len)
{
    node->prefix_len = prefix_len;
    for (uint32_t i = 0; i < node->n; i++)
        node->heads[i] = key_head(key_at(m, node, i), prefix_len);
}

/* Shortens the prefix to what `key` shares with the other keys of the node;
 * `other` is an entry to compare with. */
static void node_admit_key(const struct vd_ordered_map *m, struct vd_ordered_map_node *node,
                           struct vd_slice key, uint32_t other)
{
    uint32_t shared = shared_len(key, key_at(m, node, other), node->prefix_len);
    if (shared < node->prefix_len)
        node_set_prefix(m, node, shared);
}

/* The longest prefix. Heads are stale after entries of two nodes have mixed. */
static void node_retune(const struct vd_ordered_map *m, struct vd_ordered_map_node *node,
                        bool heads_stale)
{
    if (node->n == 0)
        return;
    uint32_t longest = shared_len(key_at(m, node, 0), key_at(m, node, node->n - 1), UINT32_MAX);
    if (heads_stale || longest != node->prefix_len)
        node_set_prefix(m, node, longest);
}

/* Moves `count` entries, between nodes of a level or within one. */
static void entries_move(struct vd_ordered_map_node *to, uint32_t to_at,
                         struct vd_ordered_map_node *from, uint32_t from_at, uint32_t count)
{
    memmove(&to->heads[to_at], &from->heads[from_at], count * sizeof *to->heads);
    memmove(&to->items[to_at], &from->items[from_at], count * sizeof *to->items);
    if (to->level)
        memmove(&to->children[to_at], &from->children[from_at], count * sizeof *to->children);
}

static void node_insert(const struct vd_ordered_map *m, struct vd_ordered_map_node *node,
                        uint32_t at, void *item, struct vd_ordered_map_node *child)
{
    struct vd_slice key = m->key_of(item);
    assert(node->n < NODE_MAX && at <= node->n && key.n < UINT32_MAX);
    /* A key between two others shares what they share: only the ends can differ. */
    if (node->n == 0)
        node->prefix_len = (uint32_t)key.n;
    else if (at == 0 || at == node->n)
        node_admit_key(m, node, key, 0);
    entries_move(node, at + 1, node, at, node->n - at);
    node->heads[at] = key_head(key, node->prefix_len);
    node->items[at] = item;
    if (node->level)
        node->children[at] = child;
    node->n++;
    node->run_at = at + 1;
}

static void node_remove(struct vd_ordered_map_node *node, uint32_t at)
{
    entries_move(node, at, node, at + 1, node->n - at - 1);
    node->n--;
}

static void node_replace_item(const struct vd_ordered_map *m, struct vd_ordered_map_node *node,
                              uint32_t at, void *item)
{
    struct vd_slice key = m->key_of(item);
    if (node->n > 1)
        node_admit_key(m, node, key, at == 0 ? 1 : 0);
    else
        node->prefix_len = (uint32_t)key.n;
    node->heads[at] = key_head(key, node->prefix_len);
    node->items[at] = item;
}

/* ---- searching ---- */

/* The number of heads that are less than `head`, without branches to mispredict. */
static uint32_t heads_lower(const uint32_t *heads, uint32_t n, uint32_t head)
{
    const uint32_t *base = heads;
    while (n > 1) {
        uint32_t half = n / 2;
        base += base[half - 1] < head ? half : 0;
        n -= half;
    }
    return (uint32_t)(base - heads) + (n == 1 && *base < head);
}

/*
 * The first entry whose key is not less than `key`; *found tells whether it is
 * equal. `known` first bytes of the key (padded with zeros) are known to be
 * those of all keys in this node.
 */
static uint32_t node_search(const struct vd_ordered_map *m, const struct vd_ordered_map_node *node,
                            struct vd_slice key, size_t known, bool *found)
{
    *found = false;
    if (node->prefix_len > known) {
        struct vd_slice prefix = {key_at(m, node, 0).p, node->prefix_len};
        int c = vd_slice_cmp(vd_slice(key.p, key.n < prefix.n ? key.n : prefix.n), prefix);
        if (c)
            return c < 0 ? 0 : node->n;
    }
    uint32_t head = key_head(key, node->prefix_len);
    uint32_t low = heads_lower(node->heads, node->n, head), high = low;
    while (high < node->n && node->heads[high] == head)
        high++;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int c = vd_slice_cmp(key_at(m, node, middle), key);
        if (c == 0) {
            *found = true;
            return middle;
        }
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The child to search in, and in *known the bytes its neighbours vouch for. */
static uint32_t node_descend(const struct vd_ordered_map *m, const struct vd_ordered_map_node *node,
                             struct vd_slice key, size_t *known)
{
    bool found;
    uint32_t at = node_search(m, node, key, *known, &found);
    if (!found && at == 0)
        return 0; /* less than all: only what the levels above know is known */
    at -= !found;
    if (at + 1 < node->n) {
        uint32_t differ = node->heads[at] ^ node->heads[at + 1];
        size_t shared = node->prefix_len + (differ ? (size_t)__builtin_clz(differ) / 8 : HEAD_LEN);
        if (shared > *known)
            *known = shared;
    }
    return at;
}

static const struct vd_ordered_map_node *find(const struct vd_ordered_map *m, struct vd_slice key,
                                              uint32_t *at, bool *found)
{
    const struct vd_ordered_map_node *node = m->root;
    size_t known = 0;
    while (node->level)
        node = node->children[node_descend(m, node, key, &known)];
    *at = node_search(m, node, key, known, found);
    return node;
}

static void path_find(const struct vd_ordered_map *m, struct vd_slice key, struct path *path)
{
    struct vd_ordered_map_node *node = m->root;
    size_t known = 0;
    for (path->n = 0; node->level; path->n++) {
        uint32_t at = node_descend(m, node, key, &known);
        path->steps[path->n].node = node;
        path->steps[path->n].at = at;
        node = node->children[at];
    }
    path->steps[path->n].node = node;
    path->steps[path->n].at = node_search(m, node, key, known, &path->found);
    path->n++;
}

/* ---- changing ---- */

/* The node at steps[depth] has a new first item: tells those above it. */
static void path_first_changed(const struct vd_ordered_map *m, struct path *path, uint32_t depth)
{
    void *first = path->steps[depth].node->items[0];
    while (depth > 0) {
        depth--;
        node_replace_item(m, path->steps[depth].node, path->steps[depth].at, first);
        if (path->steps[depth].at != 0)
            break;
    }
}

/*
 * How many entries a full node keeps when a new one comes at `at`. Ascending
 * inserts, at the end of the map or as a run somewhere inside (the names of a
 * namespace), should leave full nodes behind: they split where the run is.
 */
static uint32_t split_point(const struct vd_ordered_map_node *node, uint32_t at)
{
    if (at == NODE_MAX && !node->next)
        return node->level ? NODE_MAX - 1 : NODE_MAX; /* an inner node needs 2 children */
    if (at != node->run_at)
        return NODE_MAX / 2;
    if (at < NODE_MIN)
        return NODE_MIN;
    return at > NODE_MAX - NODE_MIN ? NODE_MAX - NODE_MIN : at;
}

static struct vd_ordered_map_node *node_split(struct vd_ordered_map *m,
                                              struct vd_ordered_map_node *node, uint32_t keep)
{
    struct vd_ordered_map_node *right = node_new(m, node->level);
    entries_move(right, 0, node, keep, node->n - keep);
    right->n = node->n - keep;
    right->prefix_len = node->prefix_len;
    right->next = node->next;
    node->n = keep;
    node->next = right;
    node_retune(m, node, false);
    node_retune(m, right, false);
    return right;
}

static void root_grow(struct vd_ordered_map *m, struct vd_ordered_map_node *right)
{
    struct vd_ordered_map_node *left = m->root;
    m->root = node_new(m, left->level + 1);
    node_insert(m, m->root, 0, left->items[0], left);
    node_insert(m, m->root, 1, right->items[0], right);
}

/* Adds an entry at the path's leaf, splitting full nodes on the way up. */
static void path_insert(struct vd_ordered_map *m, struct path *path, void *item)
{
    struct vd_ordered_map_node *child = NULL;
    uint32_t at = path->steps[path->n - 1].at;
    for (uint32_t depth = path->n - 1;; depth--) {
        struct vd_ordered_map_node *node = path->steps[depth].node, *right = NULL;
        uint32_t keep = NODE_MAX;
        if (node->n == NODE_MAX) {
            keep = split_point(node, at);
            right = node_split(m, node, keep);
        }
        if (right && (at > keep || keep == NODE_MAX))
            node_insert(m, right, at - keep, item, child);
        else
            node_insert(m, node, at, item, child);
        if (at == 0)
            path_first_changed(m, path, depth);
        if (!right)
            return;
        if (depth == 0) {
            root_grow(m, right);
            return;
        }
        child = right;
        item = right->items[0];
        at = path->steps[depth - 1].at + 1;
    }
}

static void merge(struct vd_ordered_map *m, struct vd_ordered_map_node *left,
                  struct vd_ordered_map_node *right)
{
    entries_move(left, left->n, right, 0, right->n);
    left->n += right->n;
    left->next = right->next;
    node_retune(m, left, true);
    node_free(m, right);
}

static void balance(const struct vd_ordered_map *m, struct vd_ordered_map_node *left,
                    struct vd_ordered_map_node *right)
{
    uint32_t half = (left->n + right->n) / 2;
    if (left->n < half) {
        uint32_t moved = half - left->n;
        entries_move(left, left->n, right, 0, moved);
        entries_move(right, 0, right, moved, right->n - moved);
        left->n += moved;
        right->n -= moved;
    } else {
        uint32_t moved = left->n - half;
        entries_move(right, moved, right, 0, right->n);
        entries_move(right, 0, left, half, moved);
        left->n -= moved;
        right->n += moved;
    }
    node_retune(m, left, true);
    node_retune(m, right, true);
}

/* Mends the nodes of the path that have become too small, from the leaf up. */
static void path_shrink(struct vd_ordered_map *m, struct path *path)
{
    for (uint32_t depth = path->n - 1; depth > 0; depth--) {
        if (path->steps[depth].node->n >= NODE_MIN)
            return;
        struct vd_ordered_map_node *parent = path->steps[depth - 1].node;
        uint32_t at = path->steps[depth - 1].at, left_at = at ? at - 1 : 0;
        struct vd_ordered_map_node *left = parent->children[left_at];
        struct vd_ordered_map_node *right = parent->children[left_at + 1];
        if (left->n + right->n <= MERGED_MAX) {
            merge(m, left, right);
            node_remove(parent, left_at + 1);
        } else {
            balance(m, left, right);
            node_replace_item(m, parent, left_at + 1, right->items[0]);
        }
        path->steps[depth - 1].at = left_at;
        path->steps[depth].node = left;
        path_first_changed(m, path, depth);
    }
}

static void root_shrink(struct vd_ordered_map *m)
{
    struct vd_ordered_map_node *root = m->root;
    if (root->n == 0) {
        m->root = NULL;
        node_free(m, root);
    } else if (root->level && root->n == 1) {
        m->root = root->children[0];
        node_free(m, root);
    }
}

/* ---- the interface ---- */

void vd_ordered_map_init(struct vd_ordered_map *m, struct vd_slice (*key_of)(const void *item))
{
    *m = (struct vd_ordered_map){.key_of = key_of};
}

void vd_ordered_map_release(struct vd_ordered_map *m)
{
    struct vd_ordered_map_node *first = m->root;
    while (first) {
        struct vd_ordered_map_node *below = first->level ? first->children[0] : NULL;
        for (struct vd_ordered_map_node *node = first, *next; node; node = next) {
            next = node->next;
            node_free(m, node);
        }
        first = below;
    }
    assert(m->bytes == 0);
    vd_ordered_map_init(m, m->key_of);
}

void *vd_ordered_map_get(const struct vd_ordered_map *m, struct vd_slice key)
{
    if (!m->root)
        return NULL;
    uint32_t at;
    bool found;
    const struct vd_ordered_map_node *leaf = find(m, key, &at, &found);
    return found ? leaf->items[at] : NULL;
}

void *vd_ordered_map_put(struct vd_ordered_map *m, void *item)
{
    assert(item);
    if (!m->root)
        m->root = node_new(m, 0);
    struct path path;
    path_find(m, m->key_of(item), &path);
    struct vd_ordered_map_node *leaf = path.steps[path.n - 1].node;
    uint32_t at = path.steps[path.n - 1].at;
    if (!path.found) {
        path_insert(m, &path, item);
        m->count++;
        return NULL;
    }
    void *replaced = leaf->items[at];
    leaf->items[at] = item; /* an equal key has an equal head */
    if (at == 0)
        path_first_changed(m, &path, path.n - 1);
    return replaced;
}

void *vd_ordered_map_remove(struct vd_ordered_map *m, struct vd_slice key)
{
    if (!m->root)
        return NULL;
    struct path path;
    path_find(m, key, &path);
    if (!path.found)
        return NULL;
    struct vd_ordered_map_node *leaf = path.steps[path.n - 1].node;
    uint32_t at = path.steps[path.n - 1].at;
    void *removed = leaf->items[at];
    node_remove(leaf, at);
    m->count--;
    if (at == 0 && leaf->n > 0)
        path_first_changed(m, &path, path.n - 1);
    path_shrink(m, &path);
    root_shrink(m);
    return removed;
}

struct vd_ordered_map_cursor vd_ordered_map_seek(const struct vd_ordered_map *m,
                                                 struct vd_slice key)
{
    struct vd_ordered_map_cursor c = {0};
    if (!m->root)
        return c;
    bool found;
    c.leaf = find(m, key, &c.at, &found);
    if (c.at == c.leaf->n) {
        c.leaf = c.leaf->next;
        c.at = 0;
    }
    return c;
}

void *vd_ordered_map_item(const struct vd_ordered_map_cursor *c)
{
    return c->leaf ? c->leaf->items[c->at] : NULL;
}

void vd_ordered_map_next(struct vd_ordered_map_cursor *c)
{
    if (!c->leaf || ++c->at < c->leaf->n)
        return;
    c->leaf = c->leaf->next;
    c->at = 0;
}

/* ---- the checker ---- */

static void check_node(const struct vd_ordered_map *m, const struct vd_ordered_map_node *node)
{
    uint32_t n_min = node->level ? 2 : 1;
    if (node != m->root && node->next)
        n_min = NODE_MIN;
    assert(node->n >= n_min && node->n <= NODE_MAX);
    for (uint32_t i = 0; i < node->n; i++) {
        struct vd_slice key = key_at(m, node, i);
        assert(shared_len(key, key_at(m, node, 0), node->prefix_len) == node->prefix_len);
        assert(node->heads[i] == key_head(key, node->prefix_len));
        assert(i == 0 || vd_slice_cmp(key_at(m, node, i - 1), key) < 0);
        if (node->level) {
            assert(node->children[i]->level == node->level - 1);
            assert(node->children[i]->items[0] == node->items[i]);
        }
    }
    if (node->next)
        assert(vd_slice_cmp(key_at(m, node, node->n - 1), key_at(m, node->next, 0)) < 0);
}

/* Checks one level, and that its children are just the level below, in order. */
static void check_level(const struct vd_ordered_map *m, const struct vd_ordered_map_node *first,
                        size_t *count, size_t *bytes)
{
    const struct vd_ordered_map_node *below = first->level ? first->children[0] : NULL;
    for (const struct vd_ordered_map_node *node = first; node; node = node->next) {
        assert(node->level == first->level);
        check_node(m, node);
        *bytes += node_size(node->level);
        *count += node->level ? 0 : node->n;
        for (uint32_t i = 0; node->level && i < node->n; i++) {
            assert(below && node->children[i] == below);
            below = below->next;
        }
    }
    assert(!below);
}

void vd_ordered_map_check(const struct vd_ordered_map *m)
{
    size_t count = 0, bytes = 0;
    assert(!m->root || !m->root->next);
    for (const struct vd_ordered_map_node *node = m->root; node;
         node = node->level ? node->children[0] : NULL)
        check_level(m, node, &count, &bytes);
    assert(count == m->count && bytes == m->bytes);
}
