/* accelerator.c - the three accelerators of Cheng et al. (2018), sections 3.2, 3.3 and 4.3, on
 * machines whose file says `accelerators = 1`.
 *
 * A call of a function that <convlab/accelerators.h> names becomes one machine instruction. Its
 * effect is defined below, in PTX that is executed instead of the function's own body. Its accesses
 * are therefore checked like any others, and a program cannot redefine the hardware. However, this
 * PTX is neither counted nor priced. Instead, the warp is blocked for the time that the paper
 * states. */
#include "common/simulator/core/accelerator.h"

#include <string.h>

#include "common/simulator/core/ops.h"

/* ---- semantics of the hardware ------------------------------------------------------------ */

#define INNER_PRODUCT                                                                              \
    ".func (.param .b32 result) convlab_accelerator_inner_product(\n"                              \
    ".param .b64 a, .param .b32 a_step, .param .b64 b, .param .b32 b_step, .param .b32 count)\n"   \
    "{\n"                                                                                          \
    ".reg .pred %p; .reg .b32 %n, %i; .reg .b64 %a, %b, %an, %bn; .reg .f32 %x, %w, %s;\n"         \
    "ld.param.u64 %a, [a];\nld.param.u64 %b, [b];\nld.param.u32 %n, [count];\n"                    \
    "ld.param.u32 %i, [a_step];\nmul.wide.s32 %an, %i, 4;\n"                                       \
    "ld.param.u32 %i, [b_step];\nmul.wide.s32 %bn, %i, 4;\nmov.f32 %s, 0f00000000;\n"              \
    "NEXT:\nsetp.lt.s32 %p, %n, 1;\n@%p bra DONE;\n"                                               \
    "ld.f32 %x, [%a];\nld.f32 %w, [%b];\nfma.rn.f32 %s, %x, %w, %s;\n"                             \
    "add.s64 %a, %a, %an;\nadd.s64 %b, %b, %bn;\nadd.s32 %n, %n, -1;\nbra NEXT;\n"                 \
    "DONE:\nst.param.f32 [result], %s;\nret;\n}\n"

/* The 16 accumulators are inputs and outputs. In each row, 4 pixels are loaded, then the weights
 * one after the other; each weight is multiplied with all four pixels and accumulated. */
#define TAKE(n)   "ld.param.f32 %s" n ", [sums+4*" n "];\n"
#define GIVE(n)   "st.param.f32 [result+4*" n "], %s" n ";\n"
#define PIXEL(x)  "ld.f32 %x" x ", [%xp];\nadd.s64 %xp, %xp, %xn;\n"
#define ADD(s, x) "fma.rn.f32 %s" s ", %w, %x" x ", %s" s ";\n"
#define WEIGHT(a, b, c, d)                                                                         \
    "ld.f32 %w, [%wp];\nadd.s64 %wp, %wp, %wn;\n" ADD(a, "0") ADD(b, "1") ADD(c, "2") ADD(d, "3")
#define TAKE_4(a, b, c, d) TAKE(a) TAKE(b) TAKE(c) TAKE(d)
#define GIVE_4(a, b, c, d) GIVE(a) GIVE(b) GIVE(c) GIVE(d)
#define EACH(DO)                                                                                   \
    DO("0", "1", "2", "3")                                                                         \
    DO("4", "5", "6", "7") DO("8", "9", "10", "11") DO("12", "13", "14", "15")
#define TAKE_SUMS EACH(TAKE_4)
#define GIVE_SUMS EACH(GIVE_4)
#define PIXELS    PIXEL("0") PIXEL("1") PIXEL("2") PIXEL("3")
#define WEIGHTS   EACH(WEIGHT)
#define OUTER_PRODUCT                                                                              \
    ".func (.param .align 4 .b8 result[64]) convlab_accelerator_outer_product(\n"                  \
    ".param .align 4 .b8 sums[64], .param .b64 a, .param .b32 a_next, .param .b32 a_step,\n"       \
    ".param .b64 b, .param .b32 b_next, .param .b32 b_step, .param .b32 count)\n"                  \
    "{\n"                                                                                          \
    ".reg .pred %p; .reg .b32 %n, %i; .reg .b64 %a, %b, %as, %bs, %xp, %wp, %xn, %wn;\n"           \
    ".reg .f32 %s<16>; .reg .f32 %x<4>; .reg .f32 %w;\n"                                           \
    "ld.param.u64 %a, [a];\nld.param.u64 %b, [b];\nld.param.u32 %n, [count];\n"                    \
    "ld.param.u32 %i, [a_next];\nmul.wide.s32 %xn, %i, 4;\n"                                       \
    "ld.param.u32 %i, [b_next];\nmul.wide.s32 %wn, %i, 4;\n"                                       \
    "ld.param.u32 %i, [a_step];\nmul.wide.s32 %as, %i, 4;\n"                                       \
    "ld.param.u32 %i, [b_step];\nmul.wide.s32 %bs, %i, 4;\n" TAKE_SUMS                             \
    "NEXT:\nsetp.lt.s32 %p, %n, 1;\n@%p bra DONE;\n"                                               \
    "mov.u64 %xp, %a;\nmov.u64 %wp, %b;\n" PIXELS WEIGHTS                                          \
    "add.s64 %a, %a, %as;\nadd.s64 %b, %b, %bs;\nadd.s32 %n, %n, -1;\nbra NEXT;\n"                 \
    "DONE:\n" GIVE_SUMS "ret;\n}\n"

