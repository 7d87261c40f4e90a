#include "autograder/mutate/tokens.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Operators of several characters, the longer ones first. */
static const char *const SIGNS[] = {"<<<", ">>>", "<<=", ">>=", "...", "->", "++", "--", "<<",
                                    ">>",  "<=",  ">=",  "==",  "!=",  "&&", "||", "+=", "-=",
                                    "*=",  "/=",  "%=",  "&=",  "|=",  "^=", "::"};

/* Skips blanks, comments and preprocessor lines, whose '#' is the first character of its line. */
static const char *skip(const char *text, const char *at)
{
    for (;;) {
        const char *before = at;
        while (isspace((unsigned char)*at))
            at++;
        if (!strncmp(at, "//", 2)) at += strcspn(at, "\n");
        if (!strncmp(at, "/*", 2)) {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        }
        if (*at == '#') {
            while (*at && (*at != '\n' || (at > text && at[-1] == '\\')))
                at++;
        }
        if (at == before) return at;
    }
}

static size_t quoted_bytes(const char *at)
{
    size_t n = 1;
    while (at[n] && at[n] != at[0])
        n += at[n] == '\\' && at[n + 1] ? 2 : 1;
    return n + (at[n] != 0);
}

static size_t word_bytes(const char *at, int number)
{
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_' || (number && at[n] == '.') ||
           (number && n && strchr("+-", at[n]) && strchr("eE", at[n - 1]) && at[n]))
        n++;
    return n;
}

static Token token_at(const char *text, const char *at)
{
    Token token = {.kind = TOKEN_SIGN, .begin = (size_t)(at - text)};
    size_t bytes = 1;
    if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
        token.kind = TOKEN_NUMBER;
        bytes = word_bytes(at, strncmp(at, "0x", 2) != 0);
    } else if (isalpha((unsigned char)*at) || *at == '_') {
        token.kind = TOKEN_WORD;
        bytes = word_bytes(at, 0);
    } else if (*at == '"' || *at == '\'') {
        token.kind = TOKEN_QUOTED;
        bytes = quoted_bytes(at);
    } else {
        for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++)
            if (bytes == 1 && !strncmp(at, SIGNS[i], strlen(SIGNS[i]))) bytes = strlen(SIGNS[i]);
    }
    token.end = token.begin + bytes;
    return token;
}

/* Finds the partner of each bracket. */
static int brackets_pair(Tokens *tokens)
{
    size_t *open = calloc(tokens->tokens + 1, sizeof *open), depth = 0;
    if (!open) return -1;
    for (size_t i = 0; i < tokens->tokens; i++) {
        if (token_among(tokens, i, "( [ {")) open[depth++] = i;
        if (!depth || !token_among(tokens, i, ") ] }")) continue;
        tokens->token[i].partner = open[--depth];
        tokens->token[open[depth]].partner = i;
    }
    free(open);
    return 0;
}

int tokens_read(const char *text, Tokens *tokens)
{
    *tokens = (Tokens){.text = text, .token = calloc(strlen(text) + 1, sizeof *tokens->token)};
    if (!tokens->token) return -1;
    for (const char *at = skip(text, text); *at; at = skip(text, at)) {
        Token *token = &tokens->token[tokens->tokens];
        *token = token_at(text, at);
        token->partner = tokens->tokens++;
        at = text + token->end;
    }
    if (!brackets_pair(tokens)) return 0;
    tokens_free(tokens);
    return -1;
}

void tokens_free(Tokens *tokens)
{
    free(tokens->token);
    *tokens = (Tokens){0};
}

int token_is(const Tokens *tokens, size_t i, const char *spelling)
{
    if (i >= tokens->tokens) return 0;
    const Token *token = &tokens->token[i];
    return strlen(spelling) == token->end - token->begin &&
           !strncmp(tokens->text + token->begin, spelling, strlen(spelling));
}

int token_among(const Tokens *tokens, size_t i, const char *list)
{
    if (i >= tokens->tokens) return 0;
    const Token *token = &tokens->token[i];
    for (size_t bytes; *list; list += bytes + (list[bytes] == ' ')) {
        bytes = strcspn(list, " ");
        if (bytes == token->end - token->begin &&
            !strncmp(tokens->text + token->begin, list, bytes))
            return 1;
    }
    return 0;
}
