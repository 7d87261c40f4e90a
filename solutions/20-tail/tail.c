/* Lab 20: which widths of a network's layers are free.  Edit only the TODO regions. */
#include <convlab/tail.h>
#include <string.h>

/* ---- waves ---- */

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
            // TODO(1): Work out the blocks of layer l with m*unit filters; store the waves that
            // they take in y[at], and in utilisation[at] the part of all places that they fill.
            const int blocks =
                ceiling(m * p->unit, p->tile_filters) * ceiling((int)pixels[l], p->tile_pixels);
            const int places = p->S * p->k, waves = ceiling(blocks, places);
            y[at] = (float)waves;
            utilisation[at] = (float)blocks / (float)(places * waves);
            // END TODO(1)
        }
}

/* ---- a network, and what it costs ---- */

/* A width for each layer, in units. */
typedef struct Widths {
    int m[WIDTHS_LAYERS];
} Widths;

typedef struct Network {
    const WidthsProblem *p;
    const float *layer, *time;
    double latency, parameters; /* of the old widths */
    int tau;
} Network;

/* The floats of time are whole numbers, and so are these sums: a double holds them exactly. */
static double latency_of(const Network *net, const Widths *now)
{
    double sum = 0;
    // TODO(2): Add the latencies of all layers, with the channels that the widths `now` give them.
    for (int l = 0; l < net->p->L; l++) {
        const double channels = l ? (double)now->m[l - 1] * net->p->unit : net->p->C;
        sum += channels * net->time[l * net->p->M + now->m[l] - 1];
    }
    // END TODO(2)
    return sum;
}

static double parameters_of(const Network *net, const Widths *now)
{
    double sum = 0;
    // TODO(3): Add the parameters of all layers: width * channels * taps.
    for (int l = 0; l < net->p->L; l++) {
        const double channels = l ? (double)now->m[l - 1] * net->p->unit : net->p->C;
        const double taps = net->layer[l * LAYER_FLOATS + LAYER_TAPS];
        sum += (double)now->m[l] * net->p->unit * channels * taps;
    }
    // END TODO(3)
    return sum;
}

/* ---- candidates and moves ---- */

/* Is width m of layer l the right edge of a step?  Its throughput is m / time (equation 4). */
static int is_candidate(const Network *net, int l, int m)
{
    const float *time = net->time + l * net->p->M; /* width m's is time[m-1] */
    // TODO(4): Return whether the throughput at m is at least that at m-1 and larger than that at
    // m+1, of those that are among 1 .. M.  Multiply crosswise, in doubles, instead of dividing.
    const double mine = time[m - 1];
    if (m > 1 && m * (double)time[m - 2] < (m - 1) * mine) return 0;
    if (m < net->p->M && m * (double)time[m] <= (m + 1) * mine) return 0;
    return 1;
    // END TODO(4)
}

/* A layer that goes to another width; to = 0: there is none. */
typedef struct Move {
    int l, to;
    double latency;    /* that it takes away */
    double parameters; /* that it adds */
} Move;

/* Layer l's move to its next candidate, down (step -1) or up (step 1). */
static Move move_of(const Network *net, const Widths *now, int l, int step)
{
    Move move = {l, 0, 0, 0};
    // TODO(5): Find the next candidate, equations 8a and 8b; if there is one, put it into move.to
    // and work out what the move does to the whole network.
    for (int m = now->m[l] + step; m >= 1 && m <= net->p->M && !move.to; m += step)
        if (is_candidate(net, l, m)) move.to = m;
    if (move.to) {
        Widths moved = *now;
        moved.m[l] = move.to;
        move.latency = latency_of(net, now) - latency_of(net, &moved);
        move.parameters = parameters_of(net, &moved) - parameters_of(net, now);
    }
    // END TODO(5)
    return move;
}

/* ---- algorithm 2, mended ---- */

/* The move that begins a round: the one that gains most, latency or parameters; of several that
 * gain as much the first.  listed[l] says whether layer l may move. */
static Move first_move(const Network *net, const Widths *now, const int *listed)
{
    const int fall = net->p->mode == WIDTHS_LATENCY;
    Move best = {0, 0, 0, 0};
    double most = 0;
    for (int l = 0; l < net->p->L; l++) {
        if (!listed[l]) continue;
        const Move move = move_of(net, now, l, fall ? -1 : 1);
        const double gain = fall ? move.latency : move.parameters;
        if (move.to && gain > most) {
            best = move;
            most = gain;
        }
    }
    return best;
}

