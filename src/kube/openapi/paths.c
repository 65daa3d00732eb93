/*
 * See openapi_paths.h. Three tables say everything: the parameters, the
 * operations, and the paths of a kind:
 *
 *     /api/v1/configmaps                                list of all namespaces
 *     /api/v1/namespaces/{namespace}/configmaps         list, create, delete all
 *     /api/v1/namespaces/{namespace}/configmaps/{name}  read, replace, patch, delete
 *     /api/v1/namespaces/{name}/status                  read, replace, patch
 *     /api/v1/watch/namespaces/{namespace}/configmaps   the old form of a watch
 *
 * Kubernetes names the old watches of its own kinds, and not those of definitions.
 *
 * kubectl takes any PATCH of a kind for the answer to "does it know dryRun",
 * so those of subresources have the same parameters. Parameters stand in full
 * at each operation, as clients do not follow references there.
 */
#include "kube/openapi/paths.h"

#include "base/buf.h"
#include "kube/openapi/schema.h"
#include "kube/subresource.h"

enum parameters {
    P_WRITE = 1, /* create, replace, patch */
    P_PATCH = 2,
    P_DELETE = 4,
    P_SELECT = 8, /* list and delete of many */
    P_LIST = 16,
};

static const struct parameter {
    const char *name, *type, *description;
    unsigned groups;
} PARAMETERS[] = {
    {"allowWatchBookmarks", "boolean", "Bookmarks are welcome in a watch.", P_LIST},
    {"continue", "string", "The token of a list's last part: gives the next one.", P_SELECT},
    {"dryRun", "string", "All: check everything and change nothing.", P_WRITE | P_DELETE},
    {"fieldManager", "string", "Who makes this change.", P_WRITE},
    {"fieldSelector", "string", "Only objects with these fields.", P_SELECT},
    {"fieldValidation", "string", "For unknown and duplicate fields: Ignore, Warn or Strict.",
     P_WRITE},
    {"force", "boolean", "An apply takes fields from other managers.", P_PATCH},
    {"gracePeriodSeconds", "integer", "Seconds the object gets to end gracefully.", P_DELETE},
    {"labelSelector", "string", "Only objects with these labels.", P_SELECT},
    {"limit", "integer", "How many objects a part of the list has at most.", P_SELECT},
    {"orphanDependents", "boolean", "Use propagationPolicy.", P_DELETE},
    {"propagationPolicy", "string", "What happens to dependents: Orphan, Background or Foreground.",
     P_DELETE},
    {"resourceVersion", "string", "The version to list at or to watch from.", P_SELECT},
    {"resourceVersionMatch", "string", "Exact or NotOlderThan.", P_SELECT},
    {"sendInitialEvents", "boolean", "A watch begins with what is there.", P_LIST},
    {"timeoutSeconds", "integer", "Seconds after which a watch ends.", P_SELECT},
    {"watch", "boolean", "Changes as they happen, instead of a list.", P_LIST},
};

enum body { BODY_NONE, BODY_SELF, BODY_PATCH, BODY_DELETE };
enum answer { ANSWER_SELF, ANSWER_LIST, ANSWER_STATUS, ANSWER_EVENT };

static const struct operation {
    enum vd_verb verb;
    bool named; /* about one object */
    const char *method, *action, *word, *description;
    unsigned parameters;
    enum body body;
    enum answer answer;
} OPERATIONS[] = {
    {VD_VERB_LIST, false, "get", "list", "list", "list or watch objects of kind ",
     P_SELECT | P_LIST, BODY_NONE, ANSWER_LIST},
    {VD_VERB_CREATE, false, "post", "post", "create", "create ", P_WRITE, BODY_SELF, ANSWER_SELF},
    {VD_VERB_DELETECOLLECTION, false, "delete", "deletecollection", "delete",
     "delete every selected ", P_SELECT | P_DELETE, BODY_DELETE, ANSWER_STATUS},
    {VD_VERB_GET, true, "get", "get", "read", "read the specified ", 0, BODY_NONE, ANSWER_SELF},
    {VD_VERB_UPDATE, true, "put", "put", "replace", "replace the specified ", P_WRITE, BODY_SELF,
     ANSWER_SELF},
    {VD_VERB_DELETE, true, "delete", "delete", "delete", "delete ", P_DELETE, BODY_DELETE,
     ANSWER_STATUS},
    {VD_VERB_PATCH, true, "patch", "patch", "patch", "partially update the specified ",
     P_WRITE | P_PATCH, BODY_PATCH, ANSWER_SELF},
    {VD_VERB_WATCH, false, "get", "watchlist", "watch",
     "deprecated, use the parameter watch of a list: watch all objects of kind ", P_SELECT | P_LIST,
     BODY_NONE, ANSWER_EVENT},
    {VD_VERB_WATCH, true, "get", "watch", "watch",
     "deprecated, use the parameters watch and fieldSelector of a list: watch the specified ",
     P_SELECT | P_LIST, BODY_NONE, ANSWER_EVENT},
};

