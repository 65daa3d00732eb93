/* src/cel/check.c and parse.c: what is refused, and in which words. */
#include "cel/program.h"

#include <string.h>

#include "cel_check.h"

/* self: {name: string, n: int, l: [string], o: {x: int}, m: {string: int}, when: timestamp,
 *        a-b: string, in: string, any: int or string} */
static const struct vd_cel_type *self_type(struct vd_arena *a)
{
    static const struct {
        const char *raw;
        uint8_t kind;
    } fields[] = {{"name", VD_CEL_STRING}, {"n", VD_CEL_INT},     {"when", VD_CEL_TIMESTAMP},
                  {"a-b", VD_CEL_STRING},  {"in", VD_CEL_STRING}, {"any", VD_CEL_DYN}};
    struct vd_cel_type *self = vd_cel_type_declare(a, VD_CEL_OBJECT);
    struct vd_cel_type *list = vd_cel_type_declare(a, VD_CEL_LIST);
    struct vd_cel_type *map = vd_cel_type_declare(a, VD_CEL_MAP);
    struct vd_cel_type *inner = vd_cel_type_declare(a, VD_CEL_OBJECT);
    self->fields = vd_arena_alloc(a, 16 * sizeof *self->fields);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct vd_cel_field *field = &self->fields[self->field_count++];
        field->raw = vd_slice_of(fields[i].raw);
        field->type = vd_cel_type_declare(a, (enum vd_cel_kind)fields[i].kind);
        assert_true(vd_cel_escape(a, field->raw, &field->name));
    }
    list->item = self->fields[0].type;
    list->max_elements = 10;
    map->key = vd_cel_type_of(VD_CEL_STRING);
    map->item = self->fields[1].type;
    inner->fields = &self->fields[1];
    inner->field_count = 1;
    self->fields[self->field_count++] = (struct vd_cel_field){VD_SLICE("l"), VD_SLICE("l"), list};
    self->fields[self->field_count++] = (struct vd_cel_field){VD_SLICE("m"), VD_SLICE("m"), map};
    self->fields[self->field_count++] = (struct vd_cel_field){VD_SLICE("o"), VD_SLICE("o"), inner};
    return self;
}

static void compile(struct vd_arena *a, const char *expression, struct vd_buf *issues)
{
    struct vd_cel_env env = {self_type(a), true, false};
    struct vd_cel_program *program = NULL;
    if (vd_cel_compile(a, vd_slice_of(expression), &env, &program, issues))
        vd_cel_program_release(program);
}

static void what_fits_is_taken(void **state)
{
    static const char *const rows[] = {
        "self.name == 'a'",
        "self.n > 1 && self.n < 10",
        "self.l.all(x, x.startsWith('a'))",
        "self.m.all(k, self.m[k] > 0)",
        "self.o.n == 1",
        "self.a__dash__b == 'x'",
        "self.__in__ == 'y'",
        "self.any == 1 || self.any == 'x'",
        "self == oldSelf",
        "self.o == oldSelf.o",
        "self.when.getFullYear() > 2000",
        "self.l == [] || self.l == ['a']",
        "has(self.name) ? self.name : 'x' == 'y' ? 'a' : 'b'",
        "self.o == null",
        "null != self.o",
        "sets.contains(self.l, ['a'])",
        "optional.of(self.n).orValue(2) == 2",
        "self.l.map(x, x.size()).sum() > 1",
        "{'a': 1}.a == self.n",
        "[self.n, 2].exists(x, x == 2)",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_buf issues = {0};
        compile(*state, rows[i], &issues);
        if (issues.n)
            fail_msg("%s: %s", rows[i], vd_buf_text(&issues));
        vd_buf_release(&issues);
    }
}

