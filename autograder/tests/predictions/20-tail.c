/* Lab 20: blocks and parameters, handed out one by one. */
#include "autograder/tests/predictions/derive.h"

#include "common/operations/operation/shape_text.h"
#include "convlab/tail.h"

static WavesProblem waves_of(const Given *given)
{
    WavesProblem p;
    problem_unpack(given->problem, &p, sizeof p);
    return p;
}

/* Tiles of `size` until `count` are covered. */
static int tiles(int count, int size)
{
    int n = 0;
    for (int covered = 0; covered < count; covered += size)
        n++;
    return n;
}

static int blocks(const WavesProblem *p, int filters, int pixels)
{
    int n = 0;
    for (int row = 0; row < tiles(filters, p->tile_filters); row++)
        n += tiles(pixels, p->tile_pixels);
    return n;
}

/* Waves of at most `places` blocks until none is left. */
static int waves_handed_out(int left, int places)
{
    int waves = 0;
    for (; left > 0; left -= places)
        waves++;
    return waves;
}

static double waves(const Given *given)
{
    WavesProblem p = waves_of(given);
    return waves_handed_out(blocks(&p, p.M * p.unit, p.pixels), p.S * p.k);
}

static double free_filters(const Given *given)
{
    WavesProblem p = waves_of(given);
    int more = 0;
    while (waves_handed_out(331 + more, p.S * p.k) == waves_handed_out(330, p.S * p.k))
        more++;
    return more;
}

static double as_printed(const Given *given)
{
    WavesProblem p = waves_of(given);
    return waves_handed_out(blocks(&p, p.M * p.unit, p.pixels), p.S);
}

/* Blocks are assigned to the SMs round-robin until none is left. */
static double occupied_fraction(const Given *given)
{
    WavesProblem p = waves_of(given);
    int taken = 0, left = blocks(&p, 512, 14 * 14);
    for (int place = 0; place < p.S * p.k; place++)
        taken += left-- > 0;
    return (double)taken / (p.S * p.k);
}

static double widest(const Given *given)
{
    WavesProblem p = waves_of(given);
    int pixels = 32 * 14 * 14, now = waves_handed_out(blocks(&p, 512, pixels), p.S * p.k), f = 512;
    while (waves_handed_out(blocks(&p, f + 1, pixels), p.S * p.k) == now)
        f++;
    return f;
}

/* One weight after the other, those of 72 filters less those of 64. */
static double parameters_added(const Given *given)
{
    double added = 0;
    (void)given;
    for (int width = 64; width <= 72; width += 8)
        for (int tap = 0; tap < 9; tap++) {
            for (int weight = 0; weight < width * 64; weight++)
                added += width == 72 ? 1 : -1;
            for (int weight = 0; weight < 128 * width; weight++)
                added += width == 72 ? 1 : -1;
        }
    return added;
}

/* Both layers take 64 * t; then the second has 80 channels. */
static double next_layer(const Given *given)
{
    double before = 0, after = 0;
    (void)given;
    for (int channel = 0; channel < 64; channel++)
        before += 2, after += 1;
    for (int channel = 0; channel < 80; channel++)
        after += 1;
    return 100 * (after / before - 1);
}

/* 9.1 of 67.2 in tenths of a percent, rounded to the nearest. */
static double table_5(const Given *given)
{
    int tenths = 0;
    (void)given;
    while ((2 * tenths + 1) * 672 <= 2 * 91 * 1000)
        tenths++;
    return tenths / 10.0;
}

const LabDerivations derive_20 = {"20-tail",
                                  {
                                      {"waves", waves},
                                      {"free", free_filters},
                                      {"as-printed", as_printed},
                                      {"occupied-fraction", occupied_fraction},
                                      {"batch", widest},
                                      {"parameters", parameters_added},
                                      {"next-layer", next_layer},
                                      {"table-5", table_5},
                                      {0},
                                  }};
