/*
 * Patterns of paths, such as "products/shoe-*.md" or "release-[0-9].?".
 *
 *   ?      one character, but for '/'
 *   *      any number of characters, but for '/'
 *   **     as a whole part between slashes: any number of parts, none included; at the end,
 *          everything below
 *   [a-z]  one of these ASCII characters; [!a-z] or [^a-z] one other than these and '/'
 *   \x     the character x itself
 *
 * A pattern that ends in '/' means everything below that folder. A pattern always matches the whole
 * path, from the root on. The time that a match takes is linear in the path's length, whatever the
 * pattern: all ways through it are followed at once, as bits of a few words.
 *
 * A pattern is immutable: any number of threads may use it.
 */
#ifndef VD_GIT_PATH_PATTERN_H
#define VD_GIT_PATH_PATTERN_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"
#include "base/vec.h"

struct vd_path_pattern;

/* VD_ERR_INVALID with what is wrong with the text: it is empty, begins with '/', has an empty part,
 * a "**" beside other characters, a '[' without an end. VD_ERR_LIMIT: longer than
 * VD_PATH_PATTERN_LEN_MAX. */
int vd_path_pattern_new(struct vd_path_pattern **out, struct vd_slice text,
                        struct vd_error *error) VD_MUST_USE;

/* NULL is harmless. */
void vd_path_pattern_free(struct vd_path_pattern *p);

bool vd_path_pattern_matches(const struct vd_path_pattern *p, struct vd_slice path);

/* Several patterns, which are the list's own. `= {0}` is none. */
struct vd_path_patterns {
    VD_VEC(struct vd_path_pattern *) list;
};

void vd_path_patterns_release(struct vd_path_patterns *p);

/* Whether one of them matches. */
bool vd_path_patterns_match(const struct vd_path_patterns *p, struct vd_slice path);

#endif
