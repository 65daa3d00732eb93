/*
 * A configuration file in Kubernetes' manner: one YAML or JSON document with apiVersion and kind,
 * read strictly, so that a misspelt field is an error with its line and column.
 *
 *     struct vd_manifest m;
 *     if (!vd_manifest_open(&m, "audit.yaml", &error)) {
 *         vd_manifest_expect(&m, "audit.k8s.io", "Policy");
 *         level = vd_manifest_text(&m, rule, "level");
 *         ...
 *     }
 *     code = vd_manifest_close(&m);
 *
 * The first mistake is kept, with "FILE:3:5: " in front of it; after it all reads give empty
 * values. So the caller reads the whole file and checks for a mistake only at the end.
 */
#ifndef VD_AUTH_MANIFEST_H
#define VD_AUTH_MANIFEST_H

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "json/document.h"

struct vd_yaml_reader;

struct vd_manifest {
    const char *name;
    struct vd_error *error;
    int code; /* of the first mistake */
    struct vd_json *root;
    struct vd_arena arena; /* holds the document */
    struct vd_buf text;
    struct vd_yaml_reader *reader;
};

/* Reads the file, of at most VD_MANIFEST_LEN_MAX bytes. Blocks on the file. The manifest must be
 * closed even after an error. */
int vd_manifest_open(struct vd_manifest *m, const char *path, struct vd_error *error) VD_MUST_USE;

/* The same of a text; `name` stands in messages and is borrowed, the text is copied. */
int vd_manifest_parse(struct vd_manifest *m, const char *name, struct vd_slice text,
                      struct vd_error *error) VD_MUST_USE;

/* Frees all, and says whether there was a mistake. */
int vd_manifest_close(struct vd_manifest *m) VD_MUST_USE;

/* Notes a mistake at the position of a value. */
void vd_manifest_fail(struct vd_manifest *m, const struct vd_json *at, const char *format, ...)
    VD_PRINTF(3, 4);

/* The root must have this kind, in version v1, v1beta1 or v1alpha1 of the group. */
void vd_manifest_expect(struct vd_manifest *m, const char *group, const char *kind);

/* The value must be an object with no fields but these, ended by NULL. */
void vd_manifest_fields(struct vd_manifest *m, const struct vd_json *object,
                        const char *const *names);

/* ---- fields of an object, NULL allowed: what is missing is empty ---- */

const struct vd_json *vd_manifest_object(struct vd_manifest *m, const struct vd_json *object,
                                         const char *name);
const struct vd_json *vd_manifest_list(struct vd_manifest *m, const struct vd_json *object,
                                       const char *name);
/* Borrowed from the document. */
struct vd_slice vd_manifest_text(struct vd_manifest *m, const struct vd_json *object,
                                 const char *name);
/* A list of texts, copied into the arena. */
struct vd_slice *vd_manifest_texts(struct vd_manifest *m, const struct vd_json *object,
                                   const char *name, struct vd_arena *arena, size_t *n);

#endif
