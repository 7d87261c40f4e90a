/* grouped.h - one output of a grouped convolution in fp64, with or without a mistake.
 *
 * Module: grouped and depthwise-separable convolution: problems, oracle, and known mistakes.
 * Callers: operations.
 * May use: operation, base. */
#ifndef CONVLAB_DEPTHWISE_GROUPED_H
#define CONVLAB_DEPTHWISE_GROUPED_H

#include "common/operations/operation/diagnose.h"
#include "convlab/depthwise.h"

/* A grouped convolution with the indices of a possible mistake; grouped_window has none. */
typedef struct GroupedWindow {
    GroupedProblem p;
    int first_row, rows, first_column, columns; /* taps in use: first_row <= r < rows */
    int first_channel, channels;                /* channels of the group in use */
    int group;                                  /* GroupRule */
    int filter;                                 /* FilterRule */
    int channel_shift;                          /* added to the channel of x */
    int flip_r, flip_s;                         /* Booleans: tap R-1-r is used, tap S-1-s is used */
    int transpose;                              /* Boolean: tap (r, s) is read at s*R + r */
    int edge;                                   /* EdgeRule */
    int low_h, low_w, high_h, high_w;           /* inputs in use: low_h <= h <= high_h */
    int tile_w, tile_h; /* outputs of a tile within which the windows move by 1; 0: no tile */
    int first_image;    /* Boolean: x of image 0 is read for all images */
} GroupedWindow;

typedef enum GroupRule { GROUP_RIGHT, GROUP_ZERO, GROUP_MODULO, GROUP_FILTER } GroupRule;
typedef enum FilterRule {
    FILTER_RIGHT,
    FILTER_ZERO,
    FILTER_IN_GROUP,
    FILTER_GROUP,
    FILTER_NEXT,
    FILTER_IN_CHUNK, /* a chunk has 16 channels */
    FILTER_ALL_CHANNELS
} FilterRule;
typedef enum EdgeRule { EDGE_ZERO, EDGE_REPEAT, EDGE_ROW_UNTESTED, EDGE_COLUMN_UNTESTED } EdgeRule;

GroupedWindow grouped_window(const GroupedProblem *p);

/* Output (n, k, op, oq): the sum, the sum of the terms' absolute values, and their number.  A read
 * outside of a tensor makes the sum NAN. */
void grouped_value(const GroupedWindow *window, const float *x, const float *w, int n, int k,
                   int op, int oq, double value[3]);

/* The grouped convolution that is the depthwise part of a separable one. */
GroupedProblem separable_depthwise(const SeparableProblem *p);

/* Computes P and Q.  -1 with error: the filter does not fit, or a tensor is too large. */
int grouped_derive(GroupedProblem *p, Error *error);

/* Padding for ceil(size / stride) outputs. */
void grouped_pad_same(GroupedProblem *p);

/* Known mistakes of the indices.  grouped_mistake changes the window to that of mistake `which`; it
 * returns 0 if the mistake does not apply to the problem. */
