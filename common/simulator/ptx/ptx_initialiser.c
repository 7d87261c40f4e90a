/* ptx_initialiser.c - the initial values of variables: numbers, and addresses of other variables
 * and functions. */
#include <string.h>

#include "common/simulator/ptx/ptx_parser.h"

typedef struct Initialiser {
    PtxType type;
    uint32_t element;
    uint64_t most; /* elements that there is room for; UINT64_MAX for x[] */
    uint64_t masked_offset;
    uint32_t masked_bytes; /* bytes so far of an address that is written as 0xFF(x), 0xFF00(x)... */
} Initialiser;

/* An element's bytes as its type stores them. */
static uint64_t element_bits(PtxType type, const Constant *value)
{
    double number;
    float small;
    uint32_t bits = (uint32_t)value->bits;
    uint64_t result = value->bits;
    if (!value->is_float) {
        if (type != PTX_F32 && type != PTX_F64) return value->bits;
        number = value->is_unsigned ? (double)value->bits : (double)(int64_t)value->bits;
    } else if (value->is_double) {
        memcpy(&number, &value->bits, sizeof number);
    } else {
        memcpy(&small, &bits, sizeof small);
        number = small;
    }
    if (type == PTX_F64) {
        memcpy(&result, &number, sizeof result);
    } else if (type == PTX_F32 && (!value->is_float || value->is_double)) {
        small = (float)number;
        memcpy(&bits, &small, sizeof bits);
        result = bits;
    }
    return result;
}

static int initialised_refuse(Parser *p, uint32_t line)
{
    return parser_fail(p, line, "initial values of more than %llu MiB in all",
                       (unsigned long long)(PTX_MAX_INITIALISED >> 20));
}

static int element_store(Parser *p, const Initialiser *init, uint64_t index, uint64_t bits)
{
    if (index >= init->most)
        return parser_fail(p, p->token.line, "more initial values than the variable has room for");
    uint64_t offset = index * init->element;
    if (offset + init->element > PTX_MAX_INITIALISED - p->initialised_bytes)
        return initialised_refuse(p, p->token.line);
    if (stack_extend(p, &p->data, offset + init->element)) return -1;
    unsigned char *byte = (unsigned char *)p->data.item + offset;
    for (uint32_t i = 0; i < init->element; i++)
        byte[i] = i < 8 ? (unsigned char)(bits >> (8 * i)) : 0;
    return 0;
}

/* The name in "generic(x)" or "x".  A variable may itself be called generic. */
static int address_name_parse(Parser *p, PtxRelocation *relocation)
{
    const Name *name = p->token.name;
    if (p->token.kind != TOKEN_NAME) return parser_expected(p, "a variable's or function's name");
    if (lexer_next(p)) return -1;
    relocation->generic = name->keyword == KEY_GENERIC && lexer_is(p, '(');
    if (relocation->generic) {
        if (lexer_next(p)) return -1;
        name = p->token.name;
        if (p->token.kind != TOKEN_NAME)
            return parser_expected(p, "a variable's or function's name");
        if (lexer_next(p) || lexer_expect(p, ')', "')'")) return -1;
    }
    relocation->symbol = name->text;
    return fixup_add(p, FIX_SYMBOL, name_of(name->text), p->token.line, NULL);
}

/* "generic(x)", "x", each with or without "+4". */
static int address_parse(Parser *p, PtxRelocation *relocation)
{
    Constant addend;
    if (address_name_parse(p, relocation)) return -1;
    if (!lexer_is(p, '+') && !lexer_is(p, '-')) return 0;
    if (constant_parse(p, &addend)) return -1;
    if (addend.is_float)
        return parser_fail(p, p->token.line, "a floating-point offset of an address");
    relocation->addend = (int64_t)addend.bits;
    return 0;
}

static int relocation_add(Parser *p, const PtxRelocation *relocation)
{
    PtxRelocation *place = stack_push(p, &p->relocations);
    if (!place) return -1;
    *place = *relocation;
    return 0;
}

/* "0xFF00(generic(x))": byte 1 of the address.  Compilers spell a whole address byte by byte; it
 * becomes one relocation. */
static int masked_parse(Parser *p, Initialiser *init, uint64_t mask, PtxRelocation *relocation)
{
    uint32_t line = p->token.line;
    if (lexer_next(p) || address_parse(p, relocation) || lexer_expect(p, ')', "')'")) return -1;
    if (init->element != 1)
        return parser_fail(p, line, "a masked address outside a variable of bytes");
    if (mask == 0xff) {
        relocation->bytes = 1;
        init->masked_offset = relocation->offset;
        init->masked_bytes = 1;
        return relocation_add(p, relocation);
    }
    uint32_t known = init->masked_bytes;
    int in_order = known > 0 && known < 8 && mask == (uint64_t)0xff << (8 * known) &&
                   relocation->offset == init->masked_offset + known;
    PtxRelocation *last =
        in_order ? (PtxRelocation *)p->relocations.item + p->relocations.count - 1 : NULL;
    if (!last || strcmp(relocation->symbol, last->symbol) != 0 ||
        relocation->addend != last->addend || relocation->generic != last->generic)
        return parser_fail(p, line, "the bytes of an address are not in order");
    last->bytes = ++init->masked_bytes;
    return 0;
}

