/*
 * Any annotation vedette.dev/references and any object. The input is two JSON texts with a NUL
 * between them.
 *
 * Nothing crashes; what is read of the annotation is within its limits; every reference of the
 * object has a name, and a path that begins as that of its field does.
 */
#include "fuzz.h"

#include <string.h>

#include "base/limits.h"
#include "kinds/kind.h"
#include "json/parse.h"

static void check_references(const struct vd_kind *kind, struct vd_arena *arena,
                             const struct vd_json *object)
{
    struct vd_references found = {0};
    vd_references_of(kind, object, VD_SLICE("shop"), arena, &found);
    FUZZ_CHECK(found.list.n <= VD_REFERENCES_MAX);
    for (size_t i = 0; i < found.list.n; i++) {
        const struct vd_reference *r = &found.list.p[i];
        struct vd_slice rest = r->field->path, first = VD_SLICE("");
        FUZZ_CHECK(r->name.n > 0 && r->namespace.n > 0);
        FUZZ_CHECK(vd_slice_cut(&rest, '.', &first));
        if (vd_slice_ends_with(first, VD_SLICE("[]")))
            first.n -= 2;
        FUZZ_CHECK(vd_slice_starts_with(r->path, first));
    }
    vd_references_release(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice first, second = VD_SLICE("{}");
    struct vd_arena arena = {0};
    struct vd_kind kind = {.group = VD_SLICE("")};
    struct vd_json *object = NULL;
    struct vd_error error;
    (void)fuzz_split(data, size, &first, &second);
    int code = vd_reference_fields_parse(&arena, first, &kind.references, &kind.reference_count,
                                         &error);
    FUZZ_CHECK(kind.reference_count <= (code ? 0 : VD_REFERENCE_FIELDS_MAX));
    for (size_t i = 0; i < kind.reference_count; i++)
        FUZZ_CHECK(kind.references[i].kind.n > 0 && kind.references[i].path.n > 0 &&
                   kind.references[i].path.n <= VD_REFERENCE_PATH_LEN_MAX);
    if (!code && !vd_json_parse(&arena, second, NULL, &object, NULL))
        check_references(&kind, &arena, object);
    vd_arena_release(&arena);
    return 0;
}
