/* code_map.h - positions of PTX lines and loops in decoded code, for mapping SASS, whose
 * instructions name lines, to PTX. */
#ifndef CONVLAB_SIMT_CORE_CODE_MAP_H
#define CONVLAB_SIMT_CORE_CODE_MAP_H

#include "common/simulator/core/core.h"

/* Limits for a hostile kernel: steps of analysis, and copies of a loop that are counted. */
enum { CODE_NOWHERE = 0xffffffff, CODE_STEPS = 200000000, CODE_COPIES = 1024 };

/* A constant's bits, if the slot holds one. */
int constant_of(const SimtKernel *kernel, uint32_t slot, uint64_t *bits);

/* Is `score` one of its results? */
int writes_score(const Ins *ins, uint16_t score);

/* Number of instructions of code[from, to) that write `score`, the last of them in *writer; an
 * instruction with two such results counts twice. If it is 0, *writer is unchanged. */
uint32_t writers_count(const Ins *code, uint32_t from, uint32_t to, uint16_t score,
                       const Ins **writer);

/* Loads shared or global memory for every lane, and is not left out? */
int loads_plainly(const Ins *ins);
/* Does it leave the memory of the load unchanged? */
int spares_load(const Ins *load, const Ins *ins);

/* From the target of a branch back to that branch. */
typedef struct CodeLoop {
    uint32_t head, end, parent; /* parent: from 1, 0: none */
} CodeLoop;

typedef struct CodeMap {
    const SimtKernel *kernel;
    const Ins *code;
    uint32_t count;
    uint32_t first, lines; /* PTX lines from the first to the last with code */
    uint32_t *at;          /* the first instruction of each of these, or CODE_NOWHERE */
    CodeLoop *loop;        /* inner ones before those around them */
    uint32_t loops;
    uint32_t *around; /* per instruction: the innermost loop, from 1; 0: none */
} CodeMap;

/* Is instruction `i` the branch that closes a loop, whose head is then its target? */
int is_backward_branch(const Ins *code, uint32_t i);

/* -1: out of memory. If there are too many loops to analyse, the last of them are left out. */
int code_map_open(CodeMap *map, const SimtKernel *kernel, const Ins *code, uint32_t count);
void code_map_close(CodeMap *map);

static inline uint32_t code_at(const CodeMap *map, uint32_t line)
{
    return line - map->first < map->lines ? map->at[line - map->first] : CODE_NOWHERE;
}

/* PTX line of the instruction executed there; 0: none. */
uint32_t code_line(const CodeMap *map, uint32_t at);
/* The loop that the branch on this line closes, from 1; 0: none. */
uint32_t code_loop_closed(const CodeMap *map, uint32_t line);
/* The most frequent number of SASS instructions per line, among lines that have any: the number of
 * copies of their loop that ptxas generated. `count`: per line from map->first on; `most`,
 * CODE_COPIES at most: larger numbers count as this one. */
uint32_t code_copies(const CodeMap *map, const uint32_t *count, uint32_t most);

#endif
