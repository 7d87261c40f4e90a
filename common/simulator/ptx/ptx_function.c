/* ptx_function.c - .entry and .func: parameters, launch bounds, and the finished function. */
#include "common/simulator/ptx/ptx_parser.h"

/* ---- parameters ---- */

static int parameter_bind(Parser *p, const PtxVariable *variable, uint32_t line)
{
    Name *name = name_of(variable->name);
    if (name->keyword == KEY_SINK) return 0;
    int is_register = variable->space == PTX_REG;
    Binding *binding =
        scope_bind(p, name, is_register ? BOUND_REGISTER : BOUND_PARAMETER, p->depth, line);
    if (!binding) return -1;
    if (!is_register) {
        binding->variable = variable;
        return 0;
    }
    int32_t index = register_add(p, name, variable->type);
    binding->index = (uint32_t)index;
    return index < 0 ? -1 : 0;
}

/* "(.param .b32 a, .param .b64 b)"; p is at the parenthesis. */
static int parameters_parse(Parser *p, PtxVariable **list, uint32_t *count)
{
    uint32_t line = p->token.line;
    p->parameters.count = 0;
    if (lexer_next(p)) return -1;
    while (!lexer_is(p, ')')) {
        if (!lexer_is_key(p, TOKEN_WORD, KEY_PARAM) && !lexer_is_key(p, TOKEN_WORD, KEY_REG))
            return parser_expected(p, ".param");
        PtxVariable *variable = stack_push(p, &p->parameters);
        Name *name;
        Shape shape;
        if (!variable) return -1;
        variable->space = keyword_space(p->token.name->keyword);
        if (lexer_next(p) || variable_parse(p, variable, &name, &shape)) return -1;
        int comma = lexer_accept(p, ',');
        if (comma < 0) return -1;
        if (!comma && !lexer_is(p, ')')) return parser_expected(p, "',' or ')' after a parameter");
    }
    *count = (uint32_t)p->parameters.count;
    *list = parser_copy(p, p->parameters.item, *count * sizeof **list);
    if (!*list) return -1;
    for (uint32_t i = 0; i < *count; i++) {
        if (parameter_bind(p, &(*list)[i], line)) return -1;
    }
    return lexer_next(p);
}

/* ---- launch bounds and other directives before the body ---- */

/* Up to three numbers; those that are missing are 1. */
static int extents_parse(Parser *p, uint32_t *extent, unsigned most)
{
    int comma = 1;
    if (lexer_next(p)) return -1;
    for (unsigned i = 0; i < most; i++) {
        uint64_t value = 1;
        if (comma && constant_count(p, UINT32_MAX, "a launch bound", &value)) return -1;
        extent[i] = (uint32_t)value;
        comma = comma && i + 1 < most ? lexer_accept(p, ',') : 0;
        if (comma < 0) return -1;
    }
    return 0;
}

/* A bound that changes nothing for the simulator: its word and numbers. */
static int bound_skip(Parser *p)
{
    uint64_t ignored;
    if (lexer_next(p)) return -1;
    while (p->token.kind == TOKEN_INTEGER || lexer_is(p, ',')) {
        if (p->token.kind == TOKEN_INTEGER ? constant_count(p, UINT64_MAX, "a bound", &ignored)
                                           : lexer_next(p))
            return -1;
    }
    return 0;
}

static int bounds_parse(Parser *p, PtxFunction *function)
{
    while (p->token.kind == TOKEN_WORD) {
        int result;
        switch (p->token.name->keyword) {
        case KEY_MAXNTID:
            result = extents_parse(p, function->max_threads, 3);
            break;
        case KEY_REQNTID:
            result = extents_parse(p, function->required_threads, 3);
            break;
        case KEY_REQNCTAPERCLUSTER:
            result = extents_parse(p, function->required_cluster, 3);
            break;
        case KEY_MINNCTAPERSM:
            result = extents_parse(p, &function->min_blocks, 1);
            break;
        case KEY_MAXNREG:
            result = extents_parse(p, &function->max_registers, 1);
            break;
        case KEY_PRAGMA:
            result = directive_pragma(p);
            break;
        case KEY_HEADER_OTHER:
            result = bound_skip(p);
            break;
        default:
            return parser_expected(p, "a launch bound, '{' or ';'");
        }
        if (result) return -1;
    }
    return 0;
}

