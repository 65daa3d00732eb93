/*
 * The inside of a program: the tree and the functions that it calls.
 *
 * The parser makes nodes, the checker gives each a type, a function or a slot, and
 * folds what is constant; the estimator and the evaluator only read.
 */
#ifndef VD_CEL_PROGRAM_INTERNAL_H
#define VD_CEL_PROGRAM_INTERNAL_H

#include "base/limits.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "cel/program.h"

enum vd_cel_op {
    VD_CEL_OP_LITERAL,
    VD_CEL_OP_IDENT,
    VD_CEL_OP_SELECT, /* args[0].name; of an optional too */
    VD_CEL_OP_HAS,    /* has(args[0].name) */
    VD_CEL_OP_CALL,
    VD_CEL_OP_INDEX, /* args[0][args[1]] */
    VD_CEL_OP_AND,
    VD_CEL_OP_OR,
    VD_CEL_OP_TERNARY,
    VD_CEL_OP_LIST,
    VD_CEL_OP_MAP,  /* args: key, value, key, value... */
    VD_CEL_OP_FOLD, /* a comprehension over args[0] */
    VD_CEL_OP_OPT,  /* optMap, optFlatMap of args[0] */
};

enum vd_cel_fold {
    VD_CEL_FOLD_ALL,
    VD_CEL_FOLD_EXISTS,
    VD_CEL_FOLD_ONE,
    VD_CEL_FOLD_FILTER,        /* args[1]: the condition */
    VD_CEL_FOLD_MAP,           /* args[1]: the new item; with three, args[1] is a condition */
    VD_CEL_FOLD_TRANSFORM_MAP, /* the same, but of a map and with its keys */
};

enum vd_cel_flag {
    VD_CEL_MEMBER = 1,    /* a call written x.f() */
    VD_CEL_OPT_ENTRY = 2, /* x.?f, x[?i], and list or map entries with a '?' */
    VD_CEL_FREE = 4,      /* the branch of a ternary: naming it costs nothing */
    VD_CEL_FLAT = 8,      /* optFlatMap */
    VD_CEL_ROOTLESS = 16, /* a selection from something that is no name: it costs one unit more */
    VD_CEL_CONSTANT = 32, /* a literal that was written as a list or a map */
};

/* The slots of what the environment names; the others are of folds. */
#define VD_CEL_SLOT_SELF     UINT32_MAX
#define VD_CEL_SLOT_OLD_SELF (UINT32_MAX - 1)

struct vd_cel_node {
    uint8_t op;    /* enum vd_cel_op */
    uint8_t flags; /* enum vd_cel_flag */
    uint8_t fold;  /* enum vd_cel_fold */
    uint32_t at;   /* characters before it in the text */
    uint32_t count;
    uint32_t slot, slot2;
    struct vd_cel_node **args;
    const struct vd_cel_type *type;
    const struct vd_cel_type *var_type, *var2_type; /* of a fold's variables */
    struct vd_slice name;  /* of a name, a field, a function, a fold's variable */
    struct vd_slice name2; /* of a fold's second variable; p NULL: none */
    const struct vd_cel_function *function;
    struct vd_cel_value literal;
    const struct vd_pattern *pattern; /* of a call with a constant regular expression */
};

struct vd_cel_program {
    struct vd_arena *arena;
    struct vd_slice text;
    struct vd_cel_node *root;
    uint32_t slot_count; /* the variables of folds */
    bool uses_old_self;
    uint64_t cost;
    size_t pattern_size; /* instructions of `patterns` */
    VD_VEC(struct vd_pattern *) patterns;
};

/* What is wrong with an expression, being collected. */
struct vd_cel_issues {
    struct vd_slice text;
    struct vd_buf *out;
    size_t count;
};

/* Adds "ERROR: <input>:line:column: ..." with the line and a caret below it. */
void vd_cel_issue(struct vd_cel_issues *issues, uint32_t at, const char *format, ...)
    VD_PRINTF(3, 4);

/* parse.c: the tree of issues->text, or NULL with issues. */
struct vd_cel_node *vd_cel_parse(struct vd_arena *arena, struct vd_cel_issues *issues);

/* check.c: types and functions. False with issues. */
bool vd_cel_check(struct vd_cel_program *program, const struct vd_cel_env *env,
                  struct vd_cel_issues *issues);

/* estimate.c */
uint64_t vd_cel_estimate(const struct vd_cel_program *program);

/* --- functions --- */

