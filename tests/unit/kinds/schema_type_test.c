/* src/kinds/schema_type.c with src/cel/estimate.c: what rules may cost by a schema's sizes. The
 * figures are those that Kubernetes' own tests pin: they decide which definitions are taken. */
#include "kinds/schema_rules.h"

#include "json_check.h"

static uint64_t cost_of(struct vd_arena *a, const char *schema, const char *rule)
{
    struct vd_cel_env env = {vd_schema_cel_type(a, json_of(a, schema), false), true, false};
    struct vd_cel_program *program = NULL;
    struct vd_buf issues = {0};
    assert_non_null(env.self);
    if (!vd_cel_compile(a, vd_slice_of(rule), &env, &program, &issues))
        fail_msg("%s: %s", rule, vd_buf_text(&issues));
    uint64_t cost = vd_cel_program_cost(program);
    vd_cel_program_release(program);
    vd_buf_release(&issues);
    return cost;
}

#define TYPE(t)      "{\"type\":\"" t "\"}"
#define FORMAT(f)    "{\"type\":\"string\",\"format\":\"" f "\"}"
#define LIST(i)      "{\"type\":\"array\",\"items\":" i "}"
#define LIST_N(n, i) "{\"type\":\"array\",\"maxItems\":" #n ",\"items\":" i "}"
#define MAP(v)       "{\"type\":\"object\",\"additionalProperties\":" v "}"
#define MAP_N(n, v)  "{\"type\":\"object\",\"maxProperties\":" #n ",\"additionalProperties\":" v "}"
#define STRING_N(n)  "{\"type\":\"string\",\"maxLength\":" #n "}"
#define EITHER       "{\"x-kubernetes-int-or-string\":true}"
#define OBJECT                                                                                     \
    "{\"type\":\"object\",\"required\":[\"required\"],\"properties\":{\"required\":{\"type\":"     \
    "\"string\"},\"optional\":{\"type\":\"string\"}}}"

