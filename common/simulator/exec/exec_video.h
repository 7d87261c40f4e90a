/* exec_video.h - the video instructions, as the PTX ISA writes them down; included where the
 * handlers are. */
#ifndef CONVLAB_SIMT_EXEC_VIDEO_H
#define CONVLAB_SIMT_EXEC_VIDEO_H

#include "common/simulator/core/video.h"

__extension__ typedef __int128 Video128;
__extension__ typedef unsigned __int128 VideoU128;

/* The lowest `bits` bits, signed or unsigned. */
ALWAYS int64_t video_bits(uint64_t value, uint32_t bits, int is_signed)
{
    uint64_t cut = value & low_bits(bits);
    return is_signed && cut >> (bits - 1) & 1 ? (int64_t)(cut - ((uint64_t)1 << bits))
                                              : (int64_t)cut;
}

static uint32_t part_bits(uint32_t part)
{
    return part == PART_WHOLE ? 32 : part < PART_HALF_0 ? 8 : 16;
}

static uint32_t part_at(uint32_t part)
{
    return part == PART_WHOLE   ? 0
           : part < PART_HALF_0 ? 8 * (part - PART_BYTE_0)
                                : 16 * (part - PART_HALF_0);
}

static int64_t part_value(uint32_t value, uint32_t part, int is_signed)
{
    return video_bits(value >> part_at(part), part_bits(part), is_signed);
}

static int video_holds(uint32_t compare, int64_t x, int64_t y)
{
    switch (compare) {
    case VIDEO_EQ:
        return x == y;
    case VIDEO_NE:
        return x != y;
    case VIDEO_LT:
        return x < y;
    case VIDEO_LE:
        return x <= y;
    case VIDEO_GT:
        return x > y;
    default:
        return x >= y;
    }
}

/* Shifted by 32 at most; to the left, 32 bits of it count. */
static int64_t video_shifted(const Video *v, int64_t x, int64_t y)
{
    uint32_t by = (uint32_t)(v->wraps ? y & 31 : y > 32 ? 32 : y);
    return v->op == VIDEO_SHR ? x >> by : (int64_t)((uint64_t)x << by);
}

static int64_t video_result(const Video *v, int64_t x, int64_t y)
{
    switch (v->op) {
    case VIDEO_ADD:
        return x + y;
    case VIDEO_SUB:
        return x - y;
    case VIDEO_APART:
        return x > y ? x - y : y - x;
    case VIDEO_MIN:
        return x < y ? x : y;
    case VIDEO_MAX:
        return x > y ? x : y;
    case VIDEO_AVERAGE:
        return (x + y + (x + y >= 0)) >> 1;
    case VIDEO_SET:
        return video_holds(v->compare, x, y);
    default:
        return video_shifted(v, x, y);
    }
}

/* In 128 bits, as specified in the ISA; a negation is a complement plus one. Saturation is
 * signed. */
static uint32_t video_mad(const Video *v, uint32_t a, uint32_t b, uint32_t c)
{
    int is_signed = v->a_signed || v->b_signed || v->minus_product || v->minus_c;
    Video128 sum =
        (Video128)part_value(a, v->a_part, v->a_signed) * part_value(b, v->b_part, v->b_signed);
    if (v->minus_product) sum = ~sum;
    if (v->minus_c) c = ~c;
    sum += video_bits(c, 32, is_signed) + (v->plus_one || v->minus_product || v->minus_c);
    uint64_t scaled = (uint64_t)((VideoU128)sum >> v->scale);
    return v->saturates ? (uint32_t)clamped_to((int64_t)scaled, 32, 1) : (uint32_t)scaled;
}

/* A word without a sign is kept from what is below zero, and from nothing above. */
static int64_t video_saturated(const Video *v, int64_t result, uint32_t bits)
{
    if (bits == 32 && !v->d_signed) return result < 0 ? 0 : result;
    return clamped_to(result, bits, v->d_signed);
}

/* One element; a part of the result leaves the rest of c. */
static uint32_t video_one(const Video *v, uint32_t a, uint32_t b, uint32_t c)
{
    if (v->op == VIDEO_MAD) return video_mad(v, a, b, c);
    uint32_t bits = part_bits(v->d_part), at = part_at(v->d_part);
    int64_t result = video_result(v, part_value(a, v->a_part, v->a_signed),
                                  part_value(b, v->b_part, v->b_signed)),
            third = video_bits(c, 32, v->d_signed);
    if (v->saturates)
        result = video_saturated(v, result, bits);
    else if (v->second > SECOND_ADD && (v->op == VIDEO_ADD || v->op == VIDEO_SUB))
        result = (int32_t)result;
    if (v->second == SECOND_ADD) result = (int64_t)((uint64_t)result + (uint64_t)third);
    if (v->second == SECOND_MIN) result = result < third ? result : third;
    if (v->second == SECOND_MAX) result = result > third ? result : third;
    if (v->d_part == PART_WHOLE) return (uint32_t)result;
    if (v->d_part == PART_HALF_1) result >>= 16; /* the upper half on a GPU is that of the result */
    uint32_t mask = (uint32_t)low_bits(bits) << at;
    return ((uint32_t)result << at & mask) | (c & ~mask);
}

/* Two or four; those that the mask leaves out are c's. */
static uint32_t video_many(const Video *v, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t bits = 32 / v->elements, result = v->second ? c : 0, one = (uint32_t)low_bits(bits);
    uint64_t both = (uint64_t)b << 32 | a;
    for (uint32_t i = 0; i < v->elements; i++) {
        int64_t x = video_bits(both >> (v->a_part >> 3 * i & 7) * bits, bits, v->a_signed),
                y = video_bits(both >> (v->b_part >> 3 * i & 7) * bits, bits, v->b_signed),
                value = video_result(v, x, y);
        int wanted = (int)(v->mask >> i & 1);
        if (v->saturates) value = clamped_to(value, bits, v->d_signed);
        if (v->second)
            result += wanted ? (uint32_t)value : 0;
        else
            result |=
                (wanted ? (uint32_t)value : c >> i * bits & one) << i * bits & one << i * bits;
    }
    return result;
}

HANDLER(VIDEO)
{
    const Video v = video_of(ins);
    uint32_t t[LANES];
    for (int i = 0; i < LANES; i++) {
        uint32_t a = REG(uint32_t, ins->a)[i], b = REG(uint32_t, ins->b)[i],
                 c = REG(uint32_t, ins->c)[i];
        t[i] = v.elements > 1 ? video_many(&v, a, b, c) : video_one(&v, a, b, c);
    }
    FINISH_32(t);
}

#endif
