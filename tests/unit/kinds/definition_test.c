/* src/kinds/rules_definition.c and structural*.c: which definitions are taken, and what is
 * said of the others. The words are Kubernetes'. */
#include "check.h"

#include <string.h>

#include "base/limits.h"
#include "kinds/builtin.h"
#include "kinds/object.h"
#include "kinds/rules.h"
#include "json/yaml_read.h"

struct fixture {
    struct vd_arena arena;
    struct vd_kinds *kinds;
    struct vd_kind_set *set;
    const struct vd_kind *kind;
};

static int setup(void **state)
{
    struct fixture *f = vd_calloc(1, sizeof *f);
    f->kinds = vd_kinds_new_builtin();
    f->set = vd_kinds_snapshot(f->kinds);
    f->kind = vd_kind_set_kind(f->set, VD_SLICE("apiextensions.k8s.io"), VD_SLICE("v1"),
                               VD_SLICE("CustomResourceDefinition"));
    assert_non_null(f->kind);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    vd_kind_set_unref(f->set);
    vd_kinds_free(f->kinds);
    vd_arena_release(&f->arena);
    free(f);
    return 0;
}

static struct vd_json *yaml_of(struct fixture *f, const char *text)
{
    struct vd_json *document = NULL;
    struct vd_error error = {0};
    if (vd_yaml_read(&f->arena, vd_slice_of(text), &document, &error))
        fail_msg("%s\n%s", text, error.text);
    return document;
}

/* What is said of the definition; in the arena. `old`: as of an update. */
static const char *verdict(struct fixture *f, struct vd_json *object, const struct vd_json *old)
{
    struct vd_violations violations = {0};
    struct vd_buf said = {0};
    assert_int_equal(
        vd_object_prepare(f->kind, &f->arena, object, !old, NULL, &(struct vd_effort){0}, NULL),
        VD_OK);
    if (old)
        vd_kind_rules_settle(f->kind, &f->arena, object);
    vd_object_validate(f->kind, object, old, &violations);
    vd_violations_write(&said, &violations);
    const char *text = vd_arena_copy(&f->arena, vd_buf_slice(&said)).p;
    vd_buf_release(&said);
    vd_violations_release(&violations);
    return text ? text : "";
}

#define HEAD    "metadata: {name: ws.x.io}\nspec:\n"
#define TOP     "  group: x.io\n  scope: Cluster\n"
#define NAMES   "  names: {kind: W, plural: ws}\n"
#define VERSION "  versions:\n  - {name: v1, served: true, storage: true, schema: "
#define PLAIN   "{openAPIV3Schema: {type: object}}"
#define WEBHOOK(config, versions)                                                                  \
    "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [" versions             \
    "], clientConfig: {" config "}}}\n"

struct row {
    const char *definition, *want;
};

static void assert_rows(struct fixture *f, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *said = verdict(f, yaml_of(f, rows[i].definition), NULL);
        if (strcmp(said, rows[i].want) != 0)
            fail_msg("%s\n got %s\nwant %s", rows[i].definition, said, rows[i].want);
    }
}

#define ROWS(state, rows) assert_rows(*(state), rows, sizeof(rows) / sizeof *(rows))

#define DNS1035                                                                                    \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "   \
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "           \
    "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

