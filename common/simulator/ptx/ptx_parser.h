/* ptx_parser.h - shared declarations of the PTX parser's sources; private to this folder.
 *
 * Names are interned once, so that a name is looked up by following one pointer: each holds the
 * stack of what it is bound to in the scopes that are open.  Functions return 0, or -1 with the
 * first error noted in the parser. */
#ifndef CONVLAB_PTX_PARSER_H
#define CONVLAB_PTX_PARSER_H

#include "common/simulator/ptx/ptx.h"

enum {
    PTX_MAX_SCOPES = 64,      /* nested { } in a function */
    PTX_NEST = 16,            /* stored .loc directives of inlined functions */
    PTX_MAX_NESTING = 32,     /* limit for parentheses, initialiser braces and operands */
    PTX_MAX_VECTOR = 1024,    /* elements of one { } or call list */
    PTX_MAX_NAME = 1 << 16,   /* characters: templates make long ones */
    PTX_MAX_RANGE_NAME = 256, /* limit for the name in %r<N> */
    PTX_MAX_REGISTERS = 1 << 20,
    PTX_MAX_FILES = 1 << 16
};
#define PTX_MAX_TEXT        ((size_t)64 << 20)
#define PTX_MAX_ARENA       ((size_t)1 << 29)
#define PTX_MAX_VARIABLE    ((uint64_t)1 << 36) /* bytes of a .global without initial value */
#define PTX_MAX_SMALL       ((uint64_t)1 << 24) /* bytes of a variable in any other space */
#define PTX_MAX_PARAMETER   ((uint64_t)1 << 20)
#define PTX_MAX_INITIALISED ((uint64_t)1 << 28) /* bytes of all that have one */

/* ---- memory: ptx_arena.c ---- */

typedef struct Arena Arena;
Arena *arena_open(void);
void arena_close(Arena *arena);
/* 16-byte aligned zeros, whose pages are not touched until used; NULL when memory or PTX_MAX_ARENA
 * is used up. */
void *arena_zeroed(Arena *arena, size_t bytes);

/* A growing array of `size`-byte elements, for what is not yet known to be complete. */
typedef struct Stack {
    void *item;
    size_t count, capacity, size;
} Stack;

/* ---- names and scopes: ptx_name.c ---- */

typedef enum Keyword {
    KEY_NONE,
    KEY_VERSION,
    KEY_TARGET,
    KEY_ADDRESS_SIZE,
    KEY_FILE,
    KEY_LOC,
    KEY_SECTION,
    KEY_PRAGMA,
    KEY_ALIAS,
    KEY_VISIBLE,
    KEY_EXTERN,
    KEY_WEAK,
    KEY_COMMON,
    KEY_ENTRY,
    KEY_FUNC,
    KEY_REG,
    KEY_PARAM,
    KEY_CONST,
    KEY_GLOBAL,
    KEY_SHARED,
    KEY_LOCAL,
    KEY_ALIGN,
    KEY_PTR,
    KEY_ATTRIBUTE,
    KEY_MANAGED,
    KEY_MAXNTID,
    KEY_REQNTID,
    KEY_MINNCTAPERSM,
    KEY_MAXNREG,
    KEY_REQNCTAPERCLUSTER,
    KEY_HEADER_OTHER,
    KEY_BRANCHTARGETS,
    KEY_CALLTARGETS,
    KEY_CALLPROTOTYPE,
    KEY_V2,
    KEY_V4,
    KEY_V8,
    KEY_TEXREF,
    KEY_BRA,
    KEY_BRX,
    KEY_CALL,
    KEY_GENERIC,
    KEY_FUNCTION_NAME,
    KEY_INLINED_AT,
    KEY_WARP_SIZE,
    KEY_SINK
} Keyword;