/* How a call is priced, at run time and before; see price.c and estimate.c. */
enum vd_cel_price {
    VD_CEL_PRICE_ONE,
    VD_CEL_PRICE_EQUAL,
    VD_CEL_PRICE_ORDER,
    VD_CEL_PRICE_ADD,
    VD_CEL_PRICE_IN,
    VD_CEL_PRICE_PREFIX,  /* startsWith, endsWith */
    VD_CEL_PRICE_CONVERT, /* bytes to string and back; others are 1 */
    VD_CEL_PRICE_MATCHES,
    VD_CEL_PRICE_CONTAINS,
    VD_CEL_PRICE_TRAVERSE,  /* of a list's items */
    VD_CEL_PRICE_SCAN,      /* of the first argument */
    VD_CEL_PRICE_SCAN_KEPT, /* the same, and the result is no larger */
    VD_CEL_PRICE_REPLACE,
    VD_CEL_PRICE_SPLIT,
    VD_CEL_PRICE_JOIN,
    VD_CEL_PRICE_FIND,
    VD_CEL_PRICE_CANONICAL,
    VD_CEL_PRICE_CONTAINS_IP,
    VD_CEL_PRICE_CONTAINS_CIDR,
    VD_CEL_PRICE_VALIDATE,
    VD_CEL_PRICE_DYN,
    VD_CEL_PRICE_FORMAT,
    VD_CEL_PRICE_SETS,
};

typedef struct vd_cel_value (*vd_cel_body)(struct vd_cel_run *run, const struct vd_cel_node *node,
                                           const struct vd_cel_value *args, size_t n);

/*
 * One overload. The signature is "arguments>result", with a '.' in front if the first
 * argument is the receiver; a type is a letter: b(ool) i(nt) u(int) d(ouble) s(tring)
 * y (bytes) t(imestamp) D(uration) n(ull) * (dyn) T(ype) U(rl) I(p) C(idr) Q(uantity)
 * F(ormat), A and B are any, L<item>, M<key><value>, O<item> hold others. The body
 * is the same for all overloads of a name and looks at its arguments itself.
 */
struct vd_cel_function {
    const char *name;
    const char *signature;
    vd_cel_body body;
    uint8_t price; /* enum vd_cel_price */
};

struct vd_cel_library {
    const struct vd_cel_function *p;
    size_t n;
};

enum { VD_CEL_LIBRARIES = 10 }; /* entries of vd_cel_libraries */
extern const struct vd_cel_library *const vd_cel_libraries[VD_CEL_LIBRARIES];

extern const struct vd_cel_library vd_cel_lib_operators, vd_cel_lib_conversions, vd_cel_lib_times,
    vd_cel_lib_strings, vd_cel_lib_lists, vd_cel_lib_regex, vd_cel_lib_url, vd_cel_lib_quantity,
    vd_cel_lib_net, vd_cel_lib_optional;

#define VD_CEL_LIBRARY(name, table)                                                                \
    const struct vd_cel_library name = {(table), sizeof(table) / sizeof *(table)}

/* price.c: what a call has cost. */
uint64_t vd_cel_call_price(const struct vd_cel_node *node, const struct vd_cel_value *args,
                           size_t n, const struct vd_cel_value *result);

/* x * factor rounded up, without overflow. */
uint64_t vd_cel_scale(uint64_t x, double factor);

#define VD_CEL_STRING_FACTOR 0.1
#define VD_CEL_REGEX_FACTOR  0.25

/* --- what libraries share --- */

/* A string of the arena made of the buffer's bytes, which is released. */
struct vd_cel_value vd_cel_take_text(struct vd_cel_run *run, struct vd_buf *text);

/* What vd_cel_duration_parse() reads, and "2 days" and so on, as values of the format "duration"
 * may be written. */
bool vd_cel_duration_words(struct vd_slice text, int64_t *out);
/* RFC 3339; with `date_only`, a date. */
bool vd_cel_time_parse(struct vd_slice text, bool date_only, struct vd_cel_time *out);
void vd_cel_time_write(struct vd_buf *out, struct vd_cel_time time);
void vd_cel_duration_write(struct vd_buf *out, int64_t nanoseconds);
/* A double as Go's %v or strconv 'g' writes it. */
void vd_cel_double_write(struct vd_buf *out, double value);

/* string(): false if the value has no such conversion. */
bool vd_cel_to_text(struct vd_buf *out, const struct vd_cel_value *v);

/* lib_format.c: "...".format([...]). */
struct vd_cel_value vd_cel_format(struct vd_cel_run *run, const struct vd_cel_node *node,
                                  const struct vd_cel_value *args, size_t n);

/* lib_lists.c: indexOf and lastIndexOf of a list. */
struct vd_cel_value vd_cel_list_index_of(struct vd_cel_run *run, const struct vd_cel_node *node,
                                         const struct vd_cel_value *a, size_t n);

bool vd_cel_url_equal(const struct vd_cel_value *a, const struct vd_cel_value *b);
bool vd_cel_address_equal(const struct vd_cel_value *a, const struct vd_cel_value *b);
void vd_cel_address_write(struct vd_buf *out, const struct vd_cel_value *v);
uint64_t vd_cel_address_size(const struct vd_cel_value *v);
bool vd_cel_quantity_equal(const struct vd_cel_value *a, const struct vd_cel_value *b);

#endif