static void names_are_judged(void **state)
{
    static const struct row rows[] = {
        {HEAD TOP NAMES VERSION PLAIN "}", ""},
        {"metadata: {name: a.b}\nspec:\n" TOP NAMES VERSION PLAIN "}",
         "metadata.name: Invalid value: \"a.b\": must be spec.names.plural+\".\"+spec.group"},
        {HEAD "  group: x.io\n  scope: World\n" NAMES VERSION PLAIN "}",
         "spec.scope: Unsupported value: \"World\": supported values: \"Cluster\", "
         "\"Namespaced\""},
        {"metadata: {name: ws.x}\nspec:\n  group: x\n  scope: Cluster\n" NAMES VERSION PLAIN "}",
         "spec.group: Invalid value: \"x\": should be a domain with at least one dot"},
        {HEAD TOP "  names: {kind: W, plural: ws, singular: w_w}\n" VERSION PLAIN "}",
         "spec.names.singular: Invalid value: \"w_w\": " DNS1035},
        {HEAD TOP "  names: {kind: W W, plural: ws, singular: w}\n" VERSION PLAIN "}",
         "[spec.names.kind: Invalid value: \"W W\": may have mixed case, but should otherwise "
         "match: " DNS1035
         ", spec.names.listKind: Invalid value: \"W WList\": may have mixed case, but should "
         "otherwise match: " DNS1035 "]"},
        {HEAD TOP "  names: {kind: W, plural: ws, listKind: W}\n" VERSION PLAIN "}",
         "spec.names.listKind: Invalid value: \"W\": kind and listKind may not be the same"},
        {HEAD TOP "  names: {kind: W, plural: ws, shortNames: [w, W]}\n" VERSION PLAIN "}",
         "spec.names.shortNames[1]: Invalid value: \"W\": " DNS1035},
        {HEAD TOP "  names: {kind: W, plural: ws, categories: [\"\"]}\n" VERSION PLAIN "}",
         "spec.names.categories[0]: Invalid value: \"\": " DNS1035},
        {HEAD "  group: x.io\n  scope: Cluster\n  names: {plural: ws}\n" VERSION PLAIN "}",
         "[spec.names.singular: Required value, spec.names.kind: Required value, "
         "spec.names.listKind: Required value]"},
        {"metadata: {name: ws.a.k8s.io}\nspec:\n  group: a.k8s.io\n  scope: Cluster\n" NAMES VERSION
             PLAIN "}",
         "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must "
         "have approval annotation \"api-approved.kubernetes.io\", see "
         "https://github.com/kubernetes/enhancements/pull/1111"},
        {"metadata: {name: ws.x.io, annotations: {vedette.dev/references: '[{}]'}}\nspec:\n" TOP
             NAMES VERSION PLAIN "}",
         "metadata.annotations[vedette.dev/references]: Invalid value: \"[{}]\": [0].path: must be "
         "the names of fields with dots between them, and [] behind a list, such as "
         "spec.media[].fileRef"},
        {"metadata: {name: ws.x.io, annotations: {vedette.dev/spec-owner: me}}\nspec:\n" TOP NAMES
             VERSION PLAIN "}",
         "metadata.annotations[vedette.dev/spec-owner]: Unsupported value: \"me\": supported "
         "values: \"api\", \"git\""},
    };
    ROWS(state, rows);
}

