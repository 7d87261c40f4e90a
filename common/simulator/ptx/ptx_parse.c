/* ptx_parse.c - a module: its directives, and the resulting tree. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/ptx/ptx_parser.h"

typedef struct Alias {
    Name *name, *of;
    uint32_t line;
} Alias;

/* ---- directives of the module ---- */

/* ".version 9.0", which the tokens take for a decimal number. */
static int version_parse(Parser *p)
{
    if (lexer_next(p)) return -1;
    const char *at = p->token.start, *end = at + p->token.length;
    uint32_t part[2] = {0, 0};
    int which = 0;
    if (p->token.kind != TOKEN_FLOAT && p->token.kind != TOKEN_INTEGER)
        return parser_expected(p, "a version");
    for (; at < end; at++) {
        if (*at == '.' && which == 0)
            which = 1;
        else if (*at >= '0' && *at <= '9' && part[which] < 1000)
            part[which] = 10 * part[which] + (uint32_t)(*at - '0');
        else
            return parser_expected(p, "a version such as 9.0");
    }
    p->module->version_major = part[0];
    p->module->version_minor = part[1];
    return lexer_next(p);
}

/* "sm_90a" */
static int target_read(Parser *p, const char *text)
{
    char *end;
    unsigned long target = strtoul(text + 3, &end, 10);
    int suffix = *end;
    if (end == text + 3 || target == 0 || target > 9999 || (suffix && end[1]))
        return parser_expected(p, "a target such as sm_90");
    p->module->target = (uint32_t)target;
    p->module->target_suffix = (char)suffix;
    return 0;
}

static int target_parse(Parser *p)
{
    int comma;
    do {
        if (lexer_next(p)) return -1;
        if (p->token.kind != TOKEN_NAME) return parser_expected(p, "a target");
        const char *text = p->token.name->text;
        if (strncmp(text, "sm_", 3) == 0 && target_read(p, text)) return -1;
        if (lexer_next(p)) return -1;
        comma = lexer_is(p, ',');
    } while (comma);
    return 0;
}

static int address_size_parse(Parser *p)
{
    uint64_t bits;
    uint32_t line = p->token.line;
    if (lexer_next(p) || constant_count(p, UINT32_MAX, "an address size", &bits)) return -1;
    return bits == 64
               ? 0
               : parser_fail(p, line, "addresses of %u bits; only 64 is supported", (unsigned)bits);
}

static int alias_parse(Parser *p)
{
    Name *name[2];
    uint32_t line = p->token.line;
    for (int i = 0; i < 2; i++) {
        if (lexer_next(p)) return -1;
        if (p->token.kind != TOKEN_NAME)
            return parser_expected(p, "a function's name after .alias");
        name[i] = p->token.name;
        if (lexer_next(p)) return -1;
        if (i == 0 && !lexer_is(p, ',')) return parser_expected(p, "','");
    }
    Alias *alias = stack_push(p, &p->aliases);
    if (!alias) return -1;
    *alias = (Alias){name[0], name[1], line};
    return lexer_expect(p, ';', "';' after .alias");
}

/* A function or variable with its optional linkage directives: .visible, .extern, .weak,
 * .common. */
static int symbol_parse(Parser *p)
{
    int is_extern = 0;
    for (;;) {
        Keyword keyword = p->token.kind == TOKEN_WORD ? p->token.name->keyword : KEY_NONE;
        switch (keyword) {
        case KEY_EXTERN:
            is_extern = 1;
            break;
        case KEY_VISIBLE:
        case KEY_WEAK:
        case KEY_COMMON:
            break;
        case KEY_ENTRY:
        case KEY_FUNC:
            return function_parse(p, keyword == KEY_ENTRY);
        default:
            if (keyword_space(keyword) == PTX_SPACE_NONE) return parser_expected(p, "a directive");
            return declaration_parse(p, keyword_space(keyword), is_extern);
        }
        if (lexer_next(p)) return -1;
    }
}

static int module_item_parse(Parser *p)
{
    PtxSource ignored = p->source;
    int result;
    if (p->token.kind != TOKEN_WORD) return parser_expected(p, "a directive");
    switch (p->token.name->keyword) {
    case KEY_VERSION:
        return version_parse(p);
    case KEY_TARGET:
        return target_parse(p);
    case KEY_ADDRESS_SIZE:
        return address_size_parse(p);
    case KEY_FILE:
        return directive_file(p);
    case KEY_SECTION:
        return directive_section(p);
    case KEY_PRAGMA:
        return directive_pragma(p);
    case KEY_ALIAS:
        return alias_parse(p);
    case KEY_LOC:
        result = directive_loc(p);
        p->source = ignored;
        return result;
    default:
        return symbol_parse(p);
    }
}

static int module_parse(Parser *p)
{
    if (lexer_next(p)) return -1;
    if (!lexer_is_key(p, TOKEN_WORD, KEY_VERSION))
        return parser_expected(p, "'.version' at the start");
    while (p->token.kind != TOKEN_END) {
        if (module_item_parse(p)) return -1;
    }
    return p->module->target ? 0 : parser_fail(p, p->line, "no '.target' directive");
}

