/* tail.h - widths of a network's layers that cost no latency (lab 20).
 *
 * A layer's width is the number of its filters.  Here widths come in units: width m means m*unit
 * filters, 1 <= m <= M, and an array over the widths has width m at [m-1].  All pointers are host
 * pointers; every float is a whole number unless it says otherwise. */
#ifndef CONVLAB_TAIL_H
#define CONVLAB_TAIL_H

/* ---- waves --------------------------------------------------------------------------------
 *
 * Layer l has pixels[l] outputs of each filter.  A block computes tile_filters x tile_pixels of the
 * outputs; if the layer ends inside of a tile, the block is launched nevertheless.  The GPU has S
 * SMs with k resident blocks each. */
typedef struct WavesProblem {
    int L, M, unit;
    int S, k;
    int tile_filters, tile_pixels;
    int pixels; /* the same for every layer; 0: pixels[l] are drawn */
} WavesProblem;

/* ---- widths -------------------------------------------------------------------------------
 *
 * The layers follow one another: the filters of layer l are the channels of layer l+1, and the
 * first has C channels.  With `width` filters and `channels` channels a layer has
 *
 *     width * channels * taps                          parameters,
 *     channels * time[l][width/unit - 1]               of latency.
 */
enum {
    WIDTHS_LATENCY,   /* the latency falls, the parameters stay within tau */
    WIDTHS_PARAMETERS /* the parameters grow, the latency does not */
};

enum { WIDTHS_LAYERS = 100 };

typedef struct WidthsProblem {
    int L, M, unit; /* at most WIDTHS_LAYERS layers */
    int C;
    int mode;
    int tau;   /* thousandths: parameters stay within 1000-tau .. 1000+tau of their original
                * number */
    int delta; /* thousandths of the old latency that may remain; 0: the minimum */
    int alike; /* 1: all layers are equal, and their times follow a formula, without measurement */
} WidthsProblem;

/* A layer's three floats: its width as it is, in units; R*S; whether its width may change. */
enum { LAYER_WIDTH, LAYER_TAPS, LAYER_FREE, LAYER_FLOATS };

#ifdef __cplusplus
extern "C" {
#endif

/* pixels: L floats.  y: 2*L*M floats.  The waves of layer l with width m are at [l*M + m-1].  Their
 * utilisation is L*M further: the used part of the resident blocks of all waves. */
void tail_waves_host(const WavesProblem *p, const float *pixels, float *y);

/* layer: L*LAYER_FLOATS, time: L*M, y: L floats, each layer's new width in filters. */
void tail_widths_host(const WidthsProblem *p, const float *layer, const float *time, float *y);

#ifdef __cplusplus
}
#endif

#endif
