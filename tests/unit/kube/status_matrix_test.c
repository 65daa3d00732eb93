/*
 * No field but those of status - and the labels and annotations of Kubernetes' own kinds - comes
 * through the status door, none of status through the main one, and a Scale changes one number:
 * tried for every field that the schema of every kind has, by every way of writing.
 *
 * The fields come from the schemas, so a new field or kind is tried without a word here;
 * a kind only needs an object to try it on.
 */
#include "face_check.h"

#include "git_author.h"
#include "kube/subresource.h"
#include "widget_kinds.h"
#include "json/compare.h"

/* One kind with everything that a schema can say of a value. */
static const char WIDE[] =
    "spec:\n"
    "  group: example.com\n"
    "  scope: Cluster\n"
    "  names: {kind: Wide, plural: wides}\n"
    "  versions:\n"
    "  - name: v1\n"
    "    served: true\n"
    "    storage: true\n"
    "    subresources:\n"
    "      status: {}\n"
    "      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}\n"
    "    schema:\n"
    "      openAPIV3Schema:\n"
    "        type: object\n"
    "        properties:\n"
    "          data: {type: object, additionalProperties: {type: string}}\n"
    "          immutable: {type: boolean}\n"
    "          spec:\n"
    "            type: object\n"
    "            properties:\n"
    "              text: {type: string, default: red}\n"
    "              replicas: {type: integer}\n"
    "              ratio: {type: number}\n"
    "              flag: {type: boolean, nullable: true}\n"
    "              port: {x-kubernetes-int-or-string: true}\n"
    "              free: {type: object, x-kubernetes-preserve-unknown-fields: true}\n"
    "              tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}\n"
    "              rooms:\n"
    "                type: array\n"
    "                x-kubernetes-list-type: map\n"
    "                x-kubernetes-list-map-keys: [name]\n"
    "                items:\n"
    "                  type: object\n"
    "                  required: [name]\n"
    "                  properties:\n"
    "                    name: {type: string}\n"
    "                    doors: {type: array, items: {type: integer}}\n"
    "              nested:\n"
    "                type: object\n"
    "                properties:\n"
    "                  status: {type: string}\n"
    "                  spec: {type: object, properties: {status: {type: string}}}\n"
    "          status:\n"
    "            type: object\n"
    "            properties:\n"
    "              replicas: {type: integer}\n"
    "              note: {type: string}\n"
    "              spec: {type: object, properties: {text: {type: string}}}\n"
    "              list: {type: array, items: {type: string}}\n";

#define CATALOG "/apis/catalog.gitstore.dev/v1beta1/namespaces/room/"