static void webhooks_are_judged(void **state)
{
    static const struct row rows[] = {
        {HEAD TOP NAMES "  conversion: {strategy: Webhook}\n" VERSION PLAIN "}",
         "[spec.conversion.webhookClientConfig: Required value: required when strategy is set to "
         "Webhook, spec.conversion.conversionReviewVersions: Required value]"},
        {HEAD TOP NAMES WEBHOOK("url: 'https://a.example/convert'", "v1") VERSION PLAIN "}", ""},
        {HEAD TOP NAMES WEBHOOK("service: {namespace: ns, name: s, path: /a/b}", "v2, v1beta1")
             VERSION PLAIN "}",
         ""},
        {HEAD TOP NAMES WEBHOOK("url: 'https://a', service: {namespace: ns, name: s}", "v1")
             VERSION PLAIN "}",
         "spec.conversion.webhookClientConfig: Required value: exactly one of url or service is "
         "required"},
        {HEAD TOP NAMES WEBHOOK("url: 'http://u:p@a.example/x?y=1#z'", "v1") VERSION PLAIN "}",
         "[spec.conversion.webhookClientConfig.url: Invalid value: \"http\": 'https' is the only "
         "allowed URL scheme; desired format: https://host[/path], "
         "spec.conversion.webhookClientConfig.url: Invalid value: \"u:p\": user information is not "
         "permitted in the URL, spec.conversion.webhookClientConfig.url: Invalid value: \"z\": "
         "fragments are not permitted in the URL, spec.conversion.webhookClientConfig.url: Invalid "
         "value: \"y=1\": query parameters are not permitted in the URL]"},
        {HEAD TOP NAMES WEBHOOK("url: 'https:///x'", "v1") VERSION PLAIN "}",
         "spec.conversion.webhookClientConfig.url: Invalid value: \"\": host must be specified; "
         "desired format: https://host[/path]"},
        {HEAD TOP NAMES WEBHOOK("service: {port: 70000, path: x//y}", "v1") VERSION PLAIN "}",
         "[spec.conversion.webhookClientConfig.service.name: Required value: service name is "
         "required, spec.conversion.webhookClientConfig.service.namespace: Required value: service "
         "namespace is required, spec.conversion.webhookClientConfig.service.port: Invalid value: "
         "70000: port is not valid: must be between 1 and 65535, inclusive, "
         "spec.conversion.webhookClientConfig.service.path: Invalid value: \"x//y\": must start "
         "with a '/', spec.conversion.webhookClientConfig.service.path: Invalid value: \"x//y\": "
         "segment[0] may not be empty, spec.conversion.webhookClientConfig.service.path: Invalid "
         "value: \"x//y\": segment[1] may not be empty]"},
        {HEAD TOP NAMES WEBHOOK("url: 'https://a', caBundle: bm9uZQ==", "v1") VERSION PLAIN "}",
         "spec.conversion.webhookClientConfig.caBundle: Invalid value: \"bm9uZQ==\": unable to "
         "load "
         "root certificates: unable to parse bytes as PEM block"},
        {HEAD TOP NAMES WEBHOOK("url: 'https://a'", "v2, v2") VERSION PLAIN "}",
         "[spec.conversion.conversionReviewVersions[1]: Invalid value: \"v2\": duplicate version, "
         "spec.conversion.conversionReviewVersions: Invalid value: [\"v2\",\"v2\"]: must include "
         "at "
         "least one of v1, v1beta1]"},
        {HEAD TOP NAMES "  conversion: {strategy: None, webhook: {conversionReviewVersions: [v1], "
                        "clientConfig: {url: 'https://a'}}}\n" VERSION PLAIN "}",
         "[spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not "
         "set to Webhook, spec.conversion.conversionReviewVersions: Forbidden: should not be set "
         "when strategy is not set to Webhook]"},
    };
    ROWS(state, rows);
}

