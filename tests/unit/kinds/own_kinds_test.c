/* kinds/repository.yaml and the catalogue kinds: they are definitions that a client could send, and
 * they say in words what is wrong with an object. */
#include "check.h"

#include <string.h>

#include "kinds/builtin.h"
#include "kinds/builtin_files.h"
#include "kinds/object.h"
#include "json/write.h"
#include "json/yaml_read.h"

#define CATALOG "catalog.gitstore.dev"
#define GIT     "git.vedette.dev"

struct fixture {
    struct vd_arena arena;
    struct vd_kinds *kinds;
    struct vd_kind_set *set;
};

static int setup(void **state)
{
    struct fixture *f = vd_calloc(1, sizeof *f);
    f->kinds = vd_kinds_new_builtin();
    f->set = vd_kinds_snapshot(f->kinds);
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

static const struct vd_kind *kind_of(struct fixture *f, const char *group, const char *version,
                                     const char *kind)
{
    const struct vd_kind *found = vd_kind_set_kind(f->set, vd_slice_of(group), vd_slice_of(version),
                                                   vd_slice_of(kind));
    assert_non_null(found);
    return found;
}

/* What is said of a new object; in the arena. */
static const char *verdict(struct fixture *f, const struct vd_kind *kind, struct vd_json *object)
{
    struct vd_violations violations = {0};
    struct vd_buf said = {0};
    assert_int_equal(
        vd_object_prepare(kind, &f->arena, object, true, NULL, &(struct vd_effort){0}, NULL),
        VD_OK);
    vd_object_validate(kind, object, NULL, &violations);
    vd_violations_write(&said, &violations);
    const char *text = vd_arena_copy(&f->arena, vd_buf_slice(&said)).p;
    vd_buf_release(&said);
    vd_violations_release(&violations);
    return text ? text : "";
}

static struct vd_json *yaml_of(struct fixture *f, struct vd_slice text)
{
    struct vd_json *document = NULL;
    struct vd_error error = {0};
    if (vd_yaml_read(&f->arena, text, &document, &error))
        fail_msg("%.*s\n%s", VD_FMT(text), error.text);
    return document;
}

/* Their schemas are compiled when an object first needs them, so here is where they are read. */
static void they_are_good_definitions(void **state)
{
    struct fixture *f = *state;
    const struct vd_kind *kind = kind_of(f, "apiextensions.k8s.io", "v1",
                                         "CustomResourceDefinition");
    unsigned n = 0;
    for (size_t i = 0; i < vd_builtin_file_count; i++) {
        struct vd_json *document = yaml_of(f, vd_builtin_files[i].text);
        struct vd_slice group = vd_json_text(vd_json_dig(document, "spec", "group", NULL));
        if (!vd_slice_is(group, CATALOG) && !vd_slice_is(group, GIT))
            continue;
        const char *said = verdict(f, kind, document);
        if (*said)
            fail_msg("kinds/%s: %s", vd_builtin_files[i].name, said);
        n++;
    }
    assert_int_equal(n, 5);
}

static void who_owns_them(void **state)
{
    static const char *const catalogue[] = {"Product", "ProductVariant", "CategoryTaxonomy",
                                            "Collection"};
    struct fixture *f = *state;
    const struct vd_kind *repository = kind_of(f, GIT, "v1", "Repository");
    assert_true(repository->builtin && !repository->native && repository->counts_generation);
    assert_false(repository->spec_owned_by_git);
    for (size_t i = 0; i < sizeof catalogue / sizeof *catalogue; i++) {
        const struct vd_kind *kind = kind_of(f, CATALOG, "v1beta1", catalogue[i]);
        assert_true(kind->builtin && !kind->native && kind->counts_generation);
        assert_true(kind->spec_owned_by_git && kind->status_needs_version && kind->has_status);
    }
}

struct row {
    const char *spec, *want; /* as flow YAML; what is said of the object "x" */
};

static void assert_rows(struct fixture *f, const struct vd_kind *kind, const struct row *rows,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct vd_buf text = {0};
        vd_buf_addf(&text, "{apiVersion: %.*s, kind: %.*s, ", VD_FMT(kind->api_version),
                    VD_FMT(kind->kind));
        vd_buf_addf(&text, "metadata: {name: x, namespace: shop, uid: u}, %s}", rows[i].spec);
        const char *said = verdict(f, kind, yaml_of(f, vd_buf_slice(&text)));
        if (strcmp(said, rows[i].want) != 0)
            fail_msg("%s\n got %s\nwant %s", vd_buf_text(&text), said, rows[i].want);
        vd_buf_release(&text);
    }
}

