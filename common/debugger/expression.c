/* expression.c - a recursive-descent parser of C expressions, and their evaluation. */
#include "common/debugger/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 64, NODES_MOST = 512, WORD = 128 };

typedef enum NodeKind {
    NODE_NUMBER,
    NODE_NAME,
    NODE_REGISTER, /* %r3 */
    NODE_HISTORY,  /* $1 */
    NODE_UNARY,
    NODE_BINARY,
    NODE_CONDITIONAL,
    NODE_ASSIGN,
    NODE_INDEX,
    NODE_MEMBER, /* a.b; of a pointer too */
    NODE_CAST,
    NODE_SIZEOF,
    NODE_ROW /* a@n: n elements from a on */
} NodeKind;

typedef struct Node Node;
struct Node {
    NodeKind kind;
    char operator[4];
    char name[WORD];
    const Type *type; /* type of a number */
    int64_t i;
    double f;
    uint32_t stars; /* number of pointer levels of a cast */
    Node *a, *b, *c, *next;
    /* Result of the last look-up of the name, because a breakpoint may evaluate the same name a
     * million times. */
    const KernelMap *known_map;
    uint64_t known_pc;
    uint32_t known_scope;
    Dwarf_Off known_die;
    Place known;
    int known_found;
};

struct Expression {
    Node *root, *all;
    uint32_t count;
};

typedef struct Parser {
    const char *at;
    Expression *expression;
    Error *error;
    int depth, failed;
} Parser;

/* ---- the parser ---- */

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

/* ---- evaluation ---- */

static void evaluate(Node *node, Scene *scene, Value *value);

static void value_of_type(Value *value, const Type *type, uint32_t mask)
{
    value->type = type, value->home = HOME_NONE, value->valid = mask, value->why[0] = 0;
}

static const struct {
    const char *name;
    Special first;
} DIM3[] = {{"threadIdx", SR_TID_X},
            {"blockIdx", SR_CTAID_X},
            {"blockDim", SR_NTID_X},
            {"gridDim", SR_NCTAID_X}};

static const struct {
    const char *name;
    Special number;
} SPECIALS[] = {{"%laneid", SR_LANEID},
                {"%warpid", SR_WARPID},
                {"%smid", SR_SMID},
                {"%nsmid", SR_NSMID},
                {"%gridid", SR_GRIDID}};

static void special_load(const Warp *warp, Special number, Value *value, uint32_t mask)
{
    const uint32_t *slot = (const uint32_t *)(const void *)(warp->file + number * LANES * 4);
    value_of_type(value, &TYPE_OF_UNSIGNED, mask);
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->i[lane] = slot[lane];
}

static int built_in(const Node *node, const Scene *scene, Value *value)
{
    for (size_t i = 0; i < sizeof DIM3 / sizeof *DIM3; i++)
        if (!strcmp(node->name, DIM3[i].name)) {
            value_of_type(value, &TYPE_OF_DIM3, scene->mask);
            value->home = HOME_DIM3, value->address[0] = DIM3[i].first;
            return 1;
        }
    if (!strcmp(node->name, "warpSize")) {
        value_of_type(value, &TYPE_OF_INT, scene->mask);
        for (uint32_t lane = 0; lane < LANES; lane++)
            value->i[lane] = LANES;
        return 1;
    }
    return 0;
}

/* The frame of the current routine has a different address in each lane. */
static uint64_t frame_begin(const Scene *scene, uint32_t lane)
{
    const SimtKernel *kernel = scene->map->kernel;
    uint64_t at;
    if (!kernel->calls.frame_slot) return 0;
    memcpy(&at, scene->warp->file + kernel->calls.frame_slot + lane * 8, 8);
    return at < UINT32_MAX ? at : 0;
}