/* ---- the function ---- */

static FunctionEntry *function_entry(Parser *p, uint32_t index)
{
    return (FunctionEntry *)p->functions.item + index;
}

/* The function's place in the module: a new one, or that of an earlier declaration. */
static int function_place(Parser *p, Name *name, uint32_t line, uint32_t *index)
{
    Binding *known = name->binding;
    if (known && known->depth == 0 && known->kind == BOUND_FUNCTION) {
        *index = known->index;
        return 0;
    }
    if (known && known->depth > 0)
        return parser_fail(p, line, "'%.80s' is declared twice", name->text);
    Binding *binding = scope_bind(p, name, BOUND_FUNCTION, 0, line);
    if (!binding) return -1;
    *index = binding->index = (uint32_t)p->functions.count;
    FunctionEntry *entry = stack_push(p, &p->functions);
    if (!entry) return -1;
    entry->function.name = name->text;
    return 0;
}

/* Moves what the body left on the parser's stacks into the module. */
static int function_keep(Parser *p, PtxFunction *function)
{
    function->regs = (uint32_t)p->registers.count;
    function->variables = (uint32_t)p->variables.count;
    function->instructions = (uint32_t)p->instructions.count;
    function->reg = parser_copy(p, p->registers.item, function->regs * sizeof(PtxRegister));
    function->variable =
        parser_copy(p, p->variables.item, function->variables * sizeof(PtxVariable));
    function->instruction =
        parser_copy(p, p->instructions.item, function->instructions * sizeof(PtxInstruction));
    if (!function->reg || !function->variable || !function->instruction) return -1;
    const VariableUse *use = p->variable_uses.item;
    for (size_t i = 0; i < p->variable_uses.count; i++)
        use[i].operand->variable = &function->variable[use[i].index];
    return 0;
}

/* Everything before the body; p ends at '{' or ';'. */
static int header_parse(Parser *p, PtxFunction *function, uint32_t *index)
{
    if (lexer_next(p) || bounds_parse(p, function)) return -1;
    if (lexer_is(p, '(') && parameters_parse(p, &function->result, &function->results)) return -1;
    if (p->token.kind != TOKEN_NAME) return parser_expected(p, "a function's name");
    Name *name = p->token.name;
    function->name = name->text;
    function->ptx_line = p->token.line;
    if (function_place(p, name, p->token.line, index) || lexer_next(p)) return -1;
    if (lexer_is(p, '(') && parameters_parse(p, &function->param, &function->params)) return -1;
    return bounds_parse(p, function);
}

int function_parse(Parser *p, int is_entry)
{
    PtxFunction function = {.is_entry = is_entry};
    uint32_t index = 0;
    p->registers.count = p->variables.count = p->instructions.count = 0;
    p->variable_uses.count = 0;
    if (scope_open(p) || header_parse(p, &function, &index)) return -1;
    int has_body = lexer_is(p, '{');
    if (has_body) {
        if (function_entry(p, index)->has_body)
            return parser_fail(p, p->token.line, "function '%.80s' is defined twice",
                               function.name);
        if (lexer_next(p) || body_parse(p) || function_keep(p, &function)) return -1;
    } else if (scope_close(p) || lexer_expect(p, ';', "'{' or ';' after a function's header")) {
        return -1;
    }
    FunctionEntry *entry = function_entry(p, index);
    if (has_body || !entry->has_body) *entry = (FunctionEntry){function, has_body};
    return 0;
}