static void what_does_not_fit_is_named(void **state)
{
    static const struct cel_case rows[] = {
        {"self.foo == 1", "<input>:1:5: undefined field 'foo'\n | self.foo == 1\n | ....^"},
        {"foo", "<input>:1:1: undeclared reference to 'foo' (in container '')\n | foo\n | ^"},
        {"foo(1)", "<input>:1:4: undeclared reference to 'foo' (in container '')"},
        {"self.name == 1",
         "<input>:1:11: found no matching overload for '_==_' applied to '(string, int)'"},
        {"self.n + 'a' == 1", "found no matching overload for '_+_' applied to '(int, string)'"},
        {"self.name.startsWith(1)",
         "<input>:1:21: found no matching overload for 'startsWith' applied to 'string.(int)'"},
        {"self.n.size()", "found no matching overload for 'size' applied to 'int.()'"},
        {"self.n.x", "<input>:1:7: type 'int' does not support field selection"},
        {"self.n.all(x, true)", "expression of type 'int' cannot be range of a comprehension "
                                "(must be list, map, or dynamic)"},
        {"self.l.all(x, x)", "found no matching overload for '_&&_' applied to '(bool, string)'"},
        {"self.l.exists(x, x == 1)",
         "found no matching overload for '_==_' applied to '(string, int)'"},
        {"self.l[self.name] == ''",
         "found no matching overload for '_[_]' applied to '(list(string), string)'"},
        {"[1, 'a'] == []", "<input>:1:5: expected type 'int' but found 'string'"},
        {"{'a': 1, 'b': 'c'} == {}", "expected type 'int' but found 'string'"},
        {"self.name == null", "found no matching overload for '_==_' applied to '(string, null)'"},
        {"1 == 1u", "found no matching overload for '_==_' applied to '(int, uint)'"},
        {"!self.n", "found no matching overload for '!_' applied to '(int)'"},
        {"self.n && true", "found no matching overload for '_&&_' applied to '(int, bool)'"},
        {"self.n ? 1 : 2", "found no matching overload for '_?_:_' applied to '(int, int, int)'"},
        {"self.name in self.n", "found no matching overload for '@in' applied to '(string, int)'"},
        {"has(self.foo)", "undefined field 'foo'"},
        {"self.name.matches('[')", "invalid matches argument"},
        {"duration('x') == duration('1s')", "invalid duration argument"},
        {"timestamp('x') == timestamp('y')", "invalid timestamp argument"},
        {"self.o == self", "found no matching overload for '_==_' applied to '(object, object)'"},
        {"self.l.map(x, y) == []", "undeclared reference to 'y'"},
        {"self.a-b == 1", "undefined field 'a'"},
        {"self.foo == 1 && self.bar == 2", "undefined field 'bar'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_buf issues = {0};
        compile(*state, rows[i].expression, &issues);
        if (!strstr(vd_buf_text(&issues), rows[i].want))
            fail_msg("%s:\n got %s\nwant %s", rows[i].expression, vd_buf_text(&issues),
                     rows[i].want);
        vd_buf_release(&issues);
    }
}

static void what_is_no_expression_is_refused(void **state)
{
    static const struct cel_case rows[] = {
        {"", "<input>:1:1: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '('"},
        {"1 +", "<input>:1:4: Syntax error: mismatched input '<EOF>' expecting"},
        {"(1", "mismatched input '<EOF>' expecting ')'"},
        {"[1, 2", "mismatched input '<EOF>' expecting ']'"},
        {"{'a' 1}", "mismatched input '1' expecting ':'"},
        {"1 2", "<input>:1:3: Syntax error: mismatched input '2' expecting <EOF>"},
        {"'abc", "<input>:1:1: Syntax error: token recognition error at: ''abc'"},
        {"a & b", "token recognition error at: '&'"},
        {"x.all(1, true)", "argument must be a simple name"},
        {"has(x)", "invalid argument to has() macro"},
        {"99999999999999999999", "invalid int literal"},
        {"9223372036854775808", "invalid int literal"},
        {"'\\q'", "unable to unescape string"},
        {"'\\ud800'", "unable to unescape string"},
        {"if", "reserved identifier: if"},
        {"true ? 1", "mismatched input '<EOF>' expecting ':'"},
        {"a.1", "mismatched input"},
        {"\xc3\xa4", "token recognition error"},
        {"1 ==\n  foo", "<input>:2:3: undeclared reference to 'foo'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_buf issues = {0};
        compile(*state, rows[i].expression, &issues);
        if (!strstr(vd_buf_text(&issues), rows[i].want))
            fail_msg("%s:\n got %s\nwant %s", rows[i].expression, vd_buf_text(&issues),
                     rows[i].want);
        vd_buf_release(&issues);
    }
}

static void depth_and_length_are_limited(void **state)
{
    static const char *const parts[] = {"(", "!", "-", "[", "1+", "a.b.", "x.all(y,", "true?1:"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct vd_buf text = {0}, issues = {0};
        while (text.n < 30000)
            vd_buf_add_text(&text, parts[i]);
        compile(*state, vd_buf_text(&text), &issues);
        if (!strstr(vd_buf_text(&issues), "expression recursion limit exceeded"))
            fail_msg("%s: %.200s", parts[i], vd_buf_text(&issues));
        vd_buf_reset(&issues);
        while (text.n < 70000)
            vd_buf_add_text(&text, parts[i]);
        compile(*state, vd_buf_text(&text), &issues);
        assert_non_null(strstr(vd_buf_text(&issues), "expression is longer than 65536 bytes"));
        vd_buf_release(&text);
        vd_buf_release(&issues);
    }
}

static void names_are_escaped(void **state)
{
    static const struct {
        const char *raw, *want;
    } rows[] = {
        {"abc", "abc"},
        {"a-b", "a__dash__b"},
        {"a.b", "a__dot__b"},
        {"a/b", "a__slash__b"},
        {"a__b", "a__underscores__b"},
        {"_x", "_x"},
        {"in", "__in__"},
        {"namespace", "__namespace__"},
        {"true", "__true__"},
        {"int", "int"},
        {"1a", NULL},
        {"a b", NULL},
        {"\xc3\xa4", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_slice name;
        bool ok = vd_cel_escape(*state, vd_slice_of(rows[i].raw), &name);
        assert_int_equal(ok, rows[i].want != NULL);
        if (ok)
            assert_slice(name, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(what_fits_is_taken),
        arena_test(what_does_not_fit_is_named),
        arena_test(what_is_no_expression_is_refused),
        arena_test(depth_and_length_are_limited),
        arena_test(names_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