static void place_load(const Place *place, const char *name, const Scene *scene, Value *value)
{
    value_of_type(value, place->type, scene->mask);
    switch (place->kind) {
    case PLACE_SYMBOL:
        value->home = HOME_MEMORY;
        for (uint32_t lane = 0; lane < LANES; lane++)
            value->address[lane] =
                place->address + (place->is_in_frame ? frame_begin(scene, lane) : 0);
        break;
    case PLACE_REGISTER:
        value->home = HOME_REGISTER, value->slot = place->slot, value->width = place->width;
        if (!type_is_scalar(place->type)) {
            value_no(value,
                     "'%.60s' lies in a register, and has a type that this debugger does not "
                     "read from one",
                     name);
            return;
        }
        break;
    case PLACE_CONSTANT:
        for (uint32_t lane = 0; lane < LANES; lane++) {
            if (type_is_floating(place->type))
                value->f[lane] = (double)place->constant;
            else
                value->i[lane] = place->constant;
        }
        return;
    default:
        value_no(value, "'%.60s' cannot be read: %.150s", name, place->why);
        return;
    }
    value_load(scene->warp, value, scene->mask);
    if (value->type->kind != TYPE_REFERENCE) return;
    /* A reference is what it refers to. */
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->address[lane] = (uint64_t)value->i[lane];
    value->type = value->type->target, value->home = HOME_MEMORY;
    value_load(scene->warp, value, scene->mask);
}

static void name_load(Node *node, Scene *scene, Value *value)
{
    const Frame *frame = &scene->frame;
    if (node->known_map != scene->map || node->known_pc != frame->pc ||
        node->known_scope != frame->scope || node->known_die != frame->die) {
        node->known_map = scene->map, node->known_pc = frame->pc;
        node->known_scope = frame->scope, node->known_die = frame->die;
        node->known_found = place_find(scene->map, frame, node->name, &node->known) == 0;
    }
    if (node->known_found) {
        place_load(&node->known, node->name, scene, value);
        return;
    }
    if (built_in(node, scene, value)) return;
    const char *problem = scene->map->module->symbols.problem;
    if (*problem)
        value_no(value, "No symbol \"%.60s\" in current context: %.120s", node->name, problem);
    else
        value_no(value, "No symbol \"%.60s\" in current context.", node->name);
}

static void register_load(Node *node, const Scene *scene, Value *value)
{
    Place place = {0};
    for (size_t i = 0; i < sizeof SPECIALS / sizeof *SPECIALS; i++)
        if (!strcmp(node->name, SPECIALS[i].name)) {
            special_load(scene->warp, SPECIALS[i].number, value, scene->mask);
            return;
        }
    register_find(scene->map, &scene->frame, node->name, &place);
    place_load(&place, node->name, scene, value);
}

static void history_load(const Node *node, const Scene *scene, Value *value)
{
    const ValueHistory *history = scene->history;
    uint32_t number = node->i ? (uint32_t)node->i : history ? history->count : 0;
    if (!history || !number || number > history->count) {
        value_no(value, "History has not yet reached $%u.", number ? number : 1);
        return;
    }
    value_of_type(value, history->value[number - 1].type, scene->mask);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (type_is_floating(value->type))
            value->f[lane] = history->value[number - 1].f;
        else
            value->i[lane] = history->value[number - 1].i;
    }
}

static double lane_double(const Value *value, uint32_t lane)
{
    return type_is_floating(value->type) ? value->f[lane]
           : value->type->kind == TYPE_UNSIGNED && value->type->bytes == 8
               ? (double)(uint64_t)value->i[lane]
               : (double)value->i[lane];
}

static int64_t double_integer(double f)
{
    return f >= 9.2233720368547758e18   ? INT64_MAX
           : f > -9.2233720368547758e18 ? (int64_t)f
                                        : INT64_MIN;
}

static int64_t lane_integer(const Value *value, uint32_t lane)
{
    return type_is_floating(value->type) ? double_integer(value->f[lane]) : value->i[lane];
}

