/* ptx_directive.c - directives that are allowed inside and outside functions: source locations and
 * hints. */
#include <string.h>

#include "common/simulator/ptx/ptx_parser.h"

static int location_parse(Parser *p, uint32_t *file, uint32_t *line, uint32_t *column)
{
    uint64_t value[3];
    for (int i = 0; i < 3; i++) {
        if (constant_count(p, UINT32_MAX, "a number of a source location", &value[i])) return -1;
    }
    *file = value[0] ? (uint32_t)value[0] - 1 : UINT32_MAX;
    *line = (uint32_t)value[1];
    *column = (uint32_t)value[2];
    return 0;
}

/* Functions inlined in one another have a .loc each, the outer ones first. */
static int caller_find(Parser *p, PtxSource *source)
{
    uint32_t kept = p->inlines < PTX_NEST ? p->inlines : PTX_NEST;
    for (uint32_t back = 1; back <= kept && !source->caller; back++) {
        const PtxSource *outer = p->inlined[(p->inlines - back) % PTX_NEST];
        if (outer->file == source->inlined_file && outer->line == source->inlined_line)
            source->caller = outer;
    }
    const PtxSource *copy = parser_copy(p, source, sizeof *source);
    if (!copy) return -1;
    p->inlined[p->inlines++ % PTX_NEST] = copy;
    return 0;
}

/* ".loc 2 91 5, function_name $L__info_string0, inlined_at 1 28 3" */
int directive_loc(Parser *p)
{
    PtxSource source = {0};
    uint32_t column;
    if (lexer_next(p) || location_parse(p, &source.file, &source.line, &source.column)) return -1;
    while (lexer_is(p, ',')) {
        if (lexer_next(p)) return -1;
        if (lexer_is_key(p, TOKEN_NAME, KEY_INLINED_AT)) {
            if (lexer_next(p) ||
                location_parse(p, &source.inlined_file, &source.inlined_line, &column))
                return -1;
        } else if (lexer_is_key(p, TOKEN_NAME, KEY_FUNCTION_NAME)) {
            if (lexer_next(p)) return -1;
            if (p->token.kind != TOKEN_NAME)
                return parser_expected(p, "a label after function_name");
            Constant offset;
            if (lexer_next(p) || (lexer_is(p, '+') && constant_parse(p, &offset))) return -1;
        } else {
            return parser_expected(p, "function_name or inlined_at");
        }
    }
    if (source.inlined_line && caller_find(p, &source) != 0) return -1;
    p->source = source;
    return 0;
}

int directive_pragma(Parser *p)
{
    static const char NOUNROLL[] = "nounroll";
    int comma;
    do {
        if (lexer_next(p)) return -1;
        if (p->token.kind != TOKEN_STRING) return parser_expected(p, "a string after .pragma");
        if (p->token.length == sizeof NOUNROLL - 1 &&
            !memcmp(p->token.start, NOUNROLL, p->token.length))
            p->nounroll = 1;
        if (lexer_next(p)) return -1;
        comma = lexer_is(p, ',');
    } while (comma);
    return lexer_expect(p, ';', "';' after .pragma");
}

/* ".file 1 "t.cu"[, time, size]" */
int directive_file(Parser *p)
{
    uint64_t number, ignored;
    if (lexer_next(p) || constant_count(p, PTX_MAX_FILES, "a file's number", &number)) return -1;
    if (p->token.kind != TOKEN_STRING) return parser_expected(p, "a file's name");
    char *text = parser_alloc(p, (size_t)p->token.length + 1);
    if (!text) return -1;
    memcpy(text, p->token.start, p->token.length);
    text[p->token.length] = 0;
    if (number > 0) {
        if (stack_extend(p, &p->files, number)) return -1;
        ((const char **)p->files.item)[number - 1] = text;
    }
    if (lexer_next(p)) return -1;
    while (lexer_is(p, ',')) {
        if (lexer_next(p) || constant_count(p, UINT64_MAX, "a file's time or size", &ignored))
            return -1;
    }
    return 0;
}

/* ".section .debug_info { ... }": for a debugger. */
int directive_section(Parser *p)
{
    if (lexer_next(p)) return -1;
    if (p->token.kind != TOKEN_WORD && p->token.kind != TOKEN_NAME)
        return parser_expected(p, "a section's name");
    if (lexer_next(p)) return -1;
    if (!lexer_is(p, '{')) return parser_expected(p, "'{' after a section's name");
    while (!lexer_is(p, '}')) {
        if (p->token.kind == TOKEN_END) return parser_expected(p, "'}' at the end of a section");
        if (lexer_next(p)) return -1;
    }
    return lexer_next(p);
}
