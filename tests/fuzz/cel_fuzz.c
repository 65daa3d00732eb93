/*
 * Any expression over any document. The input is an expression and a JSON text with a NUL
 * between them.
 *
 * Nothing crashes, whatever is asked of whatever; what does not compile has issues; a
 * run keeps to its cost; and the same run gives the same verdict twice.
 */
#include <string.h>

#include "cel/program.h"
#include "fuzz.h"
#include "json/parse.h"

enum { COST_MAX = 20000 };

static size_t odd_faults(const char *format, struct vd_slice text, struct vd_arena *arena,
                         struct vd_slice faults[4])
{
    (void)format, (void)arena;
    faults[0] = VD_SLICE("odd");
    return text.n % 2;
}

static const struct vd_cel_host host = {odd_faults};

static void run_twice(struct vd_arena *arena, const struct vd_cel_program *program,
                      const struct vd_json *document)
{
    struct vd_cel_run run = {.arena = arena, .host = &host, .cost_max = COST_MAX};
    run.self = run.old_self = vd_cel_of_json(&run, document, NULL);
    struct vd_cel_value first = vd_cel_eval(program, &run);
    uint64_t cost = run.cost;
    bool cancelled = run.cancelled;
    struct vd_cel_value second = vd_cel_eval(program, &run);
    FUZZ_CHECK(first.kind == second.kind && cost == run.cost && cancelled == run.cancelled);
    FUZZ_CHECK(first.kind != VD_CEL_BOOL || first.truth == second.truth);
    FUZZ_CHECK(cancelled || cost <= COST_MAX);
    FUZZ_CHECK(first.kind != VD_CEL_ERROR || first.s.n > 0);
    vd_cel_run_release(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice text, json = VD_SLICE("{}");
    fuzz_split(data, size, &text, &json);
    struct vd_arena arena = {0};
    struct vd_cel_env env = {vd_cel_type_of(VD_CEL_DYN), true, false};
    struct vd_cel_program *program = NULL;
    struct vd_buf issues = {0};
    struct vd_json *document = NULL;
    if (!vd_cel_compile(&arena, text, &env, &program, &issues))
        FUZZ_CHECK(issues.n > 0);
    else if (vd_json_parse(&arena, json, NULL, &document, NULL) == VD_OK)
        run_twice(&arena, program, document);
    vd_cel_program_release(program);
    vd_buf_release(&issues);
    vd_arena_release(&arena);
    return 0;
}