/* An object of each kind, and two states of status to write in turn. */
static const struct example {
    const char *plural, *collection, *object, *status[2];
} examples[] = {
    {"wides",
     "/apis/example.com/v1/wides",
     "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Wide\",\"metadata\":{\"name\":\"o\","
     "\"labels\":{\"a\":\"b\"},\"annotations\":{\"a\":\"b\"},\"finalizers\":[\"e.x/f\"],"
     "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"name\":\"room\","
     "\"uid\":\"7b4c3a52-3c8e-4f0e-8a55-0a1b2c3d4e5f\"}]},\"data\":{\"k\":\"v\"},"
     "\"spec\":{\"replicas\":3,\"ratio\":0.5,\"free\":{\"x\":[1]},\"tags\":[\"a\"],"
     "\"rooms\":[{\"name\":\"r\",\"doors\":[1]}],\"nested\":{\"status\":\"s\",\"spec\":{}}}}",
     {"{\"note\":\"a\",\"replicas\":1}", "{\"note\":\"b\",\"replicas\":2}"}},
    {"namespaces",
     "/api/v1/namespaces",
     "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"o\",\"labels\":"
     "{\"a\":\"b\"},\"annotations\":{\"a\":\"b\"}}}",
     {"{\"phase\":\"Active\",\"conditions\":[{\"type\":\"A\",\"status\":\"True\"}]}",
      "{\"phase\":\"Active\",\"conditions\":[{\"type\":\"A\",\"status\":\"False\"}]}"}},
    {"services",
     "/api/v1/namespaces/room/services",
     "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"o\",\"labels\":"
     "{\"a\":\"b\"},\"annotations\":{\"a\":\"b\"}},\"spec\":{\"selector\":{\"a\":\"b\"},"
     "\"ports\":[{\"name\":\"p\",\"port\":80,\"targetPort\":\"web\"}]}}",
     {"{\"loadBalancer\":{\"ingress\":[{\"ip\":\"10.0.0.1\"}]}}",
      "{\"loadBalancer\":{\"ingress\":[{\"ip\":\"10.0.0.2\"}]}}"}},
    {"customresourcedefinitions",
     "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
     "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
     "\"metadata\":{\"name\":\"os.example.org\"},\"spec\":{\"group\":\"example.org\",\"scope\":"
     "\"Cluster\",\"names\":{\"kind\":\"O\",\"plural\":\"os\",\"singular\":\"o\",\"listKind\":"
     "\"OList\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":"
     "{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}",
     {"{\"acceptedNames\":{\"kind\":\"O\",\"plural\":\"os\"},\"conditions\":[],"
      "\"storedVersions\":[\"v1\"]}",
      "{\"acceptedNames\":{\"kind\":\"P\",\"plural\":\"ps\"},\"conditions\":[],"
      "\"storedVersions\":[\"v1\"]}"}},
    {"repositories",
     "/apis/git.vedette.dev/v1/namespaces/room/repositories",
     "{\"metadata\":{\"name\":\"o\",\"labels\":{\"a\":\"b\"}},\"spec\":{\"branches\":[\"main\"]}}",
     {"{\"lastError\":\"a\"}", "{\"lastError\":\"b\"}"}},
    {"products",
     CATALOG "products",
     "{\"metadata\":{\"name\":\"o\"},\"spec\":{\"title\":\"T\",\"categoryRef\":{\"name\":\"c\"}}}",
     {"{\"observedGeneration\":0}", "{\"observedGeneration\":1}"}},
    {"productvariants",
     CATALOG "productvariants",
     "{\"metadata\":{\"name\":\"o\"},\"spec\":{\"title\":\"T\",\"sku\":\"1\",\"productRef\":"
     "{\"name\":\"p\"}}}",
     {"{\"observedGeneration\":0}", "{\"observedGeneration\":1}"}},
    {"categorytaxonomies",
     CATALOG "categorytaxonomies",
     "{\"metadata\":{\"name\":\"o\"},\"spec\":{\"title\":\"T\",\"parentRef\":{\"name\":\"c\"}}}",
     {"{\"observedGeneration\":0}", "{\"observedGeneration\":1}"}},
    {"collections",
     CATALOG "collections",
     "{\"metadata\":{\"name\":\"o\"},\"spec\":{\"title\":\"T\",\"selector\":{\"matchLabels\":"
     "{\"a\":\"b\"}}}}",
     {"{\"observedGeneration\":0}", "{\"observedGeneration\":1}"}},
};

/* ---- the server ---- */

static int open_world(void **state)
{
    open_face(state);
    put_kind(face.env.kinds, WIDE, false);
    return arena_setup(state);
}

static int close_world(void **state)
{
    arena_teardown(state);
    return close_face(state);
}

enum how { PUT, MERGE, JSON, STRATEGIC, WAYS };

/* One connection for all: there are thousands of questions. */
struct asking {
    struct client client;
    struct vd_arena arena; /* of the answer */
};

static struct vd_json *ask(struct asking *q, const char *method, const char *type,
                           const char *target, struct vd_slice body, unsigned *status)
{
    struct answer answer = {0};
    struct vd_buf request = {0};
    struct vd_json *document = NULL;
    struct vd_error error;
    vd_buf_addf(&request,
                "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/%s\r\n"
                "Content-Length: %zu\r\n\r\n",
                method, target, type, body.n);
    vd_buf_add_slice(&request, body);
    client_send_n(&q->client, request.p, request.n);
    client_answer(&q->client, &answer, false);
    assert_ok(vd_json_parse_copy(&q->arena, vd_buf_slice(&answer.body), NULL, &document, &error),
              &error);
    *status = answer.status;
    answer_release(&answer);
    vd_buf_release(&request);
    return document;
}

static struct vd_json *get(struct asking *q, const char *target)
{
    unsigned status;
    struct vd_json *object = ask(q, "GET", "json", target, VD_SLICE(""), &status);
    assert_int_equal(status, 200);
    return object;
}

