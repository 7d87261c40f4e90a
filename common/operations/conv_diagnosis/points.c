/* points.c - diagnosis of Winograd's transforms: finds the wrong row.
 *
 * F(M,3) computes M outputs from M+2 inputs d and 3 taps g, with one multiplication at each point
 * a:
 *
 *     y[i] = sum over a of  outputs[a][i] * (taps[a] . g) * (inputs[a] . d)
 *
 * So if one input and one tap are 1 and all others 0, output i is line[i][d][g], the sum over a of
 * outputs[a][i]*taps[a][g]*inputs[a][d].  It should be 1 if d = i+g, else 0.  A wrong row at one
 * point gives an error that is proportional to the other two rows of that point, for any wrong
 * values.
 *
 * In two dimensions the transform of a column is observed, at one fixed input and tap of the rows.
 * If the columns are right, or the filter does not have three rows, the transform of a row is
 * observed, as in code that transforms rows only. */
#include "common/operations/conv_diagnosis/explain_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SUMS = 4, INPUTS = SUMS + 2, TAPS = 3, MOST_POINTS = INPUTS };

/* Rows with arbitrary scale, because only the direction of an error is compared. */
typedef struct Form {
    int sums, points;
    const char *name[MOST_POINTS];
    double outputs[MOST_POINTS][SUMS], taps[MOST_POINTS][TAPS], inputs[MOST_POINTS][INPUTS];
} Form;

static const Form FORMS[] = {
    {2,
     4,
     {"0", "1", "-1", "infinity"},
     {{1, 0}, {1, 1}, {1, -1}, {0, 1}},
     {{1, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 1}},
     {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}}},
    {4,
     6,
     {"0", "1", "-1", "2", "-2", "infinity"},
     {{1, 0, 0, 0}, {1, 1, 1, 1}, {1, -1, 1, -1}, {1, 2, 4, 8}, {1, -2, 4, -8}, {0, 0, 0, 1}},
     {{1, 0, 0}, {1, 1, 1}, {1, -1, 1}, {1, 2, 4}, {1, -2, 4}, {0, 0, 1}},
     {{4, 0, -5, 0, 1, 0},
      {0, -4, -4, 1, 1, 0},
      {0, 4, -4, -1, 1, 0},
      {0, -2, -1, 2, 1, 0},
      {0, 2, -1, -2, 1, 0},
      {0, 4, 0, -5, 0, 1}}},
};

/* Response of a one-dimensional tile to input d and tap g, for the outputs from the tile's first
 * on. */
typedef struct Line {
    int sums, inputs;
    double of[SUMS][INPUTS][TAPS];
} Line;

/* ---- runs of the submission -------------------------------------------------------------- */

typedef struct Reference {
    const Diagnosis *d;
    Probe probe;
    int p0, q0;  /* the first output of a tile whose inputs are all inside x */
    int q, j, s; /* horizontal position: the output that multiplies input j by tap s */
    int across;  /* Boolean: a row is observed, at row 0 of x and row r of the filter */
    int r;
} Reference;

/* The first output, a multiple of 4, whose `inputs` successive inputs are inside x; -1: none. */
static int first_inside(int outputs, int size, int pad, int inputs)
{
    for (int first = 0; first + inputs - TAPS < outputs; first += SUMS)
        if (first >= pad && first - pad + inputs <= size) return first;
    return -1;
}

/* Finds a position for a tile of `inputs` inputs. */
static int fits(Reference *ask, int inputs)
{
    const ConvProblem *v = &ask->d->conv;
    if (ask->across) {
        ask->p0 = v->pad_top < v->R ? 0 : v->pad_top - v->R + 1;
        ask->r = v->pad_top - ask->p0;
    } else {
        ask->p0 = first_inside(v->P, v->H, v->pad_top, inputs);
    }
    ask->q0 = first_inside(v->Q, v->W, v->pad_left, inputs);
    return ask->p0 >= 0 && ask->q0 >= 0;
}

/* Runs with input (d, j) of the tile, channel 0, and tap (g + k, s) of filter k as the only
 * non-zero values.  0: could not run. */
static int run_lines(Reference *ask, int d, int g, int filters)
{
    const ConvProblem *v = &ask->d->conv;
    Probe *probe = &ask->probe;
    const int h = ask->across ? 0 : ask->p0 - v->pad_top + d;
    const int w = ask->q0 - v->pad_left + (ask->across ? d : ask->j);
    memset(probe->x, 0, probe->x_count * sizeof(float));
    memset(probe->w, 0, probe->w_count * sizeof(float));
    probe->x[h * v->W + w] = 1;
    for (int k = 0; k < filters; k++) {
        const int r = ask->across ? ask->r : g + k, s = ask->across ? g + k : ask->s;
        probe->w[(size_t)k * v->C * v->R * TAPS + r * TAPS + s] = 1;
    }
    return probe_wrong(ask->d, probe) >= 0;
}

