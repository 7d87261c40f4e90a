/* expressions.c - mutations of one token, an index, or a part of a condition. */
#include <string.h>

#include "autograder/mutate/mutants_parts.h"

/* An operator and its replacement, for binary operators and for any number of operands. */
static const char *const BINARY[][2] = {
    {"+", "-"}, {"+", "*"}, {"-", "+"},   {"*", "+"},   {"*", "/"}, {"/", "*"}, {"/", "%"},
    {"%", "/"}, {"%", "*"}, {"<<", ">>"}, {">>", "<<"}, {"&", "|"}, {"|", "&"}, {"^", "|"}};
static const char *const ANY[][2] = {
    {"<", "<="},  {"<", ">="},  {"<=", "<"},  {"<=", ">"},  {">", ">="},    {">", "<="},
    {">=", ">"},  {">=", "<"},  {"==", "!="}, {"!=", "=="}, {"&&", "||"},   {"||", "&&"},
    {"+=", "-="}, {"+=", "="},  {"-=", "+="}, {"-=", "="},  {"*=", "+="},   {"*=", "="},
    {"/=", "*="}, {"/=", "="},  {"%=", "/="}, {"%=", "="},  {"<<=", ">>="}, {">>=", "<<="},
    {"&=", "|="}, {"|=", "&="}, {"++", "--"}, {"--", "++"}};

/* Pairs of names of the same kind. */
static const char *const PARTNERS[][2] = {{"r", "s"},
                                          {"R", "S"},
                                          {"h", "w"},
                                          {"H", "W"},
                                          {"P", "Q"},
                                          {"p", "q"},
                                          {"C", "K"},
                                          {"N", "K"},
                                          {"c", "k"},
                                          {"n", "k"},
                                          {"op", "oq"},
                                          {"ih", "iw"},
                                          {"h0", "w0"},
                                          {"k0", "j0"},
                                          {"n0", "k0"},
                                          {"c0", "k0"},
                                          {"tx", "ty"},
                                          {"x", "y"},
                                          {"y", "z"},
                                          {"x", "w"},
                                          {"f", "g"},
                                          {"i", "j"},
                                          {"row", "column"},
                                          {"rows", "columns"},
                                          {"row", "rows"},
                                          {"first", "end"},
                                          {"height", "width"},
                                          {"width", "pitch"},
                                          {"now", "then"},
                                          {"use", "read"},
                                          {"weight", "input"},
                                          {"weights", "inputs"},
                                          {"weight", "pixel"},
                                          {"weights", "pixels"},
                                          {"images", "filters"},
                                          {"nhwc", "chwn"},
                                          {"at", "x_at"},
                                          {"x_at", "w_at"},
                                          {"x_step", "w_step"},
                                          {"my_k", "my_column"},
                                          {"patch_p", "patch_q"},
                                          {"stride_h", "stride_w"},
                                          {"pad_top", "pad_left"},
                                          {"pad_top", "pad_bottom"},
                                          {"pad_left", "pad_right"},
                                          {"FILTERS", "COLUMNS"},
                                          {"IMAGES", "FILTERS"},
                                          {"IMAGES_PER_THREAD", "FILTERS_PER_THREAD"},
                                          {"THREADS_X", "THREADS_Y"},
                                          {"GROUP_K", "GROUP_J"},
                                          {"MINE_K", "MINE_J"},
                                          {"THREAD_K", "THREAD_J"},
                                          {"CHANNELS", "CACHED_PIXELS"},
                                          {"F_data", "K_data"},
                                          {"value", "place"},
                                          {"value", "row_index"},
                                          {"y0", "y1"},
                                          {"a", "b"},
                                          {"filters", "left"},
                                          {"filters", "rows_left"},
                                          {"pieces", "images"},
                                          {"slices", "images"}};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static int is_operand_end(const Tokens *tokens, size_t i)
{
    TokenKind kind = tokens->token[i].kind;
    if (kind == TOKEN_SIGN) return token_among(tokens, i, ") ]");
    return !token_among(tokens, i, "return const int unsigned float float2 float4 bool size_t");
}

static void sign_mutate(Rewriter *rewriter, size_t i)
{
    const Tokens *tokens = rewriter->tokens;
    int binary = i > 0 && is_operand_end(tokens, i - 1) && !token_among(tokens, i + 1, ") , >");
    for (size_t k = 0; k < COUNT(BINARY); k++)
        if (binary && token_is(tokens, i, BINARY[k][0]))
            rewrite(rewriter, "operator", i, i + 1, BINARY[k][1]);
    for (size_t k = 0; k < COUNT(ANY); k++)
        if (token_is(tokens, i, ANY[k][0])) rewrite(rewriter, "operator", i, i + 1, ANY[k][1]);
    if (token_among(tokens, i, "! ~") || (!binary && token_is(tokens, i, "-")))
        rewrite(rewriter, "operator", i, i + 1, "");
}