/* ---- fields ---- */

struct field {
    struct vd_slice tokens[32];
    size_t n;
    const struct vd_json *schema;
};

struct fields {
    VD_VEC(struct field) list;
};

static void add_fields(struct fields *all, struct field at, const struct vd_json *schema);

static void add_field(struct fields *all, struct field at, struct vd_slice token,
                      const struct vd_json *schema)
{
    assert_true(at.n < sizeof at.tokens / sizeof *at.tokens);
    at.tokens[at.n++] = token;
    at.schema = schema;
    *VD_VEC_PUSH(&all->list) = at;
    add_fields(all, at, schema);
}

/* Everything below: properties, one element, one key that users choose. */
static void add_fields(struct fields *all, struct field at, const struct vd_json *schema)
{
    const struct vd_json *additional = vd_json_get(schema, VD_SLICE("additionalProperties"));
    const struct vd_json *items = vd_json_get(schema, VD_SLICE("items"));
    VD_JSON_EACH (property, vd_json_get(schema, VD_SLICE("properties")))
        add_field(all, at, vd_json_key(property), property);
    if (vd_json_is(additional, VD_JSON_OBJECT))
        add_field(all, at, VD_SLICE("k"), additional);
    if (vd_json_is(items, VD_JSON_OBJECT))
        add_field(all, at, VD_SLICE("0"), items);
}

static struct fields fields_of(struct vd_arena *a, const struct vd_kind *kind,
                               const char *const metadata[])
{
    struct fields all = {0};
    const struct vd_json *schema = vd_schema_source(vd_schema_root(kind->schema));
    add_fields(&all, (struct field){.n = 0}, schema);
    for (size_t i = 0; metadata[i]; i++) {
        struct field at = {.tokens = {VD_SLICE("metadata")}, .n = 1};
        add_field(&all, at, vd_slice_of(metadata[i]),
                  json_of(a, "{\"type\":\"object\",\"additionalProperties\":{\"type\":"
                             "\"string\"}}"));
    }
    return all;
}

/* A value that the schema may like; the second of two is another type. */
static struct vd_json *sample(struct vd_arena *a, const struct vd_json *schema, bool other)
{
    struct vd_slice type = vd_json_text(vd_json_get(schema, VD_SLICE("type")));
    struct vd_json *first = vd_json_at(vd_json_get(schema, VD_SLICE("enum")), 0);
    struct vd_json *value;
    if (other)
        return vd_json_i64(a, 70);
    if (first)
        return vd_json_copy(a, first);
    if (vd_slice_is(type, "object"))
        return json_of(a, "{\"tried\":\"it\"}");
    if (vd_slice_is(type, "boolean"))
        return vd_json_bool(a, true);
    if (vd_slice_is(type, "string"))
        return vd_json_string(a, VD_SLICE("tried"));
    if (!vd_slice_is(type, "array"))
        return vd_json_i64(a, 7);
    value = vd_json_array(a);
    vd_json_append(value, sample(a, vd_json_get(schema, VD_SLICE("items")), false));
    return value;
}

/* Puts the value there; what is missing or in the way is made. */
static void put_at(struct vd_arena *a, struct vd_json *object, const struct field *field,
                   struct vd_json *value)
{
    struct vd_json *v = object;
    for (size_t i = 0; i < field->n; i++) {
        bool last = i + 1 == field->n, index = vd_slice_is(field->tokens[i], "0");
        if (index && !vd_json_is(v, VD_JSON_ARRAY))
            vd_json_assign(v, vd_json_array(a));
        else if (!index && !vd_json_is(v, VD_JSON_OBJECT))
            vd_json_assign(v, vd_json_object(a));
        struct vd_json *next = index ? vd_json_at(v, 0) : vd_json_get(v, field->tokens[i]);
        if (!next) {
            next = vd_json_null(a);
            if (index)
                vd_json_append(v, next);
            else
                vd_json_set(a, v, field->tokens[i], next);
        }
        if (last)
            vd_json_assign(next, value);
        v = next;
    }
}

/* ---- one attempt ---- */

struct attempt {
    struct asking *q;
    const struct example *example;
    bool native, needs_version;
    char target[256], status_target[264];
    const struct field *field;
    struct vd_json *value;
    size_t accepted;
};

