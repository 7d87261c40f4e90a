/* int8_mistakes.c - mistakes in a convolution of bytes that the diagnosis knows. */
#include "common/operations/int8/int8_rule.h"

enum {
    NO_SUM,
    ZEROS,
    TRUNCATED,
    FLOORED,
    HALF_AWAY,
    WRAPS,
    SYMMETRIC,
    UNSIGNED_RANGE,
    UNSIGNED_X,
    UNSIGNED_W,
    UNSIGNED_BOTH,
    ONE_SCALE,
    ONE_BIAS,
    NO_BIAS,
    BIAS_LATE,
    BIAS_SUBTRACTED,
    SHORT_SUMS,
    RELU_MISSING,
    RELU_ADDED,
    TAIL_MISSING,
    FIRST_BYTES,
    FIRST_WORD_X,
    FIRST_WORD_W,
    HALF_CHUNKS,
    LAST_CHUNKS,
    BYTES_REVERSED,
    BYTES_SWAPPED,
    FRAGMENT_ROWS,
    FRAGMENT_COLUMNS,
    IN_ORDER,
    CHUNK_TWICE_X,
    CHUNK_TWICE_W,
    WORDS_OF_A,
    WORDS_OF_B,
    PLAIN_INPUTS,
    PLAIN_WEIGHTS,
    ACCUMULATORS,
    CHUNKS_CROSSED,
    FIRST_WARP_32,
    FIRST_WARP_64,
    FIRST_OF_FOUR,
    ONE_TAP_APART,
    FLIPPED,
    TRANSPOSED,
    LAST_ROW,
    LAST_COLUMN,
    STRIDE_ONE,
    STRIDES_EXCHANGED,
    PADDING_IGNORED,
    PADDINGS_EXCHANGED,
    FIRST_IMAGE,
    MISTAKES
};

#define FIRST_WARP_TEXT                                                                            \
    "All warps of a block use the inputs of the first pixels: the rows of the inputs in shared "   \
    "memory start at warp_pixel for each warp."
