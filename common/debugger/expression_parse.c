/* expression_parse.c - a recursive-descent parser of C expressions. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/expression_tree.h"

enum { NODES_MOST = 512, WORD = NODE_NAME_BYTES };

typedef struct Parser {
    const char *at;
    Expression *expression;
    Error *error;
    int depth, failed;
} Parser;

static Node *fail(Parser *p, const char *format, const char *what)
{
    if (!p->failed) error_set(p->error, format, what);
    p->failed = 1;
    return NULL;
}

static Node *node_new(Parser *p, NodeKind kind, const char *operator, Node * a, Node *b)
{
    if (p->failed) return NULL;
    if (p->expression->count++ == NODES_MOST) return fail(p, "the expression is too long%s", "");
    Node *node = calloc(1, sizeof *node);
    if (!node) return fail(p, "out of host memory%s", "");
    node->kind = kind, node->a = a, node->b = b;
    snprintf(node->operator, sizeof node->operator, "%s", operator);
    node->next = p->expression->all;
    p->expression->all = node;
    return node;
}

static void blanks(Parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static int take(Parser *p, const char *word)
{
    size_t length = strlen(word);
    blanks(p);
    if (strncmp(p->at, word, length) != 0) return 0;
    if (isalpha((unsigned char)*word) &&
        (isalnum((unsigned char)p->at[length]) || p->at[length] == '_'))
        return 0;
    p->at += length;
    return 1;
}

/* An operator that is not the beginning of a longer one. */
static int take_operator(Parser *p, const char *word, const char *not_before)
{
    size_t length = strlen(word);
    blanks(p);
    if (strncmp(p->at, word, length) != 0 || (p->at[length] && strchr(not_before, p->at[length])))
        return 0;
    p->at += length;
    return 1;
}

static int word_read(Parser *p, char word[WORD])
{
    size_t length = 0;
    blanks(p);
    if (!isalpha((unsigned char)*p->at) && *p->at != '_') return 0;
    while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_' ||
           (p->at[length] == ':' && p->at[length + 1] == ':' &&
            isalpha((unsigned char)p->at[length + 2])))
        length += p->at[length] == ':' ? 2 : 1;
    if (length >= WORD) return 0;
    memcpy(word, p->at, length);
    word[length] = 0;
    p->at += length;
    return 1;
}

static const struct {
    const char *name;
    const Type *type;
} BUILT_IN[] = {{"unsigned int", &TYPE_OF_UNSIGNED},
                {"unsigned long", &TYPE_OF_UNSIGNED_LONG},
                {"unsigned", &TYPE_OF_UNSIGNED},
                {"uint32_t", &TYPE_OF_UNSIGNED},
                {"uint64_t", &TYPE_OF_UNSIGNED_LONG},
                {"size_t", &TYPE_OF_UNSIGNED_LONG},
                {"int32_t", &TYPE_OF_INT},
                {"int64_t", &TYPE_OF_LONG},
                {"long long", &TYPE_OF_LONG},
                {"long", &TYPE_OF_LONG},
                {"int", &TYPE_OF_INT},
                {"char", &TYPE_OF_CHAR},
                {"bool", &TYPE_OF_BOOL},
                {"float", &TYPE_OF_FLOAT},
                {"double", &TYPE_OF_DOUBLE},
                {"void", &TYPE_OF_VOID}};

/* "(float *)" or "(struct P)", at the type's first letter; the parser stays where it was if it is
 * none.  A name that is not built in counts as a type where a star or a bracket follows. */
static int type_words(Parser *p, char word[WORD], const Type **type, uint32_t *stars)
{
    const char *from = p->at;
    int is_struct = take(p, "struct") || take(p, "enum");
    *type = NULL, *stars = 0;
    take(p, "const");
    for (size_t i = 0; i < sizeof BUILT_IN / sizeof *BUILT_IN && !*type && !is_struct; i++)
        if (take(p, BUILT_IN[i].name)) *type = BUILT_IN[i].type;
    word[0] = 0;
    if (!*type && !word_read(p, word)) {
        p->at = from;
        return 0;
    }
    take(p, "const");
    while (take(p, "*"))
        ++*stars;
    if (*type || is_struct || *stars) {
        blanks(p);
        if (*p->at == ')' || *p->at == 0) return 1;
    }
    p->at = from;
    return 0;
}

static Node *parse_assign(Parser *p);
static Node *parse_unary(Parser *p);