static void add_pointer(struct vd_buf *out, const struct field *field)
{
    for (size_t i = 0; i < field->n; i++) {
        vd_buf_add_char(out, '/');
        assert_null(memchr(field->tokens[i].p, '/', field->tokens[i].n));
        vd_buf_add_slice(out, field->tokens[i]);
    }
}

/* The body that sets the field to the value, and status to `status` unless NULL. */
static void write_body(struct attempt *t, enum how how, const struct vd_json *now,
                       const char *status, struct vd_buf *out)
{
    struct vd_arena *a = &t->q->arena;
    struct vd_buf pointer = {0}, value = {0};
    struct vd_slice version = vd_json_text(vd_json_dig(now, "metadata", "resourceVersion", NULL));
    bool named = status && t->needs_version;
    if (how == JSON) {
        add_pointer(&pointer, t->field);
        vd_json_write(&value, t->value);
        vd_buf_add_char(out, '[');
        if (named)
            vd_buf_addf(out,
                        "{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":"
                        "\"%.*s\"},",
                        VD_FMT(version));
        vd_buf_addf(out, "{\"op\":\"add\",\"path\":\"%s\",\"value\":%s}", vd_buf_text(&pointer),
                    vd_buf_text(&value));
        if (status)
            vd_buf_addf(out, ",{\"op\":\"add\",\"path\":\"/status\",\"value\":%s}", status);
        vd_buf_add_char(out, ']');
    } else {
        struct vd_json *changed = vd_json_copy(a, now);
        put_at(a, changed, t->field, vd_json_copy(a, t->value));
        struct vd_json *body = how == PUT ? changed : vd_json_object(a);
        if (how != PUT)
            vd_json_add(a, body, t->field->tokens[0],
                        vd_json_copy(a, vd_json_get(changed, t->field->tokens[0])));
        if (named && !vd_json_get(body, VD_SLICE("metadata")))
            vd_json_add(a, body, VD_SLICE("metadata"), vd_json_object(a));
        if (named && how != PUT)
            vd_json_set(a, vd_json_get(body, VD_SLICE("metadata")), VD_SLICE("resourceVersion"),
                        vd_json_string(a, version));
        if (status)
            vd_json_set(a, body, VD_SLICE("status"), json_of(a, status));
        vd_json_write(out, body);
    }
    vd_buf_release(&pointer);
    vd_buf_release(&value);
}

/* Without status and version; `marks`: nor what marks a built-in object. */
static struct vd_json *rest_of(struct vd_arena *a, const struct vd_json *object, bool marks)
{
    struct vd_json *rest = vd_json_copy(a, object);
    if (marks) {
        vd_json_remove(vd_json_get(rest, VD_SLICE("metadata")), VD_SLICE("labels"));
        vd_json_remove(vd_json_get(rest, VD_SLICE("metadata")), VD_SLICE("annotations"));
    }
    vd_json_remove(rest, VD_SLICE("status"));
    vd_json_remove(vd_json_get(rest, VD_SLICE("metadata")), VD_SLICE("resourceVersion"));
    vd_json_remove(vd_json_get(rest, VD_SLICE("metadata")), VD_SLICE("managedFields"));
    return rest;
}

static void fail_at(const struct attempt *t, enum how how, const char *what)
{
    struct vd_buf pointer = {0};
    add_pointer(&pointer, t->field);
    fail_msg("%s %s, way %d: %s", t->example->plural, vd_buf_text(&pointer), (int)how, what);
}

static bool is_of_status(const struct field *field)
{
    return vd_slice_is(field->tokens[0], "status");
}

/* Labels and annotations. */
static bool is_mark(const struct field *field)
{
    return vd_slice_is(field->tokens[0], "metadata") && field->n > 1 &&
           (vd_slice_is(field->tokens[1], "labels") ||
            vd_slice_is(field->tokens[1], "annotations"));
}

