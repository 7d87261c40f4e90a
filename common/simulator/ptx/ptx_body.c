/* ptx_body.c - the statements of a function: blocks, labels, declarations, instructions. */
#include "common/simulator/ptx/ptx_parser.h"

/* ---- instructions ---- */

/* (returns), target, (arguments), prototype: the lists are always there in the tree, empty where
 * the text has none. */
static int call_parse(Parser *p, PtxOperand *operand, uint32_t *count)
{
    static const PtxOperand empty = {.kind = PTX_OPERAND_VECTOR, .reg = PTX_NO_REGISTER};
    operand[0] = operand[2] = empty;
    *count = 3;
    if (lexer_is(p, '(') && (operand_list_parse(p, &operand[0], ')', 0) ||
                             lexer_expect(p, ',', "',' after what a call returns")))
        return -1;
    if (p->token.kind != TOKEN_NAME) return parser_expected(p, "the function that is called");
    if (operand_parse(p, &operand[1], 0)) return -1;
    int comma = lexer_accept(p, ',');
    if (comma > 0 && lexer_is(p, '(')) {
        if (operand_list_parse(p, &operand[2], ')', 0)) return -1;
        comma = lexer_accept(p, ',');
    }
    if (comma > 0) {
        *count = 4;
        return operand_parse(p, &operand[3], 0);
    }
    return comma;
}

static int operands_parse(Parser *p, PtxOperand *operand, uint32_t *count)
{
    *count = 0;
    int comma = !lexer_is(p, ';');
    while (comma > 0) {
        if (*count == PTX_OPERANDS)
            return parser_fail(p, p->token.line, "an instruction of more than %d operands",
                               PTX_OPERANDS);
        if (operand_parse(p, &operand[*count], 0)) return -1;
        ++*count;
        comma = lexer_accept(p, ',');
    }
    return comma;
}

static int branch_settle(Parser *p, const PtxInstruction *instruction, Keyword opcode)
{
    uint32_t which = opcode == KEY_BRX ? 1 : 0;
    if (instruction->operands <= which || instruction->operand[which].kind != PTX_OPERAND_SYMBOL)
        return parser_fail(p, instruction->ptx_line, "%s without a label", instruction->word[0]);
    Name *name = name_of(instruction->operand[which].name);
    return fixup_add(p, opcode == KEY_BRX ? FIX_TARGETS : FIX_BRANCH, name, instruction->ptx_line,
                     NULL);
}

/* p is after the opcode's first word. */
static int instruction_parse(Parser *p, const Name *opcode, uint32_t line)
{
    const char *word[PTX_WORDS] = {opcode->text};
    PtxOperand operand[PTX_OPERANDS];
    PtxInstruction instruction = {.words = 1,
                                  .guard = p->guard,
                                  .guard_negated = p->guard_negated,
                                  .nounroll = p->nounroll,
                                  .ptx_line = line,
                                  .source = p->source};
    while (p->token.kind == TOKEN_WORD) {
        if (instruction.words == PTX_WORDS)
            return parser_fail(p, line, "an opcode of more than %d words", PTX_WORDS);
        word[instruction.words++] = p->token.name->text;
        if (lexer_next(p)) return -1;
    }
    if (opcode->keyword == KEY_CALL ? call_parse(p, operand, &instruction.operands)
                                    : operands_parse(p, operand, &instruction.operands))
        return -1;
    if (!lexer_is(p, ';')) return parser_expected(p, "',' or ';' after an operand");
    instruction.word = parser_copy(p, word, instruction.words * sizeof *word);
    instruction.operand = parser_copy(p, operand, instruction.operands * sizeof *operand);
    if (!instruction.word || !instruction.operand) return -1;
    int is_branch = opcode->keyword == KEY_BRA || opcode->keyword == KEY_BRX;
    if (is_branch ? branch_settle(p, &instruction, opcode->keyword)
                  : operand_settle(p, instruction.operand, instruction.operands, line))
        return -1;
    PtxInstruction *place = stack_push(p, &p->instructions);
    if (!place) return -1;
    *place = instruction;
    p->guard = PTX_NO_REGISTER;
    p->guard_negated = p->nounroll = 0;
    return lexer_next(p);
}

/* @%p or @!%p */
static int guard_parse(Parser *p)
{
    if (lexer_next(p)) return -1;
    p->guard_negated = lexer_accept(p, '!');
    if (p->guard_negated < 0) return -1;
    if (p->token.kind != TOKEN_NAME) return parser_expected(p, "a predicate after '@'");
    p->guard = scope_register(p, p->token.name);
    if (p->guard < PTX_NO_REGISTER) return -1;
    if (p->guard == PTX_NO_REGISTER)
        return parser_fail(p, p->token.line, "register '%.80s' is not declared",
                           p->token.name->text);
    if (((PtxRegister *)p->registers.item)[p->guard].type != PTX_PRED)
        return parser_fail(p, p->token.line, "'%.80s' guards an instruction but is no predicate",
                           p->token.name->text);
    if (lexer_next(p)) return -1;
    if (p->token.kind != TOKEN_NAME) return parser_expected(p, "an instruction after a guard");
    Name *opcode = p->token.name;
    uint32_t line = p->token.line;
    return lexer_next(p) ? -1 : instruction_parse(p, opcode, line);
}

