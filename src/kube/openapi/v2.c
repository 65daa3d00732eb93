/*
 * See openapi_v2.h. Version 3 becomes version 2 so:
 *
 *   {"$ref":"#/components/schemas/X"}     {"$ref":"#/definitions/X"}
 *   allOf of one reference                that reference
 *   anyOf, oneOf, not, other allOf        gone: clients of version 2 refuse them
 *   nullable                              gone, and type, properties and items with it
 *   x-kubernetes-int-or-string            the type goes
 *   x-kubernetes-preserve-unknown-fields  type, properties and items go; a root is a bare object
 *   parameters' schema                    its members, beside the others
 *   requestBody                           a parameter "body"
 *   content of a response                 schema
 *
 * What loses its type is checked less by clients, and by the server as before.
 */
#include "kube/openapi/v2.h"

#include "base/buf.h"
#include "kube/openapi/v3.h"

#define V3_PREFIX "#/components/schemas/"

static struct vd_json *schema_v2(struct vd_arena *a, const struct vd_json *v3);

static void add_text(struct vd_arena *a, struct vd_json *object, const char *key,
                     struct vd_slice text)
{
    vd_json_add_ref(object, vd_slice_of(key), vd_json_string_ref(a, text));
}

/* --- schemas --- */

static struct vd_json *reference(struct vd_arena *a, struct vd_slice v3)
{
    struct vd_buf path = {0};
    vd_buf_add_text(&path, "#/definitions/");
    vd_buf_add_slice(&path, vd_slice_from(v3, sizeof V3_PREFIX - 1));
    struct vd_json *text = vd_json_string(a, vd_buf_slice(&path));
    vd_buf_release(&path);
    return text;
}

/* The $ref that the schema is, in whatever dress; empty if it is none. */
static struct vd_slice reference_of(const struct vd_json *v3)
{
    struct vd_slice ref = vd_json_text(vd_json_get(v3, VD_SLICE("$ref")));
    const struct vd_json *all = vd_json_get(v3, VD_SLICE("allOf"));
    if (!ref.n && vd_json_count(all) == 1)
        ref = vd_json_text(vd_json_get(vd_json_first(all), VD_SLICE("$ref")));
    return vd_slice_starts_with(ref, VD_SLICE(V3_PREFIX)) ? ref : VD_SLICE("");
}

static bool is_true(const struct vd_json *schema, const char *key)
{
    return vd_json_truth(vd_json_get(schema, vd_slice_of(key)));
}

enum loss {
    LOSE_NOTHING = 0,
    LOSE_TYPE = 1,
    LOSE_FIELDS = 2,
};

static unsigned loss_of(const struct vd_json *v3)
{
    if (is_true(v3, "x-kubernetes-preserve-unknown-fields") || is_true(v3, "nullable"))
        return LOSE_FIELDS | LOSE_TYPE;
    return is_true(v3, "x-kubernetes-int-or-string") ? LOSE_TYPE : LOSE_NOTHING;
}

static bool is_one_of(struct vd_slice key, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (vd_slice_is(key, words[i]))
            return true;
    }
    return false;
}

static bool is_lost(struct vd_slice key, unsigned loss)
{
    static const char *const always[] = {"$ref", "allOf", "anyOf", "oneOf", "not", "nullable"};
    static const char *const fields[] = {"properties", "additionalProperties", "items", "required"};
    if (is_one_of(key, always, sizeof always / sizeof *always))
        return true;
    if ((loss & LOSE_FIELDS) && is_one_of(key, fields, sizeof fields / sizeof *fields))
        return true;
    return (loss & LOSE_TYPE) && vd_slice_is(key, "type");
}

static struct vd_json *properties_v2(struct vd_arena *a, const struct vd_json *v3)
{
    struct vd_json *v2 = vd_json_object(a);
    VD_JSON_EACH (property, v3)
        vd_json_add_ref(v2, vd_json_key(property), schema_v2(a, property));
    return v2;
}