enum { GROUPED_MISTAKES = 50 };
#define GROUPED_MISTAKE_LIST(M)                                                                    \
    M(FAULT_EVERYWHERE, "Every sum is 0: nothing is added, or another value is stored.")           \
    M(FAULT_ONE_CHANNEL, "Every filter reads the channels of group 0: the first channel of group " \
                         "g, g * (C/groups), is missing from the index of x.")                     \
    M(FAULT_ONE_CHANNEL, "The group of filter k is calculated as k % groups. The filters of a "    \
                         "group are neighbours: its group is k / (K/groups).")                     \
    M(FAULT_ONE_CHANNEL, "Filter k reads the channels from k on. It belongs to group g = k / "     \
                         "(K/groups), whose first channel is g * (C/groups).")                     \
    M(FAULT_ONE_CHANNEL, "Each filter reads the channel after its own.")                           \
    M(FAULT_ONE_CHANNEL, "Each filter reads the channel before its own.")                          \
    M(FAULT_ONE_CHANNEL, "The last channel of each group is left out: c ends at C/groups - 1.")    \
    M(FAULT_ONE_CHANNEL, "The first channel of each group is left out: c starts at 0.")            \
    M(FAULT_ONE_FILTER, "Every map is calculated with filter 0: k is not in the index of w.")      \
    M(FAULT_ONE_FILTER, "The filter's number within its group is used as the index of w, which "   \
                        "counts the filters of all groups.")                                       \
    M(FAULT_ONE_FILTER,                                                                            \
      "The number of the group is used as the index of w, which counts filters: "                  \
      "filter k starts at k * (C/groups) * R*S.")                                                  \
    M(FAULT_ONE_FILTER, "Each map is calculated with the filter after its own.")                   \
    M(FAULT_ONE_FILTER,                                                                            \
      "The index of w counts C channels per filter; a filter has only C/groups.")                  \
    M(FAULT_FLIPPED_FILTER,                                                                        \
      "The filter is applied flipped: tap (r, s) is multiplied by the input "                      \
      "at row p*stride_h + r*dilation_h - pad_top, without R-1-r or S-1-s.")                       \
    M(FAULT_FLIPPED_FILTER, "The rows of the filter are used in reverse order: row r of the "      \
                            "filter belongs to row op*stride_h + r*dilation_h - pad_top of x.")    \
    M(FAULT_FLIPPED_FILTER, "The columns of the filter are used in reverse order: column s of "    \
                            "the filter belongs to column oq*stride_w + s*dilation_w - pad_left.") \
    M(FAULT_TRANSPOSED_FILTER, "The filter's rows and columns are exchanged: tap (r, s) is at "    \
                               "r*S + s.")                                                         \
    M(FAULT_STRIDE, "The window moves by 1 in both directions: that of output (p, q) starts at "   \
                    "row p*stride_h - pad_top and column q*stride_w - pad_left.")                  \
    M(FAULT_STRIDE, "stride_h and stride_w are exchanged.")                                        \
    M(FAULT_STRIDE, "stride_w is left out: the window of output q starts at column q*stride_w - "  \
                    "pad_left.")                                                                   \
    M(FAULT_STRIDE, "stride_h is left out: the window of output p starts at row p*stride_h - "     \
                    "pad_top.")                                                                    \
    M(FAULT_STRIDE, "stride_w is used for the rows too: they move by stride_h.")                   \
    M(FAULT_STRIDE, "stride_h is used for the columns too: they move by stride_w.")                \
    M(FAULT_STRIDE, "In a tile of four outputs of a row, the window moves by 1 instead of "        \
                    "stride_w: output j of the tile uses the inputs from j * stride_w on.")        \
    M(FAULT_STRIDE, "In a tile of four rows of outputs, the window moves by 1 instead of "         \
                    "stride_h: row t of the tile uses the rows of inputs from t * stride_h on.")   \
    M(FAULT_STRIDE, "In a tile of four outputs of a row, the stride is applied to the taps. "      \
                    "Output j and tap s use input j * stride_w + s of the row, not j + s * "       \
                    "stride_w.")                                                                   \
    M(FAULT_STRIDE, "In a tile of four rows of outputs, the stride is applied to the taps. Row t " \
                    "of the outputs and row r of the filter use row t * stride_h + r of the "      \
                    "inputs, not t + r * stride_h.")                                               \
    M(FAULT_STRIDE, "The taps are adjacent, without dilation: tap (r, s) is r*dilation_h rows "    \
                    "and s*dilation_w columns from the window's first input.")                     \
    M(FAULT_STRIDE, "dilation_h and dilation_w are exchanged.")                                    \
    M(FAULT_TAP_DROPPED, "The last row of the filter is left out: r ends at R - 1.")               \
    M(FAULT_TAP_DROPPED, "The last column of the filter is left out: s ends at S - 1.")            \
    M(FAULT_TAP_DROPPED, "The first row of the filter is left out: r starts at 0.")                \
    M(FAULT_TAP_DROPPED, "The first column of the filter is left out: s starts at 0.")             \
    M(FAULT_HALO,                                                                                  \
      "The windows start at the first input, as if there were no padding above and to "            \
      "the left: subtract pad_top from the row and pad_left from the column.")                     \
    M(FAULT_HALO, "pad_top and pad_left are exchanged.")                                           \
    M(FAULT_HALO, "pad_left is used for the rows too: the first row is op*stride_h - pad_top.")    \
    M(FAULT_HALO, "pad_top is used for the columns too: the first column is oq*stride_w - "        \
                  "pad_left.")                                                                     \
    M(FAULT_HALO, "pad_bottom and pad_right are subtracted where pad_top and pad_left belong.")    \
    M(FAULT_HALO, "The window is one row too low.")                                                \
    M(FAULT_HALO, "The window is one row too high.")                                               \
    M(FAULT_HALO, "The window is one column too far to the right.")                                \
    M(FAULT_HALO, "The window is one column too far to the left.")                                 \
    M(FAULT_PADDING_EDGE, "Beyond the edge the outermost inputs are repeated. The padding is 0.")  \
    M(FAULT_PADDING_EDGE, "Columns beyond the edge of a row are not treated as 0: the inputs of "  \
                          "the neighbouring row are read. Test w against 0 and W.")                \
    M(FAULT_PADDING_EDGE, "Rows beyond the edge of a map are not treated as 0: the inputs of the " \
                          "neighbouring map are read. Test h against 0 and H.")                    \
    M(FAULT_PADDING_EDGE, "The last column of the input is treated as padding: w < W is inside.")  \
    M(FAULT_PADDING_EDGE, "The last row of the input is treated as padding: h < H is inside.")     \
    M(FAULT_PADDING_EDGE, "The first column of the input is treated as padding: w >= 0 is "        \
                          "inside.")                                                               \
    M(FAULT_PADDING_EDGE, "The first row of the input is treated as padding: h >= 0 is inside.")   \
    M(FAULT_ONE_IMAGE, "Every image gets the outputs of the first: n is not in the index of x.")

int grouped_mistake(int which, GroupedWindow *window);

/* Whether a mistake gives the observed value of up to 64 wrong outputs: before all are calculated.
 * `element` calculates output `index` with the mistake `context`. */
typedef void MistakenElement(const void *context, const float *const *tensor, size_t index,
                             double value[3]);
int grouped_mistake_fits(const Judgement *judged, MistakenElement *element, const void *context);

#endif
