/* statements.c - mutations of statements, loops and conditions: omission, other bounds or steps,
 * constant conditions. */
#include "autograder/mutate/mutants_parts.h"

/* Mutates the statement that starts at token i; returns the token after it. */
static size_t statement_mutate(Rewriter *rewriter, size_t i);

/* The token after the next `sign` outside of brackets, from i on and before `end`; `end` if there
 * is none. */
static size_t find_behind(const Rewriter *rewriter, size_t i, size_t end, const char *sign)
{
    const Tokens *tokens = rewriter->tokens;
    for (; i < end; i++) {
        if (token_is(tokens, i, sign)) return i + 1;
        if (token_among(tokens, i, "( [ {")) i = tokens->token[i].partner;
    }
    return end;
}

/* Whether it is a declaration, which cannot be omitted: "int i", "const float *in", "Tile tile". */
static int is_declaration(const Rewriter *rewriter, size_t i)
{
    const Tokens *tokens = rewriter->tokens;
    if (token_among(tokens, i, "return goto delete")) return 0;
    if (tokens->token[i].kind != TOKEN_WORD) return 0;
    do
        i++;
    while (token_among(tokens, i, "* &"));
    return i < tokens->tokens && tokens->token[i].kind == TOKEN_WORD;
}

/* for (begin; condition; step): brackets at tokens `open` and `close`. */
static void loop_mutate(Rewriter *rewriter, size_t open, size_t close)
{
    const Tokens *tokens = rewriter->tokens;
    size_t condition = find_behind(rewriter, open + 1, close, ";");
    size_t step = find_behind(rewriter, condition, close, ";");
    for (size_t at = open + 1; at + 1 < condition; at++) {
        size_t end = find_behind(rewriter, at + 1, condition, ",");
        int one = end == at + 3 && tokens->token[at + 1].kind == TOKEN_NUMBER; /* a constant */
        if (!token_is(tokens, at, "=") || one) continue;
        rewrite(rewriter, "loop", at + 1, end - 1, "%s + 1");
        rewrite(rewriter, "loop", at + 1, end - 1, "%s - 1");
    }
    for (size_t at = condition; at + 1 < step; at++)
        if (token_among(tokens, at, "< <= > >="))
            rewrite(rewriter, "loop", at + 1, step - 1, "%s - 1");
    for (size_t at = step; at < close; at++) {
        if (token_among(tokens, at, "+= -="))
            rewrite(rewriter, "loop", at + 1, find_behind(rewriter, at + 1, close, ","), "%s + 1");
        if (token_is(tokens, at, "++")) rewrite(rewriter, "loop", at, at + 1, " += 2");
    }
}

static size_t control_mutate(Rewriter *rewriter, size_t i)
{
    const Tokens *tokens = rewriter->tokens;
    size_t open = i + 1, close = tokens->token[open].partner;
    int loops = !token_is(tokens, i, "if");
    if (token_is(tokens, i, "for")) {
        loop_mutate(rewriter, open, close);
    } else {
        if (!loops) rewrite(rewriter, "condition", open + 1, close, "1");
        rewrite(rewriter, "condition", open + 1, close, "0");
    }
    size_t end = statement_mutate(rewriter, close + 1);
    if (loops) rewrite(rewriter, "statement", i, end, ";");
    if (!loops && token_is(tokens, end, "else")) end = statement_mutate(rewriter, end + 1);
    return end;
}

static size_t block_mutate(Rewriter *rewriter, size_t i)
{
    size_t close = rewriter->tokens->token[i].partner;
    for (i++; i < close && i < rewriter->end;)
        i = statement_mutate(rewriter, i);
    return close + 1;
}

static size_t statement_mutate(Rewriter *rewriter, size_t i)
{
    const Tokens *tokens = rewriter->tokens;
    if (i >= rewriter->end) return rewriter->end;
    if (token_is(tokens, i, "{")) return block_mutate(rewriter, i);
    if (token_among(tokens, i, "if for while") && token_is(tokens, i + 1, "("))
        return control_mutate(rewriter, i);
    size_t end = find_behind(rewriter, i, rewriter->end, ";");
    if (!is_declaration(rewriter, i) && end > i + 1) rewrite(rewriter, "statement", i, end, ";");
    return end;
}

void statements_mutate(Rewriter *rewriter)
{
    for (size_t i = rewriter->first; i < rewriter->end;)
        i = statement_mutate(rewriter, i);
}