static double output_of(const Reference *ask, int k, int i)
{
    const ConvProblem *v = &ask->d->conv;
    const int row = ask->across ? 0 : i, column = ask->across ? i : ask->q;
    return ask->probe.y[((size_t)k * v->P + ask->p0 + row) * v->Q + ask->q0 + column];
}

/* Finds an output, an input and a tap in the horizontal direction whose term is not zero, so
 * that the vertical direction can be observed: *scale is its value.  0: none. */
static int reference_find(Reference *ask, double *scale)
{
    for (int i = 0; i < 2 * TAPS; i++) {
        ask->q = i / TAPS;
        ask->s = i % TAPS;
        ask->j = ask->q + ask->s;
        if (!run_lines(ask, ask->j, ask->s, 1)) return 0;
        *scale = sqrt(fabs(output_of(ask, 0, ask->q)));
        if (*scale > 0x1p-6 && isfinite(*scale)) return 1;
    }
    return 0;
}

static int line_measure(Reference *ask, Line *line)
{
    const int K = ask->d->conv.K, at_once = K < TAPS ? 1 : TAPS;
    double scale = 1;
    if (!ask->across && !reference_find(ask, &scale)) return 0;
    for (int d = 0; d < line->inputs; d++)
        for (int g = 0; g < TAPS; g += at_once) {
            if (!run_lines(ask, d, g, at_once)) return 0;
            for (int k = 0; k < at_once; k++)
                for (int i = 0; i < line->sums; i++)
                    line->of[i][d][g + k] = output_of(ask, k, i) / scale;
        }
    return 1;
}

/* ---- explanation of the error ------------------------------------------------------------ */

static const double NEAR = 1e-3;

static double due(int i, int d, int g)
{
    return d == i + g;
}

static Line line_error(const Line *line)
{
    Line error = *line;
    for (int i = 0; i < line->sums; i++)
        for (int d = 0; d < line->inputs; d++)
            for (int g = 0; g < TAPS; g++)
                error.of[i][d][g] -= due(i, d, g);
    return error;
}

/* Whether two tiles of 2 have equal errors, without a mixed term.  Then keeps one. */
static int halves_agree(Line *error)
{
    Line one = {.sums = 2, .inputs = 4};
    for (int i = 0; i < SUMS; i++)
        for (int d = 0; d < INPUTS; d++)
            for (int g = 0; g < TAPS; g++) {
                const int first = i / 2 * 2, own = d >= first && d < first + 4;
                const double same = own ? error->of[i % 2][d - first][g] : 0;
                if (!(fabs(error->of[i][d][g] - same) <= NEAR)) return 0;
                if (i < 2 && own) one.of[i][d][g] = same;
            }
    *error = one;
    return 1;
}

typedef enum Part { PART_INPUTS, PART_TAPS, PART_OUTPUTS, PARTS } Part;

/* The error at the indices given by output i, input d and tap g of a part: `own` is the index along
 * that part's row, `one` and `two` along the other two. */
static double error_at(const Line *error, Part part, int own, int one, int two)
{
    return part == PART_INPUTS ? error->of[one][own][two]
           : part == PART_TAPS ? error->of[one][two][own]
                               : error->of[own][two][one];
}

static double others_at(const Form *form, Part part, int point, int one, int two)
{
    return part == PART_INPUTS ? form->outputs[point][one] * form->taps[point][two]
           : part == PART_TAPS ? form->outputs[point][one] * form->inputs[point][two]
                               : form->taps[point][one] * form->inputs[point][two];
}

/* Sizes of a part's error: along its own row, and along the other two. */
typedef struct PartSize {
    int owns, ones, twos;
} PartSize;

static PartSize part_size(const Line *error, Part part)
{
    return (PartSize){part == PART_INPUTS ? error->inputs
                      : part == PART_TAPS ? TAPS
                                          : error->sums,
                      part == PART_OUTPUTS ? TAPS : error->sums,
                      part == PART_INPUTS ? TAPS : error->inputs};
}

/* Solves the normal equations of `count` unknowns in place, with `side` as the right-hand side.
 * 0: they are singular. */
