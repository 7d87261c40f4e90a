/* code_map.c - lines and loops of decoded code, and what it writes. */
#include "common/simulator/core/code_map.h"

#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/ops.h"

uint32_t code_line(const CodeMap *map, uint32_t at)
{
    uint32_t from = map->code[at].from;
    return from < map->kernel->origins && map->code[at].op != OP_JOIN
               ? map->kernel->origin[from]->ptx_line
               : 0;
}

int is_backward_branch(const Ins *code, uint32_t i)
{
    return (code[i].op == OP_BRA || code[i].op == OP_BRA_P) && code[i].target <= i;
}

int constant_of(const SimtKernel *kernel, uint32_t slot, uint64_t *bits)
{
    for (uint32_t i = 0; slot != NO_SLOT && i < kernel->constants; i++)
        if (kernel->constant[i].slot == slot) {
            *bits = kernel->constant[i].bits;
            return 1;
        }
    return 0;
}

int writes_score(const Ins *ins, uint16_t score)
{
    for (int d = 0; d < 4 && ins->t_d[d]; d++)
        if (ins->t_d[d] == score) return 1;
    return 0;
}

uint32_t writers_count(const Ins *code, uint32_t from, uint32_t to, uint16_t score,
                       const Ins **writer)
{
    uint32_t writers = 0;
    for (uint32_t i = from; score && i < to; i++)
        for (int k = 0; k < 4 && code[i].t_d[k]; k++)
            if (code[i].t_d[k] == score) *writer = &code[i], writers++;
    return writers;
}

int loads_plainly(const Ins *ins)
{
    int shared = ins->op >= OP_LD_SHARED_8 && ins->op <= OP_LD_SHARED_V,
        global = ins->op >= OP_LD_GLOBAL_8 && ins->op <= OP_LD_GLOBAL_V,
        whole = ins->guard == NO_SLOT && !ins->order && !ins->part_bytes && !ins->pseudo;
    return (shared || global) && whole && ins->class != CLASS_FREE;
}

int spares_load(const Ins *load, const Ins *ins)
{
    int computes =
            ins->op <= OP_LD_PARAM || (ins->op >= OP_TENSOR_PRODUCT && ins->op <= OP_TENSOR_OCTETS),
        global = ins->op >= OP_LD_GLOBAL_8 && ins->op <= OP_ST_GLOBAL_V,
        shared = ins->op >= OP_LD_SHARED_8 && ins->op <= OP_ST_SHARED_V,
        stores = ins->class == CLASS_STORE || ins->class == CLASS_SHARED_STORE;
    return computes ||
           ((global || shared) && !ins->order && (!stores || ins->space != load->space));
}

static int lines_find(CodeMap *map)
{
    uint32_t first = CODE_NOWHERE, last = 0;
    for (uint32_t i = 0; i < map->count; i++) {
        uint32_t line = code_line(map, i);
        if (line && line < first) first = line;
        if (line > last) last = line;
    }
    if (last) map->first = first, map->lines = last - first + 1;
    size_t bytes = ((size_t)map->lines + 1) * sizeof *map->at;
    map->at = malloc(bytes);
    if (!map->at) return -1;
    memset(map->at, 0xff, bytes);
    for (uint32_t i = map->count; i-- > 0;)
        if (code_line(map, i)) map->at[code_line(map, i) - first] = i;
    return 0;
}

static int loops_find(CodeMap *map)
{
    uint32_t most = 0, steps = 0;
    for (uint32_t i = 0; i < map->count; i++)
        most += (uint32_t)is_backward_branch(map->code, i);
    map->loop = calloc(most + 1, sizeof *map->loop);
    map->around = calloc(map->count + 1, sizeof *map->around);
    if (!map->loop || !map->around) return -1;
    for (uint32_t i = 0; i < map->count; i++) {
        if (!is_backward_branch(map->code, i)) continue;
        uint32_t head = map->code[i].target;
        if (i - head > CODE_STEPS - steps) return 0;
        steps += i - head;
        map->loop[map->loops++] = (CodeLoop){.head = head, .end = i};
        for (uint32_t k = head; k <= i; k++) {
            CodeLoop *inner = map->around[k] ? &map->loop[map->around[k] - 1] : NULL;
            if (!inner)
                map->around[k] = map->loops;
            else if (!inner->parent && inner != &map->loop[map->loops - 1])
                inner->parent = map->loops;
        }
    }
    return 0;
}

int code_map_open(CodeMap *map, const SimtKernel *kernel, const Ins *code, uint32_t count)
{
    *map = (CodeMap){.kernel = kernel, .code = code, .count = count};
    if (lines_find(map) == 0 && loops_find(map) == 0) return 0;
    code_map_close(map);
    return -1;
}

void code_map_close(CodeMap *map)
{
    free(map->at), free(map->loop), free(map->around);
    *map = (CodeMap){0};
}

uint32_t code_loop_closed(const CodeMap *map, uint32_t line)
{
    for (uint32_t i = code_at(map, line); i < map->count && code_line(map, i) == line; i++)
        for (uint32_t k = 0; is_backward_branch(map->code, i) && k < map->loops; k++)
            if (map->loop[k].end == i) return k + 1;
    return 0;
}

uint32_t code_copies(const CodeMap *map, const uint32_t *count, uint32_t most)
{
    uint32_t with[CODE_COPIES + 1] = {0}, best = 1;
    if (most > CODE_COPIES) most = CODE_COPIES;
    for (uint32_t line = 0; line < map->lines; line++)
        if (count[line]) with[count[line] < most ? count[line] : most]++;
    for (uint32_t k = 1; k <= most; k++)
        if (with[k] > with[best]) best = k;
    return best;
}
