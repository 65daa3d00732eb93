/*
 * Any CustomResourceDefinition and any object of its kind: admission, the kind, the
 * object. The input is two JSON texts with a NUL between them.
 *
 * Nothing crashes; a definition that is admitted can be served, in every version that it
 * has; its verdict is the same each time, also as its own update; an object that was
 * prepared stays as it is when it is prepared again.
 */
#include <string.h>

#include "fuzz.h"
#include "kinds/builtin.h"
#include "kinds/object.h"
#include "json/compare.h"
#include "json/parse.h"

/* The built-in kinds are the same for every input. */
static struct vd_kinds *builtin_kinds(void)
{
    static struct vd_kinds *kinds;
    if (!kinds)
        kinds = vd_kinds_new_builtin();
    return kinds;
}

static bool is_valid(const struct vd_kind *kind, const struct vd_json *object,
                     const struct vd_json *old)
{
    struct vd_violations first = {0}, second = {0};
    struct vd_buf one = {0}, two = {0};
    bool ok = vd_object_validate(kind, object, old, &first);
    FUZZ_CHECK(ok == (first.list.n == 0));
    FUZZ_CHECK(ok == vd_object_validate(kind, object, old, &second));
    vd_violations_write(&one, &first);
    vd_violations_write(&two, &second);
    FUZZ_CHECK(vd_slice_eq(vd_buf_slice(&one), vd_buf_slice(&two)));
    vd_buf_release(&one);
    vd_buf_release(&two);
    vd_violations_release(&first);
    vd_violations_release(&second);
    return ok;
}

static void check_object(const struct vd_kind *kind, struct vd_arena *arena, struct vd_json *object)
{
    if (!vd_json_is(object, VD_JSON_OBJECT))
        return;
    if (vd_object_prepare(kind, arena, object, true, NULL, &(struct vd_effort){0}, NULL))
        return;
    struct vd_json *once = vd_json_copy(arena, object);
    FUZZ_CHECK(!vd_object_prepare(kind, arena, object, true, NULL, &(struct vd_effort){0}, NULL));
    FUZZ_CHECK(vd_json_eq(object, once));
    (void)is_valid(kind, object, NULL);
    (void)is_valid(kind, object, once);
}

/* An admitted definition: all of its versions are kinds. */
static void check_admitted(struct vd_arena *arena, const struct vd_json *document,
                           const struct vd_json *object)
{
    struct vd_kind_options options = {false, vd_kinds_metadata(builtin_kinds())};
    struct vd_kind_source *source = vd_kind_source_new(document);
    VD_JSON_EACH (version, vd_json_dig(document, "spec", "versions", NULL)) {
        struct vd_slice name = vd_json_text(vd_json_get(version, VD_SLICE("name")));
        struct vd_kind *kind = NULL;
        struct vd_error error = {0};
        int code = vd_kind_new(&kind, source, name, &options, &error);
        if (code)
            fprintf(stderr, "%s\n", error.text);
        FUZZ_CHECK(code == VD_OK); /* what was admitted can be served */
        check_object(kind, arena, vd_json_copy(arena, object));
        vd_kind_unref(kind);
    }
    vd_kind_source_unref(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice first, second;
    if (!fuzz_split(data, size, &first, &second))
        return 0;
    struct vd_arena arena = {0};
    struct vd_json *document = NULL, *object = NULL;
    struct vd_kind_set *set = vd_kinds_snapshot(builtin_kinds());
    const struct vd_kind *kind = vd_kind_set_kind(set, VD_SLICE("apiextensions.k8s.io"),
                                                  VD_SLICE("v1"),
                                                  VD_SLICE("CustomResourceDefinition"));
    if (vd_json_parse(&arena, first, NULL, &document, NULL) == VD_OK &&
        vd_json_parse(&arena, second, NULL, &object, NULL) == VD_OK &&
        vd_json_is(document, VD_JSON_OBJECT)) {
        FUZZ_CHECK(
            !vd_object_prepare(kind, &arena, document, true, NULL, &(struct vd_effort){0}, NULL));
        if (is_valid(kind, document, NULL)) {
            FUZZ_CHECK(is_valid(kind, document, document));
            check_admitted(&arena, document, object);
        }
    }
    vd_kind_set_unref(set);
    vd_arena_release(&arena);
    return 0;
}
