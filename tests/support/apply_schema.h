/* A schema with everything that server-side apply tells apart. */
#ifndef VD_TESTS_APPLY_SCHEMA_H
#define VD_TESTS_APPLY_SCHEMA_H

#include "backtick.h"
#include "json_check.h"
#include "kinds/schema.h"

static inline struct vd_schema *apply_schema_of(const char *text, struct vd_schema *metadata)
{
    struct vd_arena a = {0};
    struct vd_schema *schema = NULL;
    struct vd_error error;
    struct vd_schema_options options = {.resource = metadata != NULL, .metadata = metadata};
    if (vd_schema_new(&schema, json_of(&a, backtick(&a, text)), &options, &error))
        fail_msg("%s", error.text);
    vd_arena_release(&a);
    return schema;
}

/* One reference. */
static inline struct vd_schema *apply_schema(void)
{
    struct vd_schema *metadata = apply_schema_of(
        "{`type`:`object`,`properties`:{`name`:{`type`:`string`},`namespace`:{`type`:`string`},"
        "`uid`:{`type`:`string`},`resourceVersion`:{`type`:`string`},`generateName`:{`type`:`"
        "string`},"
        "`generation`:{`type`:`integer`},`creationTimestamp`:{`type`:`string`},"
        "`managedFields`:{`type`:`array`,`items`:{`type`:`object`}},"
        "`labels`:{`type`:`object`,`additionalProperties`:{`type`:`string`}},"
        "`annotations`:{`type`:`object`,`additionalProperties`:{`type`:`string`}},"
        "`finalizers`:{`type`:`array`,`x-kubernetes-list-type`:`set`,`items`:{`type`:`string`}},"
        "`ownerReferences`:{`type`:`array`,`x-kubernetes-list-type`:`map`,"
        "`x-kubernetes-list-map-keys`:[`uid`],`items`:{`type`:`object`,"
        "`x-kubernetes-map-type`:`atomic`,`properties`:{`uid`:{`type`:`string`},"
        "`name`:{`type`:`string`}}}}}}",
        NULL);
    struct vd_schema *schema = apply_schema_of(
        "{`type`:`object`,`properties`:{"
        "`spec`:{`type`:`object`,`properties`:{"
        "`a`:{`type`:`integer`},`b`:{`type`:`integer`},`c`:{`type`:`string`},"
        "`map`:{`type`:`object`,`additionalProperties`:"
        "{`x-kubernetes-preserve-unknown-fields`:true}},"
        "`list`:{`type`:`array`,`items`:{`x-kubernetes-preserve-unknown-fields`:true}},"
        "`whole`:{`type`:`object`,`x-kubernetes-map-type`:`atomic`,"
        "`additionalProperties`:{`type`:`integer`}},"
        "`set`:{`type`:`array`,`x-kubernetes-list-type`:`set`,`items`:{`type`:`string`}},"
        "`ports`:{`type`:`array`,`x-kubernetes-list-type`:`map`,"
        "`x-kubernetes-list-map-keys`:[`port`,`protocol`],`items`:{`type`:`object`,`properties`:{"
        "`port`:{`type`:`integer`},`protocol`:{`type`:`string`,`default`:`TCP`},"
        "`name`:{`type`:`string`},`extra`:{`type`:`string`}}}}}},"
        "`any`:{`x-kubernetes-preserve-unknown-fields`:true}}}",
        metadata);
    vd_schema_unref(metadata);
    return schema;
}

#endif
