/* code_map.h - where decoded code has each line of the PTX, and its loops: what machine code, whose
 * instructions name lines, is laid beside. */
#ifndef CONVLAB_SIMT_CORE_CODE_MAP_H
#define CONVLAB_SIMT_CORE_CODE_MAP_H

#include "common/simulator/core/core.h"

/* What a hostile kernel may cost: steps of looking at it, and copies of a loop that are counted. */
enum { CODE_NOWHERE = 0xffffffff, CODE_STEPS = 200000000, CODE_COPIES = 1024 };

/* A constant's bits, if the slot holds one. */
int constant_of(const SimtKernel *kernel, uint32_t slot, uint64_t *bits);

/* Is `score` one of its results? */
int writes_score(const Ins *ins, uint16_t score);

/* How many instructions of code[from, to) write `score`, the last of them in *writer: a result
 * that one writes twice counts twice.  0: *writer stays as it was. */
uint32_t writers_count(const Ins *code, uint32_t from, uint32_t to, uint16_t score,
                       const Ins **writer);

/* Loads shared or global memory for every lane, and is not left out? */
int loads_plainly(const Ins *ins);
/* Has it nothing to do with memory, or with that of the load nothing but reading? */
int spares_load(const Ins *load, const Ins *ins);

/* From the target of a branch back to that branch. */
typedef struct CodeLoop {
    uint32_t head, end, parent; /* parent: from 1, 0: none */
} CodeLoop;

typedef struct CodeMap {
    const SimtKernel *kernel;
    const Ins *code;
    uint32_t count;
    uint32_t first, lines; /* of the PTX, from the first to the last that have code */
    uint32_t *at;          /* the first instruction of each of these, or CODE_NOWHERE */
    CodeLoop *loop;        /* inner ones before those around them */
    uint32_t loops;
    uint32_t *around; /* per instruction: the innermost loop, from 1; 0: none */
} CodeMap;

/* Is instruction `i` the branch that closes a loop, whose head is then its target? */
int goes_back(const Ins *code, uint32_t i);

/* -1: out of memory.  Where there are too many loops to look at, the last of them are left out. */
int code_map_open(CodeMap *map, const SimtKernel *kernel, const Ins *code, uint32_t count);
void code_map_close(CodeMap *map);

static inline uint32_t code_at(const CodeMap *map, uint32_t line)
{
    return line - map->first < map->lines ? map->at[line - map->first] : CODE_NOWHERE;
}

/* Of an instruction that is executed there; 0: none. */
uint32_t code_line(const CodeMap *map, uint32_t at);
/* The loop that the branch on this line closes, from 1; 0: none. */
uint32_t code_loop_closed(const CodeMap *map, uint32_t line);
/* How many machine instructions most lines have, of those that have any: so often ptxas wrote down
 * their loop.  `count`: of each line from map->first on; `most`, CODE_COPIES at most: what has more
 * counts as so many. */
uint32_t code_copies(const CodeMap *map, const uint32_t *count, uint32_t most);

#endif
