/* frequency.c - diagnosis of Fourier transforms: probes with one frequency at a time.
 *
 * With a filter of one tap, which is 1, the output equals the input.  Each image of the probe is
 * one frequency along one direction, the same in every line.  A wrong transform changes some
 * frequencies and not others, or negates the sines, or changes some lines only. */
#include "common/operations/conv_diagnosis/explain_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* SIDE: the smallest tile.  Image f < WAVES has the cosine of frequency f, image WAVES + f - 1 the
 * sine of f = 1 .. WAVES-2. */
enum { SIDE = 16, WAVES = SIDE / 2 + 1 };
static const double NEAR = 1e-3;

static int frequency_of(int image)
{
    return image < WAVES ? image : image - WAVES + 1;
}

static double wave(int image, int at)
{
    const double angle = 2 * M_PI * frequency_of(image) * at / SIDE;
    return image < WAVES ? cos(angle) : sin(angle);
}

/* The response to each image: y[image][line][at along the line]. */
typedef struct Response {
    double of[SIDE][SIDE][SIDE];
} Response;

/* Runs with waves along the rows of the images or, if `down`, along their columns.  0: could not
 * run. */
static int response_measure(const Diagnosis *d, int down, Response *response)
{
    ConvProblem one = {.N = SIDE,
                       .C = 1,
                       .H = SIDE,
                       .W = SIDE,
                       .K = 1,
                       .R = 1,
                       .S = 1,
                       .stride_h = 1,
                       .stride_w = 1};
    Probe probe;
    if (conv_derive(&one, NULL) || probe_make(&probe, &one)) return 0;
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        const int image = i / SIDE / SIDE, row = i / SIDE % SIDE, column = i % SIDE;
        probe.x[i] = (float)wave(image, down ? row : column);
    }
    probe.w[0] = 1;
    const int ran = probe_wrong(d, &probe) >= 0;
    for (int i = 0; ran && i < SIDE * SIDE * SIDE; i++) {
        const int image = i / SIDE / SIDE, row = i / SIDE % SIDE, column = i % SIDE;
        response->of[image][down ? column : row][down ? row : column] = probe.y[i];
    }
    probe_free(&probe);
    return ran;
}

/* Whether a line is the image's wave times this factor. */
static int line_is(const Response *response, int image, int line, double factor)
{
    for (int at = 0; at < SIDE; at++)
        if (!(fabs(response->of[image][line][at] - factor * wave(image, at)) <=
              NEAR * fmax(1, fabs(factor))))
            return 0;
    return 1;
}

static int image_is(const Response *response, int image, double factor)
{
    for (int line = 0; line < SIDE; line++)
        if (!line_is(response, image, line, factor)) return 0;
    return 1;
}

/* ---- findings ----------------------------------------------------------------------------- */

/* Whether all cosines are right and all sines negated. */
static int is_conjugated(const Response *response)
{
    for (int image = 0; image < SIDE; image++)
        if (!image_is(response, image, image < WAVES ? 1 : -1)) return 0;
    return 1;
}

/* Whether each frequency keeps its strength and is only moved along the line: then an index is
 * wrong, not a transform. */
static int is_moved(const Response *response)
{
    for (int f = 1; f < WAVES - 1; f++)
        for (int line = 0; line < SIDE; line++) {
            double even = 0, odd = 0, energy = 0;
            for (int at = 0; at < SIDE; at++) {
                const double got = response->of[f][line][at];
                even += got * wave(f, at) * 2 / SIDE;
                odd += got * wave(WAVES + f - 1, at) * 2 / SIDE;
                energy += got * got * 2 / SIDE;
            }
            if (!(fabs(even * even + odd * odd - 1) <= NEAR && fabs(energy - 1) <= NEAR)) return 0;
        }
    return 1;
}

/* The factor of all frequencies and lines; NaN: it is not the same. */
static double common_factor(const Response *response)
{
    const double factor = response->of[0][0][0]; /* from the constant image of ones */
    for (int image = 0; image < SIDE; image++)
        if (!image_is(response, image, factor)) return (double)NAN;
    return factor;
}

/* The factor of a line, if it is the same for all images; NaN: it is not. */
static double line_factor(const Response *response, int line)
{
    const double factor = response->of[0][line][0]; /* from the constant image of ones */
    for (int image = 0; image < SIDE; image++)
        if (!line_is(response, image, line, factor)) return (double)NAN;
    return factor;
}