static void versions_are_judged(void **state)
{
    static const struct row rows[] = {
        {HEAD TOP NAMES "  versions: []\n",
         "spec.versions: Invalid value: []: must have exactly one version marked as storage "
         "version"},
        {HEAD TOP NAMES VERSION PLAIN
         "}\n  - {name: v1, served: true, storage: false, schema: " PLAIN "}",
         "spec.versions: Invalid value: [{\"name\":\"v1\",\"served\":true,\"storage\":true,"
         "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}},{\"name\":\"v1\",\"served\":true,"
         "\"storage\":false,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]: must contain "
         "unique version names"},
        {HEAD TOP NAMES "  versions:\n  - {name: V1, served: true, storage: true, schema: " PLAIN
                        "}",
         "spec.versions[0].name: Invalid value: \"V1\": " DNS1035},
        {HEAD TOP NAMES "  versions:\n  - {name: v1, served: true, storage: true}",
         "spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required"},
        {HEAD TOP NAMES VERSION PLAIN ", deprecationWarning: old}",
         "spec.versions[0].deprecationWarning: Invalid value: \"old\": can only be set for "
         "deprecated versions"},
        {HEAD TOP NAMES VERSION PLAIN ", deprecated: true, deprecationWarning: \"\"}",
         "spec.versions[0].deprecationWarning: Invalid value: \"\": must not be an empty string"},
        {HEAD TOP NAMES VERSION PLAIN ", deprecated: true, deprecationWarning: \"a\\tb\"}",
         "spec.versions[0].deprecationWarning: Invalid value: \"a\\tb\": must only contain "
         "printable UTF-8 characters; non-printable character found at index 1"},
        {HEAD TOP NAMES "  conversion: {strategy: Magic}\n" VERSION PLAIN "}",
         "spec.conversion.strategy: Unsupported value: \"Magic\": supported values: \"None\", "
         "\"Webhook\""},
        {HEAD TOP NAMES "  preserveUnknownFields: true\n" VERSION PLAIN "}",
         "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
         "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"},
        {HEAD TOP NAMES VERSION PLAIN
         ", additionalPrinterColumns: [{name: A, type: size, jsonPath: a, format: f}, {}]}",
         "[spec.additionalPrinterColumns[0].type: Invalid value: \"size\": must be one of "
         "boolean,date,integer,number,string, spec.additionalPrinterColumns[0].format: Invalid "
         "value: \"f\": must be one of byte,date,date-time,double,float,int32,int64,password, "
         "spec.additionalPrinterColumns[0].JSONPath: Invalid value: \"a\": must be a simple json "
         "path starting with ., spec.additionalPrinterColumns[1].name: Required value, "
         "spec.additionalPrinterColumns[1].type: Required value: must be one of "
         "boolean,date,integer,number,string, spec.additionalPrinterColumns[1].JSONPath: Required "
         "value]"},
        {HEAD TOP NAMES VERSION PLAIN
         ", subresources: {scale: {specReplicasPath: .status.a, statusReplicasPath: b, "
         "labelSelectorPath: .a}}}",
         "[spec.subresources.scale.specReplicasPath: Invalid value: \".status.a\": should be a "
         "json path under .spec, spec.subresources.scale.statusReplicasPath: Invalid value: \"b\": "
         "must be a simple json path starting with ., spec.subresources.scale.labelSelectorPath: "
         "Invalid value: \".a\": should be a json path under either .spec or .status]"},
        {HEAD TOP NAMES VERSION
         "{openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {c: "
         "{type: "
         "string}, f: {type: number}}}}}}, selectableFields: [{jsonPath: .spec.c}, {jsonPath: "
         ".spec.d}, {jsonPath: .metadata.x}, {jsonPath: .spec.f}, {jsonPath: .spec.c}, {}]}",
         "[spec.selectableFields[1].jsonPath: Invalid value: \".spec.d\": is an invalid path: does "
         "not refer to a valid field, spec.selectableFields[2].jsonPath: Invalid value: "
         "\".metadata.x\": must not point to fields in metadata, "
         "spec.selectableFields[3].jsonPath: "
         "Invalid value: \".spec.f\": must point to a field of type string, boolean or integer. "
         "Enum string fields and strings with formats are allowed., "
         "spec.selectableFields[4].jsonPath: Duplicate value: \".spec.c\", "
         "spec.selectableFields[5].jsonPath: Required value]"},
    };
    ROWS(state, rows);
}

/* Schemas: of each the openAPIV3Schema, and what is said, with %s for the path of it. */
static void assert_schemas(struct fixture *f, const struct row *rows, size_t n, bool status)
{
    for (size_t i = 0; i < n; i++) {
        struct vd_buf text = {0}, want = {0};
        vd_buf_addf(&text, "%s{openAPIV3Schema: %s}%s}", HEAD TOP NAMES VERSION, rows[i].definition,
                    status ? ", subresources: {status: {}}" : "");
        for (const char *p = rows[i].want; *p; p++) {
            if (*p == '~')
                vd_buf_add_text(&want, "spec.validation.openAPIV3Schema");
            else
                vd_buf_add_char(&want, *p);
        }
        const char *said = verdict(f, yaml_of(f, vd_buf_text(&text)), NULL);
        if (strcmp(said, want.n ? vd_buf_text(&want) : "") != 0)
            fail_msg("%s\n got %s\nwant %s", rows[i].definition, said, vd_buf_text(&want));
        vd_buf_release(&text);
        vd_buf_release(&want);
    }
}

#define SCHEMAS(state, rows, status)                                                               \
    assert_schemas(*(state), rows, sizeof(rows) / sizeof *(rows), status)