/* h and w are compared as unsigned numbers, where negative ones are large. */
#define INDEX                                                                                      \
    ".func (.param .b32 result) convlab_accelerator_index(\n"                                      \
    ".param .b32 pixel, .param .b32 S, .param .b32 h0, .param .b32 w0, .param .b32 H,\n"           \
    ".param .b32 W)\n"                                                                             \
    "{\n"                                                                                          \
    ".reg .pred %p, %q; .reg .b32 %n, %s, %h, %w, %r, %end;\n"                                     \
    "ld.param.u32 %n, [pixel];\nld.param.u32 %s, [S];\n"                                           \
    "div.s32 %r, %n, %s;\nld.param.u32 %h, [h0];\nadd.s32 %h, %h, %r;\n"                           \
    "rem.s32 %r, %n, %s;\nld.param.u32 %w, [w0];\nadd.s32 %w, %w, %r;\n"                           \
    "ld.param.u32 %end, [H];\nsetp.lt.u32 %p, %h, %end;\n"                                         \
    "ld.param.u32 %end, [W];\nsetp.lt.u32 %q, %w, %end;\nand.pred %p, %p, %q;\n"                   \
    "mad.lo.s32 %r, %h, %end, %w;\nselp.b32 %r, %r, -1, %p;\n"                                     \
    "st.param.b32 [result], %r;\nret;\n}\n"

static const char MICROCODE[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n" INNER_PRODUCT OUTER_PRODUCT INDEX;

PtxModule *accelerator_microcode(Error *error)
{
    return ptx_parse(MICROCODE, sizeof MICROCODE - 1, error);
}

/* ---- costs -------------------------------------------------------------------------------- */

static const struct {
    const char *function;
    uint8_t slots; /* instructions that set it going: fig 19's writes and reads within the loop */
} KIND[] = {
    [ACCELERATOR_INNER_PRODUCT] = {"convlab_accelerator_inner_product", 2},
    [ACCELERATOR_OUTER_PRODUCT] = {"convlab_accelerator_outer_product", 1},
    [ACCELERATOR_INDEX] = {"convlab_accelerator_index", 1},
};

int accelerator_find(const char *function)
{
    for (int i = 0; i < ACCELERATORS; i++)
        if (!strcmp(KIND[i].function, function)) return i;
    return -1;
}

uint32_t accelerator_slots(Accelerator accelerator)
{
    return KIND[accelerator].slots;
}

/* The call's last argument, as the calling convention left it in the first active lane's memory. */
static uint32_t last_argument(const Warp *warp, uint64_t offset)
{
    uint32_t value = 0, size = warp->worker->launch->local_bytes;
    uint32_t lane = warp->mask ? (uint32_t)__builtin_ctz(warp->mask) : 0;
    if (offset <= size && sizeof value <= size - offset)
        memcpy(&value, warp->local + (size_t)lane * size + offset, sizeof value);
    return value;
}

void accelerator_start(Warp *warp, const Ins *ins)
{
    /* Longest time for which a warp may be blocked: the limit of a trace step's field. */
    static const uint32_t longest = 60000;
    uint32_t count = last_argument(warp, (uint64_t)ins->imm);
    uint64_t elements = count < longest ? count : longest, cycles = 0;
    if (ins->aux == ACCELERATOR_INNER_PRODUCT) cycles = 2 * elements;
    /* The first filter element waits until the row of 4 pixels has been loaded. */
    if (ins->aux == ACCELERATOR_OUTER_PRODUCT) cycles = elements ? 4 + 2 * (4 * elements) - 2 : 0;
    warp->step.kind = STEP_ACCELERATOR;
    warp->step.cycles = (uint32_t)(cycles < longest ? cycles : longest);
    if (!warp->count) return;
    warp->worker->counters.accelerator_calls++;
    warp->worker->counters.accelerator_cycles += warp->step.cycles;
}
