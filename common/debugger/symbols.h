/* symbols.h - types, functions, scopes and variables of a module, read from its DWARF. */
#ifndef CONVLAB_DEBUGGER_SYMBOLS_H
#define CONVLAB_DEBUGGER_SYMBOLS_H

#include "common/debugger/dwarf_image.h"

enum { SYMBOL_NAME = 128, INLINE_DEPTH = 32 };

typedef enum TypeKind {
    TYPE_VOID,
    TYPE_INTEGER,
    TYPE_UNSIGNED,
    TYPE_BOOL,
    TYPE_CHAR,
    TYPE_FLOAT,
    TYPE_HALF,     /* __half */
    TYPE_BFLOAT16, /* __nv_bfloat16 */
    TYPE_POINTER,
    TYPE_REFERENCE,
    TYPE_ARRAY,
    TYPE_STRUCT,
    TYPE_ENUM,
    TYPE_FUNCTION
} TypeKind;

typedef struct Type Type;

typedef struct Member {
    char name[SYMBOL_NAME];
    const Type *type;
    uint64_t offset;
    int64_t value; /* value of an enumerator */
} Member;

struct Type {
    TypeKind kind;
    uint64_t bytes, count; /* count: elements of an array */
    char name[SYMBOL_NAME];
    const Type *target;
    Member *member;
    uint32_t members;
    Dwarf_Off die; /* 0: built in */
    Type *next;
    int is_union;
};

extern const Type TYPE_OF_VOID, TYPE_OF_BOOL, TYPE_OF_CHAR, TYPE_OF_INT, TYPE_OF_UNSIGNED,
    TYPE_OF_LONG, TYPE_OF_UNSIGNED_LONG, TYPE_OF_FLOAT, TYPE_OF_DOUBLE, TYPE_OF_DIM3;

typedef struct Symbols {
    DwarfImage image;
    char problem[200]; /* why there are no variables, or "" */
    Type *types;
    Dwarf_Off *function; /* subprograms with code */
    char **function_name;
    uint32_t functions;
    Dwarf_Off unit; /* offset of the compilation unit; 0: none */
} Symbols;

/* A frame of the source: a function, or one that the compiler inlined. */
typedef struct SourceFrame {
    Dwarf_Off die;
    char name[SYMBOL_NAME];
    uint32_t call_line; /* line that calls an inlined function */
    int is_inlined;
} SourceFrame;

typedef enum PlaceKind {
    PLACE_NONE,
    PLACE_SYMBOL,   /* offset bytes into the variable `symbol` of the PTX text */
    PLACE_REGISTER, /* the PTX register `symbol` */
    PLACE_CONSTANT
} PlaceKind;

typedef struct Variable {
    char name[SYMBOL_NAME];
    const Type *type;
    int is_argument, is_global;
    PlaceKind place;
    char symbol[256];
    int64_t offset; /* or the constant */
    uint32_t space; /* DW_AT_address_class: 5 global, 6 local, 8 shared */
    char why[120];  /* it has no place: why */
} Variable;

void symbols_open(const char *ptx, size_t bytes, Symbols *symbols);
void symbols_close(Symbols *symbols);

/* The frames at a PTX line of the function, innermost first; their number, 0 without DWARF. */
uint32_t symbols_frames(const Symbols *symbols, const char *function, uint64_t pc,
                        SourceFrame frame[INLINE_DEPTH]);
/* The variables of a frame that are in scope at `pc`, innermost first; then, with `globals`, those
 * of the module.  `visit` returns nonzero to end the search, which is then returned. */
int symbols_variables(Symbols *symbols, Dwarf_Off frame, uint64_t pc, int globals,
                      int (*visit)(void *context, const Variable *variable), void *context);
/* A struct, enumeration or typedef by its name; NULL: none. */
const Type *symbols_type(Symbols *symbols, const char *name);
const Type *symbols_pointer_to(Symbols *symbols, const Type *target);
const Type *symbols_array_of(Symbols *symbols, const Type *target, uint64_t count);
/* "float *" */
void type_name(const Type *type, char *text, size_t bytes);
/* "struct P {\n  int n;\n}" */
void type_describe(const Type *type, char *text, size_t bytes);

#endif