typedef enum BindingKind {
    BOUND_REGISTER,  /* index into the function's registers */
    BOUND_RANGE,     /* %r<N>: index is N */
    BOUND_VARIABLE,  /* index into the function's or, at depth 0, the module's variables */
    BOUND_PARAMETER, /* variable */
    BOUND_LABEL,     /* index of the instruction after it */
    BOUND_TARGETS,   /* list */
    BOUND_PROTOTYPE,
    BOUND_FUNCTION /* index into the module's functions */
} BindingKind;

typedef struct Name Name;

typedef struct TargetList {
    uint32_t *target;
    uint32_t count;
} TargetList;

typedef struct Binding {
    BindingKind kind;
    PtxType type; /* type of a range's registers */
    uint32_t depth, index;
    Name *name;
    struct Binding *outer;   /* previous meaning of the name */
    struct Binding *sibling; /* the scope's next binding */
    union {
        const PtxVariable *variable;
        TargetList *list;
    };
} Binding;

struct Name {
    const char *text;
    uint32_t length, hash;
    Keyword keyword;
    PtxType type; /* type that ".text" denotes */
    Binding *binding;
};

/* A use of a name that may only be declared further down: settled when the scope that declares it
 * is closed. */
typedef enum FixupKind {
    FIX_BRANCH,  /* the instruction's target */
    FIX_TARGETS, /* its list of targets */
    FIX_SLOT,    /* an entry of such a list */
    FIX_SYMBOL   /* operand's variable; no operand: it must only be declared somewhere */
} FixupKind;

typedef struct Fixup {
    FixupKind kind;
    uint32_t line, instruction;
    Name *name;
    union {
        PtxOperand *operand;
        uint32_t *slot;
    };
} Fixup;

/* An operand that wants the final address of variable `index`. */
typedef struct VariableUse {
    PtxOperand *operand;
    uint32_t index;
} VariableUse;

typedef struct Scope {
    Binding *first;
    size_t first_fixup;
} Scope;

/* ---- tokens: ptx_lex.c ---- */

typedef enum TokenKind {
    TOKEN_END,
    TOKEN_NAME,    /* name */
    TOKEN_WORD,    /* ".word": name, without the dot, with any "::" */
    TOKEN_INTEGER, /* integer, is_unsigned */
    TOKEN_FLOAT,   /* bits, is_double */
    TOKEN_STRING,  /* start, length: between the quotes */
    TOKEN_SYMBOL   /* symbol: one character, or one of the two-character operators below */
} TokenKind;

#define SYMBOL_PAIR(a, b) ((a) << 8 | (b)) /* "<<", ">=", "&&"... */

typedef struct Token {
    TokenKind kind;
    uint32_t line, length;
    const char *start;
    Name *name;
    uint64_t integer;
    int is_unsigned, is_double, symbol;
} Token;

typedef struct Parser {
    const char *at, *end;
    uint32_t line;
    Token token;
    Error *error;

    Arena *arena;
    Name **table;
    uint32_t table_size, names;
    uint64_t seed;

    Scope scope[PTX_MAX_SCOPES + 1];
    uint32_t depth;        /* 0: the module */
    uint32_t inner_ranges; /* %r<N> declared below a function's outermost scope, still open */
    Binding *free_binding;
    Stack fixups, variable_uses, module_uses;

    PtxModule *module;
    Stack files, module_variables, functions, aliases;
    uint64_t initialised_bytes;

    /* the function being read */
    Stack registers, variables, instructions, parameters;
    Stack elements, labels; /* elements of lists that are being read */
    PtxSource source;
    const PtxSource *inlined[PTX_NEST]; /* the last places in functions that were inlined */
    uint32_t inlines;
    int32_t guard;
    int guard_negated;
    int nounroll; /* whether the last directive was .pragma "nounroll" */

    /* the initialiser being read */
    Stack data, relocations;
} Parser;

