/*
 * The documents of a YAML or JSON file, one after the other, and where their fields stand.
 *
 *     struct vd_git_documents d = {0};
 *     vd_git_documents_open(&d, path, text, VD_GIT_YAML);
 *     while (vd_git_documents_next(&d, &arena, &document, &report))
 *         if (document.value) ...
 *
 * A YAML file is cut at its document markers, `---` and `...` at the beginning of a line: YAML
 * allows them nowhere else at the beginning of a line, not even in quotes or block scalars. So each
 * document is read alone, and a mistake in one does not hide those of the next. Documents without
 * content are skipped. A JSON file holds any number of values.
 *
 * A document of kind List, of apiVersion v1 or of a kind that ends in List with `items`, is taken
 * apart into its items.
 *
 * Positions are found when somebody asks, by reading the document again: most documents are right.
 * The texts are borrowed and have to stay for as long as documents and positions are used.
 *
 * Limits: VD_GIT_FILE_DOCUMENTS_MAX, and those of json/parse.h and json/yaml_read.h, which bound
 * what aliases become. Pure.
 */
#ifndef VD_GIT_DOCUMENTS_H
#define VD_GIT_DOCUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/slice.h"
#include "git/report.h"
#include "json/document.h"
#include "json/yaml_position.h"

enum vd_git_syntax { VD_GIT_YAML, VD_GIT_JSON };

/* Where a document stands in its file. */
struct vd_git_source {
    struct vd_slice path; /* of the file */
    struct vd_slice text; /* of the document alone; of the whole list for an item */
    enum vd_git_syntax syntax;
    struct vd_yaml_position from; /* of the first byte of `text` */
    uint32_t item;                /* the how-manieth of a list's items, from 1; 0: not of a list */
};

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
    size_t count;
    struct vd_git_source list;    /* the list whose items come next */
    struct vd_json *items, *item; /* the next one; NULL: none is open */
    uint32_t item_count;
    bool failed;
};

/* `from` is where the text begins in its file: {1, 1} for a whole file. A byte order mark in front
 * of it is skipped. */
void vd_git_documents_open(struct vd_git_documents *d, struct vd_slice path, struct vd_slice text,
                           enum vd_git_syntax syntax, struct vd_yaml_position from);

/* The next document; false if there is none left. A document that cannot be read goes to the
 * report, and the next one that can is given. */
bool vd_git_documents_next(struct vd_git_documents *d, struct vd_arena *arena,
                           struct vd_git_document *out, struct vd_git_report *report) VD_MUST_USE;

/*
 * Where a field of the document stands: "spec.media[0].fileRef.name" as violations write it, with
 * keys that users chose as `data.key` or `data[key]`. If it is not in the file, its nearest parent
 * that is; at last, the document's first line. A member stands where its key does.
 */
struct vd_yaml_position vd_git_source_position(const struct vd_git_source *source,
                                               struct vd_slice field);

/* The same by JSON pointer: "/spec/media/0/fileRef/name". */
struct vd_yaml_position vd_git_source_point(const struct vd_git_source *source,
                                            struct vd_slice pointer);

#endif
