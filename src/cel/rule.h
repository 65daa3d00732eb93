/*
 * A validation rule: an expression that must be true, and what to say when it is not.
 *
 * The texts are borrowed; programs live in the arena that compiled them. A rule is
 * immutable after it was compiled.
 */
#ifndef VD_CEL_RULE_H
#define VD_CEL_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "cel/program.h"

enum vd_cel_reason {
    VD_CEL_INVALID,
    VD_CEL_FORBIDDEN,
    VD_CEL_REQUIRED,
    VD_CEL_DUPLICATE,
};

struct vd_cel_rule {
    struct vd_slice text;               /* the expression */
    struct vd_slice message;            /* trimmed; may be empty */
    struct vd_slice message_expression; /* may be empty */
    struct vd_slice field_path;         /* where to report it, "a.b" below self; may be empty */
    enum vd_cel_reason reason;
    bool optional_old_self; /* oldSelf is an optional, and the rule runs on creation too */

    struct vd_cel_program *program; /* NULL: did not compile; `issues` says why */
    struct vd_cel_program *message_program;
    struct vd_slice issues;
    bool uses_old_self;
};

/*
 * Compiles the rule for a self of this type. `rule_issues` and `message_issues` get
 * Kubernetes' sentences about the two expressions, or stay empty. The caller releases
 * the rule's programs in any case.
 */
void vd_cel_rule_compile(struct vd_cel_rule *rule, struct vd_arena *arena,
                         const struct vd_cel_type *self, struct vd_buf *rule_issues,
                         struct vd_buf *message_issues);

void vd_cel_rule_release(struct vd_cel_rule *rule);

#endif
