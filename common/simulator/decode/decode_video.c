/* decode_video.c - the video instructions: arithmetic on bytes and halves of registers, one by one
 * or two or four at a time. */
#include <string.h>

#include "common/simulator/core/video.h"
#include "common/simulator/decode/decoder.h"

static const struct {
    const char *name;
    VideoOp op;
    int at_a_time; /* it has forms for two and four elements */
} VIDEOS[] = {{"vadd", VIDEO_ADD, 1},     {"vsub", VIDEO_SUB, 1}, {"vabsdiff", VIDEO_APART, 1},
              {"vmin", VIDEO_MIN, 1},     {"vmax", VIDEO_MAX, 1}, {"vset", VIDEO_SET, 1},
              {"vshl", VIDEO_SHL, 0},     {"vshr", VIDEO_SHR, 0}, {"vmad", VIDEO_MAD, 0},
              {"vavrg", VIDEO_AVERAGE, 2}};

/* vadd, vadd2, vadd4; vavrg has no form for one element. */
static int video_named(const char *name, Video *video)
{
    for (size_t i = 0; i < sizeof VIDEOS / sizeof *VIDEOS; i++) {
        size_t length = strlen(VIDEOS[i].name);
        if (strncmp(name, VIDEOS[i].name, length) != 0) continue;
        const char *rest = name + length;
        int elements = *rest ? *rest - '0' : 1;
        if (*rest && (rest[1] || (elements != 2 && elements != 4))) continue;
        if (elements == 1 ? VIDEOS[i].at_a_time == 2 : !VIDEOS[i].at_a_time) continue;
        *video = (Video){.op = VIDEOS[i].op, .elements = (unsigned)elements};
        return 1;
    }
    return 0;
}

/* "b0" to "b3", "h0", "h1", or nothing. */
static int part_of_one(Decoder *d, const PtxOperand *operand)
{
    const char *part = operand->part;
    if (!part) return PART_WHOLE;
    int number = part[0] ? part[1] - '0' : -1, halves = part[0] == 'h';
    if ((!halves && part[0] != 'b') || number < 0 || number > (halves ? 1 : 3) || part[2])
        return refuse(d, "there is no part '.%s' of a register", part);
    return (halves ? PART_HALF_0 : PART_BYTE_0) + number;
}

/* "h10", "b3210", the highest element first: three bits of each, the lowest element's lowest. */
static uint32_t parts_of_many(Decoder *d, const PtxOperand *operand, uint32_t elements, int is_b)
{
    const char *part = operand->part;
    uint32_t parts = 0;
    for (uint32_t i = 0; i < elements && !part; i++)
        parts |= (i + (is_b ? elements : 0)) << 3 * i;
    if (!part) return parts;
    if (part[0] != (elements == 2 ? 'h' : 'b') || strlen(part) != 1 + elements)
        return (uint32_t)(refuse(d, "'.%s' does not name %u parts", part, elements), 0);
    for (uint32_t i = 0; i < elements; i++) {
        uint32_t number = (uint32_t)(part[elements - i] - '0');
        if (number >= 2 * elements)
            return (uint32_t)(refuse(d, "there is no part '.%s' of two registers", part), 0);
        parts |= number << 3 * i;
    }
    return parts;
}

/* "h1", "b320": the elements that are written, no one twice. */
static uint32_t mask_of(Decoder *d, const PtxOperand *operand, uint32_t elements)
{
    const char *part = operand->part;
    uint32_t mask = 0;
    if (!part) return (1u << elements) - 1;
    for (const char *c = part + 1; part[0] == (elements == 2 ? 'h' : 'b') && *c; c++) {
        uint32_t bit = *c >= '0' && *c < '0' + (int)elements ? 1u << (*c - '0') : 0;
        if (!bit || (mask && bit >= (mask & -mask)))
            return (uint32_t)(refuse(d, "'.%s' is no choice of elements", part), 0);
        mask |= bit;
    }
    if (!mask) refuse(d, "'.%s' is no choice of elements", part);
    return mask;
}