static void the_structure_is_judged(void **state)
{
    static const struct row rows[] = {
        {"{}", "~.type: Required value: must not be empty at the root"},
        {"{description: d, properties: {spec: {type: object}}}",
         "~.type: Required value: must not be empty at the root"},
        {"{type: \"\"}", "~.type: Required value: must not be empty at the root"},
        {"{x-kubernetes-preserve-unknown-fields: true}", ""}, /* the way to say nothing */
        {"{type: string}", "~.type: Invalid value: \"string\": must be object at the root"},
        {"{type: object, additionalProperties: true}",
         "~.additionalProperties: Forbidden: must not be used at the root"},
        {"{type: object, properties: {a: {}}}",
         "~.properties[a].type: Required value: must not be empty for specified object fields"},
        {"{type: object, properties: {a: {type: array}}}",
         "~.properties[a].items: Required value: must be specified"},
        {"{type: object, properties: {a: {type: array, items: {}}}}",
         "~.properties[a].items.type: Required value: must not be empty for specified array items"},
        {"{type: object, properties: {a: {x-kubernetes-int-or-string: true}, b: "
         "{x-kubernetes-preserve-unknown-fields: true}}}",
         ""},
        {"{type: object, properties: {a: {x-kubernetes-int-or-string: true, "
         "x-kubernetes-preserve-unknown-fields: true}}}",
         "~.properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false "
         "if x-kubernetes-int-or-string is true"},
        {"{type: object, properties: {a: {x-kubernetes-int-or-string: true, anyOf: [{type: "
         "integer}, {type: string}]}}}",
         ""},
        {"{type: object, properties: {a: {x-kubernetes-int-or-string: true, allOf: [{anyOf: "
         "[{type: integer}, {type: string}]}, {pattern: a}]}}}",
         ""},
        {"{type: object, properties: {a: {x-kubernetes-embedded-resource: true}}}",
         "[~.properties[a].type: Required value: must be object if "
         "x-kubernetes-embedded-resource is true, ~.properties[a].properties: Required value: must "
         "not be empty if x-kubernetes-embedded-resource is true without "
         "x-kubernetes-preserve-unknown-fields]"},
        {"{type: object, properties: {metadata: {type: object, properties: {name: {type: string, "
         "maxLength: 3}}}}}",
         ""},
        {"{type: object, properties: {metadata: {type: object, properties: {labels: {type: "
         "object}}}}}",
         "~.properties[metadata]: Forbidden: must not specify anything other than name and "
         "generateName, but metadata is implicitly specified"},
        {"{type: object, properties: {kind: {type: integer}}}",
         "~.properties[kind].type: Invalid value: \"integer\": must be string"},
        {"{type: object, properties: {a: {type: string, anyOf: [{type: string}]}}}",
         "~.properties[a].anyOf[0].type: Forbidden: must be empty to be structural"},
        {"{type: object, properties: {a: {type: string, oneOf: [{default: x}, {nullable: true}], "
         "not: {description: d, title: t}}}}",
         "[~.properties[a].oneOf[0].default: Forbidden: must be undefined to be structural, "
         "~.properties[a].oneOf[1].nullable: Forbidden: must be false to be structural, "
         "~.properties[a].not.title: Forbidden: must be empty to be structural, "
         "~.properties[a].not.description: Forbidden: must be empty to be structural]"},
        {"{type: object, properties: {a: {type: object, allOf: [{properties: {metadata: {}}}, "
         "{additionalProperties: true}]}}}",
         "[~.properties[a].allOf[0].properties[metadata]: Forbidden: must not be specified in a "
         "nested context, ~.properties[a].allOf[1].additionalProperties: Forbidden: must be "
         "undefined to be structural]"},
        {"{type: object, anyOf: [{properties: {b: {minimum: 1}}, required: [b]}]}",
         "~.properties[b]: Required value: because it is defined in ~.anyOf[0].properties[b]"},
        {"{type: object, properties: {a: {type: string, pattern: \"(\"}}}",
         "~.properties[a].pattern: Invalid value: \"(\": must be a valid regular expression, but "
         "isn't: missing ): ("},
        {"{type: object, nullable: true}",
         "spec.validation.openAPIV3Schema.nullable: Forbidden: nullable cannot be true at the "
         "root"},
    };
    SCHEMAS(state, rows, false);
}

