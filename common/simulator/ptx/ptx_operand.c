/* ptx_operand.c - operands between an opcode and its semicolon. */
#include <string.h>

#include "common/simulator/ptx/ptx_parser.h"

/* "%tid", "%clock64"...: a name with a percent sign that no declaration covers. */
static int special_known(const char *name)
{
    static const char *const exact[] = {"%tid",
                                        "%ntid",
                                        "%laneid",
                                        "%warpid",
                                        "%nwarpid",
                                        "%ctaid",
                                        "%nctaid",
                                        "%smid",
                                        "%nsmid",
                                        "%gridid",
                                        "%clusterid",
                                        "%nclusterid",
                                        "%lanemask_eq",
                                        "%lanemask_le",
                                        "%lanemask_lt",
                                        "%lanemask_ge",
                                        "%lanemask_gt",
                                        "%clock",
                                        "%clock_hi",
                                        "%clock64",
                                        "%total_smem_size",
                                        "%aggr_smem_size",
                                        "%dynamic_smem_size",
                                        "%current_graph_exec",
                                        "%is_explicit_cluster"};
    static const char *const prefix[] = {"%envreg", "%pm", "%globaltimer", "%cluster_",
                                         "%reserved_smem_offset"};
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        if (strcmp(name, exact[i]) == 0) return 1;
    }
    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++) {
        if (strncmp(name, prefix[i], strlen(prefix[i])) == 0) return 1;
    }
    return 0;
}

static int special_parse(Parser *p, PtxOperand *operand)
{
    const Name *name = p->token.name;
    if (!special_known(name->text))
        return parser_fail(p, p->token.line, "register '%.80s' is not declared", name->text);
    operand->kind = PTX_OPERAND_SPECIAL;
    operand->name = name->text;
    if (lexer_next(p)) return -1;
    if (p->token.kind != TOKEN_WORD) return 0;
    if (p->token.name->length != 1 || !memchr("xyzw", p->token.name->text[0], 4))
        return parser_expected(p, "x, y, z or w");
    operand->component = p->token.name->text[0];
    return lexer_next(p);
}

static int offset_parse(Parser *p, PtxOperand *operand)
{
    if (!lexer_is(p, '+') && !lexer_is(p, '-')) return 0;
    Constant value;
    uint32_t line = p->token.line;
    if (constant_parse(p, &value)) return -1;
    if (value.is_float) return parser_fail(p, line, "a floating-point offset of an address");
    operand->integer = (int64_t)value.bits;
    return 0;
}

static int constant_operand(Parser *p, PtxOperand *operand)
{
    Constant value;
    if (constant_parse(p, &value)) return -1;
    operand->kind = value.is_float ? PTX_OPERAND_FLOAT : PTX_OPERAND_INTEGER;
    operand->is_double = value.is_double;
    if (value.is_float)
        operand->float_bits = value.bits;
    else
        operand->integer = (int64_t)value.bits;
    return 0;
}

/* A register, a special register, a sink, a symbol with or without an offset. */
static int name_operand(Parser *p, PtxOperand *operand)
{
    Name *name = p->token.name;
    if (name->keyword == KEY_SINK) {
        operand->kind = PTX_OPERAND_SINK;
        return lexer_next(p);
    }
    int32_t reg = scope_register(p, name);
    if (reg < PTX_NO_REGISTER) return -1;
    if (reg >= 0) {
        operand->kind = PTX_OPERAND_REGISTER;
        operand->reg = reg;
        if (lexer_next(p)) return -1;
        if (p->token.kind != TOKEN_WORD) return 0;
        operand->part = p->token.name->text;
        return lexer_next(p);
    }
    if (name->text[0] == '%') return special_parse(p, operand);
    operand->kind = PTX_OPERAND_SYMBOL;
    operand->name = name->text;
    return lexer_next(p) || offset_parse(p, operand) ? -1 : 0;
}

/* "-%r1": 1 if p is at such an operand, 0 if the minus belongs to a constant. */
static int minus_operand(Parser *p, PtxOperand *operand)
{
    const Token before = p->token;
    const char *at = p->at;
    uint32_t line = p->line;
    if (lexer_next(p)) return -1;
    if (p->token.kind == TOKEN_NAME && p->token.name->keyword != KEY_WARP_SIZE) {
        operand->minus = 1;
        if (name_operand(p, operand)) return -1;
        if (operand->kind == PTX_OPERAND_REGISTER) return 1;
        return parser_fail(p, line, "'-' before something that is no register");
    }
    p->token = before, p->at = at, p->line = line;
    return 0;
}

/* "!%p", or "!" of a constant. */
static int negated_operand(Parser *p, PtxOperand *operand)
{
    uint32_t line = p->token.line;
    if (lexer_next(p)) return -1;
    if (p->token.kind == TOKEN_NAME && p->token.name->keyword != KEY_WARP_SIZE) {
        if (name_operand(p, operand)) return -1;
        operand->negated = 1;
        return operand->kind == PTX_OPERAND_REGISTER
                   ? 0
                   : parser_fail(p, line, "'!' before something that is no register");
    }
    if (constant_operand(p, operand)) return -1;
    operand->integer = !operand->integer;
    return operand->kind == PTX_OPERAND_INTEGER
               ? 0
               : parser_fail(p, line, "'!' before a floating-point constant");
}