static int equations_solve(double matrix[MOST_POINTS][MOST_POINTS], double side[MOST_POINTS],
                           int count)
{
    for (int column = 0; column < count; column++) {
        int best = column;
        for (int row = column + 1; row < count; row++)
            if (fabs(matrix[row][column]) > fabs(matrix[best][column])) best = row;
        if (fabs(matrix[best][column]) < 1e-9) return 0;
        for (int i = 0; i < count; i++) {
            double other = matrix[best][i];
            matrix[best][i] = matrix[column][i];
            matrix[column][i] = other;
        }
        double other = side[best];
        side[best] = side[column];
        side[column] = other;
        for (int row = 0; row < count; row++) {
            if (row == column) continue;
            const double factor = matrix[row][column] / matrix[column][column];
            for (int i = 0; i < count; i++)
                matrix[row][i] -= factor * matrix[column][i];
            side[row] -= factor * side[column];
        }
    }
    for (int i = 0; i < count; i++)
        side[i] /= matrix[i][i];
    return 1;
}

/* A set of points, one bit each, and the points in it. */
typedef struct PointSet {
    unsigned bits;
    int count, point[MOST_POINTS];
} PointSet;

static PointSet points_in(const Form *form, unsigned bits)
{
    PointSet set = {.bits = bits};
    for (int point = 0; point < form->points; point++)
        if (bits >> point & 1) set.point[set.count++] = point;
    return set;
}

/* Whether row `own` of the part's error is a sum of multiples of the other two rows of the points,
 * with every one of them.  The multiples are found by least squares.  used: bits of the points
 * whose multiple is not 0. */
static int row_explained(const Form *form, const Line *error, Part part, const PointSet *set,
                         int own, unsigned *used)
{
    const PartSize size = part_size(error, part);
    double matrix[MOST_POINTS][MOST_POINTS] = {{0}}, times[MOST_POINTS] = {0};
    for (int i = 0; i < size.ones * size.twos; i++)
        for (int a = 0; a < set->count; a++) {
            const double others =
                others_at(form, part, set->point[a], i / size.twos, i % size.twos);
            times[a] += others * error_at(error, part, own, i / size.twos, i % size.twos);
            for (int b = 0; b < set->count; b++)
                matrix[a][b] +=
                    others * others_at(form, part, set->point[b], i / size.twos, i % size.twos);
        }
    if (!equations_solve(matrix, times, set->count)) return 0;
    for (int i = 0; i < size.ones * size.twos; i++) {
        double left = error_at(error, part, own, i / size.twos, i % size.twos);
        for (int a = 0; a < set->count; a++)
            left -= times[a] * others_at(form, part, set->point[a], i / size.twos, i % size.twos);
        if (!(fabs(left) <= NEAR)) return 0;
    }
    for (int a = 0; a < set->count; a++)
        if (fabs(times[a]) > NEAR / 16) *used |= 1u << set->point[a];
    return 1;
}

/* Whether the whole error is one of these points' rows of this part. */
static int points_explain(const Form *form, const Line *error, Part part, unsigned bits)
{
    const PointSet set = points_in(form, bits);
    const PartSize size = part_size(error, part);
    unsigned used = 0;
    for (int own = 0; own < size.owns; own++)
        if (!row_explained(form, error, part, &set, own, &used)) return 0;
    return used == bits;
}

static void say_point(const Form *form, const int explains[PARTS], int point, Finding *finding)
{
    static const char *const function[] = {"input()", "filter()", "output()"};
    static const char *const row[] = {"v", "u", "m"};
    int parts = explains[0] + explains[1] + explains[2], part = 0;
    while (!explains[part])
        part++;
    finding_say(finding, "This is the error of a single point, %s.", form->name[point]);
    if (parts > 1)
        finding_say(finding,
                    "Its term u[%d]*v[%d] has a wrong weight: a factor or a sign of it is wrong "
                    "in input(), in filter() or in output().",
                    point, point);
    else
        finding_say(finding, "Look at %s[%d] in %s.", row[part], point, function[part]);
}

/* Several points: their names, and the functions in which all their rows may be wrong. */
static void say_points(const Form *form, const int explains[PARTS], const PointSet *set,
                       Finding *finding)
{
    static const char *const function[] = {"input()", "filter()", "output()"};
    char names[64] = "", numbers[32] = "", functions[48] = "";
    for (int i = 0; i < set->count; i++) {
        const char *comma = i == 0 ? "" : i + 1 == set->count ? " and " : ", ";
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", comma,
                 form->name[set->point[i]]);
        snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), "%s%d", comma,
                 set->point[i]);
    }
    for (Part part = 0; part < PARTS; part++)
        if (explains[part])
            snprintf(functions + strlen(functions), sizeof functions - strlen(functions), "%s%s",
                     *functions ? " or in " : "", function[part]);
    finding_say(finding,
                "This is the error of %d points, %s. Look at the lines with the indices %s in "
                "%s: possibly they are exchanged, or have a wrong sign or divisor.",
                set->count, names, numbers, functions);
}

