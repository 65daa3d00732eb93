/* src/watch/selector.c: how texts are parsed, which are refused and with which sentence, and what
 * matches. */
#include "watch/selector.h"

#include "base/buf.h"
#include "base/limits.h"
#include "check.h"

/* Labels as a text, "a=1,b=2", good enough for tests. */
static bool text_lookup(const void *labels, struct vd_slice key, struct vd_slice *value)
{
    struct vd_slice rest = vd_slice_of(labels), pair;
    while (rest.n > 0 && vd_slice_cut(&rest, ',', &pair)) {
        struct vd_slice name;
        vd_slice_cut(&pair, '=', &name);
        if (vd_slice_eq(name, key)) {
            *value = pair;
            return true;
        }
    }
    return false;
}

static struct vd_selector *parsed(const char *text)
{
    struct vd_error error;
    struct vd_selector *s = NULL;
    if (vd_selector_parse(&s, vd_slice_of(text), &error) != VD_OK)
        fail_msg("\"%s\": %s", text, error.text);
    return s;
}

static void valid_text_has_a_canonical_form(void **state)
{
    (void)state;
    static const struct {
        const char *text, *canonical;
    } cases[] = {
        {"", ""},
        {" \t\r\n", ""},
        {"a", "a"},
        {" a ", "a"},
        {"!a", "!a"},
        {"! a", "!a"},
        {"a=b", "a=b"},
        {"a = b", "a=b"},
        {"a==b", "a==b"},
        {"a\t==\nb", "a==b"},
        {"a!=b", "a!=b"},
        {"a != b", "a!=b"},
        {"a=", "a="},
        {"a==", "a=="},
        {"a!=", "a!="},
        {"a= ", "a="},
        {"a=,b=", "a=,b="},
        {"a= ,b", "a=,b"},
        {"a>5", "a>5"},
        {"a > 5", "a>5"},
        {"a<5", "a<5"},
        {"a>007", "a>007"},
        {"a<9223372036854775807", "a<9223372036854775807"},
        {"a in (b)", "a in (b)"},
        {"a in(b)", "a in (b)"},
        {"a in (c,b)", "a in (b,c)"},
        {"a in ( c , b )", "a in (b,c)"},
        {"a in (b,b,c,b)", "a in (b,c)"},
        {"a\tnotin\n(b)", "a notin (b)"},
        {"a in ()", "a in ()"},
        {"a in ( )", "a in ()"},
        {"a in (,)", "a in ()"},
        {"a in (,,,)", "a in ()"},
        {"a in (,b)", "a in (,b)"},
        {"a in (b,)", "a in (,b)"},
        {"a in (b,,c)", "a in (,b,c)"},
        {"a in (b , , c)", "a in (,b,c)"},
        {"a notin ()", "a notin ()"},
        {"x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z notin ()"},
        {"b,a", "a,b"},
        {"c=1 , b in (x) ,!a", "!a,b in (x),c=1"},
        {"b=1,B=2", "B=2,b=1"},
        {"a.b=1,a=2", "a=2,a.b=1"},
        {"ab=1,a=2", "a=2,ab=1"},
        {"a=b,a=b", "a=b"},
        {"a in (x,y),a in (y,x)", "a in (x,y)"},
        {"a=2,a=1", "a=1,a=2"},
        {"a in (x,y),a in (x)", "a in (x),a in (x,y)"},
        {"a=b,a==b", "a=b,a==b"},
        {"a!=c,a=b,a", "a,a=b,a!=c"},
        {"in", "in"},
        {"notin", "notin"},
        {"!in", "!in"},
        {"in=notin", "in=notin"},
        {"in in (in)", "in in (in)"},
        {"in in (notin,in)", "in in (in,notin)"},
        {"notin notin (in)", "notin notin (in)"},
        {"a=in,in", "a=in,in"},
        {"gt=lt", "gt=lt"},
        {"ina in (b)", "ina in (b)"},
        {"example.com/a=b", "example.com/a=b"},
        {"example.com/in in (x)", "example.com/in in (x)"},
        {"a=B-c_d.e", "a=B-c_d.e"},
        {"a=0", "a=0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_selector *s = parsed(cases[i].text);
        assert_slice(vd_selector_text(s), cases[i].canonical);
        assert_int_equal(vd_selector_is_everything(s), *cases[i].canonical == '\0');
        struct vd_selector *again = parsed(cases[i].canonical);
        assert_slice(vd_selector_text(again), cases[i].canonical);
        vd_selector_unref(again);
        vd_selector_unref(s);
    }
}

#define UNABLE      "unable to parse requirement: "
#define OPERATORS   ", expected: in, notin, =, ==, !=, gt, lt"
#define VALUE_RULE  "a valid label must be an empty string or consist of"
#define NOT_INTEGER "for 'Gt', 'Lt' operators, the value must be an integer"
#define ZEROS_64    "0000000000000000000000000000000000000000000000000000000000000000"

/* The sentences of kubectl 1.32 for the same selectors. */
static void invalid_text_is_refused_in_kubernetes_words(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {",", "found ',', expected: !, identifier, or 'end of string'"},
        {",a", "found ',', expected: !, identifier, or 'end of string'"},
        {"=a", "found '=', expected: !, identifier, or 'end of string'"},
        {"(a)", "found '(', expected: !, identifier, or 'end of string'"},
        {"!=a", "found '!=', expected: !, identifier, or 'end of string'"},
        {"a,", "found '', expected: identifier after ','"},
        {"a, ", "found '', expected: identifier after ','"},
        {"a,,b", "found ',', expected: identifier after ','"},
        {"a=b,=c", "found '=', expected: identifier after ','"},
        {"!", UNABLE "found '', expected: identifier"},
        {"!!a", UNABLE "found '!', expected: identifier"},
        {"!,a", UNABLE "found ',', expected: identifier"},
        {"!a=b", "found '=', expected: ',' or 'end of string'"},
        {"!a in (b)", "found 'in', expected: ',' or 'end of string'"},
        {"!a b", "found 'b', expected: ',' or 'end of string'"},
        {"a b", UNABLE "found 'b'" OPERATORS},
        {"a!b", UNABLE "found '!'" OPERATORS},
        {"a gt 5", UNABLE "found 'gt'" OPERATORS},
        {"a IN (b)", UNABLE "found 'IN'" OPERATORS},
        {"a(b)", UNABLE "found '('" OPERATORS},
        {"a)", UNABLE "found ')'" OPERATORS},
        {"a=b c", "found 'c', expected: ',' or 'end of string'"},
        {"a=b)", "found ')', expected: ',' or 'end of string'"},
        {"a=b=c", "found '=', expected: ',' or 'end of string'"},
        {"a in (b) c", "found 'c', expected: ',' or 'end of string'"},
        {"a in (b))", "found ')', expected: ',' or 'end of string'"},
        {"a=!", UNABLE "found '!', expected: identifier"},
        {"a=(b)", UNABLE "found '(', expected: identifier"},
        {"a===b", UNABLE "found '=', expected: identifier"},
        {"a!==b", UNABLE "found '=', expected: identifier"},
        {"a=>b", UNABLE "found '>', expected: identifier"},
        {"a>=5", UNABLE "found '=', expected: identifier"},
        {"a in", UNABLE "found '' expected: '('"},
        {"a in b", UNABLE "found 'b' expected: '('"},
        {"a in notin", UNABLE "found 'notin' expected: '('"},
        {"a notin ,", UNABLE "found ',' expected: '('"},
        {"a in (", UNABLE "found '', expected: ',', ')' or identifier"},
        {"a in (=)", UNABLE "found '=', expected: ',', ')' or identifier"},
        {"a in ((b))", UNABLE "found '(', expected: ',', ')' or identifier"},
        {"a in (b", UNABLE "found '', expected: ',' or ')'"},
        {"a in (b c)", UNABLE "found 'c', expected: ',' or ')'"},
        {"a in (b=)", UNABLE "found '=', expected: ',' or ')'"},
        {"a in (b,", UNABLE "found '', expected: ',', or identifier"},
        {"a in (b,=)", UNABLE "found '=', expected: ',', or identifier"},
        {"a in (,,)", UNABLE "found ')', expected: ',', or identifier"},
        {"a in (b,,)", UNABLE "found ')', expected: ',', or identifier"},
        {"-bad", UNABLE "<nil>: Invalid value: \"-bad\": name part must consist of alphanumeric"},
        {"x=y,-bad", UNABLE "<nil>: Invalid value: \"-bad\": name part must consist of"},
        {"!-bad", UNABLE "<nil>: Invalid value: \"-bad\": name part must consist of"},
        {"-bad in (", UNABLE "<nil>: Invalid value: \"-bad\": name part must consist of"},
        {"/x", UNABLE "<nil>: Invalid value: \"/x\": prefix part must be non-empty"},
        {"x/", UNABLE "<nil>: Invalid value: \"x/\": name part must be non-empty; name part must"},
        {"Foo/x", UNABLE "<nil>: Invalid value: \"Foo/x\": prefix part a lowercase RFC 1123"},
        {"a/b/c=d", UNABLE "<nil>: Invalid value: \"a/b/c\": a qualified name must consist of"},
        {"\"a\\", UNABLE "<nil>: Invalid value: \"\\\"a\\\\\": name part must consist of"},
        {"\xc3\xa9", UNABLE "<nil>: Invalid value: \"\xc3\xa9\": name part must consist of"},
        {ZEROS_64, UNABLE "<nil>: Invalid value: \"" ZEROS_64
                          "\": name part must be no more than 63 characters"},
        {"a=-bad", UNABLE "values[0][a]: Invalid value: \"-bad\": " VALUE_RULE},
        {"a=b/c", UNABLE "values[0][a]: Invalid value: \"b/c\": " VALUE_RULE},
        {"a=\xff", UNABLE "values[0][a]: Invalid value: \"\\xff\": " VALUE_RULE},
        {"a=" ZEROS_64, UNABLE "values[0][a]: Invalid value: \"" ZEROS_64
                               "\": must be no more than 63 characters"},
        {"a in (z,-c,b)", UNABLE "values[0][a]: Invalid value: \"-c\": " VALUE_RULE},
        {"a in (b,c,z-)", UNABLE "values[2][a]: Invalid value: \"z-\": " VALUE_RULE},
        {"a in (-c,-b)", UNABLE "[values[0][a]: Invalid value: \"-b\": " VALUE_RULE},
        {"a in (-c,-b)", "), values[1][a]: Invalid value: \"-c\": "},
        {"a>", UNABLE "values[0]: Invalid value: \"\": " NOT_INTEGER},
        {"a<x", UNABLE "values[0]: Invalid value: \"x\": " NOT_INTEGER},
        {"a>1.5", UNABLE "values[0]: Invalid value: \"1.5\": " NOT_INTEGER},
        {"a>1_000", UNABLE "values[0]: Invalid value: \"1_000\": " NOT_INTEGER},
        {"a>9223372036854775808",
         UNABLE "values[0]: Invalid value: \"9223372036854775808\": " NOT_INTEGER},
        {"a>-5", UNABLE "values[0][a]: Invalid value: \"-5\": " VALUE_RULE},
        {"a>-x", UNABLE "[values[0]: Invalid value: \"-x\": " NOT_INTEGER
                        ", values[0][a]: Invalid value: \"-x\": " VALUE_RULE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_error error = {0};
        struct vd_selector *s = NULL;
        int code = vd_selector_parse(&s, vd_slice_of(cases[i].text), &error);
        if (code != VD_ERR_INVALID || s || !strstr(error.text, cases[i].says))
            fail_msg("\"%s\": \"%s\" does not say \"%s\"", cases[i].text, error.text,
                     cases[i].says);
        /* A sentence that starts with "found" must not get "unable" in front of it. */
        assert_int_equal(!strncmp(cases[i].says, "found", 5), !strncmp(error.text, "found", 5));
        assert_code(vd_selector_parse(&s, vd_slice_of(cases[i].text), NULL), VD_ERR_INVALID);
    }
}

static void a_nul_never_hides_what_follows(void **state)
{
    (void)state;
    static const struct vd_slice cases[] = {{"a=b\0", 4}, {"\0a", 2}, {"a=b \0,c=d", 9}};
    for (size_t i = 0; i < 3; i++) {
        struct vd_error error;
        struct vd_selector *s;
        assert_code(vd_selector_parse(&s, cases[i], &error), VD_ERR_INVALID);
    }
}

static void long_words_leave_room_for_the_reason(void **state)
{
    (void)state;
    struct vd_error error;
    struct vd_selector *s;
    struct vd_buf b = {0};
    vd_buf_add_text(&b, "a ");
    for (size_t i = 0; i < 5000; i++)
        vd_buf_add_text(&b, "\xc3\xa9");
    assert_code(vd_selector_parse(&s, vd_buf_slice(&b), &error), VD_ERR_INVALID);
    assert_says(&error, "\xc3\xa9...'" OPERATORS);
    b.p[1] = '=';
    assert_code(vd_selector_parse(&s, vd_buf_slice(&b), &error), VD_ERR_INVALID);
    assert_says(&error, "\xc3\xa9...\": must be no more than 63 characters");
    vd_buf_release(&b);
}

static void matching_follows_presence_and_value(void **state)
{
    (void)state;
    static const struct {
        const char *selector, *labels;
        bool matches;
    } cases[] = {
        {"", "", true},
        {"", "a=1", true},
        {"a", "a=1", true},
        {"a", "a=", true},
        {"a", "b=1", false},
        {"!a", "a=1", false},
        {"!a", "a=", false},
        {"!a", "b=1", true},
        {"!a", "", true},
        {"a=1", "a=1", true},
        {"a=1", "a=11", false},
        {"a=1", "a=", false},
        {"a=1", "", false},
        {"a==1", "a=1", true},
        {"a==1", "a=2", false},
        {"a=", "a=", true},
        {"a=", "a=1", false},
        {"a=", "", false},
        {"a!=1", "a=1", false},
        {"a!=1", "a=2", true},
        {"a!=1", "a=", true},
        {"a!=1", "", true},
        {"a!=", "a=", false},
        {"a!=", "", true},
        {"a in (1,2)", "a=1", true},
        {"a in (1,2)", "a=2", true},
        {"a in (1,2)", "a=3", false},
        {"a in (1,2)", "a=", false},
        {"a in (1,2)", "", false},
        {"a in (,2)", "a=", true},
        {"a in ()", "a=", true},
        {"a in ()", "a=1", false},
        {"a in ()", "", false},
        {"a notin (1,2)", "a=1", false},
        {"a notin (1,2)", "a=3", true},
        {"a notin (1,2)", "", true},
        {"a notin ()", "a=", false},
        {"a notin ()", "", true},
        {"a>5", "a=6", true},
        {"a>5", "a=5", false},
        {"a>5", "a=10", true},
        {"a>5", "a=007", true},
        {"a>5", "a=+6", true},
        {"a>5", "a=-6", false},
        {"a>5", "a=x", false},
        {"a>5", "a=", false},
        {"a>5", "a=-", false},
        {"a>5", "a=6x", false},
        {"a>5", "a=9223372036854775807", true},
        {"a>5", "a=9223372036854775808", false},
        {"a>5", "", false},
        {"a<5", "a=4", true},
        {"a<5", "a=5", false},
        {"a<5", "a=-9223372036854775808", true},
        {"a<5", "a=-9223372036854775809", false},
        {"a<5", "", false},
        {"a=1,b=2", "a=1,b=2,c=3", true},
        {"a=1,b=2", "a=1", false},
        {"a=1,!b", "a=1", true},
        {"a=1,a=2", "a=1", false},
        {"a,a!=1", "a=2", true},
        {"a>1,a<3", "a=2", true},
        {"a>1,a<3", "a=3", false},
        {"a=1", "A=1", false},
        {"a=x", "a=X", false},
        {"example.com/a=1", "example.com/a=1", true},
        {"example.com/a=1", "a=1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_selector *s = parsed(cases[i].selector);
        if (vd_selector_matches(s, text_lookup, cases[i].labels) != cases[i].matches)
            fail_msg("\"%s\" with labels \"%s\": want %d", cases[i].selector, cases[i].labels,
                     cases[i].matches);
        vd_selector_unref(s);
    }
}

static void large_sets_find_each_of_their_values(void **state)
{
    (void)state;
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "a in (v0");
    for (unsigned i = 1; i < VD_SELECTOR_TERMS_MAX; i++)
        vd_buf_addf(&text, ",v%u", i * 7 % VD_SELECTOR_TERMS_MAX);
    vd_buf_add_text(&text, ")");
    struct vd_selector *s = parsed(vd_buf_text(&text));
    for (unsigned i = 0; i < VD_SELECTOR_TERMS_MAX + 10; i++) {
        char labels[32];
        snprintf(labels, sizeof labels, "a=v%u", i);
        assert_int_equal(vd_selector_matches(s, text_lookup, labels), i < VD_SELECTOR_TERMS_MAX);
    }
    vd_selector_unref(s);
    vd_buf_release(&text);
}

static void repeat(struct vd_buf *b, const char *first, const char *more, size_t n)
{
    vd_buf_reset(b);
    vd_buf_add_text(b, first);
    for (size_t i = 1; i < n; i++)
        vd_buf_add_text(b, more);
}

static void limits_are_errors_one_step_beyond(void **state)
{
    (void)state;
    struct vd_error error;
    struct vd_selector *s;
    struct vd_buf b = {0};

    repeat(&b, "a", ",a", VD_SELECTOR_TERMS_MAX);
    s = parsed(vd_buf_text(&b));
    assert_slice(vd_selector_text(s), "a");
    vd_selector_unref(s);
    repeat(&b, "a", ",a", VD_SELECTOR_TERMS_MAX + 1);
    assert_code(vd_selector_parse(&s, vd_buf_slice(&b), &error), VD_ERR_LIMIT);
    assert_says(&error, "more than 1024 requirements");

    repeat(&b, "a in (b", ",b", VD_SELECTOR_TERMS_MAX);
    vd_buf_add_char(&b, ')');
    s = parsed(vd_buf_text(&b));
    assert_slice(vd_selector_text(s), "a in (b)");
    vd_selector_unref(s);
    repeat(&b, "a in (b", ",b", VD_SELECTOR_TERMS_MAX + 1);
    vd_buf_add_char(&b, ')');
    assert_code(vd_selector_parse(&s, vd_buf_slice(&b), &error), VD_ERR_LIMIT);
    assert_says(&error, "more than 1024 values");
    assert_code(vd_selector_parse(&s, vd_buf_slice(&b), NULL), VD_ERR_LIMIT);

    repeat(&b, "a", " ", VD_SELECTOR_LEN_MAX);
    vd_selector_unref(parsed(vd_buf_text(&b)));
    vd_buf_add_char(&b, ' ');
    assert_code(vd_selector_parse(&s, vd_buf_slice(&b), &error), VD_ERR_LIMIT);
    assert_says(&error, "65537 bytes");
    vd_buf_release(&b);
}

static void references_keep_a_selector_alive(void **state)
{
    (void)state;
    char text[] = "a in (x,y)";
    struct vd_selector *s = parsed(text);
    memset(text, '#', sizeof text - 1); /* the parsed text is not used any more */
    struct vd_selector *other = vd_selector_ref(s);
    assert_ptr_equal(other, s);
    vd_selector_unref(s);
    assert_slice(vd_selector_text(other), "a in (x,y)");
    assert_true(vd_selector_matches(other, text_lookup, "a=y"));
    vd_selector_unref(other);
    vd_selector_unref(NULL);
}

/* ---- a random model ---- */

enum { MODEL_OPS = 9, MODEL_KEYS = 6, MODEL_VALUES = 7, MODEL_REQUIREMENTS = 14, ROUNDS = 20000 };

static const char *const model_keys[MODEL_KEYS] = {"a",  "ab",    "a.b",
                                                   "in", "notin", "example.com/a"};
static const char *const model_values[MODEL_VALUES] = {"", "in", "notin", "x", "5", "10", "7"};

struct model_requirement {
    unsigned op, key, values; /* values: a bit set; those with one value have one bit */
};

/* A small generator with a fixed seed: a failure repeats. */
static unsigned random_below(unsigned n)
{
    static uint64_t x = 88172645463325252u;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return (unsigned)(x >> 33) % n;
}

static struct model_requirement random_requirement(void)
{
    struct model_requirement r = {random_below(MODEL_OPS), random_below(MODEL_KEYS), 0};
    if (r.op >= 7) /* > and <: the last three values are numbers */
        r.values = 1u << (4 + random_below(3));
    else if (r.op >= 5) /* in, notin */
        r.values = 1 + random_below((1u << MODEL_VALUES) - 1);
    else if (r.op >= 2)
        r.values = 1u << random_below(MODEL_VALUES);
    return r;
}

static void add_blanks(struct vd_buf *b)
{
    while (random_below(3) == 0)
        vd_buf_add_char(b, " \t\r\n"[random_below(4)]);
}

/* The values in random order, some twice, blanks anywhere. The empty one first: how it is written
 * elsewhere in a list is tested above. */
static void add_values(struct vd_buf *b, unsigned values)
{
    bool first = true;
    unsigned left = values;
    while (left) {
        unsigned v = left & 1 ? 0 : random_below(MODEL_VALUES);
        if (!(values & 1u << v) || (v == 0 && !(left & 1)))
            continue;
        if (!first)
            vd_buf_add_char(b, ',');
        add_blanks(b);
        vd_buf_add_text(b, model_values[v]);
        add_blanks(b);
        left &= ~(1u << v);
        first = false;
    }
}

static void add_requirement(struct vd_buf *b, struct model_requirement r)
{
    static const char *const operators[MODEL_OPS] = {
        "", "", "=", "==", "!=", "in", "notin", ">", "<"};
    bool set = r.op == 5 || r.op == 6;
    add_blanks(b);
    if (r.op == 1) {
        vd_buf_add_char(b, '!');
        add_blanks(b);
    }
    vd_buf_add_text(b, model_keys[r.key]);
    if (set)
        vd_buf_add_char(b, '\t');
    add_blanks(b);
    vd_buf_add_text(b, operators[r.op]);
    add_blanks(b);
    if (set)
        vd_buf_add_char(b, '(');
    add_values(b, r.values);
    if (set)
        vd_buf_add_char(b, ')');
    add_blanks(b);
}

static bool model_holds(struct model_requirement r, const unsigned *labels)
{
    unsigned value = labels[r.key]; /* MODEL_VALUES: absent */
    bool present = value < MODEL_VALUES, listed = present && (r.values & 1u << value);
    static const int numbers[MODEL_VALUES] = {-1, -1, -1, -1, 5, 10, 7};
    int bound = 0, number = present ? numbers[value] : -1;
    for (unsigned v = 4; v < MODEL_VALUES; v++)
        if (r.values & 1u << v)
            bound = numbers[v];
    switch (r.op) {
    case 0:
        return present;
    case 1:
        return !present;
    case 2:
    case 3:
    case 5:
        return listed;
    case 4:
    case 6:
        return !listed;
    case 7:
        return number >= 0 && number > bound;
    default:
        return number >= 0 && number < bound;
    }
}

static bool model_lookup(const void *labels, struct vd_slice key, struct vd_slice *value)
{
    const unsigned *chosen = labels;
    for (unsigned k = 0; k < MODEL_KEYS; k++) {
        if (!vd_slice_is(key, model_keys[k]) || chosen[k] == MODEL_VALUES)
            continue;
        *value = vd_slice_of(model_values[chosen[k]]);
        return true;
    }
    return false;
}

static void render(struct vd_buf *b, const struct model_requirement *all, size_t n)
{
    vd_buf_reset(b);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            vd_buf_add_char(b, ',');
        add_requirement(b, all[i]);
    }
}

