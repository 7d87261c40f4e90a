/* Lab 19: the network of the electrode report. */
#include "autograder/tests/predictions/derive.h"
#include "convlab/conv.h"

/* The report's layers: maps in, rows, columns, maps out, side of the filters. */
typedef struct Layer {
    int C, H, W, K, R;
} Layer;

static const Layer LAYER[] = {{1, 56, 100, 64, 8},
                              {64, 28, 50, 64, 4},
                              {64, 14, 25, 64, 2},
                              {64 * 14 * 25, 1, 1, 256, 1},
                              {256, 1, 1, 3, 1}};
enum { LAYERS = sizeof LAYER / sizeof *LAYER, SECOND = 1, FULL = 3 };

/* Weights one by one, and a bias for each map. */
static double parameters_of(const Layer *layer)
{
    double count = 0;
    for (int k = 0; k < layer->K; k++) {
        count++;
        for (int tap = 0; tap < layer->C * layer->R * layer->R; tap++)
            count++;
    }
    return count;
}

/* One multiplication per weight for each position of the map. */
static double macs(const Given *given)
{
    (void)given;
    double count = 0;
    for (int l = 0; l < LAYERS; l++)
        count += (parameters_of(&LAYER[l]) - LAYER[l].K) * LAYER[l].H * LAYER[l].W;
    return count / 1e6;
}

static double full(const Given *given)
{
    (void)given;
    double all = 0;
    for (int l = 0; l < LAYERS; l++)
        all += parameters_of(&LAYER[l]);
    return 100 * parameters_of(&LAYER[FULL]) / all;
}

static double constant(const Given *given)
{
    (void)given;
    return parameters_of(&LAYER[SECOND]) * sizeof(float) / 1000;
}

/* FULL's weights are used once, CONV2's at every place. */
static double conv2(const Given *given)
{
    (void)given;
    double second = 0, full_layer = parameters_of(&LAYER[FULL]) - LAYER[FULL].K;
    for (int place = 0; place < LAYER[SECOND].H * LAYER[SECOND].W; place++)
        second += parameters_of(&LAYER[SECOND]) - LAYER[SECOND].K;
    return second / full_layer;
}

/* Places that some window touches, inside of the map or not, against those inside. */
static double padding(const Given *given)
{
    ConvProblem p = given->p;
    int rows = 0, columns = 0;
    for (int h = -p.H; h < 2 * p.H; h++)
        rows += h >= -p.pad_top && h <= p.P - 1 - p.pad_top + p.R - 1;
    for (int w = -p.W; w < 2 * p.W; w++)
        columns += w >= -p.pad_left && w <= p.Q - 1 - p.pad_left + p.S - 1;
    return 100.0 * (rows * columns - p.H * p.W) / (p.H * p.W);
}

/* 2 x 4 outputs of one filter: their multiplications, one by one, divided by the floats of the
 * rows that cover their inputs, loaded four at a time. */
static double loads(const Given *given)
{
    ConvProblem p = given->p;
    double products = 0, loaded = 0;
    for (int output = 0; output < 2 * 4; output++)
        for (int tap = 0; tap < p.R * p.S; tap++)
            products++;
    for (int row = 0; row <= p.R; row++)
        for (int column = 0; column < 4 + p.S - 1; column += 4)
            loaded += 4;
    return products / loaded;
}

const LabDerivations derive_19 = {"19-electrode",
                                  {
                                      {"macs", macs},
                                      {"full", full},
                                      {"constant", constant},
                                      {"conv2", conv2},
                                      {"padding", padding},
                                      {"loads", loads},
                                      {0},
                                  }};