static Node *parse_number(Parser *p)
{
    char *end, *whole;
    double f = strtod(p->at, &end);
    uint64_t i = strtoull(p->at, &whole, 0);
    int is_float = whole < end && !(p->at[0] == '0' && (p->at[1] | 32) == 'x');
    Node *node = node_new(p, NODE_NUMBER, "", NULL, NULL);
    if (!node) return NULL;
    p->at = is_float ? end : whole;
    if (is_float) {
        int single = (*p->at | 32) == 'f';
        p->at += single;
        node->type = single ? &TYPE_OF_FLOAT : &TYPE_OF_DOUBLE;
        node->f = single ? (double)(float)f : f;
        return node;
    }
    int is_unsigned = 0, is_long = i > INT32_MAX;
    for (; (*p->at | 32) == 'u' || (*p->at | 32) == 'l'; p->at++)
        is_unsigned |= (*p->at | 32) == 'u', is_long |= (*p->at | 32) == 'l';
    if ((*p->at | 32) == 'f' && !is_long) {
        p->at++;
        node->type = &TYPE_OF_FLOAT, node->f = (double)i;
        return node;
    }
    node->type = is_unsigned ? is_long ? &TYPE_OF_UNSIGNED_LONG : &TYPE_OF_UNSIGNED
                 : is_long   ? &TYPE_OF_LONG
                             : &TYPE_OF_INT;
    node->i = (int64_t)i;
    return node;
}

static Node *parse_register(Parser *p)
{
    Node *node = node_new(p, NODE_REGISTER, "", NULL, NULL);
    size_t length = 1;
    while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_')
        length++;
    if (!node || length >= WORD) return fail(p, "the name of a register is too long%s", "");
    memcpy(node->name, p->at, length);
    p->at += length;
    return node;
}

static Node *parse_primary(Parser *p)
{
    char word[WORD];
    blanks(p);
    if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
        return parse_number(p);
    if (*p->at == '%' && isalpha((unsigned char)p->at[1])) return parse_register(p);
    if (*p->at == '$') {
        Node *node = node_new(p, NODE_HISTORY, "", NULL, NULL);
        p->at++;
        if (!node) return NULL;
        node->i = isdigit((unsigned char)*p->at) ? strtol(p->at, (char **)&p->at, 10) : 0;
        if (isalpha((unsigned char)*p->at))
            return fail(p,
                        "there are no convenience variables; PTX registers are written "
                        "%%r1, values printed before $1%s",
                        "");
        return node;
    }
    if (*p->at == '\'' && p->at[1] && p->at[2] == '\'') {
        Node *node = node_new(p, NODE_NUMBER, "", NULL, NULL);
        if (!node) return NULL;
        node->type = &TYPE_OF_CHAR, node->i = p->at[1];
        p->at += 3;
        return node;
    }
    if (take(p, "(")) {
        Node *inner = parse_assign(p);
        if (!take(p, ")")) return fail(p, "a ) is missing%s", "");
        return inner;
    }
    if (!word_read(p, word)) {
        if (*p->at == 0) return fail(p, "an expression is expected%s", "");
        return fail(p, "a syntax error in expression, near `%.40s'.", p->at);
    }
    if (!strcmp(word, "true") || !strcmp(word, "false")) {
        Node *node = node_new(p, NODE_NUMBER, "", NULL, NULL);
        if (node) node->type = &TYPE_OF_BOOL, node->i = *word == 't';
        return node;
    }
    Node *node = node_new(p, NODE_NAME, "", NULL, NULL);
    if (node) memcpy(node->name, word, sizeof word);
    return node;
}

static Node *parse_postfix(Parser *p)
{
    Node *node = parse_primary(p);
    while (node && !p->failed) {
        if (take(p, "[")) {
            node = node_new(p, NODE_INDEX, "", node, parse_assign(p));
            if (!take(p, "]")) return fail(p, "a ] is missing%s", "");
        } else if (take(p, "->") || take(p, ".")) {
            Node *member = node_new(p, NODE_MEMBER, "", node, NULL);
            if (!member || !word_read(p, member->name))
                return fail(p, "a member's name is expected%s", "");
            node = member;
        } else {
            break;
        }
    }
    blanks(p);
    if (node && *p->at == '(') return fail(p, "functions cannot be called from the debugger%s", "");
    return node;
}

static Node *parse_cast(Parser *p)
{
    const char *from = p->at;
    char word[WORD];
    const Type *type;
    uint32_t stars;
    if (!take(p, "(") || !type_words(p, word, &type, &stars) || !take(p, ")")) {
        p->at = from;
        return NULL;
    }
    Node *operand = parse_unary(p), *node = node_new(p, NODE_CAST, "", operand, NULL);
    if (!node) return NULL;
    node->type = type, node->stars = stars;
    memcpy(node->name, word, sizeof word);
    return node;
}