/* Latency mode: are the parameters not below 1000 - tau thousandths of the old ones?  The other
 * mode: is the latency not above the old one? */
static int is_balanced(const Network *net, const Widths *now)
{
    if (net->p->mode == WIDTHS_PARAMETERS) return latency_of(net, now) <= net->latency;
    return 1000 * parameters_of(net, now) >= (1000 - net->tau) * net->parameters;
}

/* The move the other way that costs least of the goal for what it gives back, parameters or
 * latency.  It has to give something, and no step up may take the parameters above 1000 + tau
 * thousandths of the old ones. */
static Move balancing_move(const Network *net, const Widths *now, const int *listed)
{
    const int fall = net->p->mode == WIDTHS_LATENCY;
    const double highest = (1000 + net->tau) * net->parameters;
    Move best = {0, 0, 0, 0};
    // TODO(6): Of the layers listed take the move, up where the latency is to fall, else down, with
    // the least latency lost for a parameter, or the fewest parameters lost for a unit of latency.
    double least = 0;
    for (int l = 0; l < net->p->L; l++) {
        if (!listed[l]) continue;
        const Move move = move_of(net, now, l, fall ? 1 : -1);
        const double gives = fall ? move.parameters : move.latency;
        const double costs = fall ? -move.latency : -move.parameters;
        if (!move.to || gives <= 0) continue;
        if (fall && 1000 * (parameters_of(net, now) + move.parameters) > highest) continue;
        if (best.to && costs / gives >= least) continue;
        best = move;
        least = costs / gives;
    }
    // END TODO(6)
    return best;
}

static int is_better(const Network *net, const Widths *now, const Widths *before)
{
    return net->p->mode == WIDTHS_LATENCY ? latency_of(net, now) < latency_of(net, before)
                                          : parameters_of(net, now) > parameters_of(net, before);
}

/* Rounds until no layer is left that would gain. */
static void rounds_take(const Network *net, Widths *now, int *listed)
{
    for (;;) {
        const Move first = first_move(net, now, listed);
        if (!first.to) return;
        // TODO(7): One round.  The first layer leaves the list and moves, in a copy of `now`; then
        // balancing moves, each of whose layers leaves a copy of the list, until the copy is
        // balanced or there is none.  Keep both copies if it is balanced and better than `now`.
        Widths then = *now;
        int left[WIDTHS_LAYERS];
        listed[first.l] = 0;
        memcpy(left, listed, sizeof left);
        then.m[first.l] = first.to;
        while (!is_balanced(net, &then)) {
            const Move move = balancing_move(net, &then, left);
            if (!move.to) break;
            then.m[move.l] = move.to;
            left[move.l] = 0;
        }
        if (is_balanced(net, &then) && is_better(net, &then, now)) {
            *now = then;
            memcpy(listed, left, sizeof left);
        }
        // END TODO(7)
    }
}

/* The old widths; the layers that are free are listed. */
static void begin(Network *net, Widths *now, int *listed)
{
    for (int l = 0; l < net->p->L; l++) {
        now->m[l] = (int)net->layer[l * LAYER_FLOATS + LAYER_WIDTH];
        listed[l] = net->layer[l * LAYER_FLOATS + LAYER_FREE] != 0;
    }
    net->latency = latency_of(net, now);
    net->parameters = parameters_of(net, now);
}

void tail_widths_host(const WidthsProblem *p, const float *layer, const float *time, float *y)
{
    Network net = {p, layer, time, 0, 0, p->tau};
    Widths now;
    int listed[WIDTHS_LAYERS] = {0};
    begin(&net, &now, listed);
    rounds_take(&net, &now, listed);
    // TODO(8): While delta is asked for, more than delta thousandths of the old latency are left
    // and twice tau is no more than 1000: double tau and begin again.
    while (p->delta && 1000 * latency_of(&net, &now) > p->delta * net.latency &&
           2 * net.tau <= 1000) {
        net.tau *= 2;
        begin(&net, &now, listed);
        rounds_take(&net, &now, listed);
    }
    // END TODO(8)
    for (int l = 0; l < p->L; l++)
        y[l] = (float)(now.m[l] * p->unit);
}
