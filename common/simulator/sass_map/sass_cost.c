/* sass_cost.c - SASS instructions of sm_90: their kinds and costs.
 *
 * The lowest nine bits of an opcode give the operation, the three above them the form of its
 * operands. Latencies apply only to instructions that signal a counter; the others have stall
 * counts in the instructions themselves. */
#include "common/simulator/core/ops.h"
#include "common/simulator/ptxas/latency.h"
#include "common/simulator/sass_map/sass_map.h"

enum { CLUSTER_WAIT = SASS_WITH_FORM(SASS_UCGABAR_WAIT, SASS_FORM_UNIFORM) };

enum { DOUBLE_ALUS = 2 }; /* alu_latencies of an instruction of doubles */

static uint32_t kind(const SassIns *ins)
{
    return ins->op & SASS_OPCODE_MASK;
}

/* Does it access global, shared or local memory, or shuffle? */
int sass_is_access(const SassIns *ins)
{
    switch (kind(ins)) {
    case SASS_LD:
    case SASS_LDG:
    case SASS_LDL:
    case SASS_LDS:
    case SASS_LDSM:
    case SASS_ST:
    case SASS_STG:
    case SASS_STL:
    case SASS_STS:
    case SASS_ATOM:
    case SASS_ATOM_CAS:
    case SASS_ATOMS:
    case SASS_ATOMS_CAS:
    case SASS_RED:
    case SASS_ATOMG_F:
    case SASS_RED_F:
    case SASS_ATOMG:
    case SASS_ATOMG_CAS:
    case SASS_LDGSTS:
    case SASS_UTMASTG:
    case SASS_UBLKCP:
    case SASS_UBLKRED:
    case SASS_SHFL:
        return 1;
    default:
        return 0;
    }
}

int sass_is_barrier(const SassIns *ins)
{
    return kind(ins) == SASS_BAR || kind(ins) == SASS_MEMBAR || ins->op == CLUSTER_WAIT ||
           kind(ins) == SASS_UTMACMDFLUSH || kind(ins) == SASS_LDGDEPBAR ||
           kind(ins) == SASS_DEPBAR;
}

int sass_is_match(const SassIns *ins)
{
    return kind(ins) == SASS_MATCH;
}

int sass_is_rare_check(const SassIns *ins, const Ins *division)
{
    return kind(ins) == (division->op == OP_DIV_F64 ? SASS_MUFU : SASS_FCHK);
}

int sass_is_constant(const SassIns *ins)
{
    return kind(ins) == SASS_LDC || kind(ins) == SASS_ULDC || kind(ins) == SASS_ULDC_R;
}

int sass_is_ldc(const SassIns *ins)
{
    return kind(ins) == SASS_LDC;
}

int sass_is_call(const SassIns *ins)
{
    return kind(ins) == SASS_CALL_REL || kind(ins) == SASS_CALL_ABS;
}

int sass_is_branch(const SassIns *ins)
{
    return kind(ins) == SASS_BRA;
}

int sass_is_bsync(const SassIns *ins)
{
    return kind(ins) == SASS_BSYNC;
}

int sass_is_nop(const SassIns *ins)
{
    return kind(ins) == SASS_NOP;
}

/* The instruction for the replay: an access has the properties of its PTX instruction, but no
 * operands. A constant does not use the load/store unit. */
Ins sass_ins(const SimtKernel *kernel, const SassIns *from, uint32_t anchor)
{
    Ins ins = {.op = OP_NOP, .class = CLASS_INT, .from = UINT32_MAX, .guard = NO_SLOT};
    if (anchor == NO_SLOT) {
        if (kind(from) == SASS_BRA) ins.class = CLASS_BRANCH;
        return ins;
    }
    ins = kernel->code[anchor];
    for (int i = 0; i < 6; i++)
        ins.t_s[i] = 0;
    for (int i = 0; i < 4; i++)
        ins.t_d[i] = 0;
    ins.merge = MERGE_NONE;
    if (ins.space == PTX_CONST) ins.class = CLASS_INT;
    return ins;
}

void sass_divergence(Ins *ins, InsCost *price, const SimtMachine *m)
{
    const MachineCosts *costs = &m->costs;
    *ins = (Ins){.op = OP_NOP, .class = CLASS_INT, .from = UINT32_MAX, .guard = NO_SLOT};
    *price = (InsCost){
        .slots = 1, .wait = STALL_WAIT, .follows = 1, .stall = (uint8_t)costs->divergence_cycles};
}

