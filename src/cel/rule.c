/* See rule.h. */
#include "cel/rule.h"

static struct vd_cel_program *compile(struct vd_cel_rule *rule, struct vd_arena *arena,
                                      struct vd_slice text, const struct vd_cel_type *self,
                                      const char *prefix, struct vd_buf *issues)
{
    struct vd_cel_env env = {self, true, rule->optional_old_self};
    struct vd_cel_program *program = NULL;
    struct vd_buf found = {0};
    if (!vd_cel_compile(arena, text, &env, &program, &found)) {
        vd_buf_add_text(issues, prefix);
        vd_buf_add_slice(issues, vd_buf_slice(&found));
    }
    vd_buf_release(&found);
    return program;
}

/* Keeps a program only if its result is of this kind. */
static void demand(struct vd_cel_program **program, enum vd_cel_kind kind, const char *what,
                   struct vd_buf *issues)
{
    if (!*program || vd_cel_program_type(*program)->kind == kind)
        return;
    vd_buf_add_text(issues, what);
    vd_cel_program_release(*program);
    *program = NULL;
}

void vd_cel_rule_compile(struct vd_cel_rule *rule, struct vd_arena *arena,
                         const struct vd_cel_type *self, struct vd_buf *rule_issues,
                         struct vd_buf *message_issues)
{
    rule->program = compile(rule, arena, rule->text, self, "compilation failed: ", rule_issues);
    rule->uses_old_self = rule->program && vd_cel_program_uses_old_self(rule->program);
    demand(&rule->program, VD_CEL_BOOL, "cel expression must evaluate to a bool", rule_issues);
    if (!rule->message_expression.n || !rule->program)
        return;
    struct vd_cel_rule plain = *rule; /* its oldSelf is never an optional */
    plain.optional_old_self = false;
    rule->message_program = compile(&plain, arena, rule->message_expression, self,
                                    "messageExpression compilation failed: ", message_issues);
    demand(&rule->message_program, VD_CEL_STRING, "messageExpression must evaluate to a string",
           message_issues);
}

void vd_cel_rule_release(struct vd_cel_rule *rule)
{
    vd_cel_program_release(rule->program);
    vd_cel_program_release(rule->message_program);
    rule->program = rule->message_program = NULL;
}