/* Whether the number is a launch's shared memory, in bytes, before its stream: one byte more that
 * no kernel uses is the same program. */
static int is_shared_bytes(const Tokens *tokens, size_t i)
{
    return token_is(tokens, i + 1, ",") && token_is(tokens, i + 2, "stream") &&
           token_is(tokens, i + 3, ">>>");
}

static void number_mutate(Rewriter *rewriter, size_t i)
{
    const Tokens *tokens = rewriter->tokens;
    if (token_is(tokens, i, "0")) {
        if (!is_shared_bytes(tokens, i)) rewrite(rewriter, "constant", i, i + 1, "1");
        rewrite(rewriter, "constant", i, i + 1, "-1");
        return;
    }
    rewrite(rewriter, "constant", i, i + 1, "(%s + 1)");
    if (token_is(tokens, i, "0.0f")) return;
    rewrite(rewriter, "constant", i, i + 1, "(%s - 1)");
    if (!token_among(tokens, i, "1 1u 1.0f")) rewrite(rewriter, "constant", i, i + 1, "0");
}

static int is_member(const Tokens *tokens, size_t i)
{
    return i > 0 && token_among(tokens, i - 1, ". ->");
}

/* Whether the source uses the name, as a member or not as one. */
static int is_used(const Tokens *tokens, const char *name, int member)
{
    for (size_t i = 0; i < tokens->tokens; i++)
        if (token_is(tokens, i, name) && is_member(tokens, i) == member) return 1;
    return 0;
}

static void word_mutate(Rewriter *rewriter, size_t i)
{
    const Tokens *tokens = rewriter->tokens;
    for (size_t k = 0; k < COUNT(PARTNERS); k++)
        for (int side = 0; side < 2; side++)
            if (token_is(tokens, i, PARTNERS[k][side]) &&
                is_used(tokens, PARTNERS[k][!side], is_member(tokens, i)))
                rewrite(rewriter, "name", i, i + 1, PARTNERS[k][!side]);
}

/* ---- conditions -------------------------------------------------------------------------------*/

/* Start of the operand that ends before token i: after an operator of lower precedence, or an open
 * bracket. */
static size_t operand_begin(const Rewriter *rewriter, size_t i, const char *weaker)
{
    const Tokens *tokens = rewriter->tokens;
    while (i > rewriter->first) {
        if (token_among(tokens, i - 1, "( [ { ; , = ? : return") ||
            token_among(tokens, i - 1, weaker))
            break;
        i--;
        if (token_among(tokens, i, ") ] }")) i = tokens->token[i].partner;
    }
    return i;
}

static size_t operand_end(const Rewriter *rewriter, size_t i, const char *weaker)
{
    const Tokens *tokens = rewriter->tokens;
    while (i < rewriter->end && !token_among(tokens, i, ") ] } ; , ? :") &&
           !token_among(tokens, i, weaker)) {
        if (token_among(tokens, i, "( [ {")) i = tokens->token[i].partner;
        i++;
    }
    return i;
}

static void condition_mutate(Rewriter *rewriter, size_t i)
{
    const Tokens *tokens = rewriter->tokens;
    if (token_is(tokens, i, "?")) {
        size_t begin = operand_begin(rewriter, i, "");
        if (begin == i) return;
        rewrite(rewriter, "condition", begin, i, "1");
        rewrite(rewriter, "condition", begin, i, "0");
    }
    if (!token_among(tokens, i, "&& ||")) return;
    const char *nothing = token_is(tokens, i, "&&") ? "1" : "0";
    size_t begin = operand_begin(rewriter, i, "&& ||");
    size_t end = operand_end(rewriter, i + 1, "&& ||");
    if (begin < i) rewrite(rewriter, "condition", begin, i, nothing);
    if (end > i + 1) rewrite(rewriter, "condition", i + 1, end, nothing);
}

void expressions_mutate(Rewriter *rewriter)
{
    const Tokens *tokens = rewriter->tokens;
    for (size_t i = rewriter->first; i < rewriter->end; i++) {
        const Token *token = &tokens->token[i];
        if (token->kind == TOKEN_NUMBER) number_mutate(rewriter, i);
        if (token->kind == TOKEN_WORD) word_mutate(rewriter, i);
        if (token->kind != TOKEN_SIGN) continue;
        sign_mutate(rewriter, i);
        condition_mutate(rewriter, i);
        if (token_is(tokens, i, "[") && token->partner > i + 1) {
            rewrite(rewriter, "index", i + 1, token->partner, "(%s) + 1");
            rewrite(rewriter, "index", i + 1, token->partner, "(%s) - 1");
        }
    }
}