static void keywords_are_judged(void **state)
{
    static const struct row rows[] = {
        {"{type: object, properties: {a: {type: text}}}",
         "~.properties[a].type: Unsupported value: \"text\": supported values: \"array\", "
         "\"boolean\", \"integer\", \"number\", \"object\", \"string\""},
        {"{type: object, properties: {a: {type: object, $ref: b}}}",
         "~.properties[a].$ref: Forbidden: $ref is not supported"},
        {"{type: object, definitions: {}, patternProperties: {}}",
         "[~.patternProperties: Forbidden: patternProperties is not supported, ~.definitions: "
         "Forbidden: definitions is not supported]"},
        {"{type: object, properties: {a: {type: array, uniqueItems: true, items: {type: string}}}}",
         "~.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the "
         "runtime complexity becomes quadratic"},
        {"{type: object, properties: {a: {type: object, properties: {b: {type: string}}, "
         "additionalProperties: {type: string}}}}",
         "~.properties[a].additionalProperties: Forbidden: additionalProperties and properties are "
         "mutual exclusive"},
        {"{type: object, x-kubernetes-preserve-unknown-fields: false}",
         "~.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined"},
        {"{type: object, properties: {a: {type: string, x-kubernetes-map-type: loose}}}",
         "[~.properties[a].type: Invalid value: \"string\": must be object if "
         "x-kubernetes-map-type is specified, ~.properties[a].x-kubernetes-map-type: Unsupported "
         "value: \"loose\": supported values: \"atomic\", \"granular\"]"},
        {"{type: object, properties: {metadata: {type: object, default: {}}}}",
         "~.properties[metadata].default: Forbidden: must not be set in top-level metadata"},
        {"{type: object, properties: {a: {type: array, items: {type: string}, "
         "x-kubernetes-list-type: bag}}}",
         "~.properties[a].x-kubernetes-list-type: Unsupported value: \"bag\": supported values: "
         "\"atomic\", \"set\", \"map\""},
        {"{type: object, properties: {a: {type: array, items: {type: string}, "
         "x-kubernetes-list-map-keys: [k]}}}",
         "~.properties[a].x-kubernetes-list-type: Required value: must be map if "
         "x-kubernetes-list-map-keys is non-empty"},
        {"{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, items: {type: "
         "string}}}}",
         "[~.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if "
         "x-kubernetes-list-type is map, ~.properties[a].items.type: Invalid value: \"string\": "
         "must be object if parent array's x-kubernetes-list-type is map]"},
        {"{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, "
         "x-kubernetes-list-map-keys: [k, m, m, o], items: {type: object, nullable: true, "
         "properties: {k: {type: string, nullable: true}, o: {type: object, default: {}}}}}}}",
         "[~.properties[a].items.properties[k].default: Required value: this property is in "
         "x-kubernetes-list-map-keys, so it must have a default or be a required property, "
         "~.properties[a].items.properties[k].nullable: Forbidden: this property is in "
         "x-kubernetes-list-map-keys, so it cannot be nullable, "
         "~.properties[a].x-kubernetes-list-map-keys: Invalid value: [\"k\",\"m\",\"m\",\"o\"]: "
         "entries must all be names of item properties, "
         "~.properties[a].x-kubernetes-list-map-keys: Invalid value: [\"k\",\"m\",\"m\",\"o\"]: "
         "entries must all be names of item properties, "
         "~.properties[a].x-kubernetes-list-map-keys: Invalid value: [\"k\",\"m\",\"m\",\"o\"]: "
         "must not contain duplicate entries, ~.properties[a].items.properties[o].type: Invalid "
         "value: \"object\": must be a scalar type if parent array's x-kubernetes-list-type is "
         "map, ~.properties[a].items.nullable: Forbidden: cannot be nullable when "
         "x-kubernetes-list-type is map]"},
        {"{type: object, properties: {a: {type: array, x-kubernetes-list-type: set, items: {type: "
         "object}}}}",
         "~.properties[a].items.x-kubernetes-map-type: Invalid value: \"\": must be atomic as item "
         "of a list with x-kubernetes-list-type=set"},
        {"{type: object, x-kubernetes-validations: [{message: m}, {rule: \"a\\nb\"}]}",
         "[~.x-kubernetes-validations[0].rule: Required value: rule is not specified, "
         "~.x-kubernetes-validations[1].message: Required value: message must be specified if rule "
         "contains line breaks]"},
        {"{type: object, properties: {a: {type: string, minLength: many}}}",
         "spec.validation: Invalid value: \"\": error building validator: schema: "
         "a.minLength: must be an integer that is not negative"},
    };
    SCHEMAS(state, rows, false);
}