static const Mistake MISTAKE[MISTAKES] = {
    [NO_SUM] = {FAULT_FORMULA,
                "The multiply-adds are missing: every output is that of bias[k] alone."},
    [ZEROS] = {FAULT_FORMULA, "Every output is 0: the integer, or its byte of the word, is never "
                              "set."},
    [TRUNCATED] = {FAULT_ROUNDING, "The outputs are truncated toward zero, as a cast to int does. "
                                   "Round to the nearest integer, ties to even: __float2int_rn."},
    [FLOORED] = {FAULT_ROUNDING, "The outputs are rounded down, as a right shift of the sum does. "
                                 "Round to the nearest integer, ties to even: __float2int_rn."},
    [HALF_AWAY] = {FAULT_ROUNDING, "Ties are rounded away from zero, as roundf does. Here they are "
                                   "rounded to the even neighbour: __float2int_rn or rintf."},
    [WRAPS] = {FAULT_SATURATION, "Outputs beyond -128 .. 127 wrap: only the lowest eight bits are "
                                 "stored. Clamp the integer before it becomes a byte."},
    [SYMMETRIC] = {FAULT_SATURATION, "The outputs are clamped at -127. That is the range of the "
                                     "weights; outputs are clamped to -128 .. 127."},
    [UNSIGNED_RANGE] = {FAULT_SATURATION,
                        "The outputs are clamped to 0 .. 255, the range of unsigned bytes. An "
                        "output is a signed byte: clamp to -128 .. 127."},
    [UNSIGNED_X] = {FAULT_SIGN, "The bytes of x are read as unsigned: -1 becomes 255. Use the "
                                "signed form for both operands: __dp4a with int, or .s8.s8."},
    [UNSIGNED_W] = {FAULT_SIGN, "The bytes of w are read as unsigned: -1 becomes 255. Use the "
                                "signed form for both operands: __dp4a with int, or .s8.s8."},
    [UNSIGNED_BOTH] = {FAULT_SIGN, "The bytes of x and w are read as unsigned: -1 becomes 255. Use "
                                   "the signed form: __dp4a with int, not unsigned, or .s8.s8."},
    [ONE_SCALE] = {FAULT_SCALE, "Every filter uses scale[0]. Each filter has a scale of its own: "
                                "scale[k]."},
    [ONE_BIAS] = {FAULT_FORMULA, "Every filter uses bias[0]. Each filter has its own: bias[k]."},
    [NO_BIAS] = {FAULT_FORMULA, "The bias is missing: add bias[k] to the sum, before the scale."},
    [BIAS_SUBTRACTED] = {FAULT_FORMULA,
                         "The bias is subtracted: (float)(sum + bias[k]) * scale[k]."},
    [SHORT_SUMS] =
        {FAULT_OVERFLOW,
         "The sums overflow 16 bits: two multiplications of bytes can give more than 32,767. "
         "Accumulate in an int, and convert only the stored value."},
    [BIAS_LATE] = {FAULT_FORMULA, "The bias is added after the multiplication by the scale. It has "
                                  "the scale of the sum: (float)(sum + bias[k]) * scale[k]."},
    [RELU_MISSING] = {FAULT_FORMULA, "The ReLU is missing: with relu=1 negative outputs are 0."},
    [RELU_ADDED] = {FAULT_FORMULA, "Negative outputs are 0, as with a ReLU, but relu is 0 here."},
    [TAIL_MISSING] = {FAULT_ONE_CHANNEL,
                      "The last channels are missing: a pixel has INT8_WORDS(C) words, C / 4 "
                      "rounded up. The last word has the rest of the channels, then zeros."},
    [FIRST_BYTES] = {FAULT_ONE_CHANNEL, "Only the first byte of each word takes part. __dp4a "
                                        "multiplies and adds all four."},
    [FIRST_WORD_X] = {FAULT_ONE_CHANNEL,
                      "Every word of w is multiplied by the first word of the pixel, channels 0 to "
                      "3: the index of x lacks the number of the word."},
    [FIRST_WORD_W] = {FAULT_ONE_CHANNEL,
                      "Every word of x is multiplied by the first word of the tap, channels 0 to "
                      "3: the index of w lacks the number of the word."},
    [HALF_CHUNKS] = {FAULT_ONE_CHANNEL,
                     "Only the first 16 of each 32 channels take part. An m16n8k32 needs two "
                     "chunks of 16 bytes of each row: words 2 and 3 of a, and word 1 of b."},
    [LAST_CHUNKS] = {FAULT_ONE_CHANNEL,
                     "The last channels are missing, those beyond a multiple of 32. The number of "
                     "chunks or tiles must be rounded up."},
    [BYTES_REVERSED] = {FAULT_BYTE_ORDER,
                        "The bytes of each output word are in the reverse order. Filter 4*i is the "
                        "lowest byte of word i, bits 0 to 7."},
    [BYTES_SWAPPED] = {FAULT_BYTE_ORDER,
                       "The bytes of each pair in an output word are exchanged. Filter 4*i is the "
                       "lowest byte of word i, bits 0 to 7."},
    [FRAGMENT_ROWS] = {FAULT_LAYOUT,
                       "Pixels j and j + 8 are exchanged. Accumulators 0 and 1 of a lane belong to "
                       "row lane/4 of the fragment, accumulators 2 and 3 to row lane/4 + 8."},
    [FRAGMENT_COLUMNS] = {FAULT_LAYOUT,
                          "Filters k and k + 1 are exchanged. Accumulator 0 of a lane belongs to "
                          "column 2*(lane%4) of the fragment, accumulator 1 to the next."},
    [IN_ORDER] = {FAULT_LAYOUT,
                  "The sums are stored as if the filters of a tile were in order. Row 8*g + c of a "
                  "tile holds filter filter_of(8*g + c): that is column c of fragment g."},
    [CHUNK_TWICE_X] = {FAULT_LAYOUT,
                       "The inputs of each second chunk are those of the first: words 2 and 3 of a "
                       "have the pixels of chunk i. They belong to chunk i + 1."},
    [CHUNK_TWICE_W] = {FAULT_LAYOUT,
                       "The weights of each second chunk are those of the first: word 1 of b has "
                       "the filters of chunk i. It belongs to chunk i + 1."},
    [WORDS_OF_A] = {FAULT_LAYOUT,
                    "Words 1 and 2 of a are exchanged: matrix 1 of load_matrices has rows 8 to 15 "
                    "of chunk i, matrix 2 has rows 0 to 7 of chunk i + 1."},
    [WORDS_OF_B] = {FAULT_LAYOUT,
                    "Words of b are exchanged: matrix 1 of load_matrices has chunk i + 1 of "
                    "fragment g, matrix 2 has chunk i of fragment g + 1."},
    [PLAIN_INPUTS] = {FAULT_LAYOUT,
                      "The inputs are read from shared memory without the swizzle with which they "
                      "were stored: chunk_at() has the address of a row's chunk."},
    [PLAIN_WEIGHTS] = {FAULT_LAYOUT,
                       "The weights are read from shared memory without the swizzle with which "
                       "they were stored: chunk_at() has the address of a row's chunk."},
    [ACCUMULATORS] =
        {FAULT_LAYOUT,
         "Accumulators 1 and 2 are exchanged. Accumulators 0 and 1 of a lane belong to "
         "row lane/4 of the fragment, accumulators 2 and 3 to row lane/4 + 8."},
    [CHUNKS_CROSSED] = {FAULT_LAYOUT,
                        "Each chunk of inputs is multiplied by the other chunk's weights. Words 0 "
                        "and 1 of b belong to chunks i and i + 1, as words 0, 1 and 2, 3 of a do: "
                        "those of one operand are exchanged."},
    [FIRST_WARP_32] = {FAULT_LAYOUT, FIRST_WARP_TEXT},
    [FIRST_WARP_64] = {FAULT_LAYOUT, FIRST_WARP_TEXT},
    [ONE_TAP_APART] = {FAULT_ONE_FILTER,
                       "Filters k+1, k+2 and k+3 of a thread start one tap after the filter "
                       "before. Filter k+i starts filter_words*i words after filter k, the words "
                       "of all its taps."},
    [FIRST_OF_FOUR] = {FAULT_ONE_FILTER,
                       "Filters k+1, k+2 and k+3 of a thread use the weights of filter k. Filter "
                       "k+i starts filter_words*i words after filter k."},
    [FLIPPED] = {FAULT_FLIPPED_FILTER, "The filter is flipped: tap (r, s) is multiplied by input "
                                       "(p*stride_h + r - pad_top, q*stride_w + s - pad_left)."},
    [TRANSPOSED] = {FAULT_TRANSPOSED_FILTER, "The filter is read as w[k][s][r]. It is stored as "
                                             "w[k][r][s]."},
    [LAST_ROW] = {FAULT_TAP_DROPPED, "The last row of the filter is left out: the loop over r ends "
                                     "at R - 1."},
    [LAST_COLUMN] = {FAULT_TAP_DROPPED, "The last column of the filter is left out: the loop over "
                                        "s ends at S - 1."},
    [STRIDE_ONE] = {FAULT_STRIDE, "The windows move by 1: output p starts at input row p*stride_h "
                                  "- pad_top, output q at column q*stride_w - pad_left."},
    [STRIDES_EXCHANGED] = {FAULT_STRIDE, "stride_h and stride_w are exchanged."},
    [PADDING_IGNORED] =
        {FAULT_HALO, "The windows start at the first input, as if there were no padding above and "
                     "to the left: subtract pad_top from the row and pad_left from the column."},
    [PADDINGS_EXCHANGED] = {FAULT_HALO, "pad_top and pad_left are exchanged."},
    [FIRST_IMAGE] = {FAULT_ONE_IMAGE, "Every image gets the outputs of the first: x's offset "
                                      "lacks n."},
};

