/* ptx_lex.c - PTX text into tokens. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/simulator/ptx/ptx_parser.h"

enum { CLASS_NAME = 1, CLASS_START = 2, CLASS_DIGIT = 4, CLASS_SPACE = 8 };

static unsigned char_class(char character)
{
    unsigned char c = (unsigned char)character;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$')
        return CLASS_NAME | CLASS_START;
    if (c >= '0' && c <= '9') return CLASS_NAME | CLASS_DIGIT;
    if (c == '%') return CLASS_START;
    return c == ' ' || (c >= '\t' && c <= '\r') ? CLASS_SPACE : 0;
}

int parser_fail(Parser *p, uint32_t line, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(p->error, "PTX line %u: %s", line, text);
}

int parser_out_of_memory(Parser *p)
{
    return parser_fail(p, p->line, "out of memory (at most %zu MiB for one module)",
                       PTX_MAX_ARENA >> 20);
}

int parser_expected(Parser *p, const char *what)
{
    const Token *t = &p->token;
    if (t->kind == TOKEN_END)
        return parser_fail(p, t->line, "expected %s, found the end of the text", what);
    int length = t->length < 60 ? (int)t->length : 60;
    if (t->kind == TOKEN_STRING)
        return parser_fail(p, t->line, "expected %s, found a string", what);
    return parser_fail(p, t->line, "expected %s, found '%.*s%s'", what, length, t->start,
                       t->length > 60 ? "..." : "");
}

/* Skips a comment of either kind; p->at is after its first two characters. */
static int comment_skip(Parser *p, int block)
{
    uint32_t line = p->line;
    if (!block) {
        const char *newline = memchr(p->at, '\n', (size_t)(p->end - p->at));
        p->at = newline ? newline : p->end;
        return 0;
    }
    for (; p->at < p->end; p->at++) {
        if (*p->at == '\n') p->line++;
        if (*p->at == '*' && p->at + 1 < p->end && p->at[1] == '/') {
            p->at += 2;
            return 0;
        }
    }
    return parser_fail(p, line, "a comment that does not end");
}

static int space_skip(Parser *p)
{
    for (; p->at < p->end; p->at++) {
        char c = *p->at;
        if (c == '\n') {
            p->line++;
        } else if (c == '/' && p->at + 1 < p->end && (p->at[1] == '/' || p->at[1] == '*')) {
            int block = p->at[1] == '*';
            p->at += 2;
            if (comment_skip(p, block)) return -1;
            p->at--;
        } else if (!(char_class(c) & CLASS_SPACE)) {
            break;
        }
    }
    return 0;
}

/* From a letter, or the letter or digit after a dot, to the end of the word. */
static const char *word_end(const char *at, const char *end, int colons)
{
    for (;;) {
        while (at < end && char_class(*at) & CLASS_NAME)
            at++;
        if (!colons || end - at < 3 || at[0] != ':' || at[1] != ':' ||
            !(char_class(at[2]) & CLASS_NAME))
            return at;
        at += 2;
    }
}

static int token_name(Parser *p, TokenKind kind, const char *from, const char *to)
{
    if (to - from > PTX_MAX_NAME)
        return parser_fail(p, p->line, "a name of %td characters; the limit is %d", to - from,
                           PTX_MAX_NAME);
    p->token.kind = kind;
    p->token.length = (uint32_t)(to - p->token.start);
    p->token.name = name_intern(p, from, (size_t)(to - from));
    p->at = to;
    return p->token.name ? 0 : -1;
}

static int token_string(Parser *p)
{
    const char *at = p->at + 1;
    for (; at < p->end && *at != '"' && *at != '\n'; at++) {
        if (*at == '\\' && at + 1 < p->end && at[1] != '\n') at++;
    }
    if (at >= p->end || *at != '"')
        return parser_fail(p, p->line, "a string that does not end on its line");
    p->token.kind = TOKEN_STRING;
    p->token.start = p->at + 1;
    p->token.length = (uint32_t)(at - p->token.start);
    p->at = at + 1;
    return 0;
}

static int token_symbol(Parser *p)
{
    unsigned char c = (unsigned char)*p->at;
    char next = p->end - p->at > 1 ? p->at[1] : 0;
    p->token.kind = TOKEN_SYMBOL;
    p->token.symbol = c;
    p->token.length = 1;
    if (!memchr("@!{}()[]<>,;:=+-*/%&|^~?", c, 24) || c == 0) {
        const char *shown = c >= 0x20 && c < 0x7f ? "character '%c'" : "byte 0x%02x";
        char text[32];
        snprintf(text, sizeof text, shown, c);
        return parser_fail(p, p->line, "unexpected %s", text);
    }
    if ((next == c && memchr("<>&|=", c, 5)) || (next == '=' && memchr("<>!", c, 3))) {
        p->token.symbol = SYMBOL_PAIR(c, next);
        p->token.length = 2;
    }
    p->at += p->token.length;
    return 0;
}

int lexer_next(Parser *p)
{
    if (space_skip(p)) return -1;
    Token *t = &p->token;
    t->line = p->line;
    t->start = p->at;
    if (p->at >= p->end) {
        t->kind = TOKEN_END;
        t->length = 0;
        return 0;
    }
    unsigned class = char_class(*p->at);
    unsigned next = p->end - p->at > 1 ? char_class(p->at[1]) : 0;
    if (class & CLASS_START && (*p->at != '%' || next & CLASS_NAME))
        return token_name(p, TOKEN_NAME, p->at, word_end(p->at + 1, p->end, 0));
    if (*p->at == '.' && next & CLASS_NAME)
        return token_name(p, TOKEN_WORD, p->at + 1, word_end(p->at + 1, p->end, 1));
    if (class & CLASS_DIGIT) return number_read(p, p->at, p->end, &p->at);
    if (*p->at == '"') return token_string(p);
    return token_symbol(p);
}

int lexer_is(const Parser *p, int symbol)
{
    return p->token.kind == TOKEN_SYMBOL && p->token.symbol == symbol;
}

int lexer_is_key(const Parser *p, TokenKind kind, Keyword keyword)
{
    return p->token.kind == kind && p->token.name->keyword == keyword;
}

int lexer_accept(Parser *p, int symbol)
{
    if (!lexer_is(p, symbol)) return 0;
    return lexer_next(p) ? -1 : 1;
}

int lexer_expect(Parser *p, int symbol, const char *what)
{
    if (!lexer_is(p, symbol)) return parser_expected(p, what);
    return lexer_next(p);
}
