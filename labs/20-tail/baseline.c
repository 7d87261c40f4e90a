/* Lab 20's baseline: equation 3 without k (and with one wave too many at exact multiples), and a
 * network whose widths do not change. */
#include <convlab/tail.h>

void tail_waves_host(const WavesProblem *p, const float *pixels, float *y)
{
    for (int l = 0; l < p->L; l++)
        for (int m = 1; m <= p->M; m++) {
            const int at = l * p->M + m - 1;
            const float blocks =
                (float)(m * p->unit) * pixels[l] / (float)(p->tile_filters * p->tile_pixels);
            y[at] = (float)((int)(blocks / (float)p->S) + 1);
            y[p->L * p->M + at] = blocks / (float)p->S / y[at];
        }
}

void tail_widths_host(const WidthsProblem *p, const float *layer, const float *time, float *y)
{
    (void)time;
    for (int l = 0; l < p->L; l++)
        y[l] = layer[l * LAYER_FLOATS + LAYER_WIDTH] * (float)p->unit;
}
