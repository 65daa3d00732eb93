/*
 * See openapi_schema.h. A kind's schema is its definition's, with apiVersion,
 * kind and metadata in front of the properties, and with the extension by which
 * clients find it: x-kubernetes-group-version-kind, a list.
 *
 * A reference that has a description stands in an allOf: in version 3 a $ref
 * hides what is beside it.
 */
#include "kube/openapi/schema.h"

#include <assert.h>

#include "base/buf.h"
#include "kinds/schema.h"
#include "json/parse.h"

#define GVK_KEY "x-kubernetes-group-version-kind"

/* clang-format off */
static const char LIST_META[] =
    "{\"description\":\"What every list has.\",\"type\":\"object\",\"properties\":{"
    "\"resourceVersion\":{\"description\":\"The revision of the list. Watch from here.\","
    "\"type\":\"string\"},"
    "\"continue\":{\"description\":\"Not empty: there is more. Send it back to get the next "
    "part.\",\"type\":\"string\"},"
    "\"remainingItemCount\":{\"description\":"
    "\"How many objects follow this part, where that is known.\",\"type\":\"integer\","
    "\"format\":\"int64\"},"
    "\"selfLink\":{\"description\":\"No longer used.\",\"type\":\"string\"}}}";

static const char STATUS[] =
    "{\"description\":\"The answer of a request that failed, or that has no object to answer "
    "with.\",\"type\":\"object\",\"properties\":{"
    "\"status\":{\"description\":\"Success or Failure.\",\"type\":\"string\"},"
    "\"message\":{\"description\":\"A sentence for people.\",\"type\":\"string\"},"
    "\"reason\":{\"description\":\"A word for programs.\",\"type\":\"string\"},"
    "\"code\":{\"description\":\"The HTTP status.\",\"type\":\"integer\",\"format\":\"int32\"},"
    "\"details\":{\"description\":\"What the reason is about.\",\"type\":\"object\","
    "\"properties\":{"
      "\"name\":{\"description\":\"The object's name.\",\"type\":\"string\"},"
      "\"group\":{\"description\":\"The object's group.\",\"type\":\"string\"},"
      "\"kind\":{\"description\":\"The object's kind or resource.\",\"type\":\"string\"},"
      "\"uid\":{\"description\":\"The object's uid.\",\"type\":\"string\"},"
      "\"retryAfterSeconds\":{\"description\":\"Try again after so many seconds.\",\"type\":"
      "\"integer\",\"format\":\"int32\"},"
      "\"causes\":{\"description\":\"Each thing that is wrong.\",\"type\":\"array\","
      "\"x-kubernetes-list-type\":\"atomic\",\"items\":{\"type\":\"object\",\"properties\":{"
        "\"reason\":{\"description\":\"A word for programs.\",\"type\":\"string\"},"
        "\"message\":{\"description\":\"A sentence for people.\",\"type\":\"string\"},"
        "\"field\":{\"description\":\"The field.\",\"type\":\"string\"}}}}}}}}";

static const char DELETE_OPTIONS[] =
    "{\"description\":\"How to delete.\",\"type\":\"object\",\"properties\":{"
    "\"apiVersion\":{\"description\":\"The version of this schema.\",\"type\":\"string\"},"
    "\"kind\":{\"description\":\"DeleteOptions.\",\"type\":\"string\"},"
    "\"dryRun\":{\"description\":\"All: check everything and change nothing.\",\"type\":"
    "\"array\",\"x-kubernetes-list-type\":\"atomic\",\"items\":{\"type\":\"string\"}},"
    "\"gracePeriodSeconds\":{\"description\":\"Seconds the object gets to end gracefully.\","
    "\"type\":\"integer\",\"format\":\"int64\"},"
    "\"orphanDependents\":{\"description\":\"Use propagationPolicy.\",\"type\":\"boolean\"},"
    "\"propagationPolicy\":{\"description\":\"What happens to dependents: Orphan, Background or "
    "Foreground.\",\"type\":\"string\"},"
    "\"preconditions\":{\"description\":\"Delete only what is still this.\",\"type\":"
    "\"object\",\"properties\":{"
      "\"uid\":{\"description\":\"The uid it must have.\",\"type\":\"string\"},"
      "\"resourceVersion\":{\"description\":\"The version it must have.\",\"type\":\"string\"}}}}}";