/* kubectl apply sends a strategic merge patch to any kind that says it takes one. */
static const struct {
    const char *type;
    bool native; /* for Kubernetes' own kinds only */
} PATCH_TYPES[] = {
    {"application/json-patch+json", false},
    {"application/merge-patch+json", false},
    {"application/strategic-merge-patch+json", true},
    {"application/apply-patch+yaml", false},
};

/* One path: where it is, what is there and what may be done. */
struct place {
    struct vd_arena *a;
    const struct vd_kind *kind;
    bool in_namespace;
    bool named;
    bool watch; /* below /watch/ */
    uint32_t verbs;
    /* What is sent and answered. */
    struct vd_slice subresource, group, version, kind_name, schema;
};

static void add_text(struct vd_arena *a, struct vd_json *object, const char *key,
                     struct vd_slice text)
{
    vd_json_add_ref(object, vd_slice_of(key), vd_json_string_ref(a, text));
}

/* The buffer's text moves to the arena. */
static struct vd_slice settle(struct vd_arena *a, struct vd_buf *text)
{
    struct vd_slice copy = vd_arena_copy(a, vd_buf_slice(text));
    vd_buf_release(text);
    return copy;
}

/* --- parameters --- */

static struct vd_json *parameter(struct vd_arena *a, const char *name, const char *in,
                                 const char *description, const char *type)
{
    struct vd_json *object = vd_json_object(a), *schema = vd_json_object(a);
    add_text(a, object, "name", vd_slice_of(name));
    add_text(a, object, "in", vd_slice_of(in));
    add_text(a, object, "description", vd_slice_of(description));
    if (vd_slice_is(vd_slice_of(in), "path"))
        vd_json_add_ref(object, VD_SLICE("required"), vd_json_bool(a, true));
    add_text(a, schema, "type", vd_slice_of(type));
    vd_json_add_ref(object, VD_SLICE("schema"), schema);
    return object;
}

static struct vd_json *query_parameters(struct vd_arena *a, unsigned groups)
{
    struct vd_json *list = vd_json_array(a);
    for (size_t i = 0; i < sizeof PARAMETERS / sizeof *PARAMETERS; i++) {
        const struct parameter *p = &PARAMETERS[i];
        if (p->groups & groups)
            vd_json_append(list, parameter(a, p->name, "query", p->description, p->type));
    }
    return list;
}

static struct vd_json *path_parameters(const struct place *at)
{
    struct vd_arena *a = at->a;
    struct vd_json *list = vd_json_array(a);
    if (at->named)
        vd_json_append(list, parameter(a, "name", "path", "The object's name.", "string"));
    if (at->in_namespace)
        vd_json_append(list, parameter(a, "namespace", "path", "The namespace.", "string"));
    vd_json_append(list, parameter(a, "pretty", "query", "true: indented output.", "string"));
    return list;
}

/* --- bodies --- */

static void add_content(struct vd_arena *a, struct vd_json *content, const char *type,
                        struct vd_slice schema)
{
    struct vd_json *media = vd_json_object(a);
    vd_json_add_ref(media, VD_SLICE("schema"), vd_openapi_ref(a, schema));
    vd_json_add_ref(content, vd_slice_of(type), media);
}

