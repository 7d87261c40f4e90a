/* video.h - a video instruction, as the decoder packs it into Ins.imm and its handler reads it. */
#ifndef CONVLAB_SIMT_VIDEO_H
#define CONVLAB_SIMT_VIDEO_H

#include <stdint.h>
#include <string.h>

#include "common/simulator/core/core.h"

typedef enum VideoOp {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_APART, /* the difference without its sign */
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_AVERAGE,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_MAD,
    VIDEO_SET
} VideoOp;

typedef enum VideoSecond { SECOND_NONE, SECOND_ADD, SECOND_MIN, SECOND_MAX } VideoSecond;

enum { VIDEO_EQ, VIDEO_NE, VIDEO_LT, VIDEO_LE, VIDEO_GT, VIDEO_GE };

/* Part of one element: a whole register, one of its bytes or of its halves. */
enum { PART_WHOLE, PART_BYTE_0, PART_HALF_0 = 5, PART_HALF_1 };

typedef struct Video {
    unsigned op : 4, elements : 3, a_signed : 1, b_signed : 1, d_signed : 1, saturates : 1;
    unsigned second : 2, compare : 3, wraps : 1;
    /* mad: right shift of the sum, plus one, minus the multiplication's result, minus c. */
    unsigned scale : 4, plus_one : 1, minus_product : 1, minus_c : 1;
    unsigned mask : 4; /* selects the elements that are written or summed */
    /* One element: PART_*.  Several: of each, three bits, which byte or half of b and a it is. */
    unsigned a_part : 12, b_part : 12, d_part : 3;
} Video;

_Static_assert(sizeof(Video) <= sizeof(((Ins *)0)->imm), "a video instruction fits Ins.imm");

static inline Video video_of(const Ins *ins)
{
    Video video;
    memcpy(&video, &ins->imm, sizeof video);
    return video;
}

#endif
