/* tokens.h - tokens of CUDA C++ text, as far as mutations need them. */
#ifndef CONVLAB_AUTOGRADER_MUTATE_TOKENS_H
#define CONVLAB_AUTOGRADER_MUTATE_TOKENS_H

#include <stddef.h>

typedef enum TokenKind { TOKEN_WORD, TOKEN_NUMBER, TOKEN_QUOTED, TOKEN_SIGN } TokenKind;

typedef struct Token {
    TokenKind kind;
    size_t begin, end; /* bytes of the text */
    size_t partner;    /* index of the matching bracket; for another token, or without one, its own
                        * index */
} Token;

typedef struct Tokens {
    const char *text; /* borrowed */
    Token *token;
    size_t tokens;
} Tokens;

/* Comments and preprocessor lines are left out.  -1: out of memory. */
int tokens_read(const char *text, Tokens *tokens);
void tokens_free(Tokens *tokens);

/* Whether token i exists and is spelled so. */
int token_is(const Tokens *tokens, size_t i, const char *spelling);
/* Whether token i is one of "a b c". */
int token_among(const Tokens *tokens, size_t i, const char *list);

#endif