/* Reports the input and the tap with the largest error, as numbers to be recomputed on paper. */
static void say_example(const Line *line, const Line *error, const Form *form, Finding *finding)
{
    char wanted[64] = "", gotten[96] = "";
    int worst_d = 0, worst_g = 0;
    double worst = 0;
    for (int i = 0; i < error->sums; i++)
        for (int d = 0; d < error->inputs; d++)
            for (int g = 0; g < TAPS; g++)
                if (fabs(error->of[i][d][g]) > worst)
                    worst = fabs(error->of[i][d][g]), worst_d = d, worst_g = g;
    for (int i = 0; i < error->sums; i++) {
        snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%s%g", i ? ", " : "",
                 due(i, worst_d, worst_g));
        double got = line->of[i][worst_d][worst_g];
        snprintf(gotten + strlen(gotten), sizeof gotten - strlen(gotten), "%s%.4g", i ? ", " : "",
                 fabs(got) < NEAR ? 0 : got);
    }
    finding_say(finding,
                "Your F(%d,3) is wrong. Try it on paper: from d[%d] = 1 and g[%d] = 1, all others "
                "0, a row should give y = %s; yours gives %s.",
                form->sums, worst_d, worst_g, wanted, gotten);
}

static int error_is_nothing(const Line *error)
{
    for (int i = 0; i < error->sums; i++)
        for (int d = 0; d < error->inputs; d++)
            for (int g = 0; g < TAPS; g++)
                if (!(fabs(error->of[i][d][g]) <= NEAR)) return 0;
    return 1;
}

/* Finds the smallest set of points whose rows explain the error: at most half of them, because
 * nearly all together explain other mistakes, too, such as a missing tap. */
static int form_explain(const Form *form, const Line *line, const Line *error, Finding *finding)
{
    for (int count = 1; count <= form->points / 2; count++)
        for (unsigned bits = 1; bits < 1u << form->points; bits++) {
            const PointSet set = points_in(form, bits);
            int explains[PARTS];
            if (set.count != count) continue;
            for (Part part = 0; part < PARTS; part++)
                explains[part] = points_explain(form, error, part, bits);
            if (!explains[0] && !explains[1] && !explains[2]) continue;
            finding->fault = FAULT_POINTS;
            say_example(line, error, form, finding);
            if (count == 1)
                say_point(form, explains, set.point[0], finding);
            else
                say_points(form, explains, &set, finding);
            return 1;
        }
    return 0;
}

/* Finds the form whose points explain the error.  The measured response is known up to its
 * sign. */
static int line_explain(const Line *line, Finding *finding)
{
    for (int negative = 0; negative < 2; negative++) {
        Line signed_line = *line;
        for (int i = 0; i < SUMS * INPUTS * TAPS && negative; i++)
            (&signed_line.of[0][0][0])[i] *= -1;
        Line error = line_error(&signed_line);
        if (error_is_nothing(&error)) return 0;
        const Form *form = &FORMS[error.sums == 2 || halves_agree(&error) ? 0 : 1];
        if (!form_explain(form, &signed_line, &error, finding)) continue;
        return 1;
    }
    return 0;
}

/* Observes one direction: the transform of a row, or that of a column. */
static int direction_find(const Diagnosis *d, int across, Finding *finding)
{
    const ConvProblem *v = &d->conv;
    Reference ask = {.d = d, .across = across};
    Line line = {.sums = SUMS, .inputs = INPUTS};
    if (!fits(&ask, line.inputs)) line = (Line){.sums = 2, .inputs = 4};
    if (!fits(&ask, line.inputs) || probe_make(&ask.probe, v)) return 0;
    int found = line_measure(&ask, &line) && line_explain(&line, finding);
    probe_free(&ask.probe);
    return found;
}

int points_find(const Diagnosis *d, Finding *finding)
{
    const ConvProblem *v = &d->conv;
    if (d->judged->observed.algorithm != ALGORITHM_WINOGRAD_4X4 || !d->run || v->S != TAPS ||
        v->stride_h != 1 || v->stride_w != 1 || conv_macs(v) > 4 * probe_macs)
        return 0;
    if (v->R == TAPS && direction_find(d, 0, finding)) return 1;
    return direction_find(d, 1, finding);
}