#define ROWS(state, group, version, kind, rows)                                                    \
    assert_rows(*(state), kind_of(*(state), group, version, kind), rows,                           \
                sizeof(rows) / sizeof *(rows))

#define UNCHECKED                                                                                  \
    "<nil>: Invalid value: null: some validation rules were not checked because the object was "   \
    "invalid; correct the existing errors to complete validation"

#define HUNDRED                                                                                    \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"         \
    "aaaaaaaaaaaaaaaaaaaa"

static void products(void **state)
{
    static const struct row rows[] = {
        {"spec: {}", ""},
        {"spec: {title: Lamp, categoryRef: {name: lamps}, tags: [a, b], "
         "media: [{fileRef: {name: m}}], options: [{name: size, values: [S, M]}]}, body: text",
         ""},
        {"body: text", "spec: Required value"},
        {"spec: {title: " HUNDRED HUNDRED "a}",
         "spec.title: Too long: may not be more than 200 bytes"},
        {"spec: {media: [{fileRef: {kind: File}}]}", "spec.media[0].fileRef.name: Required value"},
        {"spec: {media: [{}]}", "spec.media[0].fileRef: Required value"},
        {"spec: {categoryRef: {name: a, kind: Product}}",
         "spec.categoryRef.kind: Unsupported value: \"Product\": supported values: "
         "\"CategoryTaxonomy\""},
        {"spec: {options: [{name: size, values: [S]}, {name: size, values: [M]}]}",
         "spec.options[1]: Duplicate value: {\"name\":\"size\"}"},
        {"spec: {options: [{name: size, values: [S, S]}]}",
         "spec.options[0].values[1]: Duplicate value: \"S\""},
        {"spec: {options: [{name: size, values: []}]}",
         "spec.options[0].values: Invalid value: 0: spec.options[0].values in body should have at "
         "least 1 items"},
    };
    ROWS(state, CATALOG, "v1beta1", "Product", rows);
}

#define VARIANT "title: V, sku: V-1, productRef: {name: p}"
#define PRICES(text)                                                                               \
    "spec: {" VARIANT ", pricing: {priceSet: {prices: [{name: a, currencyCode: EUR, " text "}]}}}"

static void variants(void **state)
{
    static const struct row rows[] = {
        {"spec: {" VARIANT "}", ""},
        {"spec: {}", "[spec.title: Required value, spec.sku: Required value, "
                     "spec.productRef: Required value, " UNCHECKED "]"},
        {"spec: {title: V, sku: ' V-1', productRef: {name: p}}",
         "spec.sku: Invalid value: \"string\": a sku is printable ASCII, without blanks at its "
         "ends"},
        {PRICES("amount: '19.99', strategy: {type: fixed}, eligibility: {operator: All, "
                "constraints: [{expression: 'cart.total > 10'}]}"),
         ""},
        {PRICES("amount: 19.99"),
         "[spec.pricing.priceSet.prices[0].amount: Invalid value: \"number\": "
         "spec.pricing.priceSet.prices[0].amount in body must be of type string: "
         "\"number\", " UNCHECKED "]"},
        {PRICES("amount: '1', validFromTime: 2026-01-02T00:00:00Z, "
                "validUntilTime: 2026-01-01T00:00:00Z"),
         "spec.pricing.priceSet.prices[0]: Invalid value: \"object\": validFromTime must be before "
         "validUntilTime"},
        {PRICES("amount: '1', quantity: {min: 3, max: 2}"),
         "spec.pricing.priceSet.prices[0]: Invalid value: \"object\": quantity.min must not be "
         "above quantity.max"},
        {"spec: {" VARIANT ", inventory: {managed: true, policy: never}}",
         "spec.inventory.policy: Unsupported value: \"never\": supported values: \"\", "
         "\"deny\", \"backorder\""},
    };
    ROWS(state, CATALOG, "v1beta1", "ProductVariant", rows);
}

static void categories(void **state)
{
    static const struct row rows[] = {
        {"spec: {title: T, parentRef: {name: z}}", ""},
        {"spec: {title: T, parentRef: {name: x}}",
         "spec.parentRef.name: Invalid value: \"object\": a category cannot be its own parent"},
    };
    ROWS(state, CATALOG, "v1beta1", "CategoryTaxonomy", rows);
}