static int64_t wrap(const Type *type, int64_t i)
{
    if (type->kind == TYPE_BOOL) return i != 0;
    int is_signed =
        type->kind == TYPE_INTEGER || type->kind == TYPE_CHAR || type->kind == TYPE_ENUM;
    switch (type->bytes) {
    case 1:
        return is_signed ? (int64_t)(int8_t)i : (int64_t)(uint8_t)i;
    case 2:
        return is_signed ? (int64_t)(int16_t)i : (int64_t)(uint16_t)i;
    case 4:
        return is_signed ? (int64_t)(int32_t)i : (int64_t)(uint32_t)i;
    default:
        return i;
    }
}

static void convert(Value *value, const Type *type)
{
    int from_float = type_is_floating(value->type), to_float = type_is_floating(type);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (to_float) {
            double f = lane_double(value, lane);
            value->f[lane] = type->bytes == 4 ? (double)(float)f : f;
        } else {
            int64_t i = from_float ? double_integer(value->f[lane]) : value->i[lane];
            value->i[lane] =
                type->kind == TYPE_BOOL && from_float ? value->f[lane] != 0 : wrap(type, i);
        }
    }
    value->type = type, value->home = HOME_NONE;
}

/* An array, as an operand, is a pointer to its first element. */
static int decay(Value *value, const Scene *scene)
{
    if (value->type->kind != TYPE_ARRAY) return 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->i[lane] = (int64_t)value->address[lane];
    value->type = symbols_pointer_to(&scene->map->module->symbols, value->type->target);
    value->home = HOME_NONE;
    return 1;
}

static int is_number(const Value *value)
{
    return type_is_scalar(value->type);
}

/* The usual arithmetic conversions. */
static const Type *common_type(const Type *a, const Type *b)
{
    if (type_is_floating(a) || type_is_floating(b)) {
        int twice =
            (type_is_floating(a) && a->bytes == 8) || (type_is_floating(b) && b->bytes == 8);
        return twice ? &TYPE_OF_DOUBLE : &TYPE_OF_FLOAT;
    }
    uint64_t bytes = a->bytes > b->bytes ? a->bytes : b->bytes;
    int is_unsigned = (a->kind == TYPE_UNSIGNED && a->bytes == bytes) ||
                      (b->kind == TYPE_UNSIGNED && b->bytes == bytes);
    if (a->kind == TYPE_POINTER || b->kind == TYPE_POINTER) return &TYPE_OF_UNSIGNED_LONG;
    if (bytes <= 4) return is_unsigned && bytes == 4 ? &TYPE_OF_UNSIGNED : &TYPE_OF_INT;
    return is_unsigned ? &TYPE_OF_UNSIGNED_LONG : &TYPE_OF_LONG;
}

static double float_binary(char operator, double a, double b)
{
    switch (operator) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    default:
        return a / b;
    }
}

static int compare(const char *operator, int less, int equal)
{
    switch (*operator) {
    case '<':
        return less || (operator[1] && equal);
    case '>':
        return !less && (operator[1] || !equal);
    case '=':
        return equal;
    default:
        return !equal;
    }
}

static int is_comparison(const char *operator)
{
    return *operator== '=' || * operator==
        '!' ||((*operator== '<' || * operator== '>') &&operator[1] != * operator);
}

static void compare_lanes(const char *operator, const Value * a, const Value *b, Value *value)
{
    const Type *type = common_type(a->type, b->type);
    uint32_t valid = a->valid & b->valid;
    int result[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (type_is_floating(type)) {
            double x = lane_double(a, lane), y = lane_double(b, lane);
            int none = isnan(x) || isnan(y);
            result[lane] = none ? *operator== '!' : compare(operator, x<y, x == y);
        } else if (type->kind == TYPE_UNSIGNED) {
            uint64_t x = (uint64_t)wrap(type, a->i[lane]), y = (uint64_t)wrap(type, b->i[lane]);
            result[lane] = compare(operator, x<y, x == y);
        } else {
            result[lane] = compare(operator, a->i[lane]<b->i[lane], a->i[lane] == b->i[lane]);
        }
    }
    value_of_type(value, &TYPE_OF_BOOL, valid);
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->i[lane] = result[lane];
}

