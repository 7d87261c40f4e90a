/* kernel_map.h - from an instruction of a kernel to source lines, frames and variables. */
#ifndef CONVLAB_DEBUGGER_KERNEL_MAP_H
#define CONVLAB_DEBUGGER_KERNEL_MAP_H

#include "common/debugger/symbols.h"
#include "common/simulator/core/core.h"

enum { FRAMES_MOST = 64 };

/* The PTX text of one module, and what its DWARF says. */
typedef struct ModuleMap {
    const struct Image *image;
    const PtxModule *ptx;
    Symbols symbols;
    struct ModuleMap *next;
} ModuleMap;

/* Source location of one instruction (SimtKernel.origin). */
typedef struct Spot {
    uint32_t file, line; /* line 0: unknown */
    uint16_t depth;      /* call depth, with inlined calls */
    uint8_t is_toolkit;  /* in a header of CUDA */
} Spot;

/* State spaces that an instruction may write. */
enum { WRITES_GLOBAL = 1, WRITES_SHARED = 2, WRITES_LOCAL = 4 };

typedef struct KernelMap {
    SimtKernel *kernel;
    ModuleMap *module;
    Spot *spot;      /* per `from` */
    uint8_t *writes; /* per instruction: WRITES_* */
    struct KernelMap *next;
} KernelMap;

typedef struct Frame {
    uint32_t from, scope;
    uint64_t pc;   /* line of the PTX text */
    Dwarf_Off die; /* 0: no DWARF */
    char name[SYMBOL_NAME];
    const char *file; /* whole path; NULL: unknown */
    uint32_t line;
    int is_inlined;
} Frame;

/* A variable's place in one warp. */
typedef struct Place {
    PlaceKind kind; /* PLACE_SYMBOL: at the generic address `address` */
    uint64_t address;
    int is_in_frame;      /* counted from the frame of the routine that runs */
    uint32_t slot, width; /* bytes per lane of a register; 0: a predicate */
    int64_t constant;
    const Type *type;
    char why[200];
} Place;

/* The maps stay until the process ends: kernels are few.  NULL: out of memory. */
KernelMap *kernel_map(SimtKernel *kernel);
ModuleMap *module_map(const SimtModule *module);

/* WRITES_* of each instruction; the caller frees it.  NULL: out of memory. */
uint8_t *writes_find(const SimtKernel *kernel);
/* The one of WRITES_* that the address belongs to. */
uint8_t writes_space(uint64_t address);

const Spot *spot_of(const KernelMap *map, const Ins *ins);
const char *file_of(const KernelMap *map, uint32_t file);
const char *file_base(const char *path);
/* Innermost first; at least one. */
uint32_t frames_at(const KernelMap *map, const Ins *ins, Frame frame[FRAMES_MOST]);
/* 0: found; -1: no variable of that name is in scope. */
int place_find(const KernelMap *map, const Frame *frame, const char *name, Place *place);
void place_of(const KernelMap *map, const Frame *frame, const Variable *variable, Place *place);
/* A PTX register by its name, "%r3". */
int register_find(const KernelMap *map, const Frame *frame, const char *name, Place *place);

/* The first instruction of each contiguous run of the line; after `line` the nearest line with code
 * is taken, which *line becomes.  Their number, at most `most`. */
uint32_t line_instructions(const KernelMap *map, const char *file, uint32_t *line, uint32_t *ins,
                           uint32_t most);
/* The first instruction after the prologue of each copy of the function. */
uint32_t function_instructions(const KernelMap *map, const char *function, uint32_t *ins,
                               uint32_t most);
void kernel_demangled_name(const SimtKernel *kernel, char *text, size_t bytes);

#endif