/* ---- the finished module ---- */

static FunctionEntry *function_find(Parser *p, const Name *name)
{
    const Binding *binding = name->binding;
    return binding && binding->kind == BOUND_FUNCTION
               ? (FunctionEntry *)p->functions.item + binding->index
               : NULL;
}

static int aliases_apply(Parser *p)
{
    const Alias *alias = p->aliases.item;
    for (size_t i = 0; i < p->aliases.count; i++) {
        FunctionEntry *of = function_find(p, alias[i].of);
        FunctionEntry *entry = function_find(p, alias[i].name);
        if (!of || !of->has_body || !entry || entry->has_body)
            return parser_fail(p, alias[i].line,
                               "'.alias %.80s, %.80s' needs a declared and a defined function",
                               alias[i].name->text, alias[i].of->text);
        *entry = *of;
        entry->function.name = alias[i].name->text;
    }
    return 0;
}

/* Files may be numbered after the code that names them; numbers without a file are unknown. */
static void sources_check(const PtxModule *module, PtxFunction *function)
{
    for (uint32_t i = 0; i < function->instructions; i++) {
        PtxSource *source = &function->instruction[i].source;
        if (source->file >= module->files) source->file = UINT32_MAX;
        if (source->inlined_line && source->inlined_file >= module->files)
            source->inlined_file = UINT32_MAX;
    }
}

static int module_finish(Parser *p)
{
    PtxModule *module = p->module;
    if (aliases_apply(p) || scope_close(p)) return -1;
    module->variables = (uint32_t)p->module_variables.count;
    module->variable =
        parser_copy(p, p->module_variables.item, module->variables * sizeof(PtxVariable));
    module->files = (uint32_t)p->files.count;
    module->file = parser_copy(p, p->files.item, module->files * sizeof(char *));
    module->functions = (uint32_t)p->functions.count;
    module->function = parser_alloc(p, module->functions * sizeof(PtxFunction));
    if (!module->variable || !module->file || !module->function) return -1;
    const VariableUse *use = p->module_uses.item;
    for (size_t i = 0; i < p->module_uses.count; i++)
        use[i].operand->variable = &module->variable[use[i].index];
    const FunctionEntry *entry = p->functions.item;
    for (uint32_t i = 0; i < module->functions; i++) {
        module->function[i] = entry[i].function;
        module->function[i].is_extern = !entry[i].has_body;
        sources_check(module, &module->function[i]);
    }
    return 0;
}

/* ---- the parser itself ---- */

static void parser_close(Parser *p)
{
    Stack *stack[] = {&p->fixups,    &p->variable_uses, &p->module_uses, &p->files,
                      &p->functions, &p->aliases,       &p->registers,   &p->module_variables,
                      &p->variables, &p->instructions,  &p->parameters,  &p->elements,
                      &p->labels,    &p->data,          &p->relocations};
    for (size_t i = 0; i < sizeof stack / sizeof *stack; i++)
        free(stack[i]->item);
    free(p->table);
    free(p);
}

static Parser *parser_open(const char *text, size_t bytes, Error *error)
{
    Parser *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->at = text;
    p->end = text + bytes;
    p->line = 1;
    p->error = error;
    p->fixups.size = sizeof(Fixup);
    p->variable_uses.size = p->module_uses.size = sizeof(VariableUse);
    p->files.size = sizeof(char *);
    p->functions.size = sizeof(FunctionEntry);
    p->aliases.size = sizeof(Alias);
    p->registers.size = sizeof(PtxRegister);
    p->variables.size = p->module_variables.size = p->parameters.size = sizeof(PtxVariable);
    p->instructions.size = sizeof(PtxInstruction);
    p->elements.size = sizeof(PtxOperand);
    p->labels.size = sizeof(Name *);
    p->data.size = 1;
    p->relocations.size = sizeof(PtxRelocation);
    return p;
}

PtxModule *ptx_parse(const char *text, size_t bytes, Error *error)
{
    if (bytes > PTX_MAX_TEXT) {
        error_set(error, "PTX of %zu bytes; the limit is %zu MiB", bytes, PTX_MAX_TEXT >> 20);
        return NULL;
    }
    while (bytes > 0 && text[bytes - 1] == 0) /* fat binaries pad with NUL bytes */
        bytes--;
    Parser *p = parser_open(text, bytes, error);
    Arena *arena = p ? arena_open() : NULL;
    PtxModule *module = arena ? arena_zeroed(arena, sizeof *module) : NULL;
    if (!module) {
        error_set(error, "out of memory");
        if (p) parser_close(p);
        arena_close(arena);
        return NULL;
    }
    p->arena = arena;
    p->module = module;
    module->arena = arena;
    int failed = names_open(p) || module_parse(p) || module_finish(p);
    parser_close(p);
    if (failed) {
        arena_close(arena);
        return NULL;
    }
    return module;
}

void ptx_free(PtxModule *module)
{
    if (module) arena_close(module->arena);
}
