/* tail_widths.c - widths chosen by Yu et al.'s algorithm 2 with its errors fixed (convlab/tail.h).
 * The answer is exact: all numbers are integers that doubles represent.
 *
 * A move changes a layer's width to its next candidate, down or up; candidates are the right edges
 * of the steps of its latency, where a filter costs least.  One round moves one layer towards the
 * goal, then others in the other direction until the other quantity is balanced.  A round that
 * cannot be balanced, or that gains nothing, is undone, and only its first layer is not tried
 * again. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/operations/operation/diagnose.h"
#include "common/operations/operation/shape_text.h"
#include "convlab/tail.h"

enum { TENSOR_LAYER, TENSOR_TIME, TENSOR_Y, TENSORS };

static const ShapeKey KEYS[] = {
    {"L", SHAPE_NUMBER, offsetof(WidthsProblem, L), 1, WIDTHS_LAYERS, NULL, 0},
    {"M", SHAPE_NUMBER, offsetof(WidthsProblem, M), 1, 1000, NULL, 0},
    {"unit", SHAPE_NUMBER, offsetof(WidthsProblem, unit), 1, 256, NULL, 0},
    {"C", SHAPE_NUMBER, offsetof(WidthsProblem, C), 1, 4096, NULL, 0},
    {"mode", SHAPE_WORD, offsetof(WidthsProblem, mode), 0, 0, "latency parameters", 0},
    {"tau", SHAPE_NUMBER, offsetof(WidthsProblem, tau), 1, 1000, NULL, 0},
    {"delta", SHAPE_NUMBER, offsetof(WidthsProblem, delta), 0, 1000, NULL, 1},
    {"alike", SHAPE_NUMBER, offsetof(WidthsProblem, alike), 0, 1, NULL, 1},
    {0},
};

static WidthsProblem widths_unpack(const Problem *problem)
{
    WidthsProblem p;
    problem_unpack(problem, &p, sizeof p);
    return p;
}

/* ---- problems ------------------------------------------------------------------------------ */

static int widths_parse(const char *text, Problem *problem, Error *error)
{
    WidthsProblem p = {0};
    if (shape_text_parse(text, KEYS, &p, error)) return -1;
    if (p.mode == WIDTHS_PARAMETERS && p.delta)
        return error_set(error, "delta is for mode=latency: the other mode keeps all of it");
    problem_pack(&p, sizeof p, problem);
    return 0;
}

static void widths_print(const Problem *problem, char *text, size_t bytes)
{
    WidthsProblem p = widths_unpack(problem);
    shape_text_print(KEYS, &p, text, bytes);
}

/* Both modes; narrow and wide tolerances; goals that need a second start, and one that is reached
 * without a move; equal layers. */
static void widths_draw(Random *random, int index, double max_macs, Problem *problem)
{
    WidthsProblem p = {.L = random_range(random, 3, 24),
                       .M = random_range(random, 6, 40),
                       .unit = random_range(random, 1, 20),
                       .C = random_range(random, 1, index % 2 ? 9 : 400),
                       .mode = index % 3 == 2 ? WIDTHS_PARAMETERS : WIDTHS_LATENCY,
                       .tau = index % 2 ? random_range(random, 20, 90) : 50};
    if (index % 3 == 1) p.delta = random_range(random, 700, 990);
    p.alike = index % 9 == 0 || index % 9 == 2;
    if (index % 9 == 6) {
        p = (WidthsProblem){.L = random_range(random, 2, 3),
                            .M = random_range(random, 5, 8),
                            .unit = random_range(random, 4, 20),
                            .C = 3,
                            .mode = WIDTHS_LATENCY,
                            .tau = 1,
                            .delta = 1000};
    }
    while (p.M > 2 && (double)p.L * p.M > max_macs)
        p.M--;
    problem_pack(&p, sizeof p, problem);
}

static int widths_tensors(const Problem *problem, TensorShape shape[OPERATION_TENSORS])
{
    WidthsProblem p = widths_unpack(problem);
    size_t L = (size_t)p.L, M = (size_t)p.M;
    shape[TENSOR_LAYER] = (TensorShape){"layer", TENSOR_INPUT, 2, {L, LAYER_FLOATS}, {"l", "what"}};
    shape[TENSOR_TIME] = (TensorShape){"time", TENSOR_INPUT, 2, {L, M}, {"l", "m-1"}};
    shape[TENSOR_Y] = (TensorShape){"y", TENSOR_OUTPUT, 1, {L}, {"l"}};
    return TENSORS;
}

/* Each layer once, each time with a comparison with all others. */
static double widths_flops(const Problem *problem)
{
    WidthsProblem p = widths_unpack(problem);
    return 4.0 * p.L * p.L + 4.0 * p.L * p.M;
}