/* A mistake of the requantisation, or of the numbers' meaning.  0: no effect on this problem; -1:
 * another mistake. */
static int mistaken_numbers(int which, Rule *rule)
{
    const int is_int8 = rule->p.output == INT8_TO_INT8;
    switch (which) {
    case TRUNCATED:
    case FLOORED:
    case HALF_AWAY:
        rule->rounding = (Rounding)(ROUND_TRUNCATE + which - TRUNCATED);
        return is_int8;
    case WRAPS:
    case SYMMETRIC:
    case UNSIGNED_RANGE:
        rule->overflow = (Overflow)(OVERFLOW_WRAP + which - WRAPS);
        return is_int8;
    case UNSIGNED_X:
        return rule->unsigned_x = 1;
    case UNSIGNED_W:
        return rule->unsigned_w = 1;
    case UNSIGNED_BOTH:
        return rule->unsigned_x = rule->unsigned_w = 1;
    case ONE_SCALE:
        return rule->one_scale = 1;
    case ONE_BIAS:
        return rule->one_bias = 1;
    case NO_BIAS:
        return rule->no_bias = 1;
    case BIAS_LATE:
        return rule->bias_late = 1;
    case BIAS_SUBTRACTED:
        return rule->bias_subtracted = 1;
    case SHORT_SUMS:
        return rule->short_sums = 1;
    case RELU_MISSING:
        return rule->p.relu-- == 1;
    case RELU_ADDED:
        return rule->p.relu++ == 0;
    default:
        return -1;
    }
}

