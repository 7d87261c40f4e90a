/* Lab 20: waves, and layer widths without a tail.  Edit only the TODO regions. */
#include <convlab/tail.h>
#include <string.h>

/* ---- part 1: waves ---- */

static int ceiling(int a, int b)
{
    return (a + b - 1) / b;
}

void tail_waves_host(const WavesProblem *p, const float *pixels, float *y)
{
    float *utilisation = y + p->L * p->M;
    for (int l = 0; l < p->L; l++)
        for (int m = 1; m <= p->M; m++) {
            const int at = l * p->M + m - 1;
            // TODO(1): Compute the number of blocks of layer l with m*unit filters.  Store the
            // number of waves to y[at], and the fraction of occupied block slots to
            // utilisation[at].
            const int blocks =
                ceiling(m * p->unit, p->tile_filters) * ceiling((int)pixels[l], p->tile_pixels);
            const int slots = p->S * p->k, waves = ceiling(blocks, slots);
            y[at] = (float)waves;
            utilisation[at] = (float)blocks / (float)(slots * waves);
            // END TODO(1)
        }
}

/* ---- part 2: moves and rounds ---- */

/* The width of each layer, in units. */
typedef struct Widths {
    int m[WIDTHS_LAYERS];
} Widths;

typedef struct Network {
    const WidthsProblem *p;
    const float *layer, *time;
    double latency, parameters; /* with the old widths */
    int tau;
} Network;

/* The number of parameters: part 3.  Before it is written, all networks have 0 parameters. */
static double parameters_of(const Network *net, const Widths *widths);

/* The times are integers, and so are these sums; a double represents them exactly. */
static double latency_of(const Network *net, const Widths *widths)
{
    double sum = 0;
    // TODO(2): Add the latencies of all layers, with the numbers of channels that `widths` implies.
    for (int l = 0; l < net->p->L; l++) {
        const double channels = l ? (double)widths->m[l - 1] * net->p->unit : net->p->C;
        sum += channels * net->time[l * net->p->M + widths->m[l] - 1];
    }
    // END TODO(2)
    return sum;
}

/* Is width m of layer l the right edge of a step?  The throughput is m / time (equation 4). */
static int is_candidate(const Network *net, int l, int m)
{
    const float *time = net->time + l * net->p->M; /* width m has time[m-1] */
    // TODO(3): Return whether the throughput at m is at least that at m-1 and larger than that at
    // m+1, where these widths exist (1 .. M).  Cross-multiply in doubles instead of dividing.
    const double time_m = time[m - 1];
    if (m > 1 && m * (double)time[m - 2] < (m - 1) * time_m) return 0;
    if (m < net->p->M && m * (double)time[m] <= (m + 1) * time_m) return 0;
    return 1;
    // END TODO(3)
}

/* The change of layer l to width `to`; to = 0: no move. */
typedef struct Move {
    int l, to;
    double latency;    /* decrease of the network's latency */
    double parameters; /* increase of the network's parameters */
} Move;

/* Layer l's move to its next candidate, down (step -1) or up (step 1). */
static Move move_of(const Network *net, const Widths *widths, int l, int step)
{
    Move move = {l, 0, 0, 0};
    // TODO(4): Find the next candidate, equations 8a and 8b.  If there is one, store it to move.to
    // and compute the move's effect on the whole network.
    for (int m = widths->m[l] + step; m >= 1 && m <= net->p->M && !move.to; m += step)
        if (is_candidate(net, l, m)) move.to = m;
    if (move.to) {
        Widths moved = *widths;
        moved.m[l] = move.to;
        move.latency = latency_of(net, widths) - latency_of(net, &moved);
        move.parameters = parameters_of(net, &moved) - parameters_of(net, widths);
    }
    // END TODO(4)
    return move;
}

/* The first move of a round: the one with the largest gain, in latency or in parameters; the first
 * of several equal ones.  listed[l]: may layer l move? */
static Move first_move(const Network *net, const Widths *widths, const int *listed)
{
    const int latency_mode = net->p->mode == WIDTHS_LATENCY;
    Move best = {0, 0, 0, 0};
    double best_gain = 0;
    for (int l = 0; l < net->p->L; l++) {
        if (!listed[l]) continue;
        const Move move = move_of(net, widths, l, latency_mode ? -1 : 1);
        const double gain = latency_mode ? move.latency : move.parameters;
        if (move.to && gain > best_gain) {
            best = move;
            best_gain = gain;
        }
    }
    return best;
}

/* Latency mode: are the parameters at least 1000 - tau thousandths of the old ones? Other mode: is
 * the latency at most the old one? */
static int is_balanced(const Network *net, const Widths *widths)
{
    if (net->p->mode == WIDTHS_PARAMETERS) return latency_of(net, widths) <= net->latency;
    return 1000 * parameters_of(net, widths) >= (1000 - net->tau) * net->parameters;
}