static double widths_least_bytes(const Problem *problem)
{
    WidthsProblem p = widths_unpack(problem);
    return 4.0 * p.L * (LAYER_FLOATS + p.M + 1);
}

static int widths_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    WidthsProblem p = widths_unpack(problem);
    const ProblemNumber all[] = {{"L", p.L},         {"M", p.M},        {"unit", p.unit},
                                 {"C", p.C},         {"mode", p.mode},  {"tau", p.tau},
                                 {"delta", p.delta}, {"alike", p.alike}};
    memcpy(number, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* A step function: a constant launch time, waves of `step` widths, a small linear growth in each,
 * and measurement noise.  With many widths the times are so large that width * time needs more than
 * 32 bits. */
static void staircase_draw(Random *random, int M, float *time)
{
    enum { MANY_WIDTHS = 500, LONGER = 32 };
    const int step = random_range(random, 2, M / 3 + 2),
              wave = random_range(random, 2000, 40000) * (M > MANY_WIDTHS ? LONGER : 1),
              shift = random_range(random, 0, step - 1);
    const double launch = M > 8 && random_range(random, 0, 2) ? 0.5 : 0.02;
    for (int m = 1; m <= M; m++) {
        double waves = (m + shift + step - 1) / step, slope = 1 + 0.1 * random_unit(random);
        time[m - 1] = (float)floor(wave * (launch + waves) * slope * (1 + 0.002 * m));
    }
}

/* Steps without noise, and above `even` a linear growth equal to that of the steps' edges, so that
 * throughputs are equal there. */
static void steps_draw(Random *random, int M, float *time)
{
    const int step = random_range(random, 2, M / 4 + 2),
              wave = step * random_range(random, 200, 2000),
              even = random_range(random, 1, M / step) * step;
    for (int m = 1; m <= M; m++)
        time[m - 1] = (float)(m <= even ? (m + step - 1) / step * wave : m * (wave / step));
}

/* ---- algorithm and mistakes ---------------------------------------------------------------- */

enum {
    INT_PARAMETERS,
    INT_LATENCY,
    INT_THROUGHPUTS,
    FLOAT_PARAMETERS,
    FLOAT_LATENCY,
    FLOAT_THROUGHPUTS,
    AS_IT_WAS,
    COUNTS_WIDTH,
    NO_TAPS,
    CHANNELS_IN_UNITS,
    OWN_CHANNELS,
    FIRST_CHANNELS,
    FORGETS_CHANNELS,
    NEXT_UNCHANGED,
    ANY_WIDTH,
    LEFT_EDGES,
    ONLY_NEXT,
    ONLY_PREVIOUS,
    FARTHEST,
    MOVES_FIXED,
    NO_BALANCING,
    ONE_BALANCING,
    SMALLEST_LOSS,
    LIMIT_IN_BOTH,
    BALANCERS_STAY,
    LIST_NOT_KEPT,
    MOST_EXPENSIVE,
    STAYS_IN_LIST,
    NOT_BALANCED,
    NOT_UNDONE,
    GAINLESS_KEPT,
    OVERSHOOTS,
    NO_DELTA,
    NOT_RESET,
    DELTA_BELOW,
    TAU_BELOW,
    TAU_BEYOND,
    IN_UNITS,
    OTHER_MODE,
    LAST_OF_GAINS,
    LAST_OF_PRICES,
    EQUALS_LEFT_OUT,
    EQUALS_KEPT,
    MISTAKES,
    RIGHT = MISTAKES
};

static const Mistake MISTAKE[MISTAKES] = {
    [INT_PARAMETERS] = {FAULT_OVERFLOW,
                        "The number of parameters of a layer overflows an int: width * channels * "
                        "taps may be above 2^31. Calculate it in doubles."},
    [INT_LATENCY] = {FAULT_OVERFLOW,
                     "The latency of a layer overflows an int: channels * time may be above 2^31. "
                     "Calculate it in doubles."},
    [INT_THROUGHPUTS] = {FAULT_OVERFLOW,
                         "The comparison of two throughputs overflows an int: width * time may be "
                         "above 2^31. Calculate both sides in doubles."},
    [FLOAT_PARAMETERS] = {FAULT_PRECISION,
                          "The parameters are added in a float, which rounds integers above 2^24. "
                          "Moves with equal gains then differ. Add them in a double."},
    [FLOAT_LATENCY] = {FAULT_PRECISION,
                       "The latencies are added in a float, which rounds integers above 2^24. "
                       "Moves with equal gains then differ. Add them in a double."},
    [FLOAT_THROUGHPUTS] = {FAULT_PRECISION,
                           "Two throughputs are compared in floats, which round integers above "
                           "2^24: width * time may be larger. Multiply doubles."},
    [NO_TAPS] = {FAULT_FORMULA,
                 "The number of parameters lacks the taps: a layer has width * channels * taps "
                 "parameters, with taps = layer[l][LAYER_TAPS] (TODO(6))."},
    [CHANNELS_IN_UNITS] = {FAULT_FORMULA,
                           "The latency counts channels in units. A layer has as many channels as "
                           "the layer before it has filters: m * unit (TODO(2))."},
    [OWN_CHANNELS] = {FAULT_FORMULA,
                      "The latency multiplies the time of a layer by its own filters. Multiply by "
                      "its channels: the filters of the layer before it (TODO(2))."},
    [FIRST_CHANNELS] = {FAULT_FORMULA,
                        "The latency of the first layer lacks its C channels (TODO(2))."},
    [AS_IT_WAS] = {FAULT_FORMULA, "The widths are unchanged: no round was accepted."},
    [COUNTS_WIDTH] = {FAULT_FORMULA,
                      "The parameter gain counts filters, as the paper's equation 5b does. A layer "
                      "has width * channels * taps parameters, and so has the next one."},
    [FORGETS_CHANNELS] = {FAULT_FORMULA,
                          "A layer's latency is time[l][m-1] for each of its channels: multiply by "
                          "them, C for the first layer, the width before it for the others."},
    [NEXT_UNCHANGED] =
        {FAULT_FORMULA,
         "The next layer's channels are assumed to be unchanged. They are this layer's filters: "
         "calculate latency and parameters from all current widths."},
    [ANY_WIDTH] = {FAULT_FORMULA, "Layers move by one unit. They move to the next candidate: the "
                                  "next right edge of a step (equations 8a and 8b)."},
    [LEFT_EDGES] = {FAULT_FORMULA, "The candidates are the left edges of the steps, where a filter "
                                   "costs most. Equation 4 wants the largest throughput, m / time, "
                                   "compared with both neighbours: the right edges."},
    [ONLY_NEXT] = {FAULT_FORMULA,
                   "A candidate's throughput is compared with that of the next width only. Compare "
                   "it with that of the width before, too (TODO(3))."},
    [ONLY_PREVIOUS] = {FAULT_FORMULA,
                       "A candidate's throughput is compared with that of the width before it "
                       "only. Compare it with that of the next width, too (TODO(3))."},
    [FARTHEST] = {FAULT_FORMULA, "A layer moves to the last candidate in a direction. It moves to "
                                 "the first one: stop the search there (TODO(4))."},
    [MOVES_FIXED] = {FAULT_FORMULA, "A layer that is not free has moved: layer[l][LAYER_FREE]."},
    [NO_BALANCING] = {FAULT_FORMULA, "No balancing move is made, so every round that needs one is "
                                     "undone (TODO(6) and TODO(7))."},
    [ONE_BALANCING] = {FAULT_FORMULA, "A round has one balancing move at most. Make further ones "
                                      "until the round is balanced or no move is left (TODO(5))."},
    [SMALLEST_LOSS] = {FAULT_FORMULA,
                       "The balancing move with the smallest loss is chosen. Choose the one with "
                       "the smallest loss per unit of its gain (TODO(7))."},
    [LIMIT_IN_BOTH] = {FAULT_FORMULA,
                       "The limit of the parameters, 1000 + tau thousandths, is used in "
                       "mode=parameters, too. There it does not exist (TODO(7))."},
    [BALANCERS_STAY] = {FAULT_FORMULA, "A layer that made a balancing move stays in the list. "
                                       "Remove it from the copy of the list (TODO(5))."},
    [LIST_NOT_KEPT] = {FAULT_FORMULA, "The widths of a round are kept, but not its list: the "
                                      "layers that balanced it leave the list, too (TODO(5))."},
    [MOST_EXPENSIVE] = {FAULT_FORMULA,
                        "The most expensive layer is used for balancing. Use the layer with the "
                        "lowest cost per gain (line 12, corrected; TODO(7))."},
    [STAYS_IN_LIST] = {FAULT_FORMULA,
                       "Layers move more than once. The layer that begins a round leaves the list "
                       "for good; those that balanced it leave it if the round is kept (TODO(5))."},
    [NOT_BALANCED] = {FAULT_FORMULA,
                      "No round is balanced: its first move is kept alone. While too few "
                      "parameters are left, or the latency is too high, other layers move in the "
                      "opposite direction (lines 11 to 13; TODO(6) and TODO(7))."},
    [NOT_UNDONE] = {FAULT_FORMULA, "A round that could not be balanced, or that gained nothing in "
                                   "the end, was kept. Undo all of it (TODO(5))."},
    [GAINLESS_KEPT] = {FAULT_FORMULA, "A round that is balanced but gains nothing is kept. Keep it "
                                      "only if it is better than the widths before it (TODO(5))."},
    [OVERSHOOTS] = {FAULT_FORMULA, "A balancing move up takes the parameters above 1000 + tau "
                                   "thousandths. Skip that layer (TODO(7))."},
    [NO_DELTA] =
        {FAULT_FORMULA,
         "delta has no effect. While more than delta thousandths of the old latency are left, "
         "double tau and start again, from the old widths and with all layers (TODO(8))."},
    [NOT_RESET] = {FAULT_FORMULA,
                   "After tau is doubled, the plan continues from its current state. Start again "
                   "from the old widths and with all layers (line 18, corrected; TODO(8))."},
    [DELTA_BELOW] = {FAULT_FORMULA, "tau is doubled although the goal is reached: exactly delta "
                                    "thousandths of the old latency are few enough."},
    [TAU_BELOW] =
        {FAULT_FORMULA,
         "tau is not doubled often enough. Double it as long as twice tau is at most 1000."},
    [TAU_BEYOND] = {FAULT_FORMULA,
                    "tau is doubled too often. Double it only if twice tau is at most 1000."},
    [IN_UNITS] = {FAULT_FORMULA, "These are units; y holds filters: m*unit."},
    [OTHER_MODE] = {FAULT_FORMULA, "This is the plan of the other mode. p->mode says whether the "
                                   "latency must fall or the parameters must grow."},
    [LAST_OF_GAINS] = {FAULT_FORMULA, "If several moves gain equally, the last one starts the "
                                      "round. Start with the first layer's."},
    [LAST_OF_PRICES] = {FAULT_FORMULA, "If several moves balance at the same price, the last one "
                                       "is chosen. Choose the first layer's."},
    [EQUALS_LEFT_OUT] = {FAULT_FORMULA,
                         "A width whose throughput equals that of the width before it is rejected. "
                         "It is a candidate: at least the same throughput is required (TODO(3))."},
    [EQUALS_KEPT] = {FAULT_FORMULA,
                     "A width whose throughput equals that of the next width is accepted. It is no "
                     "candidate: a larger throughput is required (TODO(3))."},
};

typedef struct Plan {
    WidthsProblem p;
    const float *layer, *time;
    int mode, wrong;            /* WIDTHS_..., a mistake or RIGHT */
    double latency, parameters; /* initial values */
    int at[WIDTHS_LAYERS];      /* current widths, in units */
    int listed[WIDTHS_LAYERS];  /* Booleans: the layer may still move */
} Plan;

static int layer_width(const Plan *plan, int l)
{
    return (int)plan->layer[l * LAYER_FLOATS + LAYER_WIDTH];
}

static double channels_of(const Plan *plan, const int *at, int l)
{
    if (l == 0) return plan->p.C;
    const int m = plan->wrong == NEXT_UNCHANGED ? layer_width(plan, l - 1) : at[l - 1];
    return (double)m * plan->p.unit;
}

/* Adds a layer's term: in a double, in a float, or after it has overflowed an int. */
static double term_add(double sum, double term, int is_int, int is_float)
{
    if (is_int) term = (double)(int32_t)(uint32_t)(uint64_t)term;
    return is_float ? (double)(float)(sum + term) : sum + term;
}

/* The number by which the latency multiplies a layer's time: its channels. */
static double latency_factor(const Plan *plan, const int *at, int l)
{
    if (plan->wrong == FORGETS_CHANNELS || (plan->wrong == FIRST_CHANNELS && l == 0)) return 1;
    if (plan->wrong == OWN_CHANNELS) return (double)at[l] * plan->p.unit;
    return channels_of(plan, at, l) / (plan->wrong == CHANNELS_IN_UNITS && l ? plan->p.unit : 1);
}

static double latency_of(const Plan *plan, const int *at)
{
    double sum = 0;
    for (int l = 0; l < plan->p.L; l++)
        sum = term_add(sum, plan->time[l * plan->p.M + at[l] - 1] * latency_factor(plan, at, l),
                       plan->wrong == INT_LATENCY, plan->wrong == FLOAT_LATENCY);
    return sum;
}

/* The number by which the parameters multiply a layer's width. */
static double parameter_factor(const Plan *plan, const int *at, int l)
{
    if (plan->wrong == COUNTS_WIDTH) return 1;
    const double taps = plan->layer[l * LAYER_FLOATS + LAYER_TAPS];
    return channels_of(plan, at, l) * (plan->wrong == NO_TAPS ? 1 : taps);
}

static double parameters_of(const Plan *plan, const int *at)
{
    double sum = 0;
    for (int l = 0; l < plan->p.L; l++)
        sum = term_add(sum, (double)at[l] * plan->p.unit * parameter_factor(plan, at, l),
                       plan->wrong == INT_PARAMETERS, plan->wrong == FLOAT_PARAMETERS);
    return sum;
}

/* Whether a filter costs at most as much at width m as at width `other`. */
static int is_cheaper(const Plan *plan, int l, int m, int other)
{
    const float *time = plan->time + l * plan->p.M;
    const int is_int = plan->wrong == INT_THROUGHPUTS, is_float = plan->wrong == FLOAT_THROUGHPUTS;
    const double mine = term_add(0, m * (double)time[other - 1], is_int, is_float),
                 its = term_add(0, other * (double)time[m - 1], is_int, is_float);
    const int equal = other < m ? plan->wrong != EQUALS_LEFT_OUT : plan->wrong == EQUALS_KEPT;
    return mine > its || (equal && mine == its);
}

static int is_candidate(const Plan *plan, int l, int m)
{
    if (plan->wrong == ANY_WIDTH) return 1;
    const int want = plan->wrong != LEFT_EDGES;
    const int is_first = m == 1 || plan->wrong == ONLY_NEXT;
    const int is_last = m == plan->p.M || plan->wrong == ONLY_PREVIOUS;
    return (is_first || is_cheaper(plan, l, m, m - 1) == want) &&
           (is_last || is_cheaper(plan, l, m, m + 1) == want);
}

/* The next candidate after layer l's width, 0: none. */
static int next_of(const Plan *plan, const int *at, int l, int step)
{
    int found = 0;
    for (int m = at[l] + step; m >= 1 && m <= plan->p.M; m += step) {
        if (!is_candidate(plan, l, m)) continue;
        if (plan->wrong != FARTHEST) return m;
        found = m;
    }
    return found;
}

/* Gain and cost of a move: the latency that it removes, the parameters that it adds. */
typedef struct Move {
    int l, to; /* to: 0 for no move */
    double latency, parameters;
} Move;

static Move move_of(const Plan *plan, const int *at, int l, int step)
{
    int moved[WIDTHS_LAYERS];
    Move move = {.l = l, .to = next_of(plan, at, l, step)};
    if (!move.to) return move;
    memcpy(moved, at, sizeof moved);
    moved[l] = move.to;
    move.latency = latency_of(plan, at) - latency_of(plan, moved);
    move.parameters = parameters_of(plan, moved) - parameters_of(plan, at);
    return move;
}

/* The first move of a round. */
static Move first_move(const Plan *plan)
{
    const int step = plan->mode == WIDTHS_LATENCY ? -1 : 1;
    Move best = {0};
    double most = 0;
    for (int l = 0; l < plan->p.L; l++) {
        if (!plan->listed[l]) continue;
        Move move = move_of(plan, plan->at, l, step);
        double gain = plan->mode == WIDTHS_LATENCY ? move.latency : move.parameters;
        const int last = plan->wrong == LAST_OF_GAINS && gain == most && most > 0;
        if (!move.to || !(gain > most || last)) continue;
        best = move;
        most = gain;
    }
    return best;
}

/* The balancing move with the lowest ratio of its cost for the goal to its gain. */
static Move balancing_move(const Plan *plan, const int *at, const int *listed)
{
    const int up = plan->mode == WIDTHS_LATENCY;
    const double highest = plan->parameters * (1000 + plan->p.tau);
    Move best = {0};
    double least = INFINITY;
    for (int l = 0; l < plan->p.L; l++) {
        if (!listed[l] || plan->wrong == NO_BALANCING) continue;
        Move move = move_of(plan, at, l, up ? 1 : -1);
        const double gives = up ? move.parameters : move.latency,
                     costs = up ? -move.latency : -move.parameters;
        if (!move.to || !(gives > 0)) continue;
        if ((up || plan->wrong == LIMIT_IN_BOTH) && plan->wrong != OVERSHOOTS &&
            1000 * (parameters_of(plan, at) + move.parameters) > highest)
            continue;
        const double price = (plan->wrong == MOST_EXPENSIVE ? -1 : 1) * costs /
                             (plan->wrong == SMALLEST_LOSS ? 1 : gives);
        if (price >= least && !(plan->wrong == LAST_OF_PRICES && price == least)) continue;
        best = move;
        least = price;
    }
    return best;
}

static int is_balanced(const Plan *plan, const int *at)
{
    if (plan->wrong == NOT_BALANCED) return 1;
    if (plan->mode == WIDTHS_PARAMETERS) return latency_of(plan, at) <= plan->latency;
    return 1000 * parameters_of(plan, at) >= plan->parameters * (1000 - plan->p.tau);
}

static int is_better(const Plan *plan, const int *at)
{
    return plan->mode == WIDTHS_LATENCY ? latency_of(plan, at) < latency_of(plan, plan->at)
                                        : parameters_of(plan, at) > parameters_of(plan, plan->at);
}

/* One round; 0 if no layer would gain. */
static int round_take(Plan *plan)
{
    int at[WIDTHS_LAYERS], listed[WIDTHS_LAYERS];
    const Move first = first_move(plan);
    if (!first.to) return 0;
    plan->listed[first.l] = plan->wrong == STAYS_IN_LIST && first.to < plan->at[first.l];
    memcpy(at, plan->at, sizeof at);
    memcpy(listed, plan->listed, sizeof listed);
    at[first.l] = first.to;
    while (!is_balanced(plan, at)) {
        const Move move = balancing_move(plan, at, listed);
        if (!move.to) break;
        at[move.l] = move.to;
        listed[move.l] = plan->wrong == BALANCERS_STAY ||
                         (plan->wrong == STAYS_IN_LIST && plan->mode == WIDTHS_PARAMETERS);
        if (plan->wrong == ONE_BALANCING) break;
    }
    const int gains = is_better(plan, at) || plan->wrong == GAINLESS_KEPT;
    if ((is_balanced(plan, at) && gains) || plan->wrong == NOT_UNDONE) {
        memcpy(plan->at, at, sizeof at);
        if (plan->wrong != LIST_NOT_KEPT) memcpy(plan->listed, listed, sizeof listed);
    } else {
        plan->listed[first.l] = 0;
    }
    return 1;
}

static void plan_begin(Plan *plan)
{
    for (int l = 0; l < plan->p.L; l++) {
        plan->at[l] = layer_width(plan, l);
        plan->listed[l] =
            plan->layer[l * LAYER_FLOATS + LAYER_FREE] != 0 || plan->wrong == MOVES_FIXED;
    }
    plan->latency = latency_of(plan, plan->at);
    plan->parameters = parameters_of(plan, plan->at);
}

static int is_enough(const Plan *plan)
{
    if (!plan->p.delta || plan->wrong == NO_DELTA) return 1;
    const double left = 1000 * latency_of(plan, plan->at), goal = plan->p.delta * plan->latency;
    return plan->wrong == DELTA_BELOW ? left < goal : left <= goal;
}

static int is_last(const Plan *plan)
{
    const int twice = 2 * plan->p.tau;
    if (plan->wrong == TAU_BELOW) return twice >= 1000;
    return twice > (plan->wrong == TAU_BEYOND ? 2000 : 1000);
}

static void plan_make(Plan *plan, double *value)
{
    int start[WIDTHS_LAYERS];
    plan_begin(plan);
    memcpy(start, plan->at, sizeof start);
    for (;;) {
        while (round_take(plan))
            ;
        if (is_enough(plan) || is_last(plan)) break;
        plan->p.tau *= 2;
        if (plan->wrong == NOT_RESET)
            for (int l = 0; l < plan->p.L; l++)
                plan->listed[l] = plan->layer[l * LAYER_FLOATS + LAYER_FREE] != 0;
        else
            plan_begin(plan);
    }
    for (int l = 0; l < plan->p.L; l++)
        value[l] = (plan->wrong == AS_IT_WAS ? start[l] : plan->at[l]) *
                   (plan->wrong == IN_UNITS ? 1.0 : plan->p.unit);
}

static void widths_value(const Problem *problem, const float *const *tensor, int wrong,
                         double *value)
{
    Plan plan = {.p = widths_unpack(problem),
                 .layer = tensor[TENSOR_LAYER],
                 .time = tensor[TENSOR_TIME],
                 .wrong = wrong};
    plan.mode = wrong == OTHER_MODE ? !plan.p.mode : plan.p.mode;
    plan_make(&plan, value);
}

/* Makes the layers equal to the first one, except those that are not free. */
static void layers_align(const WidthsProblem *p, Random *random, float *layer, float *time)
{
    steps_draw(random, p->M, time);
    for (int l = 1; l < p->L; l++) {
        layer[l * LAYER_FLOATS + LAYER_WIDTH] = layer[LAYER_WIDTH];
        layer[l * LAYER_FLOATS + LAYER_TAPS] = layer[LAYER_TAPS];
        memcpy(time + l * p->M, time, (size_t)p->M * sizeof *time);
    }
}

static void widths_draw_inputs(const WidthsProblem *p, Random *random, float *layer, float *time)
{
    static const float TAPS[] = {1, 9, 9, 25};
    Random layers, times;
    random_child(random, "layer", &layers);
    random_child(random, "time", &times);
    for (int l = 0; l < p->L; l++, layer += LAYER_FLOATS, time += p->M) {
        layer[LAYER_WIDTH] = (float)random_range(&layers, p->M / 3 + 1, p->M);
        layer[LAYER_TAPS] = TAPS[random_range(&layers, 0, 3)];
        layer[LAYER_FREE] = random_range(&layers, 0, 5) != 0;
        staircase_draw(&times, p->M, time);
    }
    if (p->alike) layers_align(p, &times, layer - p->L * LAYER_FLOATS, time - p->L * p->M);
}

static int differs(const Problem *problem, float *const *tensor, int wrong)
{
    double right[WIDTHS_LAYERS], its[WIDTHS_LAYERS];
    const size_t L = (size_t)widths_unpack(problem).L;
    widths_value(problem, (const float *const *)tensor, RIGHT, right);
    widths_value(problem, (const float *const *)tensor, wrong, its);
    return memcmp(right, its, L * sizeof *right) != 0;
}

/* Whether a round can need balancing moves: not if all parameters may be removed. */
static int is_balancing(const WidthsProblem *p)
{
    return p->mode == WIDTHS_PARAMETERS || p->tau < 1000;
}

/* Whether a problem is a useful test: its network changes; the first move alone does not reach the
 * goal; an unreachable goal depends on the last tau; a distant one needs a second start. */
static int asks_enough(const Problem *problem, float *const *tensor)
{
    enum { ALL = 1000, A_LITTLE = 990, OUT_OF_REACH = 100 };
    const WidthsProblem p = widths_unpack(problem);
    const int delta = p.delta;
    if (p.alike)
        return differs(problem, tensor, LAST_OF_GAINS) == is_balancing(&p) &&
               differs(problem, tensor, LAST_OF_PRICES) == is_balancing(&p) &&
               differs(problem, tensor, EQUALS_LEFT_OUT) && differs(problem, tensor, EQUALS_KEPT);
    if (delta == ALL) return differs(problem, tensor, DELTA_BELOW);
    if (!differs(problem, tensor, AS_IT_WAS)) return 0;
    if (!delta || delta >= A_LITTLE) return 1;
    if (delta < OUT_OF_REACH && !differs(problem, tensor, TAU_BELOW) &&
        !differs(problem, tensor, TAU_BEYOND))
        return 0;
    return differs(problem, tensor, NO_DELTA) && differs(problem, tensor, NOT_RESET);
}

static void widths_generate(const Problem *problem, Random *random, float *const *tensor)
{
    enum { TIMES = 200 };
    WidthsProblem p = widths_unpack(problem);
    for (int i = 0; i < TIMES; i++) {
        widths_draw_inputs(&p, random, tensor[TENSOR_LAYER], tensor[TENSOR_TIME]);
        if (asks_enough(problem, tensor)) return;
    }
}

static void widths_oracle(const Problem *problem, const float *const *tensor, double *expected,
                          double *magnitude, double *terms)
{
    const int L = widths_unpack(problem).L;
    widths_value(problem, tensor, RIGHT, expected);
    for (int l = 0; l < L; l++) {
        magnitude[l] = 0; /* exact */
        terms[l] = 1;
    }
}

static int mistaken_values(const Judgement *judged, int which, double *value)
{
    widths_value(&judged->view.problem, judged->view.tensor, which, value);
    return 1;
}

/* ---- networks that need only a part of the algorithm ----------------------------------------- */

/* Problems in the order in which they need more of the algorithm. */
typedef struct Stage {
    WidthsProblem p;
    const char *needs; /* needed here, and not by the earlier ones */
} Stage;

/* With tau=1000 no parameters have to be kept, so that a round is a single move. */
static const Stage STAGES[] = {
    {{.L = 1, .unit = 4, .C = 40, .mode = WIDTHS_LATENCY, .tau = 1000},
     "one layer, which moves down once: its latency (TODO(2)), the candidates (TODO(3)), the move, "
     "whose `latency` is a decrease (TODO(4)), and keeping the round (TODO(5))"},
    {{.L = 6, .unit = 4, .C = 40, .mode = WIDTHS_LATENCY, .tau = 1000},
     "several layers, without balancing: the latency with the channels of the layer before "
     "(TODO(2)), and the list of layers that may move (TODO(5))"},
    {{.L = 6, .unit = 4, .C = 40, .mode = WIDTHS_LATENCY, .tau = 1000, .alike = 1},
     "equal throughputs: the comparisons with both neighbours (TODO(3))"},
    {{.L = 8, .unit = 4, .C = 40, .mode = WIDTHS_LATENCY, .tau = 50},
     "balancing moves: the parameters (TODO(6)), the choice of the move (TODO(7)), and the list "
     "and the condition of the round (TODO(5))"},
    {{.L = 8, .unit = 4, .C = 40, .mode = WIDTHS_LATENCY, .tau = 50, .alike = 1},
     "equal moves and equal prices: the first layer's is chosen (TODO(7))"},
    {{.L = 8, .unit = 4, .C = 40, .mode = WIDTHS_PARAMETERS, .tau = 50},
     "the other mode, mode=parameters: moves up, balanced by moves down"},
    {{.L = 8, .unit = 4, .C = 40, .mode = WIDTHS_LATENCY, .tau = 20, .delta = 800},
     "a goal delta: doubling tau and starting again (TODO(8))"},
    {{.L = 8, .unit = 4, .C = 40, .mode = WIDTHS_LATENCY, .tau = 300, .delta = 20},
     "a goal delta that is out of reach: the last tau (TODO(8))"},
};
enum { STAGE_COUNT = sizeof STAGES / sizeof *STAGES, STAGE_RUNS = 24, STAGE_WIDTHS = 48 };

/* Runs the code on a small network.  Returns whether it is right, -1 if it could not run.  Excludes
 * the mistakes that do not give its outputs. */
static int network_try(WidthsProblem p, int number, ProbeRun run, void *context,
                       Mistake mistake[MISTAKES])
{
    float layer[WIDTHS_LAYERS * LAYER_FLOATS], time[WIDTHS_LAYERS * STAGE_WIDTHS];
    float y[WIDTHS_LAYERS] = {0};
    float *const tensor[] = {layer, time, y};
    Problem problem;
    Random random;
    p.M = 2 + 2 * number % (STAGE_WIDTHS - 2);
    problem_pack(&p, sizeof p, &problem);
    random_seed(&random, (uint64_t)number + 1);
    widths_draw_inputs(&p, &random, layer, time);
    if (run(context, &problem, (const float *const *)tensor, y)) return -1;
    for (int wrong = 0; wrong <= RIGHT; wrong++) {
        double value[WIDTHS_LAYERS];
        int equal = 1;
        if (wrong < RIGHT && !mistake[wrong].text) continue;
        widths_value(&problem, (const float *const *)tensor, wrong, value);
        for (int l = 0; l < p.L; l++)
            equal &= y[l] == value[l];
        if (wrong == RIGHT) return equal;
        if (!equal) mistake[wrong].text = NULL;
    }
    return 0;
}

/* The first stage with wrong networks; STAGE_COUNT: none; -1: the code could not run.  Excludes the
 * mistakes that networks up to this stage contradict: with one layer, they are few. */
static int stage_find(ProbeRun run, void *context, Mistake mistake[MISTAKES])
{
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        int right = 1;
        for (int i = 0; i < STAGE_RUNS; i++) {
            const int is_right = network_try(STAGES[stage].p, i, run, context, mistake);
            if (is_right < 0) return -1;
            right &= is_right;
        }
        if (!right) return stage;
    }
    return STAGE_COUNT;
}