/* Some lines have another factor than others, or none. */
static int find_lines(const Response *response, const char *lines, Finding *finding)
{
    int wrong = 0, first = -1, last = 0;
    for (int line = 0; line < SIDE; line++) {
        if (fabs(line_factor(response, line) - 1) <= NEAR) continue;
        if (first < 0) first = line;
        last = line;
        wrong++;
    }
    if (!wrong || wrong == SIDE) return 0;
    finding_say(finding, "%d of %d %s are changed, from %d to %d; the others are right.", wrong,
                (int)SIDE, lines, first, last);
    const double factor = line_factor(response, first);
    if (isfinite(factor)) finding_say(finding, "%d has the factor %.4g.", first, factor);
    finding_say(finding, "One FFT transforms two real lines: possibly the two are separated or "
                         "merged wrongly, in the part of the second line.");
    return 1;
}

/* The strongest wave in the response to an image, as words: "0.5 sin 3". */
static void strongest(const Response *response, int image, char *text, size_t bytes)
{
    double most = 0;
    snprintf(text, bytes, "nothing");
    for (int other = 0; other < SIDE; other++) {
        double sum = 0, square = 0;
        for (int at = 0; at < SIDE; at++) {
            sum += response->of[image][0][at] * wave(other, at);
            square += wave(other, at) * wave(other, at);
        }
        if (fabs(sum / square) <= fmax(most, NEAR)) continue;
        most = fabs(sum / square);
        snprintf(text, bytes, "%.3g times the %s of %d", sum / square,
                 other < WAVES ? "cosine" : "sine", frequency_of(other));
    }
}

static void say_frequencies(const Response *response, Finding *finding)
{
    char right[64] = "", wrong[64] = "", gives[48];
    int example = -1, simple = 1; /* simple: the right ones are multiples of a quarter */
    for (int f = 0; f < WAVES; f++) {
        const int is_right = image_is(response, f, 1) &&
                             (f == 0 || f == WAVES - 1 || image_is(response, WAVES + f - 1, 1));
        char *list = is_right ? right : wrong;
        snprintf(list + strlen(list), sizeof right - strlen(list), "%s%d", *list ? ", " : "", f);
        if (!is_right && example < 0) example = image_is(response, f, 1) ? WAVES + f - 1 : f;
        simple = simple && is_right == (f % (SIDE / 4) == 0);
    }
    finding_say(finding, "Frequencies %s are changed%s%s.", wrong, *right ? ", and right are " : "",
                right);
    if (example >= 0) {
        strongest(response, example, gives, sizeof gives);
        finding_say(finding, "The strongest part of the answer to the %s of %d is %s.",
                    example < WAVES ? "cosine" : "sine", frequency_of(example), gives);
    }
    if (simple)
        finding_say(finding, "A wrong twiddle factor has this effect: possibly its angle, the sign "
                             "of its imaginary part (of -i, too), or a sign in the complex "
                             "multiplication.");
    else
        finding_say(finding, "Check the twiddle factors, the signs of the butterfly, and how two "
                             "real lines are separated and merged.");
}

/* Reports a changed frequency in one direction; 0: there is none. */
static int find_direction(const Diagnosis *d, int down, Finding *finding)
{
    Response response;
    int right = 1;
    if (!response_measure(d, down, &response)) return 0;
    for (int image = 0; image < SIDE; image++)
        right = right && image_is(&response, image, 1);
    if (right || (is_moved(&response) && !is_conjugated(&response))) return 0;
    finding->fault = FAULT_POINTS;
    finding_say(finding,
                "With a 1x1 filter of 1 and images of %dx%d that contain one frequency f along "
                "%s, cos(2 pi f %c/%d), the output should equal the input.",
                (int)SIDE, (int)SIDE, down ? "columns" : "rows", down ? 'h' : 'w', (int)SIDE);
    if (is_conjugated(&response))
        finding_say(finding, "Yours has all sines negated: the output is mirrored. Possibly one "
                             "conjugate is missing or too many, in the multiplication of the "
                             "frequencies or in the inverse transform.");
    else if (isfinite(common_factor(&response)))
        finding_say(finding,
                    "Yours is %.4g times the input: a factor is missing or is applied "
                    "twice, for example that of the inverse transform, or 1/2 where two "
                    "real lines are separated.",
                    common_factor(&response));
    else if (!find_lines(&response, down ? "columns" : "rows", finding))
        say_frequencies(&response, finding);
    return 1;
}

int frequency_find(const Diagnosis *d, Finding *finding)
{
    if (d->judged->observed.algorithm != ALGORITHM_FFT_64X64 || !d->run || d->conv.stride_h != 1 ||
        d->conv.stride_w != 1)
        return 0;
    return find_direction(d, 0, finding) || find_direction(d, 1, finding);
}
