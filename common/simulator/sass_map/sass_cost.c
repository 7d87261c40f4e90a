/* sass_cost.c - machine instructions of sm_90: what they are, and what they take.
 *
 * The lowest nine bits of an operation say what it does, the three above them where its operands
 * lie.  Latencies are only those of instructions that count a counter down: the others' are stall
 * counts in the instructions themselves. */
#include "common/simulator/core/ops.h"
#include "common/simulator/ptxas/latency.h"
#include "common/simulator/sass_map/sass_map.h"

enum {
    BRANCH = 0x147,
    CALL = 0x144,
    CALL_ABSOLUTE = 0x143,
    NOP = 0x118,
    BARRIER = 0x11d,
    CLUSTER_WAIT = 0xdc7, /* with the form of its operands: another one arrives */
    COPIES_COMMIT = 0x1b7,
    LOADS_COMMIT = 0x1af, /* of copies by threads: LDGDEPBAR */
    COPIES_WAIT = 0x11a,
    FENCE = 0x192, /* MEMBAR */
    MEET = 0x141,  /* BSYNC: lanes that may have parted */
    SHUFFLE = 0x189,
    MATCH = 0x1a1,
    CHECK = 0x102,    /* FCHK */
    SPECIAL = 0x108,  /* MUFU: of a double's division the first guess */
    CONSTANT = 0x182, /* LDC, and ULDC at a constant and at a register's place */
    UNIFORM_CONSTANT = 0x0b9,
    UNIFORM_CONSTANT_AT = 0x0bb
};

/* Cycles until the result is there, chosen as those of critical_path.h. */
enum {
    SPECIAL_LATENCY = 18,
    CONVERSION_LATENCY = 18,
    CONSTANT_LATENCY = 30,
    CONSTANT_BUSY = 2,
    DOUBLE_ALUS = 2,
    MEET_CYCLES = 4,
    UNIFORM_CYCLES = 6
};

static uint32_t kind(const MachineIns *ins)
{
    return ins->op & MACHINE_OPERATION;
}

/* Of global, shared or local memory, or a shuffle. */
int follow_is_access(const MachineIns *ins)
{
    switch (kind(ins)) {
    case 0x180: /* LD, LDG, LDL, LDS, LDSM */
    case 0x181:
    case 0x183:
    case 0x184:
    case 0x03b:
    case 0x185: /* ST, STG, STL, STS */
    case 0x186:
    case 0x187:
    case 0x188:
    case 0x18a: /* atomics */
    case 0x18b:
    case 0x18c:
    case 0x18d:
    case 0x18e:
    case 0x1a3:
    case 0x1a6:
    case 0x1a8:
    case 0x1a9:
    case 0x1ae: /* LDGSTS */
    case 0x1b5: /* UTMASTG, UBLKCP, UBLKRED */
    case 0x1ba:
    case 0x1bb:
    case SHUFFLE:
        return 1;
    default:
        return 0;
    }
}

int follow_is_barrier(const MachineIns *ins)
{
    return kind(ins) == BARRIER || kind(ins) == FENCE || ins->op == CLUSTER_WAIT ||
           kind(ins) == COPIES_COMMIT || kind(ins) == LOADS_COMMIT || kind(ins) == COPIES_WAIT;
}

int follow_is_match(const MachineIns *ins)
{
    return kind(ins) == MATCH;
}

int follow_is_check(const MachineIns *ins, const Ins *division)
{
    return kind(ins) == (division->op == OP_DIV_F64 ? SPECIAL : CHECK);
}

int follow_is_constant(const MachineIns *ins)
{
    return kind(ins) == CONSTANT || kind(ins) == UNIFORM_CONSTANT ||
           kind(ins) == UNIFORM_CONSTANT_AT;
}

int follow_is_lanes_constant(const MachineIns *ins)
{
    return kind(ins) == CONSTANT;
}

int follow_is_call(const MachineIns *ins)
{
    return kind(ins) == CALL || kind(ins) == CALL_ABSOLUTE;
}

int follow_is_branch(const MachineIns *ins)
{
    return kind(ins) == BRANCH;
}

int follow_is_meeting(const MachineIns *ins)
{
    return kind(ins) == MEET;
}

int follow_is_filler(const MachineIns *ins)
{
    return kind(ins) == NOP;
}

/* What the replay looks at: an access is the PTX's own, without its operands.  A constant does not
 * go by way of the load/store unit. */