static Node *parse_sizeof(Parser *p)
{
    const char *from = p->at;
    char word[WORD];
    const Type *type;
    uint32_t stars;
    Node *node = node_new(p, NODE_SIZEOF, "", NULL, NULL);
    if (!node) return NULL;
    if (take(p, "(") && type_words(p, word, &type, &stars) && take(p, ")")) {
        node->type = type, node->stars = stars;
        memcpy(node->name, word, sizeof word);
        return node;
    }
    p->at = from;
    node->a = parse_unary(p);
    return node;
}

static Node *parse_unary(Parser *p)
{
    static const char *const OPERATORS[] = {"-", "+", "!", "~", "*", "&"};
    Node *node = NULL;
    if (p->failed || ++p->depth > DEPTH_MOST) {
        p->depth--;
        return fail(p, "the expression is nested too deep%s", "");
    }
    blanks(p);
    if ((node = *p->at == '(' ? parse_cast(p) : NULL) || p->failed) {
    } else if (take(p, "sizeof")) {
        node = parse_sizeof(p);
    } else {
        for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS && !node; i++)
            if (!p->failed && take_operator(p, OPERATORS[i], i == 5 ? "&" : "")) {
                Node *operand = parse_unary(p);
                node = node_new(p, NODE_UNARY, OPERATORS[i], operand, NULL);
                break;
            }
        if (!node && !p->failed) node = parse_postfix(p);
    }
    p->depth--;
    return p->failed ? NULL : node;
}

/* Binary operators by precedence, the loosest first. */
static const char *const LEVELS[][5] = {
    {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
enum { LEVELS_COUNT = sizeof LEVELS / sizeof *LEVELS };

static int binary_take(Parser *p, int level, char operator[4])
{
    for (int i = 0; i < 5 && LEVELS[level][i]; i++) {
        const char *word = LEVELS[level][i];
        const char *longer = !strcmp(word, "|")   ? "|="
                             : !strcmp(word, "&") ? "&="
                             : !strcmp(word, "<") ? "<="
                             : !strcmp(word, ">") ? ">="
                             : strlen(word) == 2  ? ""
                                                  : "=";
        if (!take_operator(p, word, longer)) continue;
        snprintf(operator, 4, "%s", word);
        return 1;
    }
    return 0;
}

static Node *parse_binary(Parser *p, int level)
{
    char operator[4];
    if (level == LEVELS_COUNT) {
        Node *node = parse_unary(p);
        if (node && !p->failed && take(p, "@"))
            node = node_new(p, NODE_ROW, "", node, parse_unary(p));
        return node;
    }
    Node *node = parse_binary(p, level + 1);
    while (!p->failed && binary_take(p, level, operator)) {
        Node *right = parse_binary(p, level + 1);
        node = node_new(p, NODE_BINARY, operator, node, right);
    }
    return p->failed ? NULL : node;
}

static Node *parse_assign(Parser *p)
{
    if (p->failed || ++p->depth > DEPTH_MOST) {
        p->depth--;
        return fail(p, "the expression is nested too deep%s", "");
    }
    Node *node = parse_binary(p, 0);
    if (node && take(p, "?")) {
        Node *yes = parse_assign(p);
        if (!take(p, ":")) fail(p, "a : is missing%s", "");
        Node *no = parse_assign(p);
        node = node_new(p, NODE_CONDITIONAL, "", node, yes);
        if (node) node->c = no;
    } else if (node && take_operator(p, "=", "=")) {
        Node *right = parse_assign(p);
        node = node_new(p, NODE_ASSIGN, "", node, right);
    }
    p->depth--;
    return p->failed ? NULL : node;
}

Expression *expression_parse(const char *text, const char **end, Error *error)
{
    Parser p = {.at = text, .error = error};
    p.expression = calloc(1, sizeof *p.expression);
    if (!p.expression) {
        error_set(error, "out of host memory");
        return NULL;
    }
    p.expression->root = parse_assign(&p);
    blanks(&p);
    if (!p.failed && !end && *p.at) fail(&p, "a syntax error in expression, near `%.40s'.", p.at);
    if (p.failed || !p.expression->root) {
        expression_free(p.expression);
        return NULL;
    }
    if (end) *end = p.at;
    return p.expression;
}

void expression_free(Expression *expression)
{
    if (!expression) return;
    for (Node *node = expression->all, *next; node; node = next) {
        next = node->next;
        free(node);
    }
    free(expression);
}