static void stage_say(int stage, Finding *finding)
{
    finding->fault = FAULT_FORMULA;
    if (stage)
        finding_say(finding, "Small networks that need no more than the earlier parts are right.");
    finding_say(finding, "The first wrong networks need %s. Look there first.",
                STAGES[stage].needs);
}

static void widths_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    Mistake possible[MISTAKES];
    memcpy(possible, MISTAKE, sizeof possible);
    int stage = run ? stage_find(run, context, possible) : STAGE_COUNT;
    if (stage < 0) memcpy(possible, MISTAKE, sizeof possible);
    explain_mistakes(judged, run, context, possible, MISTAKES, mistaken_values, finding);
    const int is_vague = strstr(finding->text, MISTAKE[AS_IT_WAS].text) != NULL;
    const int is_known = finding->fault == FAULT_FORMULA && !is_vague;
    if (is_known || finding->fault == FAULT_OVERFLOW || finding->fault == FAULT_PRECISION ||
        finding->fault == FAULT_UNWRITTEN || finding->fault == FAULT_DIFFER ||
        finding->fault == FAULT_NAN || stage < 0 || stage == STAGE_COUNT)
        return;
    if (finding->fault != FAULT_FORMULA) *finding = (Finding){0};
    stage_say(stage, finding);
}

extern const Operation tail_widths_operation;
const Operation tail_widths_operation = {.name = "tail_widths",
                                         .example = "L=5 M=12 unit=8 C=3 mode=latency tau=50",
                                         .parse = widths_parse,
                                         .print = widths_print,
                                         .draw = widths_draw,
                                         .tensors = widths_tensors,
                                         .numbers = widths_numbers,
                                         .flops = widths_flops,
                                         .least_bytes = widths_least_bytes,
                                         .generate = widths_generate,
                                         .oracle = widths_oracle,
                                         .own_reach = 1,
                                         .explain = widths_explain};
