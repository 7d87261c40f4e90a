/* ptx_number.c - literals and constant expressions. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/ptx/ptx_parser.h"

/* ---- literals ---- */

static int is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int number_bad(Parser *p, const char *from, const char *to)
{
    int length = to - from < 60 ? (int)(to - from) : 60;
    return parser_fail(p, p->line, "'%.*s' is not a number", length, from);
}

/* The digits of `base` between from and to; overflow is an error. */
static int digits_read(Parser *p, const char *from, const char *to, unsigned base, uint64_t *value)
{
    const char *start = from;
    *value = 0;
    if (from == to) return number_bad(p, from, to);
    for (; from < to; from++) {
        char c = *from;
        unsigned digit = is_digit(c)              ? (unsigned)(c - '0')
                         : (c >= 'a' && c <= 'f') ? (unsigned)(c - 'a') + 10
                         : (c >= 'A' && c <= 'F') ? (unsigned)(c - 'A') + 10
                                                  : 99;
        if (digit >= base) return number_bad(p, start, to);
        if (*value > (UINT64_MAX - digit) / base)
            return parser_fail(p, p->line, "'%.*s' does not fit 64 bits",
                               to - start < 60 ? (int)(to - start) : 60, start);
        *value = *value * base + digit;
    }
    return 0;
}

static int integer_read(Parser *p, const char *from, const char *to)
{
    Token *t = &p->token;
    t->kind = TOKEN_INTEGER;
    t->is_unsigned = to[-1] == 'U';
    const char *end = to - t->is_unsigned;
    if (end - from > 2 && from[0] == '0' && (from[1] == 'x' || from[1] == 'X'))
        return digits_read(p, from + 2, end, 16, &t->integer);
    if (end - from > 2 && from[0] == '0' && (from[1] == 'b' || from[1] == 'B'))
        return digits_read(p, from + 2, end, 2, &t->integer);
    return digits_read(p, from, end, from[0] == '0' ? 8 : 10, &t->integer);
}

/* 1.5, 2e-3: the part after the digits. Every value is a double, as the PTX ISA specifies. */
static const char *decimal_end(const char *at, const char *end)
{
    while (at < end && is_digit(*at))
        at++;
    if (at < end && *at == '.') {
        at++;
        while (at < end && is_digit(*at))
            at++;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        const char *digits = at + 1;
        if (digits < end && (*digits == '+' || *digits == '-')) digits++;
        if (digits < end && is_digit(*digits)) {
            at = digits;
            while (at < end && is_digit(*at))
                at++;
        }
    }
    return at;
}

static int decimal_read(Parser *p, const char *from, const char *to)
{
    char text[64], *end;
    if ((size_t)(to - from) >= sizeof text || (to < p->end && is_word(*to)))
        return number_bad(p, from, to);
    memcpy(text, from, (size_t)(to - from));
    text[to - from] = 0;
    double value = strtod(text, &end);
    if (*end) return number_bad(p, from, to);
    p->token.kind = TOKEN_FLOAT;
    p->token.is_double = 1;
    memcpy(&p->token.integer, &value, sizeof value);
    return 0;
}

int number_read(Parser *p, const char *from, const char *end, const char **after)
{
    const char *to = from;
    while (to < end && is_word(*to))
        to++;
    const char *decimal = decimal_end(from, end);
    int result;
    int has_exponent =
        memchr(from, 'e', (size_t)(to - from)) || memchr(from, 'E', (size_t)(to - from));
    if (decimal > to || (decimal == to && has_exponent)) {
        to = decimal;
        result = decimal_read(p, from, to);
    } else if (to - from > 1 && from[0] == '0' && (from[1] | 32) == 'f') {
        p->token.kind = TOKEN_FLOAT;
        p->token.is_double = 0;
        result = to - from != 10 ? number_bad(p, from, to)
                                 : digits_read(p, from + 2, to, 16, &p->token.integer);
    } else if (to - from > 1 && from[0] == '0' && (from[1] | 32) == 'd') {
        p->token.kind = TOKEN_FLOAT;
        p->token.is_double = 1;
        result = to - from != 18 ? number_bad(p, from, to)
                                 : digits_read(p, from + 2, to, 16, &p->token.integer);
    } else {
        result = integer_read(p, from, to);
    }
    p->token.length = (uint32_t)(to - from);
    *after = to;
    return result;
}