static int64_t integer_binary(const char *operator, const Type * type, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    int is_unsigned = type->kind == TYPE_UNSIGNED;
    switch (*operator) {
    case '+':
        return (int64_t)(x + y);
    case '-':
        return (int64_t)(x - y);
    case '*':
        return (int64_t)(x * y);
    case '/':
        return is_unsigned ? (int64_t)(x / y) : b == -1 ? (int64_t)(0 - x) : a / b;
    case '%':
        return is_unsigned ? (int64_t)(x % y) : b == -1 ? 0 : a % b;
    case '&':
        return a & b;
    case '|':
        return a | b;
    case '^':
        return a ^ b;
    case '<':
        return y < 64 ? (int64_t)(x << y) : 0;
    default:
        return is_unsigned ? y < 64 ? (int64_t)(x >> y) : 0 : a >> (y < 63 ? y : 63);
    }
}

static void arithmetic(const char *operator, Value * a, Value *b, Value *value)
{
    const Type *type = common_type(a->type, b->type);
    uint32_t valid = a->valid & b->valid;
    if (type_is_floating(type) && !strchr("+-*/", *operator)) {
        value_no(value, "Argument to arithmetic operation not a number or boolean.");
        return;
    }
    convert(a, type), convert(b, type);
    value_of_type(value, type, valid);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (type_is_floating(type)) {
            double f = float_binary(*operator, a->f[lane], b->f[lane]);
            value->f[lane] = type->bytes == 4 ? (double)(float)f : f;
            continue;
        }
        if ((*operator== '/' || * operator== '%') && !b->i[lane]) {
            if (valid >> lane & 1) snprintf(value->why, sizeof value->why, "Division by zero");
            value->valid &= ~(1u << lane);
            continue;
        }
        value->i[lane] = wrap(type, integer_binary(operator, type, a->i[lane], b->i[lane]));
    }
}

/* p + n, n + p, p - n; p - q. */
static int pointer_arithmetic(const char *operator, const Value * a, const Value *b, Value *value)
{
    int left = a->type->kind == TYPE_POINTER, right = b->type->kind == TYPE_POINTER;
    if ((!left && !right) || (*operator!= '+' && * operator!= '-') || operator[1]) return 0;
    const Value *pointer = left ? a : b, *other = left ? b : a;
    const Type *type = pointer->type;
    int64_t bytes = type->target->bytes ? (int64_t)type->target->bytes : 1;
    uint32_t valid = a->valid & b->valid;
    int64_t result[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) {
        int64_t n = lane_integer(other, lane);
        result[lane] = left && right ? (a->i[lane] - b->i[lane]) / bytes
                       : *operator== '+'
                           ? (int64_t)((uint64_t)pointer->i[lane] + (uint64_t)n * (uint64_t)bytes)
                           : (int64_t)((uint64_t)pointer->i[lane] - (uint64_t)n * (uint64_t)bytes);
    }
    value_of_type(value, left && right ? &TYPE_OF_LONG : type, valid);
    memcpy(value->i, result, sizeof result);
    return 1;
}

static void logical(Node *node, Scene *scene, Value *value)
{
    Value b;
    int is_and = *node->operator== '&';
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    if (!is_number(value)) {
        value_no(value, "a number or a pointer is expected next to %s", node->operator);
        return;
    }
    uint32_t left = 0, right = 0, wanted, mask = scene->mask;
    for (uint32_t lane = 0; lane < LANES; lane++)
        left |=
            (uint32_t)(type_is_floating(value->type) ? value->f[lane] != 0 : value->i[lane] != 0)
            << lane;
    /* The second operand is only evaluated in the lanes that need it. */
    wanted = value->valid & (is_and ? left : ~left);
    uint32_t valid = value->valid & ~wanted;
    if (wanted) {
        scene->mask = wanted;
        evaluate(node->b, scene, &b);
        scene->mask = mask;
        if (!b.valid || !is_number(&b)) {
            if (!valid) {
                *value = b;
                if (b.valid) value_no(value, "a number is expected next to %s", node->operator);
                return;
            }
        } else {
            for (uint32_t lane = 0; lane < LANES; lane++)
                right |= (uint32_t)(type_is_floating(b.type) ? b.f[lane] != 0 : b.i[lane] != 0)
                         << lane;
            valid |= b.valid & wanted;
        }
    }
    uint32_t result = is_and ? left & right : left | right;
    value_of_type(value, &TYPE_OF_BOOL, valid);
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->i[lane] = result >> lane & 1;
}