static const char SCALE[] =
    "{\"description\":\"How many replicas are wanted and how many there are.\",\"type\":"
    "\"object\",\"properties\":{"
    "\"spec\":{\"description\":\"What is wanted.\",\"type\":\"object\",\"properties\":{"
      "\"replicas\":{\"description\":\"How many are wanted.\",\"type\":\"integer\",\"format\":"
      "\"int32\"}}},"
    "\"status\":{\"description\":\"What is there.\",\"type\":\"object\","
    "\"required\":[\"replicas\"],\"properties\":{"
      "\"replicas\":{\"description\":\"How many there are.\",\"type\":\"integer\",\"format\":"
      "\"int32\"},"
      "\"selector\":{\"description\":\"The label selector of the replicas.\",\"type\":"
      "\"string\"}}}}}";

static const char WATCH_EVENT[] =
    "{\"description\":\"One event of a watch.\",\"type\":\"object\","
    "\"required\":[\"type\",\"object\"],\"properties\":{"
    "\"type\":{\"description\":\"ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.\",\"type\":"
    "\"string\"},"
    "\"object\":{\"description\":\"What it is about: the object as it is now, or last was; of an "
    "ERROR, a Status.\",\"type\":\"object\"}}}";

static const char PATCH[] =
    "{\"description\":\"A patch, in the form that the Content-Type names.\",\"type\":\"object\"}";
/* clang-format on */

/* Of the fields that everything has. */
struct field_texts {
    const char *api_version, *kind, *metadata;
};

/* What kubectl explain shows of objects, in the words of Kubernetes. */
#define CONVENTIONS                                                                                \
    "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/"                 \
    "api-conventions.md#"
static const struct field_texts OBJECT_TEXTS = {
    "APIVersion defines the versioned schema of this representation of an object. Servers should "
    "convert recognized schemas to the latest internal value, and may reject unrecognized "
    "values. " CONVENTIONS "resources",
    "Kind is a string value representing the REST resource this object represents. Servers may "
    "infer this from the endpoint the client submits requests to. Cannot be updated. In "
    "CamelCase. " CONVENTIONS "types-kinds",
    "Standard object's metadata. " CONVENTIONS "metadata",
};

/* Of lists, which nobody has explained: with a thousand kinds there are a thousand of them. */
static const struct field_texts LIST_TEXTS = {
    "The version of this object's schema: group/version.",
    "The kind of this object. It never changes.",
    "What every list has.",
};

/* The text is part of the program, so it is right. */
static struct vd_json *literal(struct vd_arena *a, const char *text)
{
    struct vd_json *v = NULL;
    int code = vd_json_parse(a, vd_slice_of(text), NULL, &v, NULL);
    assert(code == VD_OK);
    (void)code;
    return v;
}

static void add_text(struct vd_arena *a, struct vd_json *object, const char *key,
                     struct vd_slice text)
{
    vd_json_add_ref(object, vd_slice_of(key), vd_json_string_ref(a, text));
}

/* --- names --- */

/* rbac.authorization.k8s.io is "rbac" there; the core group is "core". */
static void add_kubernetes_package(struct vd_buf *out, struct vd_slice group)
{
    struct vd_slice first = VD_SLICE("core"), rest = group;
    if (group.n)
        (void)vd_slice_cut(&rest, '.', &first);
    if (vd_slice_is(first, "apiextensions"))
        vd_buf_add_text(out, "io.k8s.apiextensions-apiserver.pkg.apis.");
    else
        vd_buf_add_text(out, "io.k8s.api.");
    vd_buf_add_slice(out, first);
}

/* example.com becomes com.example */
static void add_reversed(struct vd_buf *out, struct vd_slice group)
{
    size_t end = group.n;
    for (size_t i = group.n; i-- > 0;) {
        if (group.p[i] != '.')
            continue;
        vd_buf_add(out, group.p + i + 1, end - i - 1);
        vd_buf_add_char(out, '.');
        end = i;
    }
    vd_buf_add(out, group.p, end);
}

