#include "autograder/profile/profile_pipes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 24 };

/* The parts of an opcode, "fma", "rn", "f32". */
typedef struct Opcode {
    char text[160];
    const char *word[WORDS];
    size_t words;
} Opcode;

const char *flop_pipe_name(FlopPipe pipe)
{
    static const char *const NAME[FLOP_PIPES] = {
        [FLOPS_FP32] = "FP32",
        [FLOPS_FP64] = "FP64",
        [FLOPS_FP16] = "FP16, two per lane",
        [FLOPS_TENSOR_FP16] = "tensor cores, FP16 and BF16",
        [FLOPS_TENSOR_TF32] = "tensor cores, TF32",
        [FLOPS_TENSOR_8] = "tensor cores, 8 bits",
        [FLOPS_TENSOR_4] = "tensor cores, 4 bits and less",
        [FLOPS_TENSOR_FP64] = "tensor cores, FP64",
    };
    return NAME[pipe];
}

static void opcode_split(const char *text, Opcode *opcode)
{
    snprintf(opcode->text, sizeof opcode->text, "%s", text);
    opcode->words = 0;
    for (char *rest = opcode->text, *word; opcode->words < WORDS && (word = strsep(&rest, "."));)
        opcode->word[opcode->words++] = word;
}

static int has_word(const Opcode *opcode, const char *word)
{
    for (size_t i = 0; i < opcode->words; i++)
        if (!strcmp(opcode->word[i], word)) return 1;
    return 0;
}

/* ---- tensor cores ------------------------------------------------------------------------- */

static FlopPipe tensor_pipe(const Opcode *opcode)
{
    static const struct {
        const char *word;
        FlopPipe pipe;
    } TYPES[] = {{"tf32", FLOPS_TENSOR_TF32}, {"bf16", FLOPS_TENSOR_FP16}, {"e4m3", FLOPS_TENSOR_8},
                 {"e5m2", FLOPS_TENSOR_8},    {"s8", FLOPS_TENSOR_8},      {"u8", FLOPS_TENSOR_8},
                 {"s4", FLOPS_TENSOR_4},      {"u4", FLOPS_TENSOR_4},      {"b1", FLOPS_TENSOR_4},
                 {"f64", FLOPS_TENSOR_FP64}};
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (has_word(opcode, TYPES[i].word)) return TYPES[i].pipe;
    return FLOPS_TENSOR_FP16;
}

/* m * n * k of the shape in the opcode; 0: it has none. */
static double shape_size(const Opcode *opcode, unsigned *m)
{
    for (size_t i = 0; i < opcode->words; i++) {
        unsigned n, k;
        int end = 0;
        if (sscanf(opcode->word[i], "m%un%uk%u%n", m, &n, &k, &end) == 3 && !opcode->word[i][end])
            return (double)*m * n * k;
    }
    return 0;
}

static double tensor_flops(const Opcode *opcode, FlopPipe *pipe)
{
    enum { WARPGROUP = 4, OCTETS = 4 };
    unsigned m = 0;
    const int is_wgmma = !strcmp(opcode->word[0], "wgmma");
    const double size = shape_size(opcode, &m);
    if (!size) return 0;
    *pipe = tensor_pipe(opcode);
    double flops = 2 * size;
    if (is_wgmma) flops /= WARPGROUP; /* the four warps execute it together */
    /* Volta's form multiplies four pairs of matrices per warp. */
    if (!strcmp(opcode->word[0], "mma") && has_word(opcode, "m8n8k4") && *pipe != FLOPS_TENSOR_FP64)
        flops *= OCTETS;
    if (has_word(opcode, "sp")) flops /= 2; /* half of the elements are zeros that are left out */
    return flops;
}

/* ---- other pipes -------------------------------------------------------------------------- */

static double scalar_flops(const Opcode *opcode, FlopPipe *pipe)
{
    static const struct {
        const char *type;
        FlopPipe pipe;
        double each;
    } TYPES[] = {{"f32", FLOPS_FP32, 1},   {"f64", FLOPS_FP64, 1},    {"f32x2", FLOPS_FP32, 2},
                 {"f16x2", FLOPS_FP16, 2}, {"bf16x2", FLOPS_FP16, 2}, {"f16", FLOPS_FP16, 1},
                 {"bf16", FLOPS_FP16, 1}};
    const char *name = opcode->word[0], *type = opcode->word[opcode->words - 1];
    const double count = !strcmp(name, "fma") || !strcmp(name, "mad")                           ? 2
                         : !strcmp(name, "add") || !strcmp(name, "sub") || !strcmp(name, "mul") ? 1
                                                                                                : 0;
    for (size_t i = 0; count > 0 && i < sizeof TYPES / sizeof *TYPES; i++) {
        if (strcmp(type, TYPES[i].type)) continue;
        *pipe = TYPES[i].pipe;
        return count * TYPES[i].each;
    }
    return 0;
}

double opcode_flops(const char *text, FlopPipe *pipe)
{
    Opcode opcode;
    opcode_split(text, &opcode);
    if (!strcmp(opcode.word[0], "mma") || has_word(&opcode, "mma_async") ||
        (!strcmp(opcode.word[0], "wmma") && has_word(&opcode, "mma")))
        return tensor_flops(&opcode, pipe);
    return scalar_flops(&opcode, pipe);
}

/* ---- a launch ----------------------------------------------------------------------------- */

/* Rates of the tensor cores relative to FP16: the data sheets of A100 and H100. */
static void peaks_find(const SimtMachine *m, double peak[FLOP_PIPES])
{
    const double clock = m->clock_mhz / 1e3, sms = m->sms,
                 tensor =
                     2.0 * sms * m->tensor_fma * (m->tensor_mhz > 0 ? m->tensor_mhz / 1e3 : clock);
    peak[FLOPS_FP32] = 2.0 * sms * m->fp32_lanes * clock;
    peak[FLOPS_FP64] = 2.0 * sms * m->fp64_lanes * clock;
    peak[FLOPS_FP16] = 2 * peak[FLOPS_FP32];
    peak[FLOPS_TENSOR_FP16] = tensor;
    peak[FLOPS_TENSOR_TF32] = tensor / 2;
    peak[FLOPS_TENSOR_8] = tensor * 2;
    peak[FLOPS_TENSOR_4] = tensor * 4;
    peak[FLOPS_TENSOR_FP64] = tensor > 0 ? 2 * peak[FLOPS_FP64] : 0;
}

void pipe_flops_find(const SimtProfile *profile, const SimtMachine *machine, PipeFlops *flops)
{
    *flops = (PipeFlops){.flops = {0}};
    peaks_find(machine, flops->peak);
    for (uint32_t i = 0; i < profile->instructions; i++) {
        const SimtInstruction *in = &profile->instruction[i];
        FlopPipe pipe = FLOPS_FP32;
        if (!in->opcode || !*in->opcode || !in->warp_instructions) continue;
        const double each = opcode_flops(in->opcode, &pipe);
        const uint64_t count =
            pipe < FLOPS_TENSOR_FP16 ? in->thread_instructions : in->warp_instructions;
        flops->flops[pipe] += each * (double)count;
    }
}

FlopPipe flop_pipe_main(const PipeFlops *flops)
{
    FlopPipe most = FLOP_PIPES;
    double longest = 0;
    for (int i = 0; i < FLOP_PIPES; i++) {
        const double time = flops->peak[i] > 0 ? flops->flops[i] / flops->peak[i] : 0;
        if (time <= longest) continue;
        longest = time, most = (FlopPipe)i;
    }
    return most;
}