static const struct {
    const char *schema, *rule;
    uint64_t cost;
} rows[] = {
    {LIST(TYPE("number")), "self.all(x, true)", 4718591},
    {LIST_N(10, TYPE("number")), "self.all(x, true)", 32},
    {LIST(TYPE("string")), "self.all(x, true)", 3145727},
    {LIST_N(20, TYPE("string")), "self.all(x, true)", 62},
    {LIST(TYPE("boolean")), "self.all(x, true)", 1887437},
    {LIST(LIST(TYPE("number"))), "self.all(x, true)", 3145727},
    {LIST(OBJECT), "self.all(x, true)", 555128},
    {MAP(TYPE("number")), "self.all(x, true)", 1348169},
    {MAP(TYPE("string")), "self.all(x, true)", 1179647},
    {MAP_N(3, TYPE("string")), "self.all(x, true)", 11},
    {MAP(TYPE("boolean")), "self.all(x, true)", 943718},
    {MAP(MAP(TYPE("number"))), "self.all(x, true)", 1179647},
    {MAP(LIST(TYPE("number"))), "self.all(x, true)", 1179647},
    {MAP(EITHER), "self.all(x, true)", 1348169},
    {MAP(FORMAT("duration")), "self.all(x, true)", 1048577},
    {MAP(FORMAT("date")), "self.all(x, true)", 524288},
    {MAP(FORMAT("date-time")), "self.all(x, true)", 349526},
    {LIST(FORMAT("duration")), "self.all(x, true)", 2359295},
    {LIST(FORMAT("date")), "self.all(x, true)", 725936},
    {LIST(FORMAT("date-time")), "self.all(x, true)", 428963},
    {LIST(EITHER), "self.all(x, true)", 4718591},
    {TYPE("string"), "self.contains('test')", 314574},
    {STRING_N(10), "self.contains('test')", 5},
    {TYPE("string"), "self.startsWith('test')", 2},
    {TYPE("string"), "self.endsWith('test')", 2},
    {TYPE("string"), "size(self + \"hello\") > size(\"hello\")", 314578},
    {STRING_N(4), "size(self + \"hello\") > size(\"hello\")", 7},
    {LIST(TYPE("number")), "self[1] == 0.0", 2},
    {LIST(TYPE("string")), "self[1] == self[1]", 314577},
    {LIST_N(10, TYPE("number")), "self.all(x, self.all(y, true))", 352},
    {LIST_N(10, TYPE("number")), "self.all(x, self.all(y, self.all(z, true)))", 3552},
    {TYPE("string"), "self.matches(\"x\")", 314574},
    {STRING_N(50), "self.matches(\"x\")", 22},
    {TYPE("string"), "\"\".matches(\"(((((((((())))))))))[0-9]\")", 7},
    {TYPE("string"), "self.matches(\"\")", 1},
    {MAP(TYPE("string")), "self.all(x, x.contains(self[x]))", 2752507},
    {MAP_N(10, TYPE("string")), "self.all(x, x.contains(self[x]))", 72},
    {MAP(TYPE("number")), "self[\"x\"] == 0.0", 2},
    {TYPE("string"), "self == \"x\"", 2},
    {STRING_N(0), "self == \"x\"", 1},
    {FORMAT("byte"), "self == b\"x\"", 2},
    {LIST(TYPE("number")), "self.all(x, x == 0.0)", 6291454},
    {LIST_N(6291456, TYPE("number")), "self.all(x, x == 0.0)", 25165826},
    {LIST(EITHER), "self[0] == 5", 3},
    {LIST(TYPE("boolean")), "self[0] == false", 2},
    {LIST(OBJECT), "self[0] == null", 2},
    {LIST(LIST(TYPE("number"))), "self[0][0] == -1.0", 3},
    {LIST(MAP(TYPE("number"))), "self.all(x, x.y == 25.2)", 6291452},
    {LIST(MAP(TYPE("number"))), "self[0].x > 2.0", 4},
    {LIST(FORMAT("duration")), "self[0].getHours() == 2", 4},
    {LIST(FORMAT("date-time")), "self[2].getMinutes() == 45", 4},
    {TYPE("string"), "self.find('[0-9]+') == ''", 629147},
    {STRING_N(10), "self.find('[0-9]+') == ''", 11},
    {LIST(TYPE("string")), "self.join(' ') == 'aa bb'", 329853068905},
    {LIST_N(10, STRING_N(10)), "self.join(' ') == 'aa bb'", 43},
    {LIST(TYPE("string")), "self.isSorted() == true", 329854432052},
    {LIST_N(10, STRING_N(10)), "self.isSorted() == true", 52},
    {TYPE("string"), "self.lowerAscii() == 'lower!'", 314575},
    {STRING_N(10), "self.lowerAscii() == 'lower!'", 6},
    {MAP(TYPE("integer")), "oldSelf.size() == self.size()", 5},
    {MAP(FORMAT("date-time")), "self[\"a\"] == self[\"b\"]", 8},
    {MAP(FORMAT("duration")), "self[\"c\"] == self[\"d\"]", 8},
    {"{\"type\":\"string\",\"enum\":[\"A\",\"B\",\"C\",\"LongValue\"]}", "self.contains('A')", 2},
    {"{\"type\":\"object\",\"properties\":{\"str\":{\"type\":\"string\"},\"before\":{\"type\":"
     "\"string\",\"maxLength\":2},\"after\":{\"type\":\"string\",\"maxLength\":4}}}",
     "self.str.replace(self.before, self.after) == 'does not matter'", 629154},
    {"{\"type\":\"object\",\"properties\":{\"str\":{\"type\":\"string\"},\"separator\":{\"type\":"
     "\"string\"}}}",
     "self.str.split(self.separator) == []", 629160},
};

static void estimates_are_those_of_kubernetes(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t cost = cost_of(*state, rows[i].schema, rows[i].rule);
        if (cost != rows[i].cost)
            fail_msg("%s of %s: %llu, want %llu", rows[i].rule, rows[i].schema,
                     (unsigned long long)cost, (unsigned long long)rows[i].cost);
        vd_arena_reset(*state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(estimates_are_those_of_kubernetes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
