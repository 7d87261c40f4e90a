/* decoder.h - shared declarations of the sources that translate parsed PTX into Ins; private to
 * this folder. */
#ifndef CONVLAB_SIMT_DECODE_DECODER_H
#define CONVLAB_SIMT_DECODE_DECODER_H

#include "common/simulator/decode/decode.h"
#include "common/simulator/core/kinds.h"
#include "common/simulator/core/ops.h"

typedef struct LocalSymbol {
    const PtxVariable *variable;
    uint64_t offset;
    PtxSpace space;
} LocalSymbol;

/* One function body being decoded: the kernel itself, or a function expanded where it is called. */
typedef struct Instance {
    const PtxFunction *function;
    uint32_t *slot;      /* per PTX register; 0: none yet */
    uint8_t *uses;       /* per PTX register: how often it is named, up to 255 */
    uint32_t *position;  /* per PTX instruction: the first Ins made of it */
    LocalSymbol *symbol; /* local, param and result variables */
    uint32_t symbols, symbol_room;
    uint32_t first_fix;
    uint32_t scope; /* its number among the kernel's, where a debugger keeps them */
    struct Instance *caller;
} Instance;

typedef struct Fix {
    uint32_t ins, table; /* a branch, or an entry of the jump table when ins is NO_SLOT */
    uint32_t target;     /* PTX instruction */
} Fix;

enum { TEMPS = 8, MOST_ROUTINES = 64, FILE_LIMIT = 4 << 20 };

typedef struct Decoder {
    SimtKernel *kernel;
    SimtModule *module;
    const Handler *handlers; /* one for each Op */
    Instance *instance;
    const PtxInstruction *in;
    uint32_t used; /* words of the instruction understood so far */
    uint32_t from, depth;
    int failed;
    Error *error;
    Ins *code;
    uint32_t count, room;
    uint32_t file_bytes, predicate_next, predicate_end;
    uint8_t row_width[FILE_LIMIT / ROW_BYTES + 4]; /* as Routine.width, of the whole file */
    uint32_t temp32[TEMPS], temp64[TEMPS], tempp[TEMPS], temps32, temps64, tempsp;
    uint32_t carry; /* the predicate that stands for CC.CF; 0: none yet */
    uint32_t constant_room, origin_room, table_room, tensor_room, bulk_room, wgmma_room;
    LocalSymbol *shared;
    uint32_t shareds, shared_room;
    uint64_t shared_bytes, local_bytes;
    uint32_t dynamic_align; /* largest alignment of a variable in dynamic shared memory */
    Fix *fix;
    uint32_t fixes, fix_room;
    uint16_t *score; /* per 4 bytes of the register file: scoreboard number */
    uint32_t scores, score_room;
    uint8_t width[65536]; /* hardware registers per scoreboard number */
    /* Functions that were found to call themselves; then decoding began again. */
    const PtxFunction *recursive[MOST_ROUTINES];
    uint32_t recursives;
    int again;
    uint32_t routine; /* the one in hand, or NO_ROUTINE */
    uint32_t call_room, copy_room;
    uint32_t scope_room, scope_of_room;
} Decoder;

