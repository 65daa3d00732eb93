/*
 * Field selectors, as Kubernetes parses and matches them.
 *
 *     metadata.name=x,spec.nodeName!=y
 *
 * `==` is the same as `=`; a comma means "and"; the empty selector selects
 * everything. In a value '\', ',' and '=' are written with a '\' in front.
 * Blanks are not skipped: they belong to the field or the value.
 *
 * The parser takes any field name. Which fields can be selected depends on the
 * kind, so the caller walks the requirements and refuses those it does not know.
 *
 * A selector is immutable and reference counted: parse it once and share it
 * between watchers and threads. Its canonical text is its identity.
 */
#ifndef VD_WATCH_FIELD_SELECTOR_H
#define VD_WATCH_FIELD_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"

struct vd_field_selector;

/* Finds the value of `field` in an object: true when it has one, and then the
 * value, borrowed until the match is over, is in *value. A field that is not
 * there counts as the empty string. */
typedef bool vd_field_lookup_fn(const void *fields, struct vd_slice field, struct vd_slice *value);

struct vd_field_requirement {
    struct vd_slice field;
    struct vd_slice value; /* without escapes */
    bool negated;          /* `!=` */
};

/*
 * Parses `text`, which need not outlive the call. *out is one reference, to be
 * dropped with vd_field_selector_unref. VD_ERR_INVALID with Kubernetes' sentence
 * when the text is no selector; VD_ERR_LIMIT past VD_SELECTOR_LEN_MAX or
 * VD_SELECTOR_TERMS_MAX.
 */
int vd_field_selector_parse(struct vd_field_selector **out, struct vd_slice text,
                            struct vd_error *error) VD_MUST_USE;

/*
 * The same requirements of other fields: what `s` asks of its i-th one (in the order of
 * vd_field_selector_requirements) is asked of fields[i]. *out is one reference.
 * VD_ERR_LIMIT when the names are so long that VD_SELECTOR_LEN_MAX is passed.
 */
int vd_field_selector_rename(struct vd_field_selector **out, const struct vd_field_selector *s,
                             const struct vd_slice *fields, struct vd_error *error) VD_MUST_USE;

/* One more reference to `s`, which is also the result. */
struct vd_field_selector *vd_field_selector_ref(struct vd_field_selector *s);

/* Drops a reference; the last one frees. NULL is harmless. */
void vd_field_selector_unref(struct vd_field_selector *s);

/* Whether an object with these fields is selected. */
bool vd_field_selector_matches(const struct vd_field_selector *s, vd_field_lookup_fn *lookup,
                               const void *fields);

/* The canonical text, borrowed while the caller holds a reference: requirements
 * in byte order, `=` for `==`, nothing twice. It parses to itself. */
struct vd_slice vd_field_selector_text(const struct vd_field_selector *s);

/* True when there is no requirement: every object is selected. */
bool vd_field_selector_is_everything(const struct vd_field_selector *s);

/* The requirements, in the order of the canonical text; borrowed while the
 * caller holds a reference. *n is their number. */
const struct vd_field_requirement *vd_field_selector_requirements(const struct vd_field_selector *s,
                                                                  size_t *n);

/*
 * True when only objects whose `field` equals one value are selected; *value is
 * then that value, borrowed while the caller holds a reference. This is how
 * `metadata.name=x` becomes a watch of one name. A selector that asks for two
 * different values at once selects nothing; the first of them is given.
 */
bool vd_field_selector_requires(const struct vd_field_selector *s, struct vd_slice field,
                                struct vd_slice *value) VD_MUST_USE;

#endif