static void binary(Node *node, Scene *scene, Value *value)
{
    Value a, b;
    if (!strcmp(node->operator, "&&") || !strcmp(node->operator, "||")) {
        logical(node, scene, value);
        return;
    }
    evaluate(node->a, scene, &a);
    if (!a.valid) {
        *value = a;
        return;
    }
    evaluate(node->b, scene, &b);
    if (!b.valid) {
        *value = b;
        return;
    }
    decay(&a, scene), decay(&b, scene);
    if (!is_number(&a) || !is_number(&b)) {
        value_no(value, "a number or a pointer is expected next to %s", node->operator);
        return;
    }
    if (is_comparison(node->operator))
        compare_lanes(node->operator, & a, &b, value);
    else if (!pointer_arithmetic(node->operator, & a, &b, value))
        arithmetic(node->operator, & a, &b, value);
}

static void dereference(Value *value, const Scene *scene)
{
    if (decay(value, scene)) {
    } else if (value->type->kind == TYPE_INTEGER || value->type->kind == TYPE_UNSIGNED) {
        value->type = symbols_pointer_to(&scene->map->module->symbols, value->type);
    }
    if (value->type->kind != TYPE_POINTER || value->type->target->kind == TYPE_VOID) {
        value_no(value, "Attempt to take contents of a non-pointer value.");
        return;
    }
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->address[lane] = (uint64_t)value->i[lane];
    value->type = value->type->target, value->home = HOME_MEMORY;
    value_load(scene->warp, value, scene->mask);
}

static void unary(Node *node, Scene *scene, Value *value)
{
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    if (*node->operator== '&') {
        if (value->home != HOME_MEMORY) {
            value_no(value, "Attempt to take address of value not located in memory.");
            return;
        }
        const Type *type = symbols_pointer_to(&scene->map->module->symbols, value->type);
        for (uint32_t lane = 0; lane < LANES; lane++)
            value->i[lane] = (int64_t)value->address[lane];
        value->type = type, value->home = HOME_NONE;
        return;
    }
    if (*node->operator== '*') {
        dereference(value, scene);
        return;
    }
    decay(value, scene);
    if (!is_number(value) || (*node->operator== '~' && type_is_floating(value->type))) {
        value_no(value, "Argument to arithmetic operation not a number or boolean.");
        return;
    }
    const Type *type =
        *node->operator== '!' ? &TYPE_OF_BOOL : common_type(value->type, &TYPE_OF_INT);
    int from_float = type_is_floating(value->type);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (*node->operator== '!')
            value->i[lane] = from_float ? value->f[lane] == 0 : value->i[lane] == 0;
        else if (*node->operator== '-' && from_float)
            value->f[lane] = -value->f[lane];
        else if (*node->operator== '-')
            value->i[lane] = wrap(type, (int64_t)(0 - (uint64_t)value->i[lane]));
        else if (*node->operator== '~')
            value->i[lane] = wrap(type, ~value->i[lane]);
    }
    value->type = type, value->home = HOME_NONE;
}

static void subscript(Node *node, Scene *scene, Value *value)
{
    Value index;
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    evaluate(node->b, scene, &index);
    if (!index.valid) {
        *value = index;
        return;
    }
    decay(value, scene);
    if (value->type->kind != TYPE_POINTER || !is_number(&index)) {
        value_no(value, "cannot subscript something of type `%.100s'", value->type->name);
        return;
    }
    uint64_t bytes = value->type->target->bytes;
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->address[lane] =
            (uint64_t)value->i[lane] + (uint64_t)lane_integer(&index, lane) * bytes;
    value->type = value->type->target, value->home = HOME_MEMORY;
    value->valid &= index.valid;
    value_load(scene->warp, value, scene->mask);
}

