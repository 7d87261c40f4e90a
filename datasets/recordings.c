#include "datasets/recordings.h"

#include <stddef.h>
#include <string.h>

const double RECORDING_DELAY[RECORDING_CLASSES] = {1.6, 0.6, -1.1};

enum { MIDDLE = RECORDING_CONTACTS / 2 };
static const double HALF_WIDTH = 5, NOISE = 1.0, DRIFT = 0.5;

double recording_spike(double at)
{
    double u = at / HALF_WIDTH, inside = 1 - u * u;
    return inside > 0 ? 3.49 * u * inside * inside : 0; /* maximum 1 */
}

/* Approximately normal: the sum of twelve uniform numbers minus six has variance 1. */
static double noise(Random *random)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_unit(random);
    return sum;
}

/* Amplitude at a row of a spike on side `side` of the nerve: 1 on the same side, a tenth on the
 * opposite side. */
static double loudness(double side, int row)
{
    double apart = side - row;
    if (apart < 0) apart = -apart;
    if (apart > RECORDING_ROWS / 2.0) apart = RECORDING_ROWS - apart;
    return 1 / (1 + 0.75 * 0.75 * apart * apart);
}

static void add_spike(double delay, Random *random, float *value)
{
    double size = 0.7 + 0.8 * random_unit(random), side = RECORDING_ROWS * random_unit(random);
    double when = 18 + (RECORDING_SAMPLES - 36) * random_unit(random);
    for (int i = 0; i < RECORDING_VALUES; i++) {
        int sample = i % RECORDING_SAMPLES, electrode = i / RECORDING_SAMPLES;
        int contact = electrode % RECORDING_CONTACTS, row = electrode / RECORDING_CONTACTS;
        double at = sample - when - delay * (contact - MIDDLE);
        value[i] += (float)(size * loudness(side, row) * recording_spike(at));
    }
}

/* Adds a linear and a quadratic drift of one electrode. */
static void add_drift(Random *random, float *value)
{
    double slope = DRIFT * (2 * random_unit(random) - 1),
           bend = DRIFT * (2 * random_unit(random) - 1);
    for (int i = 0; i < RECORDING_SAMPLES; i++) {
        double t = 2.0 * i / (RECORDING_SAMPLES - 1) - 1;
        value[i] += (float)(slope * t + bend * (t * t - 1.0 / 3));
    }
}

void recording_draw(int class, Random *random, float value[RECORDING_VALUES])
{
    memset(value, 0, RECORDING_VALUES * sizeof *value);
    for (int spikes = random_range(random, 1, 3); spikes > 0; spikes--)
        add_spike(RECORDING_DELAY[class], random, value);
    for (int electrode = 0; electrode < RECORDING_ELECTRODES; electrode++)
        add_drift(random, value + electrode * RECORDING_SAMPLES);
    for (int i = 0; i < RECORDING_VALUES; i++)
        value[i] += (float)(NOISE * noise(random));
}

void recordings_generate(int count, Random *random, float *value, uint8_t *label)
{
    for (int n = 0; n < count; n++) {
        label[n] = (uint8_t)random_range(random, 0, RECORDING_CLASSES - 1);
        recording_draw(label[n], random, value + (size_t)n * RECORDING_VALUES);
    }
}