/* A field of status is tried at the main door, any other at the status door. */
static void attempt(struct attempt *t, enum how how)
{
    static const char *const types[] = {"json", "merge-patch+json", "json-patch+json",
                                        "strategic-merge-patch+json"};
    struct vd_arena *a = &t->q->arena;
    struct vd_buf body = {0};
    unsigned code;
    bool at_main = is_of_status(t->field);
    struct vd_json *before = get(t->q, t->target);
    struct vd_json *was = vd_json_get(before, VD_SLICE("status"));
    const char *next = t->example->status[0];
    if (vd_json_eq(was, json_of(a, next)))
        next = t->example->status[1];
    write_body(t, how, before, at_main ? NULL : next, &body);
    ask(t->q, how == PUT ? "PUT" : "PATCH", types[how], at_main ? t->target : t->status_target,
        vd_buf_slice(&body), &code);
    struct vd_json *after = get(t->q, t->target);
    struct vd_json *is = vd_json_get(after, VD_SLICE("status"));
    if (code != 200 && !vd_json_eq(before, after))
        fail_at(t, how, "it was refused, but has changed something");
    bool marks = t->native && is_mark(t->field);
    if (!vd_json_eq(rest_of(a, before, marks), rest_of(a, after, marks)))
        fail_at(t, how, "something beside status has changed");
    if (code == 200 && !vd_json_eq(is, at_main ? was : json_of(a, next)))
        fail_at(t, how, "the wrong status");
    t->accepted += code == 200;
    vd_buf_release(&body);
    vd_arena_reset(a);
}

/* Without the number that a Scale may change, and what follows from that. */
static struct vd_json *unscaled(struct vd_arena *a, const struct vd_json *object)
{
    struct vd_json *rest = vd_json_copy(a, object);
    vd_json_remove(vd_json_get(rest, VD_SLICE("spec")), VD_SLICE("replicas"));
    vd_json_remove(vd_json_get(rest, VD_SLICE("metadata")), VD_SLICE("resourceVersion"));
    vd_json_remove(vd_json_get(rest, VD_SLICE("metadata")), VD_SLICE("generation"));
    vd_json_remove(vd_json_get(rest, VD_SLICE("metadata")), VD_SLICE("managedFields"));
    return rest;
}

/* The field in the body of a Scale, beside a new number. */
static void attempt_scale(struct attempt *t, enum how how)
{
    static const char *const types[] = {"json", "merge-patch+json", "json-patch+json"};
    struct vd_arena *a = &t->q->arena;
    struct vd_buf body = {0};
    char target[264];
    unsigned code;
    int64_t was = 0, is = 0;
    snprintf(target, sizeof target, "%s/scale", t->target);
    struct vd_json *before = get(t->q, t->target);
    assert_true(vd_json_to_i64(vd_json_dig(before, "spec", "replicas", NULL), &was));
    if (how == JSON) {
        write_body(t, how, before, NULL, &body);
        body.n--; /* the bracket */
        vd_buf_addf(&body, ",{\"op\":\"add\",\"path\":\"/spec/replicas\",\"value\":%lld}]",
                    (long long)was + 1);
    } else {
        struct vd_json *scale = how == PUT ? get(t->q, target) : vd_json_object(a);
        struct field number = {.tokens = {VD_SLICE("spec"), VD_SLICE("replicas")}, .n = 2};
        put_at(a, scale, t->field, vd_json_copy(a, t->value));
        put_at(a, scale, &number, vd_json_i64(a, was + 1));
        vd_json_write(&body, scale);
    }
    ask(t->q, how == PUT ? "PUT" : "PATCH", types[how], target, vd_buf_slice(&body), &code);
    struct vd_json *after = get(t->q, t->target);
    if (code != 200 && !vd_json_eq(before, after))
        fail_at(t, how, "a Scale was refused, but has changed something");
    if (!vd_json_eq(unscaled(a, before), unscaled(a, after)))
        fail_at(t, how, "a Scale has changed more than a number");
    assert_true(vd_json_to_i64(vd_json_dig(after, "spec", "replicas", NULL), &is));
    if (code == 200 && is != was + 1)
        fail_at(t, how, "a Scale has changed the number to another");
    t->accepted += code == 200;
    vd_buf_release(&body);
    vd_arena_reset(a);
}