int parser_fail(Parser *p, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "PTX line 12: expected X, found Y" at the current token. */
int parser_expected(Parser *p, const char *what);
int parser_out_of_memory(Parser *p);
void *parser_alloc(Parser *p, size_t bytes);
void *parser_copy(Parser *p, const void *from, size_t bytes);
/* One more element, zeroed; NULL with error. */
void *stack_push(Parser *p, Stack *stack);
/* Zeroed elements up to `count` in all. */
int stack_extend(Parser *p, Stack *stack, size_t count);

int lexer_next(Parser *p);
int lexer_is(const Parser *p, int symbol);
int lexer_is_key(const Parser *p, TokenKind kind, Keyword keyword);
/* Takes the token if it is that symbol: 1 taken, 0 not there, -1 error. */
int lexer_accept(Parser *p, int symbol);
int lexer_expect(Parser *p, int symbol, const char *what);

/* `text` need not end in NUL. */
Name *name_intern(Parser *p, const char *text, size_t length);
int names_open(Parser *p);

int scope_open(Parser *p);
int scope_close(Parser *p);
/* Binds in scope `depth`; an error names what is declared twice. */
Binding *scope_bind(Parser *p, Name *name, BindingKind kind, uint32_t depth, uint32_t line);
/* The register that a name means, made on first use when it is one of a range; PTX_NO_REGISTER if
 * it means none, -2 on error. */
int32_t scope_register(Parser *p, Name *name);
int32_t register_add(Parser *p, Name *name, PtxType type);
int fixup_add(Parser *p, FixupKind kind, Name *name, uint32_t line, void *target);
/* Settles a use if `binding` is what it waits for: 1 settled, 0 not, -1 error. */
int fixup_settle(Parser *p, const Fixup *fixup, const Binding *binding);
/* The name that a text of the parser's own belongs to. */
static inline Name *name_of(const char *text)
{
    return (Name *)(uintptr_t)text - 1;
}

/* ---- numbers: ptx_number.c ---- */

int number_read(Parser *p, const char *from, const char *end, const char **after);
typedef struct Constant {
    int is_float, is_double, is_unsigned;
    uint64_t bits;
} Constant;
int constant_parse(Parser *p, Constant *value);
/* An integer constant of at most `most`. */
int constant_count(Parser *p, uint64_t most, const char *what, uint64_t *value);

/* ---- declarations: ptx_variable.c, ptx_initialiser.c ---- */

typedef struct Shape {
    uint32_t dims;
    int open; /* the first dimension is to be counted: x[] */
    uint64_t extent[8];
    uint32_t element, vector; /* bytes of one element, elements of a vector */
} Shape;

/* Parses the rest after the state space's word: alignment, type, name, dimensions. */
int variable_parse(Parser *p, PtxVariable *variable, Name **name, Shape *shape);
int initialiser_parse(Parser *p, PtxVariable *variable, const Shape *shape);
/* A whole declaration at module or function scope, from its state space's word to its semicolon. */
int declaration_parse(Parser *p, PtxSpace space, int is_extern);
PtxSpace keyword_space(Keyword keyword);

/* ---- instructions: ptx_operand.c, ptx_body.c; functions and the module: ptx_function.c,
 * ptx_parse.c ---- */

int operand_parse(Parser *p, PtxOperand *operand, unsigned depth);
/* A VECTOR; p is at its opening bracket. */
int operand_list_parse(Parser *p, PtxOperand *operand, int close, unsigned depth);
/* Finds what the names in operands at their final place mean. */
int operand_settle(Parser *p, PtxOperand *operand, uint32_t count, uint32_t line);
/* Parses from the body's opening brace, which has been read, through its closing one; closes the
 * function's scope. */
int body_parse(Parser *p);
int directive_loc(Parser *p);
int directive_pragma(Parser *p);
int directive_file(Parser *p);
int directive_section(Parser *p);
typedef struct FunctionEntry {
    PtxFunction function;
    int has_body;
} FunctionEntry;
int function_parse(Parser *p, int is_entry);

#endif
