/* plan_main - `plan NETWORK MEASURED MODE TAU`: runs lab 20's tail_widths_host, which is linked
 * with this, on a network and the measured times of its layers.  `plan NETWORK` only checks the
 * network.
 *
 * NETWORK has one line per layer: name, shape, and 1 if its width may change, else 0; lines that
 * start with ; are comments, the first other one has the column names.  MEASURED is measure.sh's:
 * the sweep's name is the layer's shape with K=%, its value the width.  MODE is latency or
 * parameters, TAU thousandths. Prints one line per layer: name, old width, new width.
 *
 * A width that was not measured has the time of the next larger one that was; beyond the largest
 * the time grows with the square of the width, so that such widths are never chosen.  The launch
 * time is left out, because it does not depend on the width.  Times are rounded to integers, which
 * floats represent exactly. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/conv/conv_problem.h"
#include "convlab/tail.h"

enum { NAME = 64, SHAPE = 200, LINE = 700, WIDEST = 2048, LARGEST_TIME = 8000000 };

typedef struct Layer {
    char name[NAME], key[SHAPE]; /* key: the shape with K=% */
    ConvProblem conv;
    int free, measured;    /* measured: the largest measured width */
    double us[WIDEST + 1]; /* 0: not measured */
} Layer;

static Layer layer[WIDTHS_LAYERS];
static int layers;

static int bad(const char *where, const char *what)
{
    fprintf(stderr, "plan: %s: %s\n", where, what);
    return -1;
}

static int bad_line(const char *file, int line, const char *what)
{
    fprintf(stderr, "plan: %s, line %d: %s\n", file, line, what);
    return -1;
}

/* ---- reading ---- */

/* "N=1 C=3 H=32 W=32 K=64 ..." becomes "N=1 C=3 H=32 W=32 K=% ..." */
static void key_make(const char *shape, char key[SHAPE])
{
    const char *k = strstr(shape, "K="), *rest = k ? strchr(k, ' ') : NULL;
    snprintf(key, SHAPE, "%.*sK=%%%s", k ? (int)(k - shape) : 0, shape, rest ? rest : "");
}

static int name_is_known(const char *name)
{
    for (int l = 0; l < layers; l++)
        if (!strcmp(layer[l].name, name)) return 1;
    return 0;
}

static int layer_read(const char *file, int number, const char *line)
{
    char shape[SHAPE], name[NAME], may[2], more;
    Problem problem;
    Error error;
    Layer *l = &layer[layers];
    if (layers == WIDTHS_LAYERS) return bad_line(file, number, "more than 100 layers");
    if (sscanf(line, "%63[^\t\n]\t%199[^\t\n]\t%1[01]%c", name, shape, may, &more) != 4 ||
        more != '\n')
        return bad_line(file, number, "a line is NAME, SHAPE, 0 or 1, with tabs between");
    if (name_is_known(name)) return bad_line(file, number, "a layer above has the same name");
    if (conv_parse(shape, &problem, &error)) return bad_line(file, number, error.text);
    if (!strstr(shape, "K=") || !strstr(shape, "C="))
        return bad_line(file, number, "a shape says C=, its channels, and K=, its filters");
    l->conv = conv_unpack(&problem);
    l->free = *may == '1';
    if (l->conv.K > WIDEST) return bad_line(file, number, "more than 2048 filters");
    if (layers && l->conv.C != layer[layers - 1].conv.K)
        return bad_line(file, number, "its channels are not the filters of the layer before it");
    snprintf(l->name, NAME, "%s", name);
    key_make(shape, l->key);
    layers++;
    return 0;
}

static int network_read(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[LINE];
    int failed = 0, head = 1, number = 0;
    if (!file) return bad(path, "cannot be read");
    while (!failed && fgets(line, sizeof line, file)) {
        number++;
        if (*line == ';') continue;
        if (!head) failed = layer_read(path, number, line);
        head = 0;
    }
    fclose(file);
    return failed ? -1 : layers ? 0 : bad(path, "no layer in it");
}

