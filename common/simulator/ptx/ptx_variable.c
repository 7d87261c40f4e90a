/* ptx_variable.c - declarations of variables, parameters and registers. */
#include <string.h>

#include "common/simulator/ptx/ptx_parser.h"

PtxSpace keyword_space(Keyword keyword)
{
    switch (keyword) {
    case KEY_REG:
        return PTX_REG;
    case KEY_PARAM:
        return PTX_PARAM;
    case KEY_CONST:
        return PTX_CONST;
    case KEY_GLOBAL:
    case KEY_TEXREF:
        return PTX_GLOBAL;
    case KEY_SHARED:
        return PTX_SHARED;
    case KEY_LOCAL:
        return PTX_LOCAL;
    default:
        return PTX_SPACE_NONE;
    }
}

static int align_parse(Parser *p, uint32_t *align)
{
    uint64_t value;
    uint32_t line = p->token.line;
    if (lexer_next(p) || constant_count(p, 1 << 16, "an alignment", &value)) return -1;
    if (value == 0 || (value & (value - 1)) != 0)
        return parser_fail(p, line, "an alignment of %u: not a power of two", (unsigned)value);
    *align = (uint32_t)value;
    return 0;
}

/* ".attribute(.managed)": the only one that matters here. */
static int attribute_parse(Parser *p, PtxVariable *variable)
{
    if (lexer_next(p) || lexer_expect(p, '(', "'(' after .attribute")) return -1;
    unsigned depth = 1;
    while (depth > 0) {
        if (p->token.kind == TOKEN_END) return parser_expected(p, "')'");
        depth += lexer_is(p, '(');
        depth -= lexer_is(p, ')');
        if (lexer_is_key(p, TOKEN_WORD, KEY_MANAGED)) variable->is_managed = 1;
        if (lexer_next(p)) return -1;
    }
    return 0;
}

/* ".ptr .global .align 4" after a parameter's type describes its target. */
static int pointer_skip(Parser *p)
{
    uint32_t align;
    if (lexer_next(p)) return -1;
    if (p->token.kind == TOKEN_WORD && keyword_space(p->token.name->keyword) != PTX_SPACE_NONE &&
        lexer_next(p))
        return -1;
    return lexer_is_key(p, TOKEN_WORD, KEY_ALIGN) ? align_parse(p, &align) : 0;
}

static int qualifiers_parse(Parser *p, PtxVariable *variable, Shape *shape)
{
    for (; p->token.kind == TOKEN_WORD;) {
        const Name *word = p->token.name;
        int result;
        if (word->keyword == KEY_ALIGN) {
            result = align_parse(p, &variable->align);
        } else if (word->keyword == KEY_ATTRIBUTE) {
            result = attribute_parse(p, variable);
        } else if (word->keyword == KEY_PTR && variable->type != PTX_NONE) {
            result = pointer_skip(p);
        } else if (word->keyword == KEY_V2 || word->keyword == KEY_V4 || word->keyword == KEY_V8) {
            shape->vector = word->keyword == KEY_V2 ? 2 : word->keyword == KEY_V4 ? 4 : 8;
            result = lexer_next(p);
        } else if (word->type != PTX_NONE && variable->type == PTX_NONE) {
            variable->type = word->type;
            result = lexer_next(p);
        } else {
            return parser_expected(p, "a type, .align or .v4 in a declaration");
        }
        if (result) return -1;
    }
    return variable->type == PTX_NONE ? parser_expected(p, "a type in a declaration") : 0;
}

/* "[4][]..." after the name. */
static int dimensions_parse(Parser *p, Shape *shape)
{
    while (lexer_is(p, '[')) {
        if (shape->dims >= sizeof shape->extent / sizeof *shape->extent)
            return parser_fail(p, p->token.line, "an array of more than 8 dimensions");
        uint64_t extent = 0;
        if (lexer_next(p)) return -1;
        if (lexer_is(p, ']') && shape->dims == 0)
            shape->open = 1;
        else if (constant_count(p, PTX_MAX_VARIABLE, "an array's length", &extent))
            return -1;
        shape->extent[shape->dims++] = extent;
        if (lexer_expect(p, ']', "']'")) return -1;
    }
    return 0;
}

/* Bytes of the whole; 0 where the first dimension is open. */
static int shape_size(Parser *p, const PtxVariable *variable, const Shape *shape, uint32_t line,
                      uint64_t *bytes)
{
    uint64_t most = variable->space == PTX_GLOBAL  ? PTX_MAX_VARIABLE
                    : variable->space == PTX_PARAM ? PTX_MAX_PARAMETER
                                                   : PTX_MAX_SMALL;
    *bytes = (uint64_t)shape->element * shape->vector;
    for (uint32_t i = shape->open ? 1 : 0; i < shape->dims; i++) {
        if (shape->extent[i] == 0)
            return parser_fail(p, line, "'%.80s' is an array of no elements", variable->name);
        if (shape->extent[i] > most / *bytes)
            return parser_fail(p, line, "'%.80s' is larger than %llu MiB", variable->name,
                               (unsigned long long)(most >> 20));
        *bytes *= shape->extent[i];
    }
    if (shape->open) *bytes = 0;
    return 0;
}

