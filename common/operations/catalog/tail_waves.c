/* tail_waves.c - number of waves of a layer for each width, and their utilisation (convlab/tail.h).
 * Waves are exact; a utilisation is one quotient. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/operations/operation/diagnose.h"
#include "common/operations/operation/shape_text.h"
#include "convlab/tail.h"

enum { TENSOR_PIXELS, TENSOR_Y, TENSORS };

static const ShapeKey KEYS[] = {
    {"L", SHAPE_NUMBER, offsetof(WavesProblem, L), 1, 1000, NULL, 0},
    {"M", SHAPE_NUMBER, offsetof(WavesProblem, M), 1, 10000, NULL, 0},
    {"unit", SHAPE_NUMBER, offsetof(WavesProblem, unit), 1, 1000, NULL, 0},
    {"S", SHAPE_NUMBER, offsetof(WavesProblem, S), 1, 1000, NULL, 0},
    {"k", SHAPE_NUMBER, offsetof(WavesProblem, k), 1, 32, NULL, 0},
    {"tile", SHAPE_PAIR, offsetof(WavesProblem, tile_filters), 1, 4096, NULL, 0},
    {"pixels", SHAPE_NUMBER, offsetof(WavesProblem, pixels), 0, 1 << 23, NULL, 1},
    {0},
};

static WavesProblem waves_unpack(const Problem *problem)
{
    WavesProblem p;
    problem_unpack(problem, &p, sizeof p);
    return p;
}

/* ---- problems ------------------------------------------------------------------------------ */

static int waves_parse(const char *text, Problem *problem, Error *error)
{
    WavesProblem p = {0};
    if (shape_text_parse(text, KEYS, &p, error)) return -1;
    problem_pack(&p, sizeof p, problem);
    return 0;
}

static void waves_print(const Problem *problem, char *text, size_t bytes)
{
    WavesProblem p = waves_unpack(problem);
    shape_text_print(KEYS, &p, text, bytes);
}

/* SMs with one block and with many; tiles that divide the widths and that do not. */
static void waves_draw(Random *random, int index, double max_macs, Problem *problem)
{
    static const int TILE[] = {1, 16, 48, 64, 128};
    WavesProblem p = {.L = random_range(random, 1, 6),
                      .M = random_range(random, 5, 40),
                      .unit = index % 3 ? random_range(random, 2, 40) : 8,
                      .S = random_range(random, 2, 140),
                      .k = index % 4 ? random_range(random, 2, 16) : 1,
                      .tile_filters = TILE[index % 5],
                      .tile_pixels = TILE[random_range(random, 1, 4)]};
    while (p.M > 1 && (double)p.L * p.M > max_macs)
        p.M--;
    problem_pack(&p, sizeof p, problem);
}

static int waves_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    WavesProblem p = waves_unpack(problem);
    size_t L = (size_t)p.L, M = (size_t)p.M;
    shape[TENSOR_PIXELS] = (TensorShape){"pixels", TENSOR_INPUT, 1, {L}, {"l"}};
    shape[TENSOR_Y] = (TensorShape){"y", TENSOR_OUTPUT, 3, {2, L, M}, {"what", "l", "m-1"}};
    return TENSORS;
}

/* Three divisions rounded up, one or two multiplications and a quotient for each width. */
static double waves_flops(const Problem *problem)
{
    WavesProblem p = waves_unpack(problem);
    return 8.0 * p.L * p.M;
}

static double waves_least_bytes(const Problem *problem)
{
    WavesProblem p = waves_unpack(problem);
    return 4.0 * (p.L + 2.0 * p.L * p.M);
}

