/*
 * The documents of a YAML or JSON file, one after the other, and where their fields stand.
 *
 *     struct vd_git_documents d = {0};
 *     vd_git_documents_open(&d, path, text, VD_GIT_YAML, from);
 *     while (vd_git_documents_next(&d, &arena, &document, &report))
 *         use(document.value);
 *
 * A YAML file is cut at its document markers, `---` and `...` at the beginning of a line: YAML
 * allows them nowhere else at the beginning of a line, not even in quotes or block scalars. So each
 * document is read alone, and a mistake in one does not hide those of the next. Documents without
 * content are skipped. A JSON file holds any number of values.
 *
 * A document whose kind ends in List, with `items` and without a name, is taken apart into its
 * items. Those of a WidgetList that do not say what they are become Widgets.
 *
 * The texts are borrowed and have to stay for as long as documents and their positions
 * (git/positions.h) are used.
 *
 * Limits: VD_GIT_FILE_DOCUMENTS_MAX, VD_GIT_FILE_MEMORY_MAX, and those of json/parse.h and
 * json/yaml_read.h, which bound what aliases become. Pure.
 */
#ifndef VD_GIT_DOCUMENTS_H
#define VD_GIT_DOCUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/slice.h"
#include "git/positions.h"
#include "git/report.h"
#include "json/document.h"
#include "json/yaml_position.h"

/* One document. `value` is the arena's and borrows from the text. */
struct vd_git_document {
    struct vd_git_source source;
    struct vd_json *value;
};

/* The walk through a file. Not to be copied. */
struct vd_git_documents {
    struct vd_slice path;
    struct vd_slice rest; /* what was not read yet */
    enum vd_git_syntax syntax;
    struct vd_yaml_position at; /* of the first byte of `rest` */
    size_t count;               /* documents so far, items included */
    size_t memory_from;         /* bytes of the arena that were used before the first */
    struct vd_git_source list;  /* the list whose items come next; `item` counts them */
    struct vd_json *items;      /* those that were not given yet; NULL: no list is open */
    struct vd_slice item_api_version, item_kind; /* of items that do not say it */
};

/* `from` is where the text begins in its file: {1, 1} for a whole file. A byte order mark in front
 * of it is skipped. */
void vd_git_documents_open(struct vd_git_documents *d, struct vd_slice path, struct vd_slice text,
                           enum vd_git_syntax syntax, struct vd_yaml_position from);

/* The next document; false if there is none left. A document that cannot be read goes to the
 * report, and the next one that can is given. */
bool vd_git_documents_next(struct vd_git_documents *d, struct vd_arena *arena,
                           struct vd_git_document *out, struct vd_git_report *report) VD_MUST_USE;

#endif
