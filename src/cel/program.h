/*
 * A CEL expression, compiled once and evaluated often.
 *
 *     struct vd_cel_env env = {.self = type, .old_self = true};
 *     struct vd_cel_program *program;
 *     if (!vd_cel_compile(&arena, text, &env, &program, &issues))
 *         say(issues);                       "ERROR: <input>:1:5: undefined field 'foo'..."
 *     struct vd_cel_run run = {...};
 *     struct vd_cel_value result = vd_cel_eval(program, &run);
 *     vd_cel_program_release(program);
 *
 * The language is that of the cel-spec with the libraries that Kubernetes gives to
 * the validation rules of CRDs; docs/cel.md has the list. Expressions are parsed,
 * checked against declared types and kept as an annotated tree.
 *
 * Every evaluation is bounded, by cost units that are counted as Kubernetes counts
 * them, and by memory. Nothing is allocated but in the run's arena (and indexes of
 * large JSON containers, which vd_cel_run_release frees).
 *
 * A program is immutable; any number of threads may evaluate it, each with a run of
 * its own. No I/O, no clock.
 */
#ifndef VD_CEL_PROGRAM_H
#define VD_CEL_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/effort.h"
#include "base/slice.h"
#include "cel/type.h"
#include "cel/value.h"
#include "json/key_index.h"

struct vd_cel_program;

/* What an expression may name. */
struct vd_cel_env {
    const struct vd_cel_type *self;
    bool old_self;          /* oldSelf is there, of the same type... */
    bool optional_old_self; /* ...or an optional of it */
};

/*
 * Compiles `text`, which is copied. The program lives in the arena; the arena and the
 * types of the environment must outlive it. False: `issues` tells what is wrong, in the
 * words and the form of cel-go, and there is nothing to release.
 */
bool vd_cel_compile(struct vd_arena *arena, struct vd_slice text, const struct vd_cel_env *env,
                    struct vd_cel_program **out, struct vd_buf *issues) VD_MUST_USE;

/* Frees what is not the arena's: compiled regular expressions. NULL is harmless. */
void vd_cel_program_release(struct vd_cel_program *program);

/* The type of the result. */
const struct vd_cel_type *vd_cel_program_type(const struct vd_cel_program *program);

/* Does the expression name oldSelf? */
bool vd_cel_program_uses_old_self(const struct vd_cel_program *program);

/* The instructions of the regular expressions that were compiled with it. */
size_t vd_cel_program_pattern_size(const struct vd_cel_program *program);

/* The most that an evaluation can cost, as Kubernetes estimates it from the declared
 * bounds; UINT64_MAX when there is no bound. */
uint64_t vd_cel_program_cost(const struct vd_cel_program *program);

/* Functions of the layers above, which know Kubernetes' names and formats. */
struct vd_cel_host {
    /*
     * What is wrong with `text` as a "dns1123Label" and so on: up to 4 sentences, in
     * `faults`, borrowed from the arena or literals. Their number; 0: nothing.
     */
    size_t (*format_faults)(const char *format, struct vd_slice text, struct vd_arena *arena,
                            struct vd_slice faults[4]);
};

enum { VD_CEL_CACHE_SLOTS = 8 }; /* containers that an evaluation keeps an index of */

/* A container of the document that is being looked up often. */
struct vd_cel_cached {
    const struct vd_json *json;
    const struct vd_json **items; /* of an array */
    struct vd_key_index keys;     /* of an object */
};

/*
 * One evaluation, or several of one document. The caller sets the fields of the
 * first group; the others begin as zero and are set back by each vd_cel_eval, but
 * for the caches.
 */
struct vd_cel_run {
    struct vd_arena *arena;
    const struct vd_cel_host *host; /* NULL: named formats find nothing wrong */
    uint64_t cost_max;
    struct vd_effort *effort; /* is charged for regular expressions; NULL: they are unbounded */
    struct vd_cel_value self, old_self; /* made by vd_cel_of_json; old_self may be an optional */

    uint64_t cost;  /* so far */
    uint64_t steps; /* comparisons that have no cost of their own */
    size_t memory;  /* bytes taken from the arena */
    bool cancelled; /* cost, steps, memory or effort are used up */
    struct vd_cel_value *slots;
    struct vd_cel_cached cache[VD_CEL_CACHE_SLOTS];
    unsigned cache_next; /* the slot that is given away next */
};

/* The result; an error has a message. With run->cancelled the cost was more than
 * run->cost_max, and run->cost says how much. */
struct vd_cel_value vd_cel_eval(const struct vd_cel_program *program, struct vd_cel_run *run);

/* Frees the caches. */
void vd_cel_run_release(struct vd_cel_run *run);

#endif