static int video_words(Decoder *d, Video *video)
{
    static const char *const COMPARISONS[] = {"eq", "ne", "lt", "le", "gt", "ge", NULL};
    static const char *const SECONDS[] = {"add", "min", "max", NULL};
    static const char *const MODES[] = {"clamp", "wrap", NULL};
    static const char *const SCALES[] = {"shr7", "shr15", NULL};
    PtxType type[3];
    uint32_t types = video->op == VIDEO_SET ? 2 : 3;
    for (uint32_t i = 0; i < types; i++) {
        type[i] = type_take(d);
        if (type[i] != PTX_U32 && type[i] != PTX_S32)
            return refuse(d, "it takes types .u32 and .s32");
    }
    video->d_signed = type[0] == PTX_S32; /* vset has no type for c: that of a applies */
    video->a_signed = type[types - 2] == PTX_S32, video->b_signed = type[types - 1] == PTX_S32;
    if (video->op != VIDEO_SET) video->saturates = (unsigned)word_take(d, "sat") & 1;
    int shifts = video->op == VIDEO_SHL || video->op == VIDEO_SHR,
        compare = video->op == VIDEO_SET ? word_choose(d, COMPARISONS) : 0,
        mode = shifts ? word_choose(d, MODES) : 0, scale = -1;
    if (video->op == VIDEO_MAD) {
        video->plus_one = (unsigned)word_take(d, "po") & 1;
        scale = word_choose(d, SCALES);
    } else {
        video->second = (unsigned)(1 + word_choose(d, SECONDS)) & 3;
    }
    if (compare < 0) return refuse(d, "no comparison");
    if (mode < 0) return refuse(d, "neither clamp nor wrap");
    if (shifts && video->b_signed) return refuse(d, "a shift by a number with a sign");
    if (video->elements > 1 && (video->second > SECOND_ADD || (video->second && video->saturates)))
        return refuse(d, "of several elements there is .add, and not with .sat");
    video->compare = (unsigned)compare & 7, video->wraps = mode == 1;
    video->scale = scale < 0 ? 0 : scale ? 15 : 7;
    return words_finished(d);
}

/* Is what is compared with c sure?  A sum is without saturation if d has a sign, with it if d has
 * or the sum is far from 2^31; all else if the result has a sign as d has. */
static int comparison_is_sure(const Video *v)
{
    int sums = v->op == VIDEO_ADD || v->op == VIDEO_SUB,
        narrow = v->a_part != PART_WHOLE && (v->op == VIDEO_SHR || v->b_part != PART_WHOLE),
        positive = v->op == VIDEO_MAX ? !v->a_signed || !v->b_signed : !v->a_signed && !v->b_signed;
    if (v->op == VIDEO_APART || v->op == VIDEO_SET) return 1;
    if (v->saturates) return v->d_signed || narrow || (!sums && v->op != VIDEO_SHR);
    if (v->op == VIDEO_SHL) /* in 64 bits */
        return v->a_signed == v->d_signed && (v->d_signed || v->wraps || v->a_part != PART_WHOLE);
    return v->d_signed || (!sums && positive);
}

/* In some forms, SASS of ptxas 13.0 for sm_90 differs from the specification in the ISA, and
 * hardware gives no simple result either. These forms are comparisons of a result that exceeds 32
 * bits, saturation in a part of a register or after vshl, and unsigned vmad that saturates or is
 * scaled. */
static int video_is_sure(const Video *v)
{
    if (v->elements > 1) return 1;
    if (v->second > SECOND_ADD && !comparison_is_sure(v)) return 0;
    if (v->op == VIDEO_MAD && (v->saturates || v->scale)) {
        int a_whole = !v->a_signed && v->a_part == PART_WHOLE,
            b_whole = !v->b_signed && v->b_part == PART_WHOLE,
            is_signed = v->a_signed || v->b_signed || v->minus_product || v->minus_c;
        return !a_whole && !b_whole && is_signed;
    }
    if (!v->saturates) return 1;
    return v->op != VIDEO_SHL && (!v->d_part || (v->op == VIDEO_APART && v->d_part != PART_HALF_1));
}

