/*
 * Label and field selectors from arbitrary bytes.
 *
 * Properties: parsing and matching never crash; the canonical text of what was
 * parsed parses again, to itself; a selector and the one made from its
 * canonical text select the same objects; a refusal has a sentence.
 */
#include "fuzz.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "watch/field_selector.h"
#include "watch/selector.h"

/* Breaks off with a report from the fuzzer; not assert(), so that no build
 * option can turn the properties off. */
static void require(bool property)
{
    if (!property)
        abort();
}

/* Labels, or fields, made from a seed: a third of them are absent, and the
 * values are such that each operator is sometimes true. */
static bool seeded_lookup(const void *seed, struct vd_slice key, struct vd_slice *value)
{
    static const char *const values[] = {"", "a", "b", "in", "5", "-7", "99999999999999999999"};
    unsigned hash = *(const unsigned *)seed;
    for (size_t i = 0; i < key.n; i++)
        hash = hash * 31 + (unsigned char)key.p[i];
    if (hash % 3 == 0)
        return false;
    *value = vd_slice_of(values[hash / 3 % (sizeof values / sizeof *values)]);
    return true;
}

static void fuzz_label_selector(struct vd_slice text)
{
    struct vd_error error = {0};
    struct vd_selector *s, *again;
    int code = vd_selector_parse(&s, text, &error);
    if (code != VD_OK) {
        require(code == (int)error.code && error.text[0] != '\0');
        return;
    }
    /* A canonical text may be longer than the input (`a in(b)` gains a blank)
     * and so, at the very edge, pass the limit. */
    code = vd_selector_parse(&again, vd_selector_text(s), &error);
    if (code == VD_OK) {
        require(vd_slice_eq(vd_selector_text(s), vd_selector_text(again)));
        for (unsigned seed = 0; seed < 8; seed++)
            require(vd_selector_matches(s, seeded_lookup, &seed) ==
                    vd_selector_matches(again, seeded_lookup, &seed));
        vd_selector_unref(again);
    } else {
        require(code == VD_ERR_LIMIT);
    }
    vd_selector_unref(s);
}

static void fuzz_field_selector(struct vd_slice text)
{
    struct vd_error error = {0};
    struct vd_field_selector *s, *again;
    int code = vd_field_selector_parse(&s, text, &error);
    if (code != VD_OK) {
        require(code == (int)error.code && error.text[0] != '\0');
        return;
    }
    require(vd_field_selector_parse(&again, vd_field_selector_text(s), &error) == VD_OK);
    require(vd_slice_eq(vd_field_selector_text(s), vd_field_selector_text(again)));
    for (unsigned seed = 0; seed < 8; seed++)
        require(vd_field_selector_matches(s, seeded_lookup, &seed) ==
                vd_field_selector_matches(again, seeded_lookup, &seed));

    size_t n;
    const struct vd_field_requirement *r = vd_field_selector_requirements(s, &n);
    for (size_t i = 0; i < n; i++) {
        struct vd_slice value;
        bool required = vd_field_selector_requires(s, r[i].field, &value);
        require(required || r[i].negated);
    }
    vd_field_selector_unref(again);
    vd_field_selector_unref(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice text = vd_slice(data, size);
    fuzz_label_selector(text);
    fuzz_field_selector(text);
    return 0;
}