static struct vd_json *request_body(const struct place *at, enum body body)
{
    struct vd_arena *a = at->a;
    struct vd_json *object = vd_json_object(a), *content = vd_json_object(a);
    if (body == BODY_PATCH) {
        for (size_t i = 0; i < sizeof PATCH_TYPES / sizeof *PATCH_TYPES; i++)
            if (at->kind->native || !PATCH_TYPES[i].native)
                add_content(a, content, PATCH_TYPES[i].type, VD_SLICE(VD_OPENAPI_PATCH));
    } else {
        add_content(a, content, "application/json",
                    body == BODY_SELF ? at->schema : VD_SLICE(VD_OPENAPI_DELETE_OPTIONS));
    }
    vd_json_add_ref(object, VD_SLICE("content"), content);
    if (body != BODY_DELETE)
        vd_json_add_ref(object, VD_SLICE("required"), vd_json_bool(a, true));
    return object;
}

static void add_response(struct vd_arena *a, struct vd_json *responses, const char *code,
                         const char *description, struct vd_slice schema)
{
    struct vd_json *response = vd_json_object(a);
    add_text(a, response, "description", vd_slice_of(description));
    if (schema.n) {
        struct vd_json *content = vd_json_object(a);
        add_content(a, content, "application/json", schema);
        vd_json_add_ref(response, VD_SLICE("content"), content);
    }
    vd_json_add_ref(responses, vd_slice_of(code), response);
}

static struct vd_json *responses_of(const struct place *at, const struct operation *op)
{
    struct vd_arena *a = at->a;
    struct vd_json *responses = vd_json_object(a);
    struct vd_slice schema = at->schema;
    if (op->answer == ANSWER_STATUS)
        schema = VD_SLICE(VD_OPENAPI_STATUS);
    if (op->answer == ANSWER_EVENT)
        schema = VD_SLICE(VD_OPENAPI_WATCH_EVENT);
    if (op->answer == ANSWER_LIST)
        schema = vd_openapi_schema_name(a, at->kind, at->kind->list_kind);
    add_response(a, responses, "200", "OK", schema);
    if (op->body == BODY_SELF || op->body == BODY_PATCH)
        add_response(a, responses, "201", "Created", schema);
    add_response(a, responses, "401", "Unauthorized", VD_SLICE(""));
    return responses;
}

/* --- operations --- */

/* status becomes Status, rbac.authorization becomes RbacAuthorization. */
static void add_camel(struct vd_buf *out, struct vd_slice text)
{
    bool up = true;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '.' || c == '-') {
            up = true;
            continue;
        }
        vd_buf_add_char(out, up && c >= 'a' && c <= 'z' ? (char)(c - 32) : c);
        up = false;
    }
}

/* Unique in all documents: listCoreV1NamespacedConfigMap. */
static struct vd_slice operation_id(const struct place *at, const struct operation *op)
{
    struct vd_buf id = {0};
    struct vd_slice group = at->kind->group, suffix = VD_SLICE(".k8s.io");
    if (vd_slice_ends_with(group, suffix))
        group.n -= suffix.n;
    vd_buf_add_text(&id, op->word);
    add_camel(&id, group.n ? group : VD_SLICE("core"));
    add_camel(&id, at->kind->version);
    if (op->verb == VD_VERB_DELETECOLLECTION)
        vd_buf_add_text(&id, "Collection");
    if (at->in_namespace)
        vd_buf_add_text(&id, "Namespaced");
    vd_buf_add_slice(&id, at->kind->kind);
    if (at->watch && !at->named)
        vd_buf_add_text(&id, "List");
    add_camel(&id, at->subresource);
    if (at->kind->namespaced && !at->in_namespace)
        vd_buf_add_text(&id, "ForAllNamespaces");
    return settle(at->a, &id);
}

