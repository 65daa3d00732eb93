/*
 * Where the fields of a document stand in its file.
 *
 *     struct vd_git_positions *p = vd_git_positions_new(&source);
 *     at = vd_git_positions_find(p, VD_SLICE("spec.media[0].fileRef.name"));
 *     vd_git_positions_free(p);
 *
 * Positions are found when somebody asks, by reading the document again: most documents are right,
 * and nobody asks. Whoever has several questions about a document opens it once. Pure; one owner.
 */
#ifndef VD_GIT_POSITIONS_H
#define VD_GIT_POSITIONS_H

#include <stdint.h>

#include "base/attributes.h"
#include "base/slice.h"
#include "json/yaml_position.h"

enum vd_git_syntax { VD_GIT_YAML, VD_GIT_JSON };

/* Where a document stands in its file. All is borrowed. */
struct vd_git_source {
    struct vd_slice path; /* of the file */
    struct vd_slice text; /* of the document alone; of the whole list for an item */
    enum vd_git_syntax syntax;
    struct vd_yaml_position from; /* of the first byte of `text` */
    uint32_t item;                /* the how-manieth of a list's items, from 1; 0: not of a list */
};

struct vd_git_positions;

/* Reads the document, whose text is borrowed. */
struct vd_git_positions *vd_git_positions_new(const struct vd_git_source *source) VD_MUST_USE;

/* NULL is harmless. */
void vd_git_positions_free(struct vd_git_positions *p);

/*
 * The position of a field, "spec.media[0].fileRef.name" as violations write it, with keys that
 * users chose as `data.key` or `data[key]`. If it is not in the file, that of its nearest parent
 * which is; at last, where the document begins. A member stands where its key does.
 */
struct vd_yaml_position vd_git_positions_find(struct vd_git_positions *p, struct vd_slice field);

/* The same by JSON pointer: "/spec/media/0/fileRef/name". */
struct vd_yaml_position vd_git_positions_point(struct vd_git_positions *p, struct vd_slice pointer);

#endif
