/*
 * The built-in kinds: those of kinds/, compiled in.
 */
#ifndef VD_KINDS_BUILTIN_H
#define VD_KINDS_BUILTIN_H

#include "base/attributes.h"
#include "kinds/kinds.h"

/* A registry with every built-in kind. A mistake in the files is a bug, which
 * asserts: the tests load them. */
struct vd_kinds *vd_kinds_new_builtin(void) VD_MUST_USE;

#endif