static void defaults_are_judged(void **state)
{
    static const struct row rows[] = {
        {"{type: object, properties: {a: {type: integer, default: 1}, b: {type: object, default: "
         "{c: x}, properties: {c: {type: string}}}}}",
         ""},
        {"{type: object, properties: {a: {type: object, default: {d: 1}, properties: {c: {type: "
         "string}}}}}",
         "~.properties[a].default: Invalid value: {\"d\":1}: must not have unknown fields"},
        {"{type: object, properties: {a: {type: array, items: {type: object, properties: {c: "
         "{type: string, enum: [x], default: z}}}}}}",
         "~.properties[a].items.properties[c].default: Unsupported value: \"z\": supported values: "
         "\"x\""},
        /* What metadata may have, no definition says; it still has to be metadata. */
        {"{type: object, properties: {a: {type: object, x-kubernetes-embedded-resource: true, "
         "x-kubernetes-preserve-unknown-fields: true, properties: {metadata: {type: object, "
         "default: {labels: {a: b}, unheard: of}}}}}}",
         ""},
        {"{type: object, properties: {a: {type: object, x-kubernetes-embedded-resource: true, "
         "x-kubernetes-preserve-unknown-fields: true, properties: {metadata: {type: object, "
         "properties: {name: {type: string, default: a/b}}}}}}}",
         "~.properties[a].properties[metadata].properties[name].default: Invalid value: \"a/b\": "
         "must result in valid metadata: metadata.name: Invalid value: \"a/b\": may not contain "
         "'/'"},
        {"{type: object, properties: {a: {type: object, default: {}, required: [c], properties: "
         "{c: "
         "{type: string}}}}}",
         "~.properties[a].default.c: Required value"},
    };
    SCHEMAS(state, rows, false);
}

static void a_status_of_its_own_restricts_the_root(void **state)
{
    static const struct row rows[] = {
        {"{type: object, description: d, properties: {spec: {type: object}}, required: [spec]}",
         ""},
        {"{type: object, maxProperties: 5}",
         "~: Invalid value: {\"type\":\"object\",\"maxProperties\":5}: only [Description Type "
         "Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength "
         "Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs "
         "Example XPreserveUnknownFields XValidations] fields are allowed at the root of the "
         "schema "
         "if the status subresource is enabled"},
    };
    SCHEMAS(state, rows, true);
}

/* Where versions differ, their own paths are named. */
static void versions_that_differ_are_named(void **state)
{
    struct fixture *f = *state;
    const char *said = verdict(f,
                               yaml_of(f, HEAD TOP NAMES VERSION
                                       "{openAPIV3Schema: {}}}\n  - {name: v2, served: true, "
                                       "storage: false, schema: " PLAIN
                                       ", subresources: {scale: {}}}"),
                               NULL);
    assert_string_equal(
        said, "[spec.versions[0].schema.openAPIV3Schema.type: Required value: must not be "
              "empty at the root, spec.versions[1].subresources.scale.specReplicasPath: "
              "Required value, spec.versions[1].subresources.scale.statusReplicasPath: "
              "Required value]");
}