Ins follow_ins(const SimtKernel *kernel, const MachineIns *from, uint32_t anchor)
{
    Ins ins = {.op = OP_NOP, .class = CLASS_INT, .from = UINT32_MAX, .guard = NO_SLOT};
    if (anchor == NO_SLOT) {
        if (kind(from) == BRANCH) ins.class = CLASS_BRANCH;
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

void follow_way(Ins *ins, Price *price)
{
    *ins = (Ins){.op = OP_NOP, .class = CLASS_INT, .from = UINT32_MAX, .guard = NO_SLOT};
    *price = (Price){.slots = 1, .wait = STALL_WAIT, .follows = 1, .stall = WAY_CYCLES};
}

static void unit_find(Price *p, const MachineIns *ins, const Price *price, const SimtMachine *m)
{
    switch (kind(ins)) {
    case 0x020: /* FMUL FADD FFMA, HADD2 HFMA2 HMUL2 HFMA2.MMA */
    case 0x021:
    case 0x023:
    case 0x030:
    case 0x031:
    case 0x032:
    case 0x035:
        p->pipe = PIPE_FP32, p->busy = cycles_for(m->fp32_lanes, m);
        break;
    case 0x024: /* IMAD, IMAD.WIDE, IMAD.HI */
    case 0x025:
    case 0x027:
    case 0x036: /* VIADD */
        p->pipe = PIPE_PRODUCT, p->busy = cycles_for(m->int32_lanes, m);
        break;
    case 0x026: /* IDP */
        p->pipe = PIPE_PRODUCT, p->busy = cycles_for(m->int32_lanes, m);
        break;
    case 0x002: /* MOV P2R R2P VOTE SEL FSEL FMNMX */
    case 0x003:
    case 0x004:
    case 0x006:
    case 0x007:
    case 0x008:
    case 0x009:
    case 0x00b: /* FSETP ISETP IADD3 LEA LOP3 IABS PRMT IMNMX SHF PLOP3 */
    case 0x00c:
    case 0x00f: /* VIMNMX3 */
    case 0x010:
    case 0x011:
    case 0x012:
    case 0x013:
    case 0x016:
    case 0x017:
    case 0x019:
    case 0x01c:
    case 0x034: /* HSETP2 F2FP I2FP VIMNMX */
    case 0x03e:
    case 0x045:
    case 0x046: /* VIADDMNMX */
    case 0x048:
        p->pipe = PIPE_INT, p->busy = cycles_for(m->int32_lanes, m);
        break;
    case 0x028: /* DMUL DADD DSETP DFMA */
    case 0x029:
    case 0x02a:
    case 0x02b:
        p->pipe = PIPE_FP64, p->busy = cycles_for(m->fp64_lanes, m);
        p->latency = (uint16_t)(DOUBLE_ALUS * m->alu_latency);
        break;
    case CHECK:
    case SPECIAL:
        p->pipe = PIPE_SFU, p->busy = cycles_for(m->sfu_lanes, m);
        p->latency = SPECIAL_LATENCY, p->wait = STALL_SPECIAL;
        break;
    case 0x100: /* FLO BREV F2F F2I I2F FRND POPC, and those with 64 bits */
    case 0x101:
    case 0x104:
    case 0x105:
    case 0x106:
    case 0x107:
    case 0x109:
    case 0x10f:
    case 0x110:
    case 0x111:
    case 0x112:
    case 0x113:
    case MATCH: /* so long for each value */
        p->pipe = PIPE_SFU, p->busy = cycles_for(m->sfu_lanes, m);
        p->latency = CONVERSION_LATENCY, p->wait = STALL_SPECIAL;
        break;
    case CONSTANT: /* so long for each word */
        p->pipe = PIPE_CONSTANT, p->busy = CONSTANT_BUSY;
        p->latency = CONSTANT_LATENCY, p->wait = STALL_SHORT_SCOREBOARD;
        break;
    case 0x119: /* S2R S2UR */
    case 0x1c3:
        p->latency = CONSTANT_LATENCY, p->wait = STALL_SHORT_SCOREBOARD;
        break;
    case 0x037: /* IMMA HMMA BMMA DMMA, of which the last one's result has a counter */
    case 0x03c:
    case 0x03d:
    case 0x03f:
        p->pipe = PIPE_TENSOR, p->busy = price && price->part_busy ? price->part_busy : 1;
        if (price && price->part_busy) p->latency = price->latency;
        p->slows = price && price->slows;
        break;
    default:
        break;
    }
}

Price follow_price(const MachineIns *ins, const Ins *line, const Price *price, const SimtMachine *m)
{
    Price p = {.slots = 1,
               .latency = (uint16_t)m->alu_latency,
               .wait = STALL_WAIT,
               .follows = 1,
               .stall = ins->stall,
               .fetches = {ins->fetches[0], ins->fetches[1]},
               .waits = ins->waits,
               .made = ins->made,
               .read = ins->read};
    /* The call takes what its PTX takes, which was measured with the moves around it. */
    if (price && price->part_busy && price->pipe == PIPE_INT && !follow_is_call(ins)) p.slots = 0;
    if (kind(ins) == MEET) p.stall += MEET_CYCLES;
    if (kind(ins) == UNIFORM_CONSTANT_AT && p.stall < UNIFORM_CYCLES) p.stall = UNIFORM_CYCLES;
    if (follow_is_call(ins) && price) {
        p.slots = price->slots;
        if (price->part_busy) p.pipe = price->pipe, p.busy = price->busy;
        p.slows = price->slows;
        p.stall = (uint8_t)(price->latency < UINT8_MAX ? price->latency : UINT8_MAX);
    }
    if (follow_is_access(ins) && price)
        p.wait = price->wait;
    else
        unit_find(&p, ins, price, m);
    /* Parameters lie at places that the instruction names: blocks that read little else show that
     * they take less (idle-...). */
    if (p.pipe == PIPE_CONSTANT && (!line || line->space != PTX_CONST)) p.pipe = PIPE_NONE;
    return p;
}
