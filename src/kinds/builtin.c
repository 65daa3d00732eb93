/* See builtin.h. objectmeta.yaml is the schema of metadata; every other file is a
 * definition. */
#include "kinds/builtin.h"

#include <stdio.h>
#include <stdlib.h>

#include "kinds/builtin_files.h"
#include "json/yaml_read.h"

#define METADATA_FILE "objectmeta.yaml"

/* The text is part of the program, so no failure can be anybody else's. */
static void demand(int code, const char *file, const struct vd_error *error)
{
    if (code == VD_OK)
        return;
    fprintf(stderr, "kinds/%s: %s\n", file, error->text);
    abort();
}

static struct vd_json *read_file(struct vd_arena *arena, const struct vd_builtin_file *file)
{
    struct vd_error error = {0};
    struct vd_json *document = NULL;
    demand(vd_yaml_read(arena, file->text, &document, &error), file->name, &error);
    return document;
}

static struct vd_schema *metadata_schema(struct vd_arena *arena)
{
    struct vd_error error = {0};
    struct vd_schema *schema = NULL;
    struct vd_schema_options options = {.advisory = true};
    for (size_t i = 0; i < vd_builtin_file_count; i++) {
        const struct vd_builtin_file *file = &vd_builtin_files[i];
        if (vd_slice_is(vd_slice_of(file->name), METADATA_FILE))
            demand(vd_schema_new(&schema, read_file(arena, file), &options, &error), file->name,
                   &error);
    }
    return schema;
}

struct vd_kinds *vd_kinds_new_builtin(void)
{
    struct vd_error error = {0};
    struct vd_arena arena = {0};
    struct vd_schema *metadata = metadata_schema(&arena);
    struct vd_kinds *kinds = vd_kinds_new(metadata);
    vd_schema_unref(metadata);
    for (size_t i = 0; i < vd_builtin_file_count; i++) {
        const struct vd_builtin_file *file = &vd_builtin_files[i];
        if (vd_slice_is(vd_slice_of(file->name), METADATA_FILE))
            continue;
        vd_arena_reset(&arena);
        demand(vd_kinds_put(kinds, read_file(&arena, file), true, &error), file->name, &error);
    }
    vd_arena_release(&arena);
    return kinds;
}