static int is_better(const Network *net, const Widths *widths, const Widths *before)
{
    return net->p->mode == WIDTHS_LATENCY ? latency_of(net, widths) < latency_of(net, before)
                                          : parameters_of(net, widths) > parameters_of(net, before);
}

/* A balancing move: part 3.  Before it is written, there is none. */
static Move balancing_move(const Network *net, const Widths *widths, const int *listed);

/* Runs rounds until no listed layer's move gains anything. */
static void rounds_run(const Network *net, Widths *widths, int *listed)
{
    for (;;) {
        const Move first = first_move(net, widths, listed);
        if (!first.to) return;
        // TODO(5): One round.  The first layer leaves the list and moves, in a copy of `widths`.
        // Then apply balancing moves to the copy, and remove each one's layer from a copy of the
        // list, until the copy is balanced or there is no move.  Keep both copies if the copy is
        // balanced and better than `widths`.
        Widths trial = *widths;
        int trial_listed[WIDTHS_LAYERS];
        listed[first.l] = 0;
        memcpy(trial_listed, listed, sizeof trial_listed);
        trial.m[first.l] = first.to;
        while (!is_balanced(net, &trial)) {
            const Move move = balancing_move(net, &trial, trial_listed);
            if (!move.to) break;
            trial.m[move.l] = move.to;
            trial_listed[move.l] = 0;
        }
        if (is_balanced(net, &trial) && is_better(net, &trial, widths)) {
            *widths = trial;
            memcpy(listed, trial_listed, sizeof trial_listed);
        }
        // END TODO(5)
    }
}

/* ---- part 3: balancing ---- */

static double parameters_of(const Network *net, const Widths *widths)
{
    double sum = 0;
    // TODO(6): Add the numbers of parameters of all layers: width * channels * taps.
    for (int l = 0; l < net->p->L; l++) {
        const double channels = l ? (double)widths->m[l - 1] * net->p->unit : net->p->C;
        const double taps = net->layer[l * LAYER_FLOATS + LAYER_TAPS];
        sum += (double)widths->m[l] * net->p->unit * channels * taps;
    }
    // END TODO(6)
    return sum;
}

/* The cheapest move in the opposite direction: the smallest loss of the goal per unit that it gives
 * back (parameters or latency).  It must give something back, and no move up may take the
 * parameters above 1000 + tau thousandths of the old ones. */
static Move balancing_move(const Network *net, const Widths *widths, const int *listed)
{
    const int latency_mode = net->p->mode == WIDTHS_LATENCY;
    const double max_parameters = (1000 + net->tau) * net->parameters;
    Move best = {0, 0, 0, 0};
    // TODO(7): Among the listed layers choose the move (up in latency mode, otherwise down) with
    // the smallest loss of latency per parameter, or of parameters per unit of latency.
    double best_ratio = 0;
    for (int l = 0; l < net->p->L; l++) {
        if (!listed[l]) continue;
        const Move move = move_of(net, widths, l, latency_mode ? 1 : -1);
        const double gain = latency_mode ? move.parameters : move.latency;
        const double loss = latency_mode ? -move.latency : -move.parameters;
        if (!move.to || gain <= 0) continue;
        if (latency_mode && 1000 * (parameters_of(net, widths) + move.parameters) > max_parameters)
            continue;
        if (best.to && loss / gain >= best_ratio) continue;
        best = move;
        best_ratio = loss / gain;
    }
    // END TODO(7)
    return best;
}

/* ---- part 4: the goal ---- */

/* Restores the old widths and the list of layers that may move. */
static void plan_reset(Network *net, Widths *widths, int *listed)
{
    for (int l = 0; l < net->p->L; l++) {
        widths->m[l] = (int)net->layer[l * LAYER_FLOATS + LAYER_WIDTH];
        listed[l] = net->layer[l * LAYER_FLOATS + LAYER_FREE] != 0;
    }
    net->latency = latency_of(net, widths);
    net->parameters = parameters_of(net, widths);
}

void tail_widths_host(const WidthsProblem *p, const float *layer, const float *time, float *y)
{
    Network net = {p, layer, time, 0, 0, p->tau};
    Widths widths;
    int listed[WIDTHS_LAYERS] = {0};
    plan_reset(&net, &widths, listed);
    rounds_run(&net, &widths, listed);
    // TODO(8): While delta is not 0, more than delta thousandths of the old latency are left and
    // twice tau is at most 1000: double tau and start again.
    while (p->delta && 1000 * latency_of(&net, &widths) > p->delta * net.latency &&
           2 * net.tau <= 1000) {
        net.tau *= 2;
        plan_reset(&net, &widths, listed);
        rounds_run(&net, &widths, listed);
    }
    // END TODO(8)
    for (int l = 0; l < p->L; l++)
        y[l] = (float)(widths.m[l] * p->unit);
}