static void member(Node *node, Scene *scene, Value *value)
{
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    if (value->home == HOME_DIM3) {
        const char *at = strchr("xyz", *node->name);
        if (!at || node->name[1] || !*node->name) {
            value_no(value, "There is no member named %.60s.", node->name);
            return;
        }
        special_load(scene->warp, (Special)(value->address[0] + (uint64_t)(*at - 'x')), value,
                     scene->mask);
        return;
    }
    if (value->type->kind == TYPE_POINTER) dereference(value, scene);
    if (!value->valid) return;
    const Type *type = value->type;
    for (uint32_t i = 0; i < type->members; i++) {
        const Member *m = &type->member[i];
        if (type->kind == TYPE_ENUM || strcmp(m->name, node->name) != 0) continue;
        if (value->home != HOME_MEMORY) break;
        for (uint32_t lane = 0; lane < LANES; lane++)
            value->address[lane] += m->offset;
        value->type = m->type;
        value_load(scene->warp, value, scene->mask);
        return;
    }
    value_no(value, "There is no member named %.60s.", node->name);
}

static const Type *cast_type(const Node *node, const Scene *scene)
{
    Symbols *symbols = &scene->map->module->symbols;
    const Type *type = node->type ? node->type : symbols_type(symbols, node->name);
    for (uint32_t i = 0; type && i < node->stars && i < DEPTH_MOST; i++)
        type = symbols_pointer_to(symbols, type);
    return type;
}

static void cast(Node *node, Scene *scene, Value *value)
{
    const Type *type = cast_type(node, scene);
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    decay(value, scene);
    if (!type)
        value_no(value, "No type named %.60s.", node->name);
    else if (!is_number(value) || !type_is_scalar(type) || type->kind == TYPE_HALF ||
             type->kind == TYPE_BFLOAT16)
        value_no(value, "Invalid cast.");
    else
        convert(value, type);
}

static void size_of(Node *node, Scene *scene, Value *value)
{
    const Type *type = NULL;
    if (node->a) {
        evaluate(node->a, scene, value);
        if (!value->valid) return;
        type = value->type;
    } else if (!(type = cast_type(node, scene))) {
        value_no(value, "No type named %.60s.", node->name);
        return;
    }
    uint64_t bytes = type->bytes;
    value_of_type(value, &TYPE_OF_UNSIGNED_LONG, scene->mask);
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->i[lane] = (int64_t)bytes;
}

static void row(Node *node, Scene *scene, Value *value)
{
    enum { ROW_MOST = 100000 };
    Value count;
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    evaluate(node->b, scene, &count);
    if (!count.valid) {
        *value = count;
        return;
    }
    int64_t n = count.i[__builtin_ctz(count.valid)];
    if (value->home != HOME_MEMORY || !is_number(&count) || type_is_floating(count.type) || n < 1 ||
        n > ROW_MOST) {
        value_no(value,
                 "@ needs something in memory on its left and a number from 1 to %d on its right",
                 ROW_MOST);
        return;
    }
    value->type = symbols_array_of(&scene->map->module->symbols, value->type, (uint64_t)n);
}