/* ---- expressions ---- */

static int expression_parse(Parser *p, Constant *value, unsigned lowest, unsigned depth);

static int operator_level(const Parser *p)
{
    if (p->token.kind != TOKEN_SYMBOL) return 0;
    switch (p->token.symbol) {
    case '*':
    case '/':
    case '%':
        return 10;
    case '+':
    case '-':
        return 9;
    case SYMBOL_PAIR('<', '<'):
    case SYMBOL_PAIR('>', '>'):
        return 8;
    case '<':
    case '>':
    case SYMBOL_PAIR('<', '='):
    case SYMBOL_PAIR('>', '='):
        return 7;
    case SYMBOL_PAIR('=', '='):
    case SYMBOL_PAIR('!', '='):
        return 6;
    case '&':
        return 5;
    case '^':
        return 4;
    case '|':
        return 3;
    case SYMBOL_PAIR('&', '&'):
        return 2;
    case SYMBOL_PAIR('|', '|'):
        return 1;
    default:
        return 0;
    }
}

static uint64_t divide(uint64_t a, uint64_t b, int is_unsigned, int remainder)
{
    if (is_unsigned) return remainder ? a % b : a / b;
    if (b == UINT64_MAX) /* -1: the one divisor that can overflow */
        return remainder ? 0 : 0 - a;
    return (uint64_t)(remainder ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static uint64_t shift(uint64_t a, uint64_t b, int is_unsigned, int left)
{
    if (left) return b < 64 ? a << b : 0;
    uint64_t sign = !is_unsigned && a >> 63 ? UINT64_MAX : 0;
    return b >= 64 ? sign : b == 0 ? a : a >> b | sign << (64 - b);
}

static uint64_t less(uint64_t a, uint64_t b, int is_unsigned)
{
    uint64_t flip = is_unsigned ? 0 : (uint64_t)1 << 63;
    return (a ^ flip) < (b ^ flip);
}

static uint64_t combine(int symbol, uint64_t a, uint64_t b, int is_unsigned)
{
    switch (symbol) {
    case '*':
        return a * b;
    case '/':
    case '%':
        return divide(a, b, is_unsigned, symbol == '%');
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '<':
        return less(a, b, is_unsigned);
    case '>':
        return less(b, a, is_unsigned);
    case '&':
        return a & b;
    case '^':
        return a ^ b;
    case '|':
        return a | b;
    case SYMBOL_PAIR('<', '<'):
    case SYMBOL_PAIR('>', '>'):
        return shift(a, b, is_unsigned, symbol == SYMBOL_PAIR('<', '<'));
    case SYMBOL_PAIR('<', '='):
        return !less(b, a, is_unsigned);
    case SYMBOL_PAIR('>', '='):
        return !less(a, b, is_unsigned);
    case SYMBOL_PAIR('=', '='):
        return a == b;
    case SYMBOL_PAIR('!', '='):
        return a != b;
    case SYMBOL_PAIR('&', '&'):
        return a && b;
    default:
        return a || b;
    }
}

/* "(4 + 8)", "(.s64) 3" or "(.u64) 3". */
static int group_parse(Parser *p, Constant *value, unsigned depth)
{
    if (lexer_next(p)) return -1;
    if (p->token.kind == TOKEN_WORD &&
        (p->token.name->type == PTX_S64 || p->token.name->type == PTX_U64)) {
        int is_unsigned = p->token.name->type == PTX_U64;
        if (lexer_next(p) || lexer_expect(p, ')', "')'") ||
            expression_parse(p, value, 11, depth + 1))
            return -1;
        value->is_unsigned = is_unsigned;
        return 0;
    }
    return expression_parse(p, value, 0, depth + 1) || lexer_expect(p, ')', "')'") ? -1 : 0;
}

static int unary_parse(Parser *p, Constant *value, unsigned depth)
{
    int symbol = p->token.symbol;
    uint32_t line = p->token.line;
    if (lexer_next(p) || expression_parse(p, value, 11, depth + 1)) return -1;
    if (value->is_float) {
        if (symbol == '-') value->bits ^= (uint64_t)1 << (value->is_double ? 63 : 31);
        return symbol == '-' || symbol == '+'
                   ? 0
                   : parser_fail(p, line, "'%c' before a floating-point constant", symbol);
    }
    value->bits = symbol == '-'   ? 0 - value->bits
                  : symbol == '~' ? ~value->bits
                  : symbol == '!' ? !value->bits
                                  : value->bits;
    return 0;
}

static int primary_parse(Parser *p, Constant *value, unsigned depth)
{
    const Token *t = &p->token;
    if (depth > PTX_MAX_NESTING)
        return parser_fail(p, t->line, "an expression nested deeper than %d", PTX_MAX_NESTING);
    if (lexer_is(p, '(')) return group_parse(p, value, depth);
    if (lexer_is(p, '-') || lexer_is(p, '+') || lexer_is(p, '~') || lexer_is(p, '!'))
        return unary_parse(p, value, depth);
    *value = (Constant){0};
    if (t->kind == TOKEN_FLOAT) {
        value->is_float = 1;
        value->is_double = t->is_double;
        value->bits = t->integer;
    } else if (t->kind == TOKEN_INTEGER) {
        value->is_unsigned = t->is_unsigned || t->integer > INT64_MAX;
        value->bits = t->integer;
    } else if (lexer_is_key(p, TOKEN_NAME, KEY_WARP_SIZE)) {
        value->bits = 32;
    } else {
        return parser_expected(p, "a number");
    }
    return lexer_next(p);
}

static int expression_parse(Parser *p, Constant *value, unsigned lowest, unsigned depth)
{
    if (primary_parse(p, value, depth)) return -1;
    for (;;) {
        int level = operator_level(p);
        if (level == 0 || level < (int)lowest) break;
        int symbol = p->token.symbol;
        uint32_t line = p->token.line;
        Constant right;
        if (lexer_next(p) || expression_parse(p, &right, (unsigned)level + 1, depth + 1)) return -1;
        if (value->is_float || right.is_float)
            return parser_fail(p, line, "arithmetic on a floating-point constant");
        if ((symbol == '/' || symbol == '%') && right.bits == 0)
            return parser_fail(p, line, "a constant divided by zero");
        value->is_unsigned |= right.is_unsigned;
        value->bits = combine(symbol, value->bits, right.bits, value->is_unsigned);
    }
    if (lowest > 0 || !lexer_is(p, '?')) return 0;
    Constant yes, no;
    if (lexer_next(p) || expression_parse(p, &yes, 0, depth + 1) || lexer_expect(p, ':', "':'") ||
        expression_parse(p, &no, 0, depth + 1))
        return -1;
    *value = value->bits ? yes : no;
    return 0;
}

int constant_parse(Parser *p, Constant *value)
{
    return expression_parse(p, value, 0, 0);
}

int constant_count(Parser *p, uint64_t most, const char *what, uint64_t *value)
{
    uint32_t line = p->token.line;
    if (p->token.kind != TOKEN_INTEGER) return parser_expected(p, what);
    Constant constant;
    /* Not a whole expression: in %r<4>, the number ends at the '>'. */
    if (primary_parse(p, &constant, 0)) return -1;
    if (constant.bits > most)
        return parser_fail(p, line, "%s is %llu; the limit is %llu", what,
                           (unsigned long long)constant.bits, (unsigned long long)most);
    *value = constant.bits;
    return 0;
}
