/* See program.h: parse, check, estimate; and how issues are shown. */
#include "cel/program.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cel/program_internal.h"

const struct vd_cel_library *const vd_cel_libraries[VD_CEL_LIBRARIES] = {
    &vd_cel_lib_operators, &vd_cel_lib_conversions, &vd_cel_lib_times, &vd_cel_lib_strings,
    &vd_cel_lib_lists,     &vd_cel_lib_regex,       &vd_cel_lib_url,   &vd_cel_lib_quantity,
    &vd_cel_lib_net,       &vd_cel_lib_optional,
};

/* The line that character `at` is in, and its number and column, from 1 and 0. */
static struct vd_slice line_of(struct vd_slice text, uint32_t at, uint32_t *line, uint32_t *column)
{
    size_t start = 0, i = 0;
    uint32_t seen = 0;
    *line = 1;
    *column = 0;
    for (; i < text.n && seen < at; i++) {
        if (((unsigned char)text.p[i] & 0xc0) == 0x80)
            continue;
        seen++;
        ++*column;
        if (text.p[i] == '\n') {
            start = i + 1;
            ++*line;
            *column = 0;
        }
    }
    const char *newline = start < text.n ? memchr(text.p + start, '\n', text.n - start) : NULL;
    size_t end = newline ? (size_t)(newline - text.p) : text.n;
    return vd_slice(text.p + start, end - start);
}

void vd_cel_issue(struct vd_cel_issues *issues, uint32_t at, const char *format, ...)
{
    uint32_t line, column;
    struct vd_slice source = line_of(issues->text, at, &line, &column);
    struct vd_buf *out = issues->out;
    if (issues->count++ >= 16)
        return; /* enough to go on with */
    if (out->n)
        vd_buf_add_char(out, '\n');
    vd_buf_addf(out, "ERROR: <input>:%u:%u: ", line, column + 1);
    va_list arguments;
    va_start(arguments, format);
    vd_buf_vaddf(out, format, arguments);
    va_end(arguments);
    vd_buf_add_text(out, "\n | ");
    for (size_t i = 0; i < source.n; i++)
        vd_buf_add_char(out, source.p[i] == '\t' ? ' ' : source.p[i]);
    vd_buf_add_text(out, "\n | ");
    for (uint32_t i = 0; i < column; i++)
        vd_buf_add_char(out, '.');
    vd_buf_add_char(out, '^');
}

bool vd_cel_compile(struct vd_arena *arena, struct vd_slice text, const struct vd_cel_env *env,
                    struct vd_cel_program **out, struct vd_buf *issues)
{
    struct vd_cel_program *program = vd_arena_alloc(arena, sizeof *program);
    *program = (struct vd_cel_program){.arena = arena, .text = vd_arena_copy(arena, text)};
    struct vd_cel_issues found = {program->text, issues, 0};
    if (text.n > VD_CEL_LEN_MAX) {
        found.text.n = 0;
        vd_cel_issue(&found, 0, "expression is longer than %d bytes", VD_CEL_LEN_MAX);
        return false;
    }
    program->root = vd_cel_parse(arena, &found);
    if (!program->root || !vd_cel_check(program, env, &found)) {
        vd_cel_program_release(program);
        return false;
    }
    program->cost = vd_cel_estimate(program);
    *out = program;
    return true;
}

void vd_cel_program_release(struct vd_cel_program *program)
{
    for (size_t i = 0; program && i < program->patterns.n; i++)
        vd_pattern_free(program->patterns.p[i]);
    if (program)
        VD_VEC_RELEASE(&program->patterns);
}

const struct vd_cel_type *vd_cel_program_type(const struct vd_cel_program *program)
{
    return program->root->type;
}

bool vd_cel_program_uses_old_self(const struct vd_cel_program *program)
{
    return program->uses_old_self;
}

size_t vd_cel_program_pattern_size(const struct vd_cel_program *program)
{
    return program->pattern_size;
}

uint64_t vd_cel_program_cost(const struct vd_cel_program *program)
{
    return program->cost;
}