static void collections(void **state)
{
    static const struct row rows[] = {
        {"spec: {title: T, selector: {matchLabels: {a: b}, matchExpressions: "
         "[{key: c, operator: In, values: [d]}, {key: e, operator: Exists}]}}",
         ""},
        {"spec: {title: T, selector: {matchExpressions: [{key: c, operator: In}]}}",
         "spec.selector.matchExpressions[0].values: Invalid value: \"object\": In and NotIn need "
         "values, and Exists and DoesNotExist have none"},
        {"spec: {title: T, selector: {matchExpressions: "
         "[{key: c, operator: Exists, values: [a]}]}}",
         "spec.selector.matchExpressions[0].values: Invalid value: \"object\": In and NotIn need "
         "values, and Exists and DoesNotExist have none"},
        {"spec: {title: T, targetRef: {kind: Repository}}",
         "spec.targetRef.kind: Unsupported value: \"Repository\": supported values: \"Product\""},
    };
    ROWS(state, CATALOG, "v1beta1", "Collection", rows);
}

#define NO_URL                                                                                     \
    "must be a URL of http, https or ssh, such as https://example.com/shop.git or "                \
    "ssh://git@example.com/shop.git"
#define REMOTE(text) "spec: {remote: {" text "}}"
#define BAD_URL(url)                                                                               \
    {                                                                                              \
        REMOTE("url: '" url "'"), "spec.remote.url: Invalid value: \"object\": " NO_URL            \
    }

static void repositories(void **state)
{
    static const struct row rows[] = {
        {"spec: {}", ""},
        {"body: none", ""},
        {"spec: {defaultBranch: trunk, branches: [trunk, 'release/*', '**'], visibility: public, "
         "limits: {packBytes: 1048576, files: 10}, scope: {namespaces: [a], "
         "clusterScoped: [namespaces, clusterroles.rbac.authorization.k8s.io]}, "
         "deletionPolicy: Cascade}",
         ""},
        {REMOTE("url: 'https://example.com/a.git', interval: 1h30m, secretRef: {name: s}"), ""},
        {REMOTE("url: 'ssh://git@example.com:2222/a.git'"), ""},
        {REMOTE("url: 'https://[::1]:8443/a.git'"), ""},
        BAD_URL("file:///etc"),
        BAD_URL("git@example.com:a.git"),
        BAD_URL("ext::sh -c true"),
        BAD_URL("ssh://-oProxyCommand=true/a"),
        BAD_URL("ssh://git@-oProxyCommand=true/a"),
        BAD_URL("https://example.com/a b"),
        {REMOTE("url: 'https://me:secret@example.com/a.git'"),
         "spec.remote.url: Invalid value: \"object\": credentials do not belong into the URL, but "
         "into the Secret that secretRef names"},
        {REMOTE("url: 'https://example.com/a.git', interval: 9s"),
         "spec.remote.interval: Invalid value: \"object\": must be 10s or longer"},
        {"spec: {branches: [main], remote: {url: 'https://example.com/a.git'}}",
         "spec.branches: Invalid value: \"object\": a repository that follows a remote admits "
         "remote.branch and no other branch, so branches must be left out"},
        {"spec: {defaultBranch: a..b}",
         "spec.defaultBranch: Invalid value: \"string\": this is no name that git takes for a "
         "branch"},
        {"spec: {visibility: secret}",
         "spec.visibility: Unsupported value: \"secret\": supported values: \"private\", "
         "\"internal\", \"public\""},
    };
    ROWS(state, GIT, "v1", "Repository", rows);
}

static void defaults_of_a_repository(void **state)
{
    struct fixture *f = *state;
    const struct vd_kind *kind = kind_of(f, GIT, "v1", "Repository");
    struct vd_json *object = yaml_of(
        f, VD_SLICE("{apiVersion: git.vedette.dev/v1, kind: Repository, metadata: {name: x, "
                    "namespace: shop}, spec: {remote: {url: 'https://a'}}}"));
    struct vd_buf text = {0};
    verdict(f, kind, object);
    vd_json_write(&text, vd_json_get(object, VD_SLICE("spec")));
    assert_string_equal(vd_buf_text(&text),
                        "{\"remote\":{\"url\":\"https://a\",\"interval\":\"1m\","
                        "\"serviceAccountName\":\"default\"},\"defaultBranch\":\"main\","
                        "\"visibility\":\"private\",\"deletionPolicy\":\"Refuse\"}");
    vd_buf_release(&text);
}

#define own_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        own_test(they_are_good_definitions),
        own_test(who_owns_them),
        own_test(products),
        own_test(variants),
        own_test(categories),
        own_test(collections),
        own_test(repositories),
        own_test(defaults_of_a_repository),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