static void width_keep(const char *key, int width, double us)
{
    for (int l = 0; l < layers; l++) {
        if (strcmp(layer[l].key, key) || width < 1 || width > WIDEST) continue;
        layer[l].us[width] = fmax(us, 1e-3);
        if (width > layer[l].measured) layer[l].measured = width;
    }
}

static int measured_line(const char *line, double nothing_us)
{
    char key[SHAPE];
    double launches, us;
    int width;
    if (sscanf(line, "%*[^\t]\t%199[^\t]\t%d\t%*[^\t]\t%*f\t%*f\t%*f\t%*f\t%*f\t%*f\t%lf\t%lf", key,
               &width, &launches, &us) != 4 ||
        !(launches >= 1 && us > 0 && us < 1e12))
        return -1;
    width_keep(key, width, us - launches * nothing_us);
    return 0;
}

static int measured_read(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[LINE];
    double nothing_us = 0;
    int failed = 0;
    if (!file) return bad(path, "cannot be read");
    for (int number = 1; !failed && fgets(line, sizeof line, file); number++)
        if (*line == ';')
            nothing_us = atof(line + 1);
        else if (measured_line(line, nothing_us))
            failed = bad_line(path, number, "this is no time of a layer, as measure.sh prints it");
    fclose(file);
    for (int l = 0; !failed && l < layers; l++)
        if (layer[l].measured < layer[l].conv.K) failed = bad(layer[l].name, "was not measured");
    return failed;
}

/* ---- planning ---- */

static double time_of(const Layer *l, int width)
{
    const double last = l->us[l->measured], part = (double)width / l->measured;
    for (int m = width; m <= l->measured; m++)
        if (l->us[m] > 0) return l->us[m];
    return last * part * part * 1.1;
}

static int plan(int mode, int tau)
{
    static float time[WIDTHS_LAYERS * WIDEST], numbers[WIDTHS_LAYERS * LAYER_FLOATS],
        width[WIDTHS_LAYERS];
    WidthsProblem p = {
        .L = layers, .M = 1, .unit = 1, .C = layer[0].conv.C, .mode = mode, .tau = tau};
    double most = 0;
    for (int l = 0; l < layers; l++)
        if (layer[l].measured > p.M) p.M = layer[l].measured;
    for (int l = 0; l < layers; l++)
        most = fmax(most, time_of(&layer[l], p.M) / layer[l].conv.C);
    for (int l = 0; l < layers; l++) {
        const ConvProblem *conv = &layer[l].conv;
        const float its[LAYER_FLOATS] = {[LAYER_WIDTH] = (float)conv->K,
                                         [LAYER_TAPS] = (float)(conv->R * conv->S),
                                         [LAYER_FREE] = (float)layer[l].free};
        memcpy(numbers + l * LAYER_FLOATS, its, sizeof its);
        for (int m = 1; m <= p.M; m++)
            time[l * p.M + m - 1] =
                (float)ceil(time_of(&layer[l], m) / conv->C / most * LARGEST_TIME);
    }
    tail_widths_host(&p, numbers, time, width);
    for (int l = 0; l < layers; l++) {
        if (!(width[l] >= 1 && width[l] <= p.M)) return bad(layer[l].name, "the new width is none");
        printf("%s\t%d\t%.0f\n", layer[l].name, layer[l].conv.K, width[l]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2) return network_read(argv[1]) ? 1 : 0;
    if (argc != 5) return fprintf(stderr, "usage: plan NETWORK [MEASURED MODE TAU]\n"), 2;
    const int mode = !strcmp(argv[3], "parameters") ? WIDTHS_PARAMETERS : WIDTHS_LATENCY;
    return network_read(argv[1]) || measured_read(argv[2]) || plan(mode, atoi(argv[4])) ? 1 : 0;
}
