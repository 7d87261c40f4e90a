/* ptx.h - a PTX module as the parser leaves it: names resolved, nothing executed, nothing
 * specialised.
 *
 * Module: PTX text and the fat binaries that nvcc puts it in (fatbin.h), read but not executed.
 * Callers: the drop-in runtime, the GPU engine, the simulator.
 * May use: base.
 *
 * The parser accepts the whole grammar that nvcc 12 and 13 and clang emit, whether or not the
 * simulator can execute an instruction. It stores an unknown opcode by its words. The decoder
 * rejects such an instruction, with its name and source line, when a kernel that contains it is
 * launched. The text is untrusted input: every length, depth and number is bounded, and malformed
 * text ends in one line "PTX line 12: ...". Reference: NVIDIA, Parallel Thread Execution ISA,
 * 9.0. */
#ifndef CONVLAB_PTX_H
#define CONVLAB_PTX_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

typedef enum PtxType {
    PTX_NONE,
    PTX_PRED,
    PTX_B8,
    PTX_B16,
    PTX_B32,
    PTX_B64,
    PTX_B128,
    PTX_U8,
    PTX_U16,
    PTX_U32,
    PTX_U64,
    PTX_S8,
    PTX_S16,
    PTX_S32,
    PTX_S64,
    PTX_F16,
    PTX_F16X2,
    PTX_BF16,
    PTX_BF16X2,
    PTX_TF32,
    PTX_F32,
    PTX_F64
} PtxType;

typedef enum PtxSpace {
    PTX_SPACE_NONE,
    PTX_REG,
    PTX_PARAM,
    PTX_CONST,
    PTX_GLOBAL,
    PTX_SHARED,
    PTX_LOCAL
} PtxSpace;

unsigned ptx_type_bytes(PtxType type); /* PRED: 1, NONE: 0 */

typedef struct PtxRegister {
    const char *name; /* "%r12"; unique after scoping is resolved by index, not by name */
    PtxType type;
} PtxRegister;

/* An initialiser element that is an address (generic() or plain) of another variable or
 * function. */
typedef struct PtxRelocation {
    uint64_t offset; /* into data */
    uint32_t bytes;
    const char *symbol;
    int64_t addend;
    int generic;
} PtxRelocation;

/* A module- or function-scope variable, or a parameter. */
typedef struct PtxVariable {
    const char *name;
    PtxSpace space;
    PtxType type; /* type of one element */
    uint32_t align;
    uint64_t bytes; /* whole object; 0 for an extern array (dynamic shared memory) */
    int is_extern;
    int is_managed;      /* the host's code uses it too */
    unsigned char *data; /* initial value, `bytes` long, or NULL: zero */
    PtxRelocation *relocation;
    uint32_t relocation_count;
} PtxVariable;

typedef enum PtxOperandKind {
    PTX_OPERAND_REGISTER, /* reg; `negated` for !%p */
    PTX_OPERAND_INTEGER,  /* integer (two's complement in 64 bits) */
    PTX_OPERAND_FLOAT,    /* float_bits: the pattern, of 64 bits where `is_double` */
    PTX_OPERAND_SPECIAL,  /* name "%tid", component 'x','y','z','w' or 0 */
    PTX_OPERAND_SYMBOL,   /* name of a variable, function or label (+ integer): its address */
    PTX_OPERAND_ADDRESS,  /* [base + integer]: base is `reg`, symbol `name`, or neither: 0 */
    PTX_OPERAND_VECTOR,   /* {a, b, ...}: element[count]; also call argument lists */
    PTX_OPERAND_PAIR,     /* d|p: element[2] */
    PTX_OPERAND_SINK      /* _ */
} PtxOperandKind;

enum { PTX_NO_REGISTER = -1 };