/* A minus of a or b negates the multiplication's result, and then excludes a minus of c. Two
 * negated factors cancel. */
static int video_minus(Decoder *d, Video *video, const PtxOperand *operand)
{
    video->minus_product = (operand[1].minus ^ operand[2].minus) & 1;
    video->minus_c = d->in->operands > 3 && operand[3].minus;
    int any = operand[1].minus || operand[2].minus || video->minus_c;
    if (any && (video->op != VIDEO_MAD || video->plus_one))
        return refuse(d, "a register with a minus");
    if (video->minus_product && video->minus_c)
        return refuse(d, "a negated factor and a negated addend");
    return 0;
}

static int video_parts(Decoder *d, Video *video, const PtxOperand *operand)
{
    uint32_t n = video->elements;
    if (n == 1) {
        int parts[3] = {part_of_one(d, &operand[0]), part_of_one(d, &operand[1]),
                        part_of_one(d, &operand[2])};
        video->d_part = (unsigned)parts[0] & 7, video->a_part = (unsigned)parts[1] & 7;
        video->b_part = (unsigned)parts[2] & 7;
    } else {
        video->mask = mask_of(d, &operand[0], n) & 15;
        video->a_part = parts_of_many(d, &operand[1], n, 0) & 0xfff;
        video->b_part = parts_of_many(d, &operand[2], n, 1) & 0xfff;
    }
    if (d->failed) return -1;
    if (video->d_part && (video->second || video->op == VIDEO_MAD))
        return refuse(d, "a part of the result, and something else with c");
    uint32_t wants = n > 1 || video->second || video->d_part || video->op == VIDEO_MAD ? 4 : 3;
    return d->in->operands == wants ? 0 : refuse(d, "that number of operands");
}

/* vabsdiff4 of all bytes has its own operations, because CUDA's intrinsics use it. */
static int bytes_apart_op(const Video *video)
{
    enum { OWN = 03210, OTHER = 07654, ALL = 15 };
    int s = video->a_signed;
    if (video->op != VIDEO_APART || video->elements != 4 || video->saturates ||
        video->mask != ALL || video->a_part != OWN || video->b_part != OTHER ||
        video->b_signed != (unsigned)s || video->d_signed != (unsigned)s)
        return -1;
    if (video->second) return s ? OP_VABSDIFF4_ADD_S : OP_VABSDIFF4_ADD_U;
    return s ? OP_VABSDIFF4_S : OP_VABSDIFF4_U;
}

int decode_video(Decoder *d)
{
    Video video;
    PtxOperand whole[4];
    uint32_t slot[4];
    if (!video_named(d->in->word[0], &video)) return 1;
    if (d->in->operands < 3 || d->in->operands > 4) return refuse(d, "that number of operands");
    memcpy(whole, d->in->operand, d->in->operands * sizeof *whole);
    if (video_words(d, &video) != 0 || video_minus(d, &video, whole) != 0 ||
        video_parts(d, &video, whole) != 0)
        return -1;
    for (uint32_t i = 0; i < 4 && i < d->in->operands; i++) {
        whole[i].minus = 0;
        if (i < 3) whole[i].part = NULL;
        slot[i] = i ? source_of(d, &whole[i], PTX_B32) : destination_of(d, &whole[0], PTX_B32);
    }
    if (d->failed) return -1;
    if (!video_is_sure(&video))
        return refuse(d, "of that form, ptxas and the PTX ISA say different things");
    int apart = bytes_apart_op(&video);
    Ins *ins = emit(d, apart >= 0 ? (Op)apart : OP_VIDEO, CLASS_INT);
    ins->d = slot[0], ins->a = slot[1], ins->b = slot[2];
    ins->c = d->in->operands > 3 ? slot[3] : slot[1];
    if (apart < 0) memcpy(&ins->imm, &video, sizeof video);
    return 0;
}