/* A Scale with every field that the object has. */
static void try_scale(struct attempt *t, struct vd_arena *a, const struct fields *all)
{
    size_t tried = 0;
    t->accepted = 0;
    for (size_t i = 0; i < all->list.n; i++) {
        t->field = &all->list.p[i];
        t->value = sample(a, t->field->schema, false);
        for (int how = PUT; how <= JSON; how++) {
            attempt_scale(t, (enum how)how);
            tried++;
        }
    }
    print_message("%s: %zu writes of a Scale, %zu accepted\n", t->example->plural, tried,
                  t->accepted);
    assert_true(t->accepted > tried / 4);
}

/* Makes the example's object, over HTTP or, of a kind that Git owns, as the pipeline does. Its path
 * becomes `target`. */
static void make_example(struct asking *q, struct vd_arena *a, const struct example *example,
                         const struct vd_kind *kind, char *target, size_t target_len)
{
    struct vd_slice name = VD_SLICE("o");
    unsigned code;
    if (vd_git_owns(kind, VD_SLICE("{}"))) {
        write_as_git(kind->group, kind->version, example->plural, "o", example->object,
                     VD_WRITE_CREATED);
    } else {
        struct vd_json *made = ask(q, "POST", "json", example->collection,
                                   vd_slice_of(example->object), &code);
        if (code != 201)
            fail_msg("%s: %u %.*s", example->plural, code,
                     VD_FMT(vd_json_text(vd_json_get(made, VD_SLICE("message")))));
        name = vd_arena_copy(a, vd_json_text(vd_json_dig(made, "metadata", "name", NULL)));
    }
    snprintf(target, target_len, "%s/%.*s", example->collection, VD_FMT(name));
}

static void try_kind(struct asking *q, struct vd_arena *a, const struct example *example,
                     const struct vd_kind *kind)
{
    static const char *const metadata[] = {"labels",
                                           "annotations",
                                           "finalizers",
                                           "ownerReferences",
                                           "generation",
                                           "deletionTimestamp",
                                           "creationTimestamp",
                                           "generateName",
                                           "managedFields",
                                           NULL};
    struct attempt t = {.q = q,
                        .example = example,
                        .native = kind->native,
                        .needs_version = kind->status_needs_version};
    struct fields all = fields_of(a, kind, metadata);
    make_example(q, a, example, kind, t.target, sizeof t.target);
    snprintf(t.status_target, sizeof t.status_target, "%s/status", t.target);
    size_t tried = 0;
    for (size_t i = 0; i < all.list.n; i++) {
        t.field = &all.list.p[i];
        for (int other = 0; other < 2; other++) {
            t.value = sample(a, t.field->schema, other);
            for (int how = PUT; how < WAYS; how++) {
                if (how == STRATEGIC && !kind->native)
                    continue;
                attempt(&t, (enum how)how);
                tried++;
            }
        }
    }
    print_message("%s: %zu fields, %zu writes, %zu accepted\n", example->plural, all.list.n, tried,
                  t.accepted);
    assert_true(t.accepted > tried / 4); /* the way was open */
    if (kind->has_scale)
        try_scale(&t, a, &all);
    VD_VEC_RELEASE(&all.list);
}

static void no_field_comes_through_the_other_subresource(void **state)
{
    struct asking q = {.client = {.fd = -1}};
    unsigned code;
    size_t n, with_status = 0;
    client_open(&q.client, &face.server);
    ask(&q, "POST", "json", "/api/v1/namespaces", VD_SLICE("{\"metadata\":{\"name\":\"room\"}}"),
        &code);
    struct vd_kind_set *set = vd_kinds_snapshot(face.env.kinds);
    struct vd_kind *const *kinds = vd_kind_set_all(set, &n);
    for (size_t i = 0; i < n; i++) {
        const struct example *example = NULL;
        for (size_t k = 0; k < sizeof examples / sizeof *examples; k++)
            if (vd_slice_is(kinds[i]->plural, examples[k].plural))
                example = &examples[k];
        if (!kinds[i]->has_status || !kinds[i]->stored || !vd_kind_is_listed(kinds[i]))
            continue;
        if (!example)
            fail_msg("no example of %.*s", VD_FMT(kinds[i]->plural));
        try_kind(&q, *state, example, kinds[i]);
        with_status++;
    }
    assert_int_equal(with_status, sizeof examples / sizeof *examples);
    vd_kind_set_unref(set);
    client_close(&q.client);
    vd_arena_release(&q.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_field_comes_through_the_other_subresource, open_world,
                                        close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