typedef struct PtxOperand PtxOperand;
struct PtxOperand {
    PtxOperandKind kind;
    int negated;
    int32_t reg; /* index into the function's registers, or PTX_NO_REGISTER */
    uint32_t count;
    const char *name;
    int64_t integer;
    uint64_t float_bits;
    PtxOperand *element; /* ADDRESS: what follows a comma inside the brackets, [map, {%r1, %r2}] */
    const PtxVariable
        *variable; /* resolved symbol where it is a variable or parameter, else NULL */
    int is_double;
    char component;
    int minus;        /* "-%r1", of the video instructions */
    const char *part; /* text after a register's dot, "b0", "h1", "b7654"; else NULL */
};

typedef struct PtxSource {
    uint32_t file; /* index into PtxModule.file, 0-based and in range; UINT32_MAX: unknown */
    uint32_t line, column;
    /* inlined_at of .loc (function_name, inlined_at file line col), 0 when there is none */
    uint32_t inlined_file, inlined_line;
    /* The .loc of that place, where it is in a function that was inlined as well; else NULL.  Its
     * files may be out of range. */
    const struct PtxSource *caller;
} PtxSource;

enum { PTX_WORDS = 16, PTX_OPERANDS = 12 }; /* the most that one instruction may have */

typedef struct PtxInstruction {
    const char *const *word; /* "ld","global","nc","v4","f32": the opcode, split at its dots */
    /* In text order.  A call has: returns (VECTOR), target (SYMBOL or REGISTER), arguments
     * (VECTOR), and where it is indirect its prototype or list of targets (SYMBOL). */
    PtxOperand *operand;
    uint32_t words, operands;
    int32_t guard; /* predicate register or PTX_NO_REGISTER */
    int guard_negated;
    uint32_t target; /* bra: index of the instruction branched to (may equal count: the end) */
    uint32_t target_count;
    uint32_t *targets; /* brx.idx: the .branchtargets list */
    uint32_t ptx_line; /* 1-based line in the PTX text */
    PtxSource source;  /* from the nearest .loc above */
    int nounroll;      /* preceded by .pragma "nounroll" */
} PtxInstruction;

typedef struct PtxFunction {
    const char *name;
    int is_entry, is_extern; /* is_extern: declared, and its body is nowhere in this text */
    PtxVariable *param;
    uint32_t params; /* declared order */
    PtxVariable *result;
    uint32_t results;
    PtxRegister *reg;
    uint32_t regs;
    PtxVariable *variable;
    uint32_t variables; /* function-scope .shared, .local, .param, .const, .global */
    PtxInstruction *instruction;
    uint32_t instructions;
    /* .maxntid, .reqntid, .minnctapersm, .maxnreg, .reqnctapercluster; 0 where absent. */
    uint32_t max_threads[3], required_threads[3], min_blocks, max_registers, required_cluster[3];
    uint32_t ptx_line;
} PtxFunction;

typedef struct PtxModule {
    uint32_t version_major, version_minor, target; /* 9, 0, 75 */
    char target_suffix;                            /* 'a' of sm_90a, or 0 */
    const char **file;
    uint32_t files; /* index = the n of ".file n" minus 1 where dense; holes are NULL */
    PtxVariable *variable;
    uint32_t variables;
    PtxFunction *function;
    uint32_t functions;
    void *arena; /* owns everything above */
} PtxModule;

/* Parses `bytes` of text (need not be NUL-terminated). NULL with error. Time and memory are linear
 * in `bytes`. Limits: 64 MiB of text, 512 MiB for the tree, 2^20 registers per function. A .global
 * variable may have 64 GiB, other variables 16 MiB, a parameter 1 MiB, and all initial values 256
 * MiB. Nesting, labels, vector lengths and operands are bounded, too.
 *
 * Registers of a range %r<N> are in the tree only if they are used.  An address spelled out byte by
 * byte (0xFF(x), 0xFF00(x), ...) is one relocation.  A declared function's definition takes the
 * declaration's place; an .alias shares its original's body. */
PtxModule *ptx_parse(const char *text, size_t bytes, Error *error);
void ptx_free(PtxModule *module);

#endif
