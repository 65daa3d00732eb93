/*
 * A generated name: what the server calls an object that has metadata.generateName and no name.
 */
#ifndef VD_KINDS_GENERATED_NAME_H
#define VD_KINDS_GENERATED_NAME_H

#include "base/arena.h"
#include "base/slice.h"

/* How much of metadata.generateName is kept, so that with the suffix the name
 * has at most 63 bytes. */
enum { VD_NAME_BASE_LEN_MAX = 58, VD_NAME_SUFFIX_LEN = 5 };

/* The base, cut, and five random letters and digits: "web-x7k2p". In the arena.
 * That the name is free is for the store to say. */
struct vd_slice vd_generated_name_make(struct vd_arena *a, struct vd_slice base);

#endif