static struct vd_json *operation(const struct place *at, const struct operation *op)
{
    struct vd_arena *a = at->a;
    struct vd_json *object = vd_json_object(a);
    struct vd_buf description = {0};
    vd_buf_add_text(&description, op->description);
    if (at->subresource.n)
        vd_buf_addf(&description, "%.*s of ", VD_FMT(at->subresource));
    vd_buf_add_slice(&description, at->kind->kind);
    add_text(a, object, "description", settle(a, &description));
    add_text(a, object, "operationId", operation_id(at, op));
    if (op->parameters)
        vd_json_add_ref(object, VD_SLICE("parameters"), query_parameters(a, op->parameters));
    if (op->body)
        vd_json_add_ref(object, VD_SLICE("requestBody"), request_body(at, op->body));
    vd_json_add_ref(object, VD_SLICE("responses"), responses_of(at, op));
    add_text(a, object, "x-kubernetes-action", vd_slice_of(op->action));
    vd_json_add_ref(object, VD_SLICE("x-kubernetes-group-version-kind"),
                    vd_openapi_gvk(a, at->group, at->version, at->kind_name));
    return object;
}

/* --- paths --- */

static struct vd_slice path_of(const struct place *at)
{
    struct vd_buf path = {0};
    vd_buf_addf(&path, "%s/%.*s", at->kind->group.n ? "/apis" : "/api",
                VD_FMT(at->kind->api_version));
    if (at->watch)
        vd_buf_add_text(&path, "/watch");
    if (at->in_namespace)
        vd_buf_add_text(&path, "/namespaces/{namespace}");
    vd_buf_addf(&path, "/%.*s%s", VD_FMT(at->kind->plural), at->named ? "/{name}" : "");
    if (at->subresource.n)
        vd_buf_addf(&path, "/%.*s", VD_FMT(at->subresource));
    return settle(at->a, &path);
}

/* A subresource is created under the name of its object. */
static bool is_here(const struct place *at, const struct operation *op)
{
    return (at->verbs & op->verb) && at->watch == (op->verb == VD_VERB_WATCH) &&
           (at->subresource.n || at->named == op->named);
}

static void add_path(struct vd_json *paths, const struct place *at)
{
    struct vd_json *path = vd_json_object(at->a);
    bool any = false;
    for (size_t i = 0; i < sizeof OPERATIONS / sizeof *OPERATIONS; i++) {
        const struct operation *op = &OPERATIONS[i];
        if (!is_here(at, op))
            continue;
        vd_json_add_ref(path, vd_slice_of(op->method), operation(at, op));
        any = true;
    }
    if (!any)
        return;
    vd_json_add_ref(path, VD_SLICE("parameters"), path_parameters(at));
    vd_json_add_ref(paths, path_of(at), path);
}

static void add_subresource(struct vd_json *paths, const struct place *object,
                            const struct vd_subresource *sub)
{
    struct place at = *object;
    at.subresource = sub->name;
    at.group = sub->group;
    at.version = sub->version;
    at.kind_name = sub->kind;
    at.verbs = sub->verbs;
    at.schema = sub->body ? vd_openapi_schema_name(at.a, sub->body, sub->kind)
                          : VD_SLICE(VD_OPENAPI_SCALE);
    add_path(paths, &at);
}

/* `all` is the place of all objects of the kind, in whatever namespace. */
static void add_watches(struct vd_json *paths, const struct place *all)
{
    struct place at = *all;
    at.verbs = VD_VERB_WATCH & at.kind->verbs;
    at.watch = true;
    add_path(paths, &at);
    if (at.kind->namespaced) {
        at.in_namespace = true;
        add_path(paths, &at);
    }
    at.named = true;
    add_path(paths, &at);
}

void vd_openapi_add_paths(struct vd_arena *a, struct vd_json *paths, const struct vd_kind_set *set,
                          const struct vd_kind *kind)
{
    struct vd_subresource subs[VD_SUBRESOURCES_MAX];
    struct place at = {.a = a,
                       .kind = kind,
                       .verbs = VD_VERB_LIST,
                       .group = kind->group,
                       .version = kind->version,
                       .kind_name = kind->kind,
                       .schema = vd_openapi_schema_name(a, kind, kind->kind)};
    if (kind->native)
        add_watches(paths, &at);
    if (kind->namespaced) {
        at.verbs &= kind->verbs;
        add_path(paths, &at);
        at.in_namespace = true;
    }
    at.verbs = kind->verbs;
    add_path(paths, &at);
    at.named = true;
    add_path(paths, &at);
    size_t n = vd_subresources(set, kind, subs);
    for (size_t i = 0; i < n; i++)
        add_subresource(paths, &at, &subs[i]);
}
