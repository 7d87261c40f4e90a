/* expression_tree.h - the tree of an expression, and the operations on values of its evaluation;
 * private to expression*.c. */
#ifndef CONVLAB_DEBUGGER_EXPRESSION_TREE_H
#define CONVLAB_DEBUGGER_EXPRESSION_TREE_H

#include "common/debugger/expression.h"

enum { DEPTH_MOST = 64, NODE_NAME_BYTES = 128 };

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
    char name[NODE_NAME_BYTES];
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

/* ---- expression_operands.c: the values of names ---- */
void value_of_type(Value *value, const Type *type, uint32_t mask);
/* %laneid or threadIdx.x, say. */
void special_load(const Warp *warp, Special number, Value *value, uint32_t mask);
void name_load(Node *node, Scene *scene, Value *value);
void register_load(Node *node, const Scene *scene, Value *value);
void history_load(const Node *node, const Scene *scene, Value *value);

/* ---- expression_arithmetic.c: C's conversions and operators, in each lane ---- */
double lane_double(const Value *value, uint32_t lane);
int64_t lane_integer(const Value *value, uint32_t lane);
/* The value of an integer in this type. */
int64_t integer_wrap(const Type *type, int64_t i);
void value_convert(Value *value, const Type *type);
/* Converts an array, as an operand, to a pointer to its first element; 0: it is none. */
int array_decay(Value *value, const Scene *scene);
int is_number(const Value *value);
/* The usual arithmetic conversions. */
const Type *common_type(const Type *a, const Type *b);
/* A binary operator except && and ||, of two numbers or pointers. */
void value_combine(const char *operator_text, Value *a, Value *b, Value *value);

#endif