static int waves_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    WavesProblem p = waves_unpack(problem);
    const ProblemNumber all[] = {{"L", p.L},
                                 {"M", p.M},
                                 {"unit", p.unit},
                                 {"S", p.S},
                                 {"k", p.k},
                                 {"tile_filters", p.tile_filters},
                                 {"tile_pixels", p.tile_pixels},
                                 {"pixels", p.pixels}};
    memcpy(number, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* Square maps, and some that are not. */
static void waves_generate(const Problem *problem, Random *random, float *const *tensor)
{
    WavesProblem p = waves_unpack(problem);
    Random own;
    random_child(random, "pixels", &own);
    for (int l = 0; l < p.L; l++) {
        int side = random_range(&own, 2, 80);
        tensor[TENSOR_PIXELS][l] =
            (float)(p.pixels ? p.pixels : side * (side + random_range(&own, 0, 3)));
    }
}

/* ---- oracle and mistakes --------------------------------------------------------------------- */

enum {
    FORGETS_K,
    WAVES_WITHOUT_K,
    SLOTS_WITHOUT_K,
    INVERSE,
    BLOCKS_ROUNDED_DOWN,
    WAVES_ROUNDED_DOWN,
    TILES_NOT_APART,
    UNITS_FOR_FILTERS,
    FIRST_LAYER,
    WIDTH_FROM_ZERO,
    OF_ALL_PLACES_ONCE,
    LAST_WAVE_ALONE,
    PERCENT,
    WHOLE_PARTS,
    MISTAKES,
    RIGHT = MISTAKES
};

static const Mistake MISTAKE[MISTAKES] = {
    [FORGETS_K] = {FAULT_FORMULA, "k is missing, as in the paper's equation 3: S SMs with k "
                                  "resident blocks each have S*k block slots."},
    [WAVES_WITHOUT_K] =
        {FAULT_FORMULA,
         "The waves lack k: S SMs with k resident blocks each have S*k block slots."},
    [SLOTS_WITHOUT_K] = {FAULT_FORMULA, "The waves are correct, but the utilisation lacks k: all "
                                        "waves together have S*k*waves block slots."},
    [INVERSE] =
        {FAULT_FORMULA,
         "The waves are correct, but the utilisation is inverted: divide the blocks by the slots."},
    [BLOCKS_ROUNDED_DOWN] = {FAULT_FORMULA,
                             "Blocks are rounded down. If filters or pixels do not fill the last "
                             "tile, its block is launched nevertheless: round both up."},
    [WAVES_ROUNDED_DOWN] = {FAULT_FORMULA, "Waves are rounded down. A wave that is not full takes "
                                           "as long as one that is: round up."},
    [TILES_NOT_APART] = {FAULT_FORMULA,
                         "All outputs are divided by the outputs of a tile. Filters and pixels do "
                         "not share tiles: round up each quotient, then multiply them."},
    [UNITS_FOR_FILTERS] = {FAULT_FORMULA, "Width m is m*unit filters, not m."},
    [FIRST_LAYER] = {FAULT_FORMULA, "Every layer gets the numbers of the first. Layer l has "
                                    "pixels[l], and its values start at y[l*M]."},
    [WIDTH_FROM_ZERO] = {FAULT_FORMULA, "The first width is 1 unit, not 0: [m-1] is width m's."},
    [OF_ALL_PLACES_ONCE] = {FAULT_FORMULA, "The utilisation is the number of blocks divided by the "
                                           "slots of all waves: S*k*waves, not S*k."},
    [LAST_WAVE_ALONE] = {FAULT_FORMULA, "This is the utilisation of the last wave. Required is the "
                                        "utilisation of all waves: B / (S*k*waves)."},
    [PERCENT] = {FAULT_FORMULA, "Utilisation is a fraction of 1, not a percentage."},
    [WHOLE_PARTS] = {FAULT_FORMULA, "The utilisation is a quotient of two ints, so 0 or 1. Convert "
                                    "one of them to float before the division."},
};

static double blocks_of(const WavesProblem *p, double filters, double pixels, int which)
{
    double tiles_k = filters / p->tile_filters, tiles_p = pixels / p->tile_pixels;
    if (which == BLOCKS_ROUNDED_DOWN) return floor(tiles_k) * floor(tiles_p);
    if (which == TILES_NOT_APART) return ceil(tiles_k * tiles_p);
    return ceil(tiles_k) * ceil(tiles_p);
}

static void width_value(const WavesProblem *p, const float *pixels, int l, int m, int which,
                        double *waves, double *utilisation)
{
    const double filters = (which == WIDTH_FROM_ZERO ? m - 1 : m) *
                           (which == UNITS_FOR_FILTERS ? 1.0 : (double)p->unit);
    const double blocks = blocks_of(p, filters, pixels[which == FIRST_LAYER ? 0 : l], which);
    const double places = (double)p->S * (which == FORGETS_K ? 1 : p->k);
    *waves = which == WAVES_ROUNDED_DOWN ? floor(blocks / places)
             : which == WAVES_WITHOUT_K  ? ceil(blocks / p->S)
                                         : ceil(blocks / places);
    *utilisation = blocks / (places * *waves);
    if (which == WHOLE_PARTS) *utilisation = floor(*utilisation);
    if (which == SLOTS_WITHOUT_K) *utilisation *= p->k;
    if (which == INVERSE) *utilisation = 1 / *utilisation;
    if (which == OF_ALL_PLACES_ONCE) *utilisation = blocks / places;
    if (which == LAST_WAVE_ALONE) *utilisation = (blocks - places * (*waves - 1)) / places;
    if (which == PERCENT) *utilisation *= 100;
}

static void all_values(const WavesProblem *p, const float *pixels, int which, double *value)
{
    const int all = p->L * p->M;
    for (int l = 0; l < p->L; l++)
        for (int m = 1; m <= p->M; m++) {
            const int at = l * p->M + m - 1;
            width_value(p, pixels, l, m, which, &value[at], &value[all + at]);
        }
}

static void waves_oracle(const Problem *problem, const float *const *tensor, double *expected,
                         double *magnitude, double *terms)
{
    WavesProblem p = waves_unpack(problem);
    const int all = p.L * p.M;
    all_values(&p, tensor[TENSOR_PIXELS], RIGHT, expected);
    for (int i = 0; i < 2 * all; i++) {
        magnitude[i] = i < all ? 0 : expected[i];
        terms[i] = 1;
    }
}

static int mistaken_values(const Judgement *judged, int which, double *value)
{
    WavesProblem p = waves_unpack(&judged->view.problem);
    all_values(&p, judged->view.tensor[TENSOR_PIXELS], which, value);
    return 1;
}

static void waves_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    explain_mistakes(judged, run, context, MISTAKE, MISTAKES, mistaken_values, finding);
}

extern const Operation tail_waves_operation;
const Operation tail_waves_operation = {.name = "tail_waves",
                                        .example = "L=2 M=9 unit=8 S=15 k=8 tile=16,64",
                                        .parse = waves_parse,
                                        .print = waves_print,
                                        .draw = waves_draw,
                                        .tensors = waves_tensors,
                                        .numbers = waves_numbers,
                                        .flops = waves_flops,
                                        .least_bytes = waves_least_bytes,
                                        .generate = waves_generate,
                                        .oracle = waves_oracle,
                                        .own_reach = 1,
                                        .explain = waves_explain};