/* ---- labels ---- */

/* "name: .branchtargets a, b;" */
static int targets_parse(Parser *p, Name *name, uint32_t line)
{
    int comma;
    p->labels.count = 0;
    do {
        if (lexer_next(p)) return -1;
        if (p->token.kind != TOKEN_NAME) return parser_expected(p, "a label");
        Name **label = stack_push(p, &p->labels);
        if (!label) return -1;
        *label = p->token.name;
        if (lexer_next(p)) return -1;
        comma = lexer_is(p, ',');
    } while (comma);
    TargetList *list = parser_alloc(p, sizeof *list);
    Binding *binding = list ? scope_bind(p, name, BOUND_TARGETS, p->depth, line) : NULL;
    if (!binding) return -1;
    binding->list = list;
    list->count = (uint32_t)p->labels.count;
    list->target = parser_alloc(p, list->count * sizeof *list->target);
    if (!list->target) return -1;
    for (uint32_t i = 0; i < list->count; i++) {
        list->target[i] = 0;
        if (fixup_add(p, FIX_SLOT, ((Name **)p->labels.item)[i], line, &list->target[i])) return -1;
    }
    return lexer_expect(p, ';', "',' or ';' in a list of labels");
}

/* "name: .callprototype ...;" or ".calltargets": a call's own operands say what the simulator
 * needs. */
static int prototype_parse(Parser *p, Name *name, uint32_t line)
{
    if (!scope_bind(p, name, BOUND_PROTOTYPE, p->depth, line)) return -1;
    while (!lexer_is(p, ';')) {
        if (p->token.kind == TOKEN_END) return parser_expected(p, "';' after a prototype");
        if (lexer_next(p)) return -1;
    }
    return lexer_next(p);
}

static int label_parse(Parser *p, Name *name, uint32_t line)
{
    if (lexer_next(p)) return -1;
    if (lexer_is_key(p, TOKEN_WORD, KEY_BRANCHTARGETS)) return targets_parse(p, name, line);
    if (lexer_is_key(p, TOKEN_WORD, KEY_CALLPROTOTYPE) ||
        lexer_is_key(p, TOKEN_WORD, KEY_CALLTARGETS))
        return prototype_parse(p, name, line);
    Binding *binding = scope_bind(p, name, BOUND_LABEL, p->depth, line);
    if (!binding) return -1;
    binding->index = (uint32_t)p->instructions.count;
    return 0;
}

/* ---- statements ---- */

static int directive_parse(Parser *p)
{
    Keyword keyword = p->token.name->keyword;
    int is_extern = keyword == KEY_EXTERN;
    if (is_extern) {
        if (lexer_next(p)) return -1;
        if (p->token.kind != TOKEN_WORD) return parser_expected(p, "a state space after .extern");
        keyword = p->token.name->keyword;
    }
    PtxSpace space = keyword_space(keyword);
    if (space != PTX_SPACE_NONE) return declaration_parse(p, space, is_extern);
    switch (keyword) {
    case KEY_LOC:
        return directive_loc(p);
    case KEY_PRAGMA:
        return directive_pragma(p);
    case KEY_FILE:
        return directive_file(p);
    default:
        return parser_expected(p, "a statement");
    }
}

static int statement_parse(Parser *p)
{
    if (p->token.kind == TOKEN_WORD) return directive_parse(p);
    if (p->token.kind != TOKEN_NAME) return parser_expected(p, "a statement");
    Name *name = p->token.name;
    uint32_t line = p->token.line;
    if (lexer_next(p)) return -1;
    if (lexer_is(p, ':')) return label_parse(p, name, line);
    return instruction_parse(p, name, line);
}

int body_parse(Parser *p)
{
    uint32_t outermost = p->depth;
    p->nounroll = 0;
    p->guard = PTX_NO_REGISTER;
    p->guard_negated = 0;
    p->source = (PtxSource){.file = UINT32_MAX};
    p->inlines = 0;
    while (p->depth >= outermost) {
        int result;
        if (lexer_is(p, '}'))
            result = scope_close(p) || lexer_next(p);
        else if (lexer_is(p, '{'))
            result = scope_open(p) || lexer_next(p);
        else if (lexer_is(p, '@'))
            result = guard_parse(p);
        else if (lexer_is(p, ';'))
            result = lexer_next(p);
        else
            result = statement_parse(p);
        if (result) return -1;
    }
    return 0;
}