static struct vd_json *member_v2(struct vd_arena *a, const struct vd_json *member)
{
    struct vd_slice key = vd_json_key(member);
    if (vd_slice_is(key, "properties"))
        return properties_v2(a, member);
    bool schema = vd_slice_is(key, "items") || vd_slice_is(key, "additionalProperties");
    if (schema && vd_json_is(member, VD_JSON_OBJECT))
        return schema_v2(a, member);
    return vd_json_clone(a, member);
}

/* Recursion: no deeper than the definition nests. */
static struct vd_json *schema_v2(struct vd_arena *a, const struct vd_json *v3)
{
    struct vd_json *v2 = vd_json_object(a);
    struct vd_slice ref = reference_of(v3);
    unsigned loss = loss_of(v3);
    VD_JSON_EACH (member, v3) {
        if (!is_lost(vd_json_key(member), loss))
            vd_json_add_ref(v2, vd_json_key(member), member_v2(a, member));
    }
    if (ref.n)
        vd_json_add_ref(v2, VD_SLICE("$ref"), reference(a, ref));
    return v2;
}

/* What keeps unknown fields is a bare object: to kubectl, any property would be one of all. */
static struct vd_json *definition_v2(struct vd_arena *a, const struct vd_json *v3)
{
    static const char *const kept[] = {"x-kubernetes-group-version-kind",
                                       "x-kubernetes-selectable-fields"};
    if (!is_true(v3, "x-kubernetes-preserve-unknown-fields"))
        return schema_v2(a, v3);
    struct vd_json *v2 = vd_json_object(a);
    add_text(a, v2, "type", VD_SLICE("object"));
    VD_JSON_EACH (member, v3) {
        if (is_one_of(vd_json_key(member), kept, sizeof kept / sizeof *kept))
            vd_json_add_ref(v2, vd_json_key(member), vd_json_clone(a, member));
    }
    return v2;
}

/* --- operations --- */

static struct vd_json *parameters_v2(struct vd_arena *a, const struct vd_json *v3)
{
    struct vd_json *list = vd_json_array(a);
    VD_JSON_EACH (parameter, v3) {
        struct vd_json *v2 = vd_json_object(a);
        VD_JSON_EACH (member, parameter) {
            if (!vd_slice_is(vd_json_key(member), "schema"))
                vd_json_add_ref(v2, vd_json_key(member), vd_json_clone(a, member));
        }
        VD_JSON_EACH (member, vd_json_get(parameter, VD_SLICE("schema")))
            vd_json_add_ref(v2, vd_json_key(member), vd_json_clone(a, member));
        vd_json_append(list, v2);
    }
    return list;
}

/* The schema of the first media type. */
static struct vd_json *content_schema(struct vd_arena *a, const struct vd_json *owner)
{
    const struct vd_json *content = vd_json_get(owner, VD_SLICE("content"));
    const struct vd_json *schema = vd_json_get(vd_json_first(content), VD_SLICE("schema"));
    return schema ? schema_v2(a, schema) : NULL;
}

static struct vd_json *body_v2(struct vd_arena *a, const struct vd_json *request)
{
    struct vd_json *body = vd_json_object(a);
    add_text(a, body, "name", VD_SLICE("body"));
    add_text(a, body, "in", VD_SLICE("body"));
    if (is_true(request, "required"))
        vd_json_add_ref(body, VD_SLICE("required"), vd_json_bool(a, true));
    vd_json_add_ref(body, VD_SLICE("schema"), content_schema(a, request));
    return body;
}

static struct vd_json *responses_v2(struct vd_arena *a, const struct vd_json *v3)
{
    struct vd_json *v2 = vd_json_object(a);
    VD_JSON_EACH (response, v3) {
        struct vd_json *converted = vd_json_object(a);
        struct vd_json *schema = content_schema(a, response);
        add_text(a, converted, "description",
                 vd_json_text(vd_json_get(response, VD_SLICE("description"))));
        if (schema)
            vd_json_add_ref(converted, VD_SLICE("schema"), schema);
        vd_json_add_ref(v2, vd_json_key(response), converted);
    }
    return v2;
}