static int element_parse(Parser *p, Initialiser *init, uint64_t index)
{
    PtxRelocation relocation = {.offset = index * init->element, .bytes = init->element};
    if (p->token.kind == TOKEN_NAME && p->token.name->keyword != KEY_WARP_SIZE) {
        if (init->element != 8 && init->element != 4)
            return parser_fail(p, p->token.line, "an address does not fit %u bytes", init->element);
        return address_parse(p, &relocation) || relocation_add(p, &relocation)
                   ? -1
                   : element_store(p, init, index, 0);
    }
    Constant value;
    if (constant_parse(p, &value)) return -1;
    if (lexer_is(p, '('))
        return masked_parse(p, init, value.bits, &relocation) ? -1
                                                              : element_store(p, init, index, 0);
    return element_store(p, init, index, element_bits(init->type, &value));
}

/* One brace level, whose elements start at *index; a nested level spans *span elements, one nested
 * in that span[1]... */
static int level_parse(Parser *p, Initialiser *init, const uint64_t *span, unsigned levels,
                       uint64_t *index)
{
    if (lexer_next(p)) return -1;
    while (!lexer_is(p, '}')) {
        if (lexer_is(p, '{')) {
            if (levels == 0) return parser_fail(p, p->token.line, "more braces than dimensions");
            uint64_t group = *index;
            if (level_parse(p, init, span + 1, levels - 1, index)) return -1;
            if (*index - group > *span)
                return parser_fail(p, p->token.line, "more initial values than a row has room for");
            *index = group + *span;
        } else if (element_parse(p, init, (*index)++)) {
            return -1;
        }
        int comma = lexer_accept(p, ',');
        if (comma < 0) return -1;
        if (!comma && !lexer_is(p, '}'))
            return parser_expected(p, "',' or '}' in an initial value");
    }
    return lexer_next(p);
}

/* Elements that one entry of each brace level spans, outermost first. */
static unsigned level_spans(const Shape *shape, uint64_t span[8])
{
    unsigned levels = 0;
    uint64_t elements = shape->vector;
    if (shape->vector > 1) span[levels++] = elements;
    for (uint32_t i = shape->dims; i-- > 1;) {
        elements *= shape->extent[i];
        span[levels++] = elements;
    }
    for (unsigned i = 0; i < levels / 2; i++) {
        uint64_t swap = span[i];
        span[i] = span[levels - 1 - i];
        span[levels - 1 - i] = swap;
    }
    return levels;
}

static int data_keep(Parser *p, PtxVariable *variable, uint32_t line)
{
    if (variable->bytes > PTX_MAX_INITIALISED - p->initialised_bytes)
        return initialised_refuse(p, line);
    p->initialised_bytes += variable->bytes;
    variable->data = arena_zeroed(p->arena, variable->bytes);
    if (!variable->data) return parser_out_of_memory(p);
    if (p->data.count) memcpy(variable->data, p->data.item, p->data.count);
    variable->relocation_count = (uint32_t)p->relocations.count;
    variable->relocation =
        parser_copy(p, p->relocations.item, p->relocations.count * sizeof(PtxRelocation));
    return variable->relocation ? 0 : -1;
}

int initialiser_parse(Parser *p, PtxVariable *variable, const Shape *shape)
{
    uint32_t line = p->token.line;
    uint64_t span[9], index = 0;
    unsigned levels = level_spans(shape, span);
    Initialiser init = {.type = variable->type, .element = shape->element};
    init.most = shape->open ? UINT64_MAX / shape->element : variable->bytes / shape->element;
    p->data.count = 0;
    p->relocations.count = 0;
    if (variable->is_extern || (variable->space != PTX_GLOBAL && variable->space != PTX_CONST))
        return parser_fail(p, line, "an initial value for '%.80s', which cannot have one",
                           variable->name);
    if (lexer_next(p) || (lexer_is(p, '{') ? level_parse(p, &init, span, levels, &index)
                                           : element_parse(p, &init, 0)))
        return -1;
    if (shape->open) {
        uint64_t row = levels ? span[0] * shape->element : shape->element;
        variable->bytes = (p->data.count + row - 1) / row * row;
        if (variable->bytes == 0) return parser_fail(p, line, "an array of no elements");
    }
    return data_keep(p, variable, line);
}