/* Name and dimensions, which differ for each variable of a list. */
static int declarator_parse(Parser *p, PtxVariable *variable, Name **name, Shape *shape)
{
    if (p->token.kind != TOKEN_NAME) return parser_expected(p, "a name in a declaration");
    *name = p->token.name;
    variable->name = (*name)->text;
    uint32_t line = p->token.line;
    shape->element = ptx_type_bytes(variable->type);
    if (lexer_next(p) || dimensions_parse(p, shape) ||
        shape_size(p, variable, shape, line, &variable->bytes))
        return -1;
    if (variable->align == 0) variable->align = shape->element * shape->vector;
    return 0;
}

int variable_parse(Parser *p, PtxVariable *variable, Name **name, Shape *shape)
{
    *shape = (Shape){.vector = 1};
    return qualifiers_parse(p, variable, shape) || declarator_parse(p, variable, name, shape) ? -1
                                                                                              : 0;
}

/* ---- registers ---- */

/* "%r<12>" or "p, q, r" after ".reg .b32". */
static int register_name_parse(Parser *p, PtxType type)
{
    if (p->token.kind != TOKEN_NAME) return parser_expected(p, "a register's name");
    Name *name = p->token.name;
    uint32_t line = p->token.line;
    if (lexer_next(p)) return -1;
    if (!lexer_is(p, '<')) {
        Binding *binding = scope_bind(p, name, BOUND_REGISTER, p->depth, line);
        int32_t index = binding ? register_add(p, name, type) : -1;
        if (index < 0) return -1;
        binding->index = (uint32_t)index;
        return 0;
    }
    uint64_t count;
    if (lexer_next(p) || constant_count(p, PTX_MAX_REGISTERS, "the number of registers", &count) ||
        lexer_expect(p, '>', "'>'"))
        return -1;
    if (name->length > PTX_MAX_RANGE_NAME)
        return parser_fail(p, line, "registers whose name has more than %d characters",
                           PTX_MAX_RANGE_NAME);
    char key[PTX_MAX_RANGE_NAME + 1];
    memcpy(key, name->text, name->length);
    key[name->length] = '<';
    Name *range = name_intern(p, key, name->length + 1);
    Binding *binding = range ? scope_bind(p, range, BOUND_RANGE, p->depth, line) : NULL;
    if (!binding) return -1;
    binding->type = type;
    binding->index = (uint32_t)count;
    return 0;
}

static int registers_parse(Parser *p)
{
    if (p->token.kind == TOKEN_WORD &&
        (p->token.name->keyword == KEY_V2 || p->token.name->keyword == KEY_V4))
        return parser_fail(p, p->token.line, "vector registers are not supported");
    if (p->token.kind != TOKEN_WORD || p->token.name->type == PTX_NONE)
        return parser_expected(p, "a register's type");
    PtxType type = p->token.name->type;
    int more;
    do {
        if (lexer_next(p) || register_name_parse(p, type)) return -1;
        more = lexer_is(p, ',');
    } while (more);
    return lexer_expect(p, ';', "';' after a declaration");
}

/* ---- variables ---- */

/* The variable's place: a new one, or that of an earlier ".extern" declaration of the module. */
static PtxVariable *variable_place(Parser *p, Name *name, uint32_t line)
{
    Stack *stack = p->depth ? &p->variables : &p->module_variables;
    const Binding *known = name->binding;
    if (p->depth == 0 && known && known->kind == BOUND_VARIABLE) {
        PtxVariable *variable = (PtxVariable *)stack->item + known->index;
        if (variable->is_extern) return variable;
    }
    Binding *binding = scope_bind(p, name, BOUND_VARIABLE, p->depth, line);
    if (!binding) return NULL;
    binding->index = (uint32_t)stack->count;
    return stack_push(p, stack);
}

int declaration_parse(Parser *p, PtxSpace space, int is_extern)
{
    int texture = p->token.name->keyword == KEY_TEXREF;
    uint32_t line = p->token.line;
    if (space == PTX_REG && p->depth == 0) return parser_fail(p, line, ".reg outside a function");
    /* ".texref name" is itself the type; ".param.b32 x" may hide a word of the next token. */
    if (!texture && lexer_next(p)) return -1;
    if (space == PTX_REG) return registers_parse(p);
    PtxVariable common = {.space = space, .is_extern = is_extern};
    Shape one = {.vector = 1};
    if (qualifiers_parse(p, &common, &one)) return -1;
    int more;
    do {
        PtxVariable variable = common;
        Shape shape = one;
        Name *name = NULL;
        if (declarator_parse(p, &variable, &name, &shape)) return -1;
        if (lexer_is(p, '=') && initialiser_parse(p, &variable, &shape)) return -1;
        PtxVariable *place = variable_place(p, name, line);
        if (!place) return -1;
        *place = variable;
        more = lexer_is(p, ',');
        if (more && lexer_next(p)) return -1;
    } while (more);
    return lexer_expect(p, ';', "';' after a declaration");
}
