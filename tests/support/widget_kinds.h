/* A tiny registry for tests: Widget in two versions, one of them with every
 * subresource, and a version that is not served. No built-in kinds. */
#ifndef VD_TESTS_WIDGET_KINDS_H
#define VD_TESTS_WIDGET_KINDS_H

#include "check.h"

#include "kinds/kinds.h"
#include "json/yaml_read.h"

static const char WIDGET_YAML[] = "spec:\n"
                                  "  group: example.com\n"
                                  "  scope: Namespaced\n"
                                  "  names:\n"
                                  "    kind: Widget\n"
                                  "    plural: widgets\n"
                                  "    singular: widget\n"
                                  "    shortNames: [wd]\n"
                                  "    categories: [all]\n"
                                  "  versions:\n"
                                  "  - name: v1\n"
                                  "    served: true\n"
                                  "    storage: true\n"
                                  "    subresources:\n"
                                  "      status: {}\n"
                                  "      scale:\n"
                                  "        specReplicasPath: .spec.replicas\n"
                                  "        statusReplicasPath: .status.replicas\n"
                                  "    schema:\n"
                                  "      openAPIV3Schema:\n"
                                  "        description: A widget.\n"
                                  "        type: object\n"
                                  "        properties:\n"
                                  "          spec:\n"
                                  "            type: object\n"
                                  "            required: [color]\n"
                                  "            properties:\n"
                                  "              color: {type: string, enum: [red, blue]}\n"
                                  "              size: {type: integer, minimum: 1}\n"
                                  "              port:\n"
                                  "                x-kubernetes-int-or-string: true\n"
                                  "                anyOf: [{type: integer}, {type: string}]\n"
                                  "              note: {type: string, nullable: true}\n"
                                  "              free:\n"
                                  "                type: object\n"
                                  "                x-kubernetes-preserve-unknown-fields: true\n"
                                  "                properties: {a: {type: string}}\n"
                                  "              tags:\n"
                                  "                type: object\n"
                                  "                additionalProperties: {type: string}\n"
                                  "  - {name: v2, served: true, storage: false}\n"
                                  "  - {name: v3alpha1, served: false, storage: false}\n";

/* A definition of example.com with one version that has a status, up to where the properties of
 * its schema begin. */
#define CLUSTER_KIND_YAML(kind, plural)                                                            \
    "spec:\n"                                                                                      \
    "  group: example.com\n"                                                                       \
    "  scope: Cluster\n"                                                                           \
    "  names: {kind: " kind ", plural: " plural "}\n"                                              \
    "  versions:\n"                                                                                \
    "  - name: v1\n"                                                                               \
    "    served: true\n"                                                                           \
    "    storage: true\n"                                                                          \
    "    subresources: {status: {}}\n"                                                             \
    "    schema:\n"                                                                                \
    "      openAPIV3Schema:\n"                                                                     \
    "        type: object\n"

/* Namespace, as a built-in kind of the core group. */
static const char ROOM_YAML[] = "spec:\n"
                                "  group: \"\"\n"
                                "  scope: Cluster\n"
                                "  names: {kind: Namespace, plural: namespaces}\n"
                                "  versions:\n"
                                "  - {name: v1, served: true, storage: true}\n";

static inline void put_kind(struct vd_kinds *kinds, const char *yaml, bool builtin)
{
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_json *document = NULL;
    assert_ok(vd_yaml_read(&arena, vd_slice_of(yaml), &document, &error), &error);
    assert_ok(vd_kinds_put(kinds, document, builtin, &error), &error);
    vd_arena_release(&arena);
}

static inline struct vd_kinds *widget_kinds(void)
{
    struct vd_kinds *kinds = vd_kinds_new(NULL);
    put_kind(kinds, ROOM_YAML, true);
    put_kind(kinds, WIDGET_YAML, false);
    return kinds;
}

#endif