/* A mistake of the order of bytes and fragments, or channels that are left out. */
static int mistaken_places(int which, Rule *rule)
{
    const Int8Problem *p = &rule->p;
    switch (which) {
    case TAIL_MISSING:
        rule->channels = p->C / 4 * 4;
        return p->C > 4 && p->C % 4 != 0;
    case FIRST_BYTES:
        rule->step = 4;
        return p->C > 1;
    case FIRST_WORD_X:
        rule->x_mask = 3;
        return p->C > 4;
    case FIRST_WORD_W:
        rule->w_mask = 3;
        return p->C > 4;
    case HALF_CHUNKS:
        rule->step = 32;
        rule->part = 16;
        return p->C > 16;
    case LAST_CHUNKS:
        rule->channels = p->C / 32 * 32;
        return p->C > 32 && p->C % 32 != 0;
    case BYTES_REVERSED:
        rule->filters_apart = 3;
        return p->output == INT8_TO_INT8;
    case BYTES_SWAPPED:
        rule->filters_apart = 1;
        return p->output == INT8_TO_INT8;
    case FRAGMENT_ROWS:
        return rule->pixels_apart = 8;
    case FRAGMENT_COLUMNS:
        return rule->sums_apart = 1;
    case FIRST_OF_FOUR:
        return rule->first_of_four = 1;
    case ONE_TAP_APART:
        return rule->one_tap_apart = p->R * p->S > 1;
    case IN_ORDER:
        return rule->in_order = 1;
    case CHUNK_TWICE_X:
        rule->x_mask = ~FRAGMENT_CHUNK;
        return p->C % (2 * FRAGMENT_CHUNK) == 0;
    case CHUNK_TWICE_W:
        rule->w_mask = ~FRAGMENT_CHUNK;
        return p->C % (2 * FRAGMENT_CHUNK) == 0;
    case WORDS_OF_A:
    case WORDS_OF_B:
    case PLAIN_INPUTS:
    case PLAIN_WEIGHTS:
    case ACCUMULATORS:
    case CHUNKS_CROSSED:
    case FIRST_WARP_32:
    case FIRST_WARP_64:
        rule->fragments = (Fragments)(WORDS_OF_A_EXCHANGED + which - WORDS_OF_A);
        return p->C % FRAGMENT_CHUNK == 0;
    default:
        return -1;
    }
}

/* A mistake of the convolution itself. */
static int mistaken_windows(int which, Rule *rule)
{
    Int8Problem *p = &rule->p;
    switch (which) {
    case FLIPPED:
        return rule->flipped = 1;
    case TRANSPOSED:
        return rule->transposed = 1;
    case LAST_ROW:
        return --rule->rows > 0;
    case LAST_COLUMN:
        return --rule->columns > 0;
    case STRIDE_ONE:
        p->stride_h = p->stride_w = 1;
        return 1;
    case STRIDES_EXCHANGED:
        mistake_exchange(&p->stride_h, &p->stride_w);
        return 1;
    case PADDING_IGNORED:
        p->pad_top = p->pad_left = 0;
        return 1;
    case PADDINGS_EXCHANGED:
        mistake_exchange(&p->pad_top, &p->pad_left);
        return 1;
    case NO_SUM:
        return rule->no_sum = 1;
    case ZEROS:
        return rule->zeros = 1;
    default:
        return rule->first_image = 1;
    }
}

static int mistaken_values(const Judgement *judged, int which, double *value)
{
    Rule rule = int8_rule(&judged->view.problem, judged->view.tensor);
    int changes = mistaken_numbers(which, &rule);
    if (changes < 0) changes = mistaken_places(which, &rule);
    if (changes < 0) changes = mistaken_windows(which, &rule);
    const int is_masked = rule.x_mask != -1 || rule.w_mask != -1;
    rule.is_slow = rule.unsigned_x || rule.unsigned_w || is_masked || rule.step > 1;
    if (changes) int8_rule_fill(&rule, value);
    return changes;
}

void int8_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    explain_mistakes(judged, run, context, MISTAKE, MISTAKES, mistaken_values, finding);
}