static void add_media_types(struct vd_arena *a, struct vd_json *v2, const struct vd_json *request)
{
    struct vd_json *produces = vd_json_array(a), *consumes = vd_json_array(a);
    vd_json_append(produces, vd_json_string_ref(a, VD_SLICE("application/json")));
    vd_json_append(produces, vd_json_string_ref(a, VD_SLICE("application/yaml")));
    VD_JSON_EACH (media, vd_json_get(request, VD_SLICE("content")))
        vd_json_append(consumes, vd_json_string_ref(a, vd_json_key(media)));
    vd_json_add_ref(v2, VD_SLICE("produces"), produces);
    if (vd_json_count(consumes))
        vd_json_add_ref(v2, VD_SLICE("consumes"), consumes);
}

static struct vd_json *operation_v2(struct vd_arena *a, const struct vd_json *v3)
{
    struct vd_json *v2 = vd_json_object(a);
    const struct vd_json *request = vd_json_get(v3, VD_SLICE("requestBody"));
    struct vd_json *parameters = parameters_v2(a, vd_json_get(v3, VD_SLICE("parameters")));
    if (request)
        vd_json_append(parameters, body_v2(a, request));
    VD_JSON_EACH (member, v3) {
        struct vd_slice key = vd_json_key(member);
        if (vd_slice_is(key, "responses"))
            vd_json_add_ref(v2, key, responses_v2(a, member));
        else if (!vd_slice_is(key, "parameters") && !vd_slice_is(key, "requestBody"))
            vd_json_add_ref(v2, key, vd_json_clone(a, member));
    }
    if (vd_json_count(parameters))
        vd_json_add_ref(v2, VD_SLICE("parameters"), parameters);
    add_media_types(a, v2, request);
    return v2;
}

static struct vd_json *path_v2(struct vd_arena *a, const struct vd_json *v3)
{
    struct vd_json *v2 = vd_json_object(a);
    VD_JSON_EACH (member, v3) {
        bool shared = vd_slice_is(vd_json_key(member), "parameters");
        vd_json_add_ref(v2, vd_json_key(member),
                        shared ? parameters_v2(a, member) : operation_v2(a, member));
    }
    return v2;
}

/* --- the document --- */

struct building {
    struct vd_arena *a;
    const struct vd_kind_set *set;
    struct vd_json *paths, *schemas; /* of version 3 */
};

static void add_version(void *context, struct vd_slice group, struct vd_slice version)
{
    struct building *b = context;
    (void)vd_openapi_v3_add(b->a, b->paths, b->schemas, b->set, group, version);
}

struct vd_json *vd_openapi_v2(struct vd_arena *a, const struct vd_kind_set *set,
                              struct vd_slice server_version)
{
    struct building b = {a, set, vd_json_object(a), vd_json_object(a)};
    struct vd_json *document = vd_json_object(a), *info = vd_json_object(a);
    struct vd_json *paths = vd_json_object(a), *definitions = vd_json_object(a);
    vd_openapi_v3_each(set, add_version, &b);
    VD_JSON_EACH (path, b.paths)
        vd_json_add_ref(paths, vd_json_key(path), path_v2(a, path));
    VD_JSON_EACH (schema, b.schemas)
        vd_json_add_ref(definitions, vd_json_key(schema), definition_v2(a, schema));
    add_text(a, info, "title", VD_SLICE("Kubernetes"));
    vd_json_add_ref(info, VD_SLICE("version"), vd_json_string(a, server_version));
    add_text(a, document, "swagger", VD_SLICE("2.0"));
    vd_json_add_ref(document, VD_SLICE("info"), info);
    vd_json_add_ref(document, VD_SLICE("paths"), paths);
    vd_json_add_ref(document, VD_SLICE("definitions"), definitions);
    return document;
}