static void unit_find(InsCost *p, const SassIns *ins, const InsCost *price, const SimtMachine *m)
{
    const MachineCosts *costs = &m->costs;
    switch (kind(ins)) {
    case SASS_FMUL:
    case SASS_FADD:
    case SASS_FFMA:
    case SASS_HADD2:
    case SASS_HFMA2:
    case SASS_HMUL2:
    case SASS_HFMA2_MMA:
        p->pipe = PIPE_FP32, p->busy = cycles_for(m->fp32_lanes, m);
        break;
    case SASS_IMAD:
    case SASS_IMAD_WIDE:
    case SASS_IMAD_HI:
    case SASS_VIADD:
        p->pipe = PIPE_IMAD, p->busy = cycles_for(m->int32_lanes, m);
        break;
    case SASS_IDP:
        p->pipe = PIPE_IMAD, p->busy = cycles_for(m->int32_lanes, m);
        break;
    case SASS_MOV:
    case SASS_P2R:
    case SASS_R2P:
    case SASS_VOTE:
    case SASS_SEL:
    case SASS_FSEL:
    case SASS_FMNMX:
    case SASS_FSETP:
    case SASS_ISETP:
    case SASS_VIMNMX3:
    case SASS_IADD3:
    case SASS_LEA:
    case SASS_LOP3:
    case SASS_IABS:
    case SASS_PRMT:
    case SASS_IMNMX:
    case SASS_SHF:
    case SASS_PLOP3:
    case SASS_HSETP2:
    case SASS_F2FP:
    case SASS_I2FP:
    case SASS_VIADDMNMX:
    case SASS_VIMNMX:
        p->pipe = PIPE_INT, p->busy = cycles_for(m->int32_lanes, m);
        break;
    case SASS_DMUL:
    case SASS_DADD:
    case SASS_DSETP:
    case SASS_DFMA:
        p->pipe = PIPE_FP64, p->busy = cycles_for(m->fp64_lanes, m);
        p->latency = (uint16_t)(DOUBLE_ALUS * m->alu_latency);
        break;
    case SASS_FCHK:
    case SASS_MUFU:
        p->pipe = PIPE_SFU, p->busy = cycles_for(m->sfu_lanes, m);
        p->latency = (uint16_t)costs->special_latency, p->wait = STALL_SPECIAL;
        break;
    case SASS_FLO:
    case SASS_BREV:
    case SASS_F2F:
    case SASS_F2I:
    case SASS_I2F:
    case SASS_FRND:
    case SASS_POPC:
    case SASS_CVT_10F:
    case SASS_F2F_64:
    case SASS_F2I_64:
    case SASS_I2F_64:
    case SASS_FRND_64:
    case SASS_MATCH: /* so long for each value */
        p->pipe = PIPE_SFU, p->busy = cycles_for(m->sfu_lanes, m);
        p->latency = (uint16_t)costs->conversion_latency, p->wait = STALL_SPECIAL;
        break;
    case SASS_LDC: /* so long for each word */
        p->pipe = PIPE_CONSTANT, p->busy = (uint16_t)costs->constant_busy;
        p->latency = (uint16_t)costs->constant_latency, p->wait = STALL_SHORT_SCOREBOARD;
        break;
    case SASS_S2R:
    case SASS_S2UR:
        p->latency = (uint16_t)costs->constant_latency, p->wait = STALL_SHORT_SCOREBOARD;
        break;
    case SASS_IMMA: /* in a sequence of MMAs, only the last has a counter for its result */
    case SASS_HMMA:
    case SASS_BMMA:
    case SASS_DMMA:
        p->pipe = PIPE_TENSOR, p->busy = price && price->part_busy ? price->part_busy : 1;
        if (price && price->part_busy) p->latency = price->latency;
        p->slows = price && price->slows;
        break;
    default:
        break;
    }
}

InsCost sass_ins_cost(const SassIns *ins, const Ins *line, const InsCost *price,
                      const SimtMachine *m)
{
    const MachineCosts *costs = &m->costs;
    InsCost p = {.slots = 1,
                 .latency = (uint16_t)m->alu_latency,
                 .wait = STALL_WAIT,
                 .follows = 1,
                 .stall = ins->stall,
                 .fetches = {ins->fetches[0], ins->fetches[1]},
                 .waits = ins->waits,
                 .made = ins->made,
                 .read = ins->read};
    /* The call takes what its PTX takes, which was measured with the moves around it. */
    if (price && price->part_busy && price->pipe == PIPE_INT && !sass_is_call(ins)) p.slots = 0;
    if (kind(ins) == SASS_BSYNC) p.stall = (uint8_t)(p.stall + costs->bsync_cycles);
    if (kind(ins) == SASS_ULDC_R && p.stall < costs->uniform_load_cycles)
        p.stall = (uint8_t)costs->uniform_load_cycles;
    if (sass_is_call(ins) && price) {
        p.slots = price->slots;
        if (price->part_busy) p.pipe = price->pipe, p.busy = price->busy;
        p.slows = price->slows;
        p.stall = (uint8_t)(price->latency < UINT8_MAX ? price->latency : UINT8_MAX);
    }
    if (sass_is_access(ins) && price)
        p.wait = price->wait;
    else
        unit_find(&p, ins, price, m);
    /* Parameters have addresses in the instruction: blocks that read little else show a lower cost
     * (idle-...). */
    if (p.pipe == PIPE_CONSTANT && (!line || line->space != PTX_CONST)) p.pipe = PIPE_NONE;
    return p;
}