/* Elements to the closing bracket, moved from the parser's stack to the module. */
static int elements_parse(Parser *p, PtxOperand *operand, int close, unsigned depth)
{
    size_t first = p->elements.count;
    while (!lexer_is(p, close)) {
        PtxOperand element;
        if (operand_parse(p, &element, depth + 1)) return -1;
        PtxOperand *place = stack_push(p, &p->elements);
        if (!place) return -1;
        *place = element;
        if (p->elements.count - first > PTX_MAX_VECTOR)
            return parser_fail(p, p->token.line, "a list of more than %d operands", PTX_MAX_VECTOR);
        int comma = lexer_accept(p, ',');
        if (comma < 0) return -1;
        if (!comma && !lexer_is(p, close))
            return parser_expected(p, close == ')'   ? "',' or ')' in a list"
                                      : close == '}' ? "',' or '}' in a vector"
                                                     : "']' at the end of an address");
    }
    operand->count = (uint32_t)(p->elements.count - first);
    const PtxOperand *item = p->elements.item; /* NULL before the first element of all */
    operand->element =
        parser_copy(p, item ? item + first : NULL, operand->count * sizeof(PtxOperand));
    p->elements.count = first;
    return operand->element ? lexer_next(p) : -1;
}

int operand_list_parse(Parser *p, PtxOperand *operand, int close, unsigned depth)
{
    operand->kind = PTX_OPERAND_VECTOR;
    return lexer_next(p) ? -1 : elements_parse(p, operand, close, depth);
}

/* [%rd1+8], [symbol], [4096], [map, {%r1, %r2}] */
static int address_operand(Parser *p, PtxOperand *operand, unsigned depth)
{
    operand->kind = PTX_OPERAND_ADDRESS;
    uint32_t line = p->token.line;
    if (lexer_next(p)) return -1;
    if (p->token.kind == TOKEN_NAME) {
        Name *name = p->token.name;
        operand->reg = scope_register(p, name);
        if (operand->reg < PTX_NO_REGISTER) return -1;
        if (operand->reg == PTX_NO_REGISTER && name->text[0] == '%')
            return parser_fail(p, line, "register '%.80s' is not declared", name->text);
        if (operand->reg == PTX_NO_REGISTER) operand->name = name->text;
        if (lexer_next(p) || offset_parse(p, operand)) return -1;
    } else {
        if (constant_operand(p, operand)) return -1;
        if (operand->kind != PTX_OPERAND_INTEGER)
            return parser_fail(p, line, "a floating-point address");
        operand->kind = PTX_OPERAND_ADDRESS;
    }
    if (lexer_is(p, ',')) return lexer_next(p) ? -1 : elements_parse(p, operand, ']', depth);
    return lexer_expect(p, ']', "']' at the end of an address");
}

/* d|p: `operand` is the part before the bar. */
static int pair_parse(Parser *p, PtxOperand *operand, unsigned depth)
{
    PtxOperand pair[2] = {*operand};
    uint32_t line = p->token.line;
    if (lexer_next(p) || operand_parse(p, &pair[1], depth + 1)) return -1;
    if (pair[1].kind == PTX_OPERAND_PAIR)
        return parser_fail(p, line, "more than two operands joined by '|'");
    *operand = (PtxOperand){.kind = PTX_OPERAND_PAIR, .reg = PTX_NO_REGISTER, .count = 2};
    operand->element = parser_copy(p, pair, sizeof pair);
    return operand->element ? 0 : -1;
}

int operand_parse(Parser *p, PtxOperand *operand, unsigned depth)
{
    *operand = (PtxOperand){.reg = PTX_NO_REGISTER};
    if (depth > PTX_MAX_NESTING)
        return parser_fail(p, p->token.line, "operands nested deeper than %d", PTX_MAX_NESTING);
    if (lexer_is(p, '{')) {
        int result = operand_list_parse(p, operand, '}', depth);
        return result == 0 && lexer_is(p, '|') ? pair_parse(p, operand, depth) : result;
    }
    if (lexer_is(p, '[')) return address_operand(p, operand, depth);
    int result = lexer_is(p, '-') ? minus_operand(p, operand) : 0;
    if (result) return result < 0 ? -1 : 0;
    if (lexer_is(p, '!'))
        result = negated_operand(p, operand);
    else if (p->token.kind == TOKEN_NAME && p->token.name->keyword != KEY_WARP_SIZE)
        result = name_operand(p, operand);
    else
        return constant_operand(p, operand);
    return result == 0 && lexer_is(p, '|') ? pair_parse(p, operand, depth) : result;
}

static int symbol_settle(Parser *p, PtxOperand *operand, uint32_t line)
{
    Name *name = name_of(operand->name);
    Fixup use = {.kind = FIX_SYMBOL, .line = line, .name = name, .operand = operand};
    int settled = name->binding ? fixup_settle(p, &use, name->binding) : 0;
    if (settled < 0) return -1;
    return settled ? 0 : fixup_add(p, FIX_SYMBOL, name, line, operand);
}

int operand_settle(Parser *p, PtxOperand *operand, uint32_t count, uint32_t line)
{
    for (uint32_t i = 0; i < count; i++) {
        if (operand[i].name && operand[i].kind != PTX_OPERAND_SPECIAL &&
            symbol_settle(p, &operand[i], line))
            return -1;
        if (operand[i].count && operand_settle(p, operand[i].element, operand[i].count, line))
            return -1;
    }
    return 0;
}