static void conditional(Node *node, Scene *scene, Value *value)
{
    Value yes, no;
    uint32_t mask = scene->mask, chosen = 0;
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    if (!is_number(value)) {
        value_no(value, "a number is expected before ?");
        return;
    }
    uint32_t valid = value->valid;
    for (uint32_t lane = 0; lane < LANES; lane++)
        chosen |= (uint32_t)(lane_double(value, lane) != 0) << lane;
    scene->mask = valid & chosen;
    if (scene->mask) evaluate(node->b, scene, &yes);
    uint32_t first = scene->mask;
    scene->mask = valid & ~chosen;
    if (scene->mask) evaluate(node->c, scene, &no);
    uint32_t second = scene->mask;
    scene->mask = mask;
    if (!first || !second) {
        *value = first ? yes : no;
        return;
    }
    if (!yes.valid || !no.valid) {
        *value = yes.valid ? no : yes;
        return;
    }
    if (!is_number(&yes) || !is_number(&no)) {
        value_no(value, "numbers are expected on both sides of :");
        return;
    }
    const Type *type = common_type(yes.type, no.type);
    convert(&yes, type), convert(&no, type);
    value_of_type(value, type, (yes.valid & first) | (no.valid & second));
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->i[lane] = chosen >> lane & 1 ? yes.i[lane] : no.i[lane];
}

static void assign(Node *node, Scene *scene, Value *value)
{
    Value right;
    char why[VALUE_WHY];
    if (!scene->may_assign) {
        value_no(value, "assignments are not possible here");
        return;
    }
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    evaluate(node->b, scene, &right);
    if (!right.valid) {
        *value = right;
        return;
    }
    decay(&right, scene);
    if (!is_number(&right) || !is_number(value)) {
        value_no(value, "only numbers and pointers can be assigned");
        return;
    }
    ValueHome home = value->home;
    const Type *type = value->type;
    convert(&right, type);
    memcpy(value->i, right.i, sizeof value->i);
    value->home = home;
    if (value_store(scene->warp, value, scene->mask & value->valid & right.valid, why, sizeof why))
        value_no(value, "%.220s", why);
    else
        scene->assigned = 1;
}

static void evaluate(Node *node, Scene *scene, Value *value)
{
    switch (node->kind) {
    case NODE_NUMBER:
        value_of_type(value, node->type, scene->mask);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            if (type_is_floating(node->type))
                value->f[lane] = node->f;
            else
                value->i[lane] = node->i;
        }
        return;
    case NODE_NAME:
        name_load(node, scene, value);
        return;
    case NODE_REGISTER:
        register_load(node, scene, value);
        return;
    case NODE_HISTORY:
        history_load(node, scene, value);
        return;
    case NODE_UNARY:
        unary(node, scene, value);
        return;
    case NODE_BINARY:
        binary(node, scene, value);
        return;
    case NODE_CONDITIONAL:
        conditional(node, scene, value);
        return;
    case NODE_ASSIGN:
        assign(node, scene, value);
        return;
    case NODE_INDEX:
        subscript(node, scene, value);
        return;
    case NODE_MEMBER:
        member(node, scene, value);
        return;
    case NODE_CAST:
        cast(node, scene, value);
        return;
    case NODE_SIZEOF:
        size_of(node, scene, value);
        return;
    case NODE_ROW:
        row(node, scene, value);
        return;
    }
}

void expression_evaluate(Expression *expression, Scene *scene, Value *value)
{
    evaluate(expression->root, scene, value);
}

int expression_true(Expression *expression, Scene *scene, uint32_t *lanes, char *why, size_t room)
{
    Value value;
    *lanes = 0;
    evaluate(expression->root, scene, &value);
    if (value.valid && !is_number(&value)) value_no(&value, "it is no number");
    if (!value.valid) {
        snprintf(why, room, "%s", value.why);
        return -1;
    }
    int is_float = type_is_floating(value.type);
    for (uint32_t m = value.valid & scene->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        *lanes |= (uint32_t)(is_float ? value.f[lane] != 0 : value.i[lane] != 0) << lane;
    }
    return 0;
}

int value_history_add(ValueHistory *history, const Type *type, int64_t i, double f)
{
    if (history->count == history->room) {
        uint32_t room = history->room ? history->room * 2 : 64;
        void *more = realloc(history->value, room * sizeof *history->value);
        if (!more) return -1;
        history->value = more, history->room = room;
    }
    history->value[history->count].type = type;
    history->value[history->count].i = i, history->value[history->count].f = f;
    return (int)++history->count;
}