/* ---- decode.c ---- */
int refuse(Decoder *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
int word_take(Decoder *d, const char *word);
/* Takes the first of the NULL-ended `choices` that is present and returns its number, or -1. */
int word_choose(Decoder *d, const char *const *choices);
PtxType type_take(Decoder *d);
int words_finished(Decoder *d);
Ins *emit(Decoder *d, Op op, OpClass class);
Ins *emit_pseudo(Decoder *d, Op op, uint32_t dst, uint32_t a, uint32_t b);
void *grow(Decoder *d, void *array, uint32_t count, uint32_t *room, size_t bytes);
/* The instructions have become `code`; what was number i is moved[i] now. */
void targets_move(Decoder *d, Ins *code, uint32_t count, const uint32_t *moved);

/* ---- decode_operand.c ---- */
typedef enum Width { WIDTH_PRED, WIDTH_32, WIDTH_64 } Width;

Width width_of(PtxType type);
int type_is_signed(PtxType type);
int type_is_float(PtxType type);
uint32_t slot_new(Decoder *d, Width width);
uint32_t temp_slot(Decoder *d, Width width);
uint32_t constant_slot(Decoder *d, Width width, uint64_t bits, int dynamic);
/* The operand, or after a refusal an empty one. */
const PtxOperand *operand_at(Decoder *d, uint32_t operand);
uint32_t source(Decoder *d, uint32_t operand, PtxType type);
uint32_t source_of(Decoder *d, const PtxOperand *operand, PtxType type);
/* The predicate `q` or `!q` that a result is combined with; its slot. */
uint32_t predicate_of(Decoder *d, const PtxOperand *operand, uint32_t *negated);
/* The aux of a comparison that is combined with it: by and (0), or (1), xor (2). */
static inline uint32_t combination_of(int logic, uint32_t negated)
{
    return (uint32_t)(logic + 1) | negated << 2;
}
uint32_t destination(Decoder *d, uint32_t operand, PtxType type);
uint32_t destination_of(Decoder *d, const PtxOperand *operand, PtxType type);
uint32_t register_slot(Decoder *d, int32_t reg);
/* The lower half of a register of 128 bits, which only mov, atom.exch and atom.cas take. */
uint32_t wide_slot(Decoder *d, const PtxOperand *operand);
PtxType register_type(Decoder *d, const PtxOperand *operand);
/* Is this result named anywhere but here? */
int result_is_used(const Decoder *d, const PtxOperand *operand);
/* Base slot, displacement and width of [base + offset]; space: the instruction's, or NONE for
 * generic. */
int address_of(Decoder *d, const PtxOperand *operand, PtxSpace space, Ins *ins);
int symbol_address(Decoder *d, const PtxOperand *operand, PtxSpace *space, uint64_t *address,
                   int *dynamic);
/* Places what the function names of shared memory as ptxas does: as it was declared, the function's
 * own variables first. */
int shared_layout(Decoder *d, const PtxFunction *function);
int local_bind(Decoder *d, Instance *instance, const PtxVariable *variable, uint64_t offset,
               PtxSpace space);

/* ---- the families; each returns 0, or -1 after refusing; 1: not of this family ---- */
int decode_integer(Decoder *d);
int decode_video(Decoder *d);
int decode_float(Decoder *d);
int decode_compare(Decoder *d);
int decode_convert(Decoder *d);
int decode_memory(Decoder *d);
int decode_tensor(Decoder *d);
int decode_async(Decoder *d);
int decode_wgmma(Decoder *d);
int decode_cluster(Decoder *d);
int decode_map_change(Decoder *d);
int decode_texture(Decoder *d);
int decode_control(Decoder *d);
int decode_stack(Decoder *d);
int decode_call(Decoder *d);
/* A branch to a PTX instruction of this function, taken where the guard holds (or, `inverted`, does
 * not). */
int branch_emit(Decoder *d, uint32_t target, int inverted, int pseudo);
int decode_function(Decoder *d, const PtxFunction *function, Instance *caller);

/* ---- decode_routine.c ---- */
/* The number of the routine that the function is, or NO_ROUTINE. */
uint32_t routine_of(const Decoder *d, const PtxFunction *function);
/* Begins the kernel again, with the functions from this one, which is running, to the one that
 * calls it as routines; -1. */
int routine_note(Decoder *d, const PtxFunction *function);
/* Opens the data of a kernel with routines; their bodies follow the kernel's own code. */
int routines_open(Decoder *d);
int routines_decode(Decoder *d);
int routine_call(Decoder *d, uint32_t routine, const PtxOperand *arguments,
                 const PtxOperand *results);
/* The reconvergence point of a branch whose control flow has none: the return of its routine. */
uint32_t routine_return(const SimtKernel *kernel, uint32_t ins);
/* Offset of an argument, which must be a variable of the caller, in its local memory or its
 * routine's frame. */
int argument_offset(Decoder *d, const PtxOperand *operand, uint64_t *offset);

/* ---- decode_stack.c ---- */
/* The stack pointer, from here on in the kernel. */
uint32_t stack_slot(Decoder *d);
/* At the start and end of a function: the slot that keeps the stack pointer, or NO_SLOT. */
uint32_t stack_keep(Decoder *d, const PtxFunction *function);
void stack_give_back(Decoder *d, uint32_t kept);

/* ---- decode_memory.c ---- */
/* 1 where the last operand is a cache policy, which changes nothing here. */
uint32_t policy_operands(const Decoder *d);

/* ---- decode_mbarrier.c ---- */
int decode_mbarrier(Decoder *d);
/* Words that change nothing here. */
void async_hints(Decoder *d);
/* Rejects an instruction that the machine does not have: FEATURE_NEED(d, tma) != 0. */
#define FEATURE_NEED(d, key) ((d)->module->gpu->machine.has.key ? 0 : feature_refuse(d, #key))
int feature_refuse(Decoder *d, const char *feature);

/* ---- decode_bulk.c ---- */
int decode_bulk(Decoder *d);
int decode_bulk_reduction(Decoder *d);
int decode_values_send(Decoder *d);

/* ---- registers.c ---- */
/* The kernel's registers, if no cubin states them; the registers that a thread needs, in any case;
 * and the stack size of each routine. */
void registers_find(const Decoder *d);

/* ---- control_flow.c ---- */
/* Writes the reconvergence point of every conditional branch (its immediate post-dominator), else
 * UINT32_MAX. */
int control_flow_resolve(const Ins *code, uint32_t count, const uint32_t *table, uint32_t *reconv);

/* ---- spin.c ---- */
/* Marks the loops that wait for what other threads write (Ins.yields, ORDER_SPINS). */
void spins_find(Decoder *d);

/* ---- guess.c ---- */
/* Marks the plain loads whose word an atomicCAS then compares (ORDER_GUESSES). */
void guesses_find(Decoder *d);

/* ---- spill.c ---- */
/* So little that it costs nothing, or not at all (registers.c). */
int spills_slightly(const Decoder *d);
/* Inserts the spill accesses of SASS; -1 after refusing. */
int spills_place(Decoder *d);
/* Makes the readers of reloaded values wait for the reload, when scoreboard numbers are
 * assigned. */
void spills_link(Decoder *d);

/* ---- uniform.c ---- */
/* Marks the atomics that one lane performs for all (Ins.joins). */
void uniform_atomics_find(SimtKernel *kernel);

/* ---- scope.c: where a debugger finds the registers and variables of each function body ---- */
/* -1 after refusing.  All of them do nothing where there is no debugger. */
int scope_begin(Decoder *d, Instance *instance);
/* The instruction that was just added is the instance's. */
int scope_note(Decoder *d, const Instance *instance);
int scope_keep(Decoder *d, const Instance *instance);
int scopes_keep_shared(Decoder *d);
void scopes_free(SimtKernel *kernel);

/* ---- wgmma_touch.c ---- */
/* Numbers the registers of warpgroup MMAs (SimtKernel.wgmma_register). */
void wgmma_registers_find(Decoder *d);
/* Has this instruction to do with such registers? */
int wgmma_touches(const Decoder *d, const Ins *ins);

/* ---- repeat.c ---- */
/* Makes free the loads of what a load before them has read, which ptxas leaves out. */
void repeats_find(SimtKernel *kernel);

/* ---- merge.c ---- */
/* Marks the accesses to shared memory that ptxas merges (Ins.merge). */
void accesses_merge(SimtKernel *kernel);

#endif
