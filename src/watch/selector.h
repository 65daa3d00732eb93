/*
 * Label selectors, as Kubernetes parses and matches them.
 *
 *     a=b  a==b  a!=b  a in (x,y)  a notin (x,y)  a  !a  a>5  a<5
 *
 * A comma means "and"; the empty selector selects everything. `a!=b` and
 * `a notin (b)` also select objects that have no label a.
 *
 * A selector is immutable and reference counted: parse it once and share it
 * between watchers and threads. Its canonical text is its identity: two
 * selectors with equal text select the same objects.
 */
#ifndef VD_WATCH_SELECTOR_H
#define VD_WATCH_SELECTOR_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"

struct vd_selector;

/* Finds the label `key` among `labels`: true when there is one, and then its
 * value, borrowed until the match is over, is in *value. */
typedef bool vd_label_lookup_fn(const void *labels, struct vd_slice key, struct vd_slice *value);

/*
 * Parses `text`, which need not outlive the call. *out is one reference, to be
 * dropped with vd_selector_unref. VD_ERR_INVALID with Kubernetes' sentence when
 * the text is no selector; VD_ERR_LIMIT past VD_SELECTOR_LEN_MAX or
 * VD_SELECTOR_TERMS_MAX.
 */
int vd_selector_parse(struct vd_selector **out, struct vd_slice text,
                      struct vd_error *error) VD_MUST_USE;

/* One more reference to `s`, which is also the result. */
struct vd_selector *vd_selector_ref(struct vd_selector *s);

/* Drops a reference; the last one frees. NULL is harmless. */
void vd_selector_unref(struct vd_selector *s);

/* Whether an object with these labels is selected. A requirement with n values
 * costs O(log n) comparisons. */
bool vd_selector_matches(const struct vd_selector *s, vd_label_lookup_fn *lookup,
                         const void *labels);

/*
 * The canonical text, borrowed while the caller holds a reference: requirements
 * in order of their keys, values in byte order, no blanks but around `in` and
 * `notin`, nothing twice. It parses to itself, unless those blanks carry it past
 * VD_SELECTOR_LEN_MAX.
 */
struct vd_slice vd_selector_text(const struct vd_selector *s);

/*
 * True when only objects whose label has one certain value are selected; that
 * label and value are then in *key and *value, borrowed while the caller holds a
 * reference. This is how watchers are found by an event's labels.
 */
bool vd_selector_requires(const struct vd_selector *s, struct vd_slice *key,
                          struct vd_slice *value) VD_MUST_USE;

/* True for the empty selector: every object is selected, whatever its labels. */
bool vd_selector_is_everything(const struct vd_selector *s);

#endif
