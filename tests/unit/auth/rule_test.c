/* src/auth/rule.c: what one rule allows, and what it covers. */
#include "auth/rule.h"

#include "json_check.h"

static struct vd_rule rule_of(struct vd_arena *a, const char *json)
{
    struct vd_rule rule;
    struct vd_error error = {0};
    assert_ok(vd_rule_from_json(&rule, a, json_of(a, json), &error), &error);
    return rule;
}

#define RULE(groups, resources, verbs)                                                             \
    "{\"apiGroups\":[" groups "],\"resources\":[" resources "],\"verbs\":[" verbs "]}"
#define NAMED(names)                                                                               \
    "{\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"get\"],"                          \
    "\"resourceNames\":[" names "]}"
#define PATHS(paths, verbs) "{\"nonResourceURLs\":[" paths "],\"verbs\":[" verbs "]}"

static void rules_allow(void **state)
{
    static const struct {
        const char *rule, *verb, *group, *resource, *subresource, *name, *path;
        bool allowed;
    } cases[] = {
        {RULE("\"\"", "\"pods\"", "\"get\""), "get", "", "pods", "", "", "", true},
        {RULE("\"\"", "\"pods\"", "\"get\""), "list", "", "pods", "", "", "", false},
        {RULE("\"\"", "\"pods\"", "\"get\""), "get", "apps", "pods", "", "", "", false},
        {RULE("\"\"", "\"pods\"", "\"get\""), "get", "", "pod", "", "", "", false},
        {RULE("\"\"", "\"pods\"", "\"get\""), "get", "", "pods", "log", "", "", false},
        {RULE("\"\"", "\"pods/log\"", "\"get\""), "get", "", "pods", "log", "", "", true},
        {RULE("\"\"", "\"pods/log\"", "\"get\""), "get", "", "pods", "", "", "", false},
        {RULE("\"\"", "\"pods/log\"", "\"get\""), "get", "", "pods", "exec", "", "", false},
        {RULE("\"\"", "\"*/scale\"", "\"get\""), "get", "", "pods", "scale", "", "", true},
        {RULE("\"\"", "\"*/scale\"", "\"get\""), "get", "", "pods", "", "", "", false},
        {RULE("\"\"", "\"*/scale\"", "\"get\""), "get", "", "pods", "cale", "", "", false},
        {RULE("\"\"", "\"*/*\"", "\"get\""), "get", "", "pods", "log", "", "", false},
        {RULE("\"\"", "\"pods/*\"", "\"get\""), "get", "", "pods", "log", "", "", false},
        {RULE("\"*\"", "\"*\"", "\"*\""), "zap", "x.y", "pods", "log", "n", "", true},
        {RULE("\"*\"", "\"*\"", "\"*\""), "get", "", "", "", "", "/x", false},
        {RULE("", "\"pods\"", "\"get\""), "get", "", "pods", "", "", "", false},
        {RULE("\"\"", "\"pods\"", ""), "get", "", "pods", "", "", "", false},
        {"{}", "get", "", "pods", "", "", "", false},
        {"{}", "get", "", "", "", "", "/x", false},
        {NAMED("\"a\",\"b\""), "get", "", "pods", "", "a", "", true},
        {NAMED("\"a\",\"b\""), "get", "", "pods", "", "b", "", true},
        {NAMED("\"a\",\"b\""), "get", "", "pods", "", "c", "", false},
        {NAMED("\"a\",\"b\""), "get", "", "pods", "", "", "", false},
        {NAMED("\"*\""), "get", "", "pods", "", "a", "", false},
        {NAMED(""), "get", "", "pods", "", "a", "", true},
        {PATHS("\"/healthz\"", "\"get\""), "get", "", "", "", "", "/healthz", true},
        {PATHS("\"/healthz\"", "\"get\""), "get", "", "", "", "", "/healthz/x", false},
        {PATHS("\"/healthz\"", "\"get\""), "post", "", "", "", "", "/healthz", false},
        {PATHS("\"/api/*\"", "\"get\""), "get", "", "", "", "", "/api/v1", true},
        {PATHS("\"/api/*\"", "\"get\""), "get", "", "", "", "", "/api/", true},
        {PATHS("\"/api/*\"", "\"get\""), "get", "", "", "", "", "/api", false},
        {PATHS("\"/api*\"", "\"get\""), "get", "", "", "", "", "/apis", true},
        {PATHS("\"*\"", "\"*\""), "get", "", "", "", "", "/any", true},
        {PATHS("\"*\"", "\"*\""), "get", "", "pods", "", "", "", false},
        {PATHS("\"/a*b\"", "\"get\""), "get", "", "", "", "", "/axb", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_rule rule = rule_of(*state, cases[i].rule);
        struct vd_access access = {.verb = vd_slice_of(cases[i].verb),
                                   .group = vd_slice_of(cases[i].group),
                                   .resource = vd_slice_of(cases[i].resource),
                                   .subresource = vd_slice_of(cases[i].subresource),
                                   .name = vd_slice_of(cases[i].name),
                                   .path = vd_slice_of(cases[i].path)};
        if (vd_rule_allows(&rule, &access) != cases[i].allowed)
            fail_msg("case %zu: %s", i, cases[i].rule);
    }
}

static void rules_cover(void **state)
{
    static const struct {
        const char *owner, *rule;
        bool covered;
    } cases[] = {
        {RULE("\"\"", "\"pods\"", "\"get\""), RULE("\"\"", "\"pods\"", "\"get\""), true},
        {RULE("\"\"", "\"pods\"", "\"get\",\"list\""), RULE("\"\"", "\"pods\"", "\"list\""), true},
        {RULE("\"\"", "\"pods\"", "\"get\""), RULE("\"\"", "\"pods\"", "\"get\",\"list\""), false},
        {RULE("\"\"", "\"pods\"", "\"get\""), RULE("\"\"", "\"pods\"", "\"*\""), false},
        {RULE("\"\"", "\"pods\"", "\"*\""), RULE("\"\"", "\"pods\"", "\"zap\""), true},
        {RULE("\"a\",\"b\"", "\"pods\"", "\"*\""), RULE("\"*\"", "\"pods\"", "\"get\""), false},
        {RULE("\"*\"", "\"pods\"", "\"*\""), RULE("\"a\"", "\"pods\"", "\"get\""), true},
        {RULE("\"\"", "\"*\"", "\"*\""), RULE("\"\"", "\"pods/log\"", "\"get\""), true},
        {RULE("\"\"", "\"pods\"", "\"*\""), RULE("\"\"", "\"pods/log\"", "\"get\""), false},
        {RULE("\"\"", "\"*/log\"", "\"*\""), RULE("\"\"", "\"pods/log\"", "\"get\""), true},
        {RULE("\"\"", "\"*/log\"", "\"*\""), RULE("\"\"", "\"*/log\"", "\"get\""), true},
        {RULE("\"\"", "\"*/log\"", "\"*\""), RULE("\"\"", "\"pods/exec\"", "\"get\""), false},
        {RULE("\"\"", "\"pods/log\"", "\"*\""), RULE("\"\"", "\"*/log\"", "\"get\""), false},
        {RULE("\"\"", "\"pods\"", "\"get\""), NAMED("\"a\""), true},
        {NAMED("\"a\""), RULE("\"\"", "\"pods\"", "\"get\""), false},
        {NAMED("\"a\",\"b\""), NAMED("\"a\""), true},
        {NAMED("\"a\""), NAMED("\"a\",\"b\""), false},
        {PATHS("\"/api/*\"", "\"get\""), PATHS("\"/api/v1\"", "\"get\""), true},
        {PATHS("\"/api/*\"", "\"get\""), PATHS("\"/api/v1/*\"", "\"get\""), true},
        {PATHS("\"/api/v1/*\"", "\"get\""), PATHS("\"/api/*\"", "\"get\""), false},
        {PATHS("\"*\"", "\"get\""), PATHS("\"/x\",\"/y\"", "\"get\""), true},
        {PATHS("\"*\"", "\"*\""), RULE("\"\"", "\"pods\"", "\"get\""), false},
        {RULE("\"*\"", "\"*\"", "\"*\""), PATHS("\"/x\"", "\"get\""), false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_rule owner = rule_of(*state, cases[i].owner);
        struct vd_rule rule = rule_of(*state, cases[i].rule);
        if (vd_rule_covers(&owner, &rule) != cases[i].covered)
            fail_msg("%s and %s", cases[i].owner, cases[i].rule);
    }
}

static void rules_that_cannot_be_read_are_errors(void **state)
{
    static const char *const texts[] = {"[]", "{\"verbs\":\"get\"}", "{\"verbs\":[1]}",
                                        "{\"resourceNames\":{}}", "{\"nonResourceURLs\":[null]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct vd_rule rule;
        struct vd_error error = {0};
        assert_code(vd_rule_from_json(&rule, *state, json_of(*state, texts[i]), &error),
                    VD_ERR_INVALID);
    }
    struct vd_rule empty = rule_of(*state, "{\"verbs\":null,\"resources\":[]}");
    assert_int_equal(empty.verbs.n + empty.resources.n, 0);
}

static void rules_are_shown_as_kubernetes_does(void **state)
{
    static const struct {
        const char *rule, *text;
    } cases[] = {
        {RULE("\"\"", "\"pods\"", "\"get\",\"list\""),
         "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\" \"list\"]}"},
        {NAMED("\"a\""), "{APIGroups:[\"\"], Resources:[\"pods\"], ResourceNames:[\"a\"], "
                         "Verbs:[\"get\"]}"},
        {PATHS("\"/x\"", "\"get\""), "{NonResourceURLs:[\"/x\"], Verbs:[\"get\"]}"},
        {"{}", "{}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_rule rule = rule_of(*state, cases[i].rule);
        struct vd_buf out = {0};
        vd_rule_add_text(&out, &rule);
        assert_slice(vd_buf_slice(&out), cases[i].text);
        vd_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(rules_allow),
        arena_test(rules_cover),
        arena_test(rules_that_cannot_be_read_are_errors),
        arena_test(rules_are_shown_as_kubernetes_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
