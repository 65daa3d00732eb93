/*
 * What the text of a YAML scalar means.
 *
 * The rules are those of Kubernetes, which reads YAML with go-yaml v2: YAML
 * 1.1, but without base-60 numbers and with dates left as strings. So `yes`,
 * `on`, `y` and their like are booleans, `0x1F`, `0b11`, `0o17` and `017` are
 * integers, `1_000` is 1000, and `12:30` is a string. A number that does not
 * fit is not cut: a decimal one becomes a float, and one too large even for
 * that (`1e999`) stays a string.
 *
 * Nothing here knows of events, lines or documents; see yaml_read.h. Pure
 * functions, any thread.
 */
#ifndef VD_JSON_YAML_SCALAR_H
#define VD_JSON_YAML_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"

enum vd_yaml_type {
    VD_YAML_NULL,
    VD_YAML_BOOL,
    VD_YAML_INT,   /* fits in int64_t */
    VD_YAML_UINT,  /* above INT64_MAX */
    VD_YAML_FLOAT, /* may be infinite or not a number: JSON has neither */
    VD_YAML_STRING,
};

struct vd_yaml_scalar {
    enum vd_yaml_type type;
    union {
        bool truth;
        int64_t integer;
        uint64_t natural;
        double real;
        struct vd_slice text;
    };
};

/*
 * A plain (unquoted) scalar without a tag. It never fails: what is nothing
 * else is a string, whose text is the one given (borrowed).
 */
struct vd_yaml_scalar vd_yaml_scalar_resolve(struct vd_slice text);

/*
 * A scalar with an explicit tag, long ("tag:yaml.org,2002:int") or not. str,
 * int, float, bool, null, timestamp and binary are known; binary is decoded
 * into the arena and must be UTF-8 text, since JSON has no bytes. Any other
 * tag, and text that is not what its tag says, is VD_ERR_INVALID.
 */
int vd_yaml_scalar_resolve_tagged(struct vd_slice tag, struct vd_slice text, struct vd_arena *arena,
                                  struct vd_yaml_scalar *out, struct vd_error *error) VD_MUST_USE;

/*
 * The scalar as a map key, added to `out`. Integers, booleans and floats are
 * turned into text as Kubernetes does (floats with the digits that a 32-bit
 * float needs: `1.10` is "1.1"). A null is no key: VD_ERR_INVALID.
 */
int vd_yaml_scalar_key(const struct vd_yaml_scalar *scalar, struct vd_buf *out,
                       struct vd_error *error) VD_MUST_USE;

/*
 * Whether some reader of YAML - 1.1 or 1.2, this one or another - takes the
 * plain text for something other than a string. Such a string needs quotes.
 */
bool vd_yaml_scalar_is_special(struct vd_slice text);

/* The error for a tag that nothing here understands; gives VD_ERR_INVALID. */
int vd_yaml_tag_unknown(struct vd_error *error);

#endif