struct vd_slice vd_openapi_schema_name(struct vd_arena *a, const struct vd_kind *kind,
                                       struct vd_slice word)
{
    struct vd_buf name = {0};
    bool kubernetes = !kind->group.n || vd_slice_ends_with(kind->group, VD_SLICE(".k8s.io"));
    if (kind->native && kubernetes)
        add_kubernetes_package(&name, kind->group);
    else
        add_reversed(&name, kind->group);
    vd_buf_addf(&name, ".%.*s.%.*s", VD_FMT(kind->version), VD_FMT(word));
    struct vd_slice copy = vd_arena_copy(a, vd_buf_slice(&name));
    vd_buf_release(&name);
    return copy;
}

struct vd_json *vd_openapi_ref(struct vd_arena *a, struct vd_slice name)
{
    struct vd_buf path = {0};
    struct vd_json *ref = vd_json_object(a);
    vd_buf_addf(&path, "#/components/schemas/%.*s", VD_FMT(name));
    vd_json_add_ref(ref, VD_SLICE("$ref"), vd_json_string(a, vd_buf_slice(&path)));
    vd_buf_release(&path);
    return ref;
}

struct vd_json *vd_openapi_gvk(struct vd_arena *a, struct vd_slice group, struct vd_slice version,
                               struct vd_slice kind)
{
    struct vd_json *gvk = vd_json_object(a);
    add_text(a, gvk, "group", group);
    add_text(a, gvk, "version", version);
    add_text(a, gvk, "kind", kind);
    return gvk;
}

/* --- schemas --- */

static void add_gvk_list(struct vd_arena *a, struct vd_json *schema, struct vd_slice group,
                         struct vd_slice version, struct vd_slice kind)
{
    struct vd_json *list = vd_json_array(a);
    vd_json_append(list, vd_openapi_gvk(a, group, version, kind));
    vd_json_set(a, schema, VD_SLICE(GVK_KEY), list);
}

static void add_string_property(struct vd_arena *a, struct vd_json *properties, const char *key,
                                const char *description)
{
    struct vd_json *property = vd_json_object(a);
    add_text(a, property, "description", vd_slice_of(description));
    add_text(a, property, "type", VD_SLICE("string"));
    vd_json_add_ref(properties, vd_slice_of(key), property);
}

/* {"description":..,"allOf":[{"$ref":..}]} */
static struct vd_json *described_ref(struct vd_arena *a, const char *description, const char *name)
{
    struct vd_json *property = vd_json_object(a), *all = vd_json_array(a);
    add_text(a, property, "description", vd_slice_of(description));
    vd_json_append(all, vd_openapi_ref(a, vd_slice_of(name)));
    vd_json_add_ref(property, VD_SLICE("allOf"), all);
    return property;
}

/* apiVersion, kind and metadata, then what `rest` has beside them. */
static struct vd_json *resource_properties(struct vd_arena *a, const struct vd_json *rest,
                                           const char *meta)
{
    struct vd_json *properties = vd_json_object(a);
    bool list = vd_slice_is(vd_slice_of(meta), VD_OPENAPI_LIST_META);
    const struct field_texts *texts = list ? &LIST_TEXTS : &OBJECT_TEXTS;
    add_string_property(a, properties, "apiVersion", texts->api_version);
    add_string_property(a, properties, "kind", texts->kind);
    vd_json_add_ref(properties, VD_SLICE("metadata"), described_ref(a, texts->metadata, meta));
    VD_JSON_EACH (property, rest) {
        if (!vd_json_get(properties, vd_json_key(property)))
            vd_json_add_ref(properties, vd_json_key(property), vd_json_clone(a, property));
    }
    return properties;
}

/* Makes an object schema one of a whole resource. */
static void make_resource(struct vd_arena *a, struct vd_json *schema, const char *meta)
{
    struct vd_json *properties = resource_properties(a, vd_json_get(schema, VD_SLICE("properties")),
                                                     meta);
    vd_json_set(a, schema, VD_SLICE("type"), vd_json_string_ref(a, VD_SLICE("object")));
    vd_json_set(a, schema, VD_SLICE("properties"), properties);
}