/* One more than there may be of versions, keys and selectable fields. */
static void numbers_are_bounded(void **state)
{
    struct fixture *f = *state;
    struct vd_buf text = {0};
    vd_buf_add_text(&text, HEAD TOP NAMES VERSION PLAIN "}");
    for (int i = 1; i < VD_DEFINITION_VERSIONS_MAX; i++)
        vd_buf_addf(&text, "\n  - {name: w%d, served: true, storage: false, schema: " PLAIN "}", i);
    assert_string_equal(verdict(f, yaml_of(f, vd_buf_text(&text)), NULL), "");
    vd_buf_add_text(&text, "\n  - {name: x, served: true, storage: false, schema: " PLAIN "}");
    assert_string_equal(verdict(f, yaml_of(f, vd_buf_text(&text)), NULL),
                        "spec.versions: Too many: 65: must have at most 64 items");
    vd_buf_reset(&text);
    vd_buf_add_text(&text, HEAD TOP NAMES VERSION
                    "{openAPIV3Schema: {type: object, properties: {a: {type: array, "
                    "x-kubernetes-list-type: map, items: {type: object}, "
                    "x-kubernetes-list-map-keys: [k");
    for (int i = 0; i < VD_LIST_KEYS_MAX; i++)
        vd_buf_addf(&text, ",k%d", i);
    vd_buf_add_text(&text, "]}}}}}");
    assert_string_equal(verdict(f, yaml_of(f, vd_buf_text(&text)), NULL),
                        "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-list-map-keys: "
                        "Too many: 65: must have at most 64 items");
    vd_buf_reset(&text);
    vd_buf_add_text(&text, HEAD TOP NAMES VERSION PLAIN ", selectableFields: [{jsonPath: .a}");
    for (int i = 0; i < 8; i++)
        vd_buf_addf(&text, ",{jsonPath: .a%d}", i);
    vd_buf_add_text(&text, "]}");
    assert_string_equal(verdict(f, yaml_of(f, vd_buf_text(&text)), NULL),
                        "spec.selectableFields: Too many: 9: must have at most 8 items");
    vd_buf_release(&text);
}

static void what_is_left_out_is_filled_in(void **state)
{
    struct fixture *f = *state;
    struct vd_json *object = yaml_of(f, HEAD TOP NAMES VERSION PLAIN "}");
    assert_string_equal(verdict(f, object, NULL), "");
    const struct vd_json *names = vd_json_dig(object, "spec", "names", NULL);
    assert_slice(vd_json_text(vd_json_get(names, VD_SLICE("singular"))), "w");
    assert_slice(vd_json_text(vd_json_get(names, VD_SLICE("listKind"))), "WList");
    assert_slice(vd_json_text(vd_json_dig(object, "spec", "conversion", "strategy", NULL)), "None");
    assert_slice(vd_json_text(vd_json_first(vd_json_dig(object, "status", "storedVersions", NULL))),
                 "v1");
}

#define ESTABLISHED                                                                                \
    "\nstatus: {storedVersions: [v1], conditions: [{type: Established, status: \"True\"}]}"

static void updates_are_judged(void **state)
{
    struct fixture *f = *state;
    static const struct row rows[] = {
        {HEAD TOP NAMES VERSION PLAIN "}" ESTABLISHED, ""},
        {HEAD TOP "  names: {kind: X, plural: ws}\n" VERSION PLAIN "}" ESTABLISHED,
         "spec.names.kind: Invalid value: \"X\": field is immutable"},
        {HEAD "  group: x.io\n  scope: Namespaced\n" NAMES VERSION PLAIN "}" ESTABLISHED,
         "spec.scope: Invalid value: \"Namespaced\": field is immutable"},
        {HEAD TOP NAMES "  versions:\n  - {name: v2, served: true, storage: true, schema: " PLAIN
                        "}" ESTABLISHED,
         "status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions; v1 was "
         "previously a storage version, and must remain in spec.versions until a storage migration "
         "ensures no data remains persisted in v1 and removes v1 from status.storedVersions"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct vd_json *old = yaml_of(f, HEAD TOP NAMES VERSION PLAIN "}" ESTABLISHED);
        assert_string_equal(verdict(f, yaml_of(f, rows[i].definition), old), rows[i].want);
    }
}

#define definition_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        definition_test(names_are_judged),
        definition_test(webhooks_are_judged),
        definition_test(versions_are_judged),
        definition_test(the_structure_is_judged),
        definition_test(keywords_are_judged),
        definition_test(defaults_are_judged),
        definition_test(a_status_of_its_own_restricts_the_root),
        definition_test(versions_that_differ_are_named),
        definition_test(numbers_are_bounded),
        definition_test(what_is_left_out_is_filled_in),
        definition_test(updates_are_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
