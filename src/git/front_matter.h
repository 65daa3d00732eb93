/*
 * YAML front matter of a Markdown file, and the body behind it.
 *
 *     ---
 *     apiVersion: catalog.gitstore.dev/v1beta1
 *     ...
 *     ---
 *     The body, byte for byte.
 *
 * A file has front matter if its first line is exactly `---` (a byte order mark in front of it is
 * skipped). It ends where the YAML document does: at the first line that begins with one of YAML's
 * document markers, `---` or `...`. YAML allows no such line inside a document, not even in quotes
 * or in a block scalar, where it has to be indented. That line has to be the marker and nothing
 * else. The body is everything behind the line's end. Lines end in LF or CRLF. Pure.
 */
#ifndef VD_GIT_FRONT_MATTER_H
#define VD_GIT_FRONT_MATTER_H

#include <stdbool.h>

#include "base/slice.h"
#include "json/yaml_position.h"

enum vd_front_matter_result {
    VD_FRONT_MATTER_FOUND,
    VD_FRONT_MATTER_NONE,     /* the file does not begin with it */
    VD_FRONT_MATTER_UNCLOSED, /* there is no line that ends it */
    VD_FRONT_MATTER_UNCLEAR,  /* more than the marker stands in the line that ends it: `at` */
};

/* The slices lie in the text. */
struct vd_front_matter {
    struct vd_slice yaml;       /* from the first line's `---` up to the line that ends it */
    struct vd_slice body;       /* may be empty */
    struct vd_yaml_position at; /* of the body's first byte, or of the line that is unclear */
};

/* Fills *out in when it was found; else at most `at`. */
enum vd_front_matter_result vd_front_matter_split(struct vd_slice text,
                                                  struct vd_front_matter *out);

#endif