static void add_list(struct vd_arena *a, struct vd_json *schemas, const struct vd_kind *kind)
{
    struct vd_slice name = vd_openapi_schema_name(a, kind, kind->list_kind);
    if (vd_json_get(schemas, name))
        return;
    struct vd_json *schema = literal(a, "{\"description\":\"Objects of one kind.\","
                                        "\"type\":\"object\",\"required\":[\"items\"]}");
    struct vd_json *items = literal(a, "{\"description\":\"The objects.\",\"type\":\"array\"}");
    make_resource(a, schema, VD_OPENAPI_LIST_META);
    vd_json_add_ref(items, VD_SLICE("items"),
                    vd_openapi_ref(a, vd_openapi_schema_name(a, kind, kind->kind)));
    vd_json_add_ref(vd_json_get(schema, VD_SLICE("properties")), VD_SLICE("items"), items);
    add_gvk_list(a, schema, kind->group, kind->version, kind->list_kind);
    vd_json_add_ref(schemas, name, schema);
}

/* Of definitions, as Kubernetes has it: [{"fieldPath":"spec.color"}]. */
static void add_selectable(struct vd_arena *a, struct vd_json *schema, const struct vd_kind *kind)
{
    struct vd_json *list = vd_json_array(a);
    if (kind->native || !kind->selectable_count)
        return;
    for (size_t i = 0; i < kind->selectable_count; i++) {
        struct vd_json *field = vd_json_object(a);
        add_text(a, field, "fieldPath", kind->selectable[i].name);
        vd_json_append(list, field);
    }
    vd_json_set(a, schema, VD_SLICE("x-kubernetes-selectable-fields"), list);
}

void vd_openapi_add_kind(struct vd_arena *a, struct vd_json *schemas, const struct vd_kind *kind)
{
    struct vd_slice name = vd_openapi_schema_name(a, kind, kind->kind);
    if (vd_json_get(schemas, name))
        return;
    const struct vd_json *source = vd_schema_source(vd_schema_root(kind->schema));
    struct vd_json *schema = vd_json_is(source, VD_JSON_OBJECT) ? vd_json_clone(a, source)
                                                                : vd_json_object(a);
    make_resource(a, schema, VD_OPENAPI_OBJECT_META);
    if (kind->preserve_unknown)
        vd_json_set(a, schema, VD_SLICE("x-kubernetes-preserve-unknown-fields"),
                    vd_json_bool(a, true));
    add_gvk_list(a, schema, kind->group, kind->version, kind->kind);
    add_selectable(a, schema, kind);
    vd_json_add_ref(schemas, name, schema);
    if (kind->verbs & VD_VERB_LIST)
        add_list(a, schemas, kind);
}

/* --- those that are shared --- */

static void add_literal(struct vd_arena *a, struct vd_json *schemas, const char *name,
                        struct vd_json *schema)
{
    vd_json_set(a, schemas, vd_slice_of(name), schema);
}

void vd_openapi_add_shared(struct vd_arena *a, struct vd_json *schemas,
                           const struct vd_json *metadata)
{
    struct vd_json *status = literal(a, STATUS), *options = literal(a, DELETE_OPTIONS);
    make_resource(a, status, VD_OPENAPI_LIST_META);
    add_gvk_list(a, status, VD_SLICE(""), VD_SLICE("v1"), VD_SLICE("Status"));
    add_gvk_list(a, options, VD_SLICE(""), VD_SLICE("v1"), VD_SLICE("DeleteOptions"));
    add_literal(a, schemas, VD_OPENAPI_OBJECT_META,
                metadata ? vd_json_clone(a, metadata) : literal(a, "{\"type\":\"object\"}"));
    add_literal(a, schemas, VD_OPENAPI_LIST_META, literal(a, LIST_META));
    add_literal(a, schemas, VD_OPENAPI_STATUS, status);
    add_literal(a, schemas, VD_OPENAPI_DELETE_OPTIONS, options);
    add_literal(a, schemas, VD_OPENAPI_PATCH, literal(a, PATCH));
}

void vd_openapi_add_watch_event(struct vd_arena *a, struct vd_json *schemas)
{
    add_literal(a, schemas, VD_OPENAPI_WATCH_EVENT, literal(a, WATCH_EVENT));
}

void vd_openapi_add_scale(struct vd_arena *a, struct vd_json *schemas)
{
    struct vd_json *scale = literal(a, SCALE);
    make_resource(a, scale, VD_OPENAPI_OBJECT_META);
    add_gvk_list(a, scale, VD_SLICE("autoscaling"), VD_SLICE("v1"), VD_SLICE("Scale"));
    add_literal(a, schemas, VD_OPENAPI_SCALE, scale);
}