static void random_selectors_behave_like_the_model(void **state)
{
    (void)state;
    struct vd_buf text = {0};
    size_t matched = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct model_requirement all[MODEL_REQUIREMENTS];
        size_t n = random_below(round % 8 ? 4 : MODEL_REQUIREMENTS + 1);
        for (size_t i = 0; i < n; i++)
            all[i] = random_requirement();
        render(&text, all, n);
        struct vd_selector *s = parsed(vd_buf_text(&text));

        for (size_t i = n; i > 1; i--) { /* another order, other blanks: the same selector */
            size_t j = random_below((unsigned)i);
            struct model_requirement swapped = all[j];
            all[j] = all[i - 1];
            all[i - 1] = swapped;
        }
        render(&text, all, n);
        struct vd_selector *again = parsed(vd_buf_text(&text));
        if (!vd_slice_eq(vd_selector_text(s), vd_selector_text(again)))
            fail_msg("\"%.*s\" is not \"%.*s\"", VD_FMT(vd_selector_text(s)),
                     VD_FMT(vd_selector_text(again)));

        for (int object = 0; object < 8; object++) {
            unsigned labels[MODEL_KEYS];
            bool want = true;
            for (size_t k = 0; k < MODEL_KEYS; k++)
                labels[k] = random_below(MODEL_VALUES + 1);
            for (size_t i = 0; i < n; i++)
                want = want && model_holds(all[i], labels);
            if (vd_selector_matches(s, model_lookup, labels) != want)
                fail_msg("\"%.*s\": want %d", VD_FMT(vd_selector_text(s)), want);
            matched += want;
        }
        vd_selector_unref(again);
        vd_selector_unref(s);
    }
    assert_in_range(matched, ROUNDS, 7 * ROUNDS); /* both matches and mismatches occurred */
    vd_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_text_has_a_canonical_form),
        cmocka_unit_test(invalid_text_is_refused_in_kubernetes_words),
        cmocka_unit_test(a_nul_never_hides_what_follows),
        cmocka_unit_test(long_words_leave_room_for_the_reason),
        cmocka_unit_test(matching_follows_presence_and_value),
        cmocka_unit_test(large_sets_find_each_of_their_values),
        cmocka_unit_test(limits_are_errors_one_step_beyond),
        cmocka_unit_test(references_keep_a_selector_alive),
        cmocka_unit_test(random_selectors_behave_like_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
