/*
 * The JSONPath of printer columns and selectable fields.
 *
 *     .spec.color                                    a field
 *     .metadata.annotations['example\.com/tier']     a field with dots in its name
 *     .metadata.annotations.example\.com/tier        the same
 *     .spec.items[0].name   .spec.items[-1].name     an element, from either end
 *     .spec.items[*].name   .spec.*                  every element; every member
 *     .status.conditions[?(@.type=="Ready")].status  elements that pass a test
 *
 * with or without braces around it and `$` in front. A test compares (==, !=,
 * <, <=, >, >=) a path of fields and indexes with a string, a number, true or
 * false, or asks if the path leads anywhere: [?(@.name)]. Recursive descent
 * (..), unions ([0,1]), slices ([0:2]) and templates (range) are refused when
 * the path is compiled.
 *
 * As in Kubernetes with missing keys allowed, what is not there gives no result.
 * Unlike there, an element without the tested field fails the test instead of
 * failing the whole path, and ['a.b'] is one field, not two.
 */
#ifndef VD_KUBE_TABLE_JSONPATH_H
#define VD_KUBE_TABLE_JSONPATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"
#include "json/document.h"

/* A compiled path: immutable, so threads may share it. */
struct vd_jsonpath;

/*
 * Compiles a path, which lives in the arena with a copy of its text.
 * VD_ERR_INVALID says what is wrong and where; VD_ERR_LIMIT beyond
 * VD_JSONPATH_LEN_MAX bytes.
 */
int vd_jsonpath_compile(struct vd_arena *a, struct vd_slice text, const struct vd_jsonpath **out,
                        struct vd_error *error) VD_MUST_USE;

/* The text it was compiled from. */
struct vd_slice vd_jsonpath_text(const struct vd_jsonpath *path);

/* The first result, which is what a column shows, or NULL. Work is linear in
 * the document. */
const struct vd_json *vd_jsonpath_first(const struct vd_jsonpath *path, const struct vd_json *doc);

/* Calls `each` for every result in order, until it gives false; false then. */
bool vd_jsonpath_each(const struct vd_jsonpath *path, const struct vd_json *doc,
                      bool (*each)(void *context, const struct vd_json *value), void *context);

/* Fields only? Such a path can also be followed in the bytes of a document. */
bool vd_jsonpath_is_plain(const struct vd_jsonpath *path);

/* The value in the bytes of a document that Vedette wrote (json/span.h); false
 * if there is none, or if the path is not plain. */
bool vd_jsonpath_span(const struct vd_jsonpath *path, struct vd_slice json,
                      struct vd_slice *value) VD_MUST_USE;

#endif
