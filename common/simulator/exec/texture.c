/* texture.c - reads of textures, reads and writes of surfaces; CUDA's programming guide, "Texture
 * Fetching". Weights of a linear filter have 8 bits, one weight per texel. Its means are rounded as
 * on an H200: integers to 16 bits, halves to halves. Mipmap levels have 8 fractional bits, and
 * fractional coordinates have 21. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/texture.h"
#include "common/simulator/checks/race.h"
#include "common/simulator/checks/report.h"
#include "common/simulator/checks/touch.h"
#include "common/simulator/core/kinds.h"
#include "common/simulator/exec/exec_math.h"
#include "common/simulator/exec/exec_parts.h"
#include "common/simulator/timing/cost.h"

#define SLOT(T, offset) ((T *)(void *)(warp->file + (offset)))

enum { WHOLE = 256, CORNERS = 8 }; /* the filter weight 1; most texels of a filter */
enum { LEVELS = 32, FACES = 6, FRACTION = 1 << 21 };

/* One lane's access. */
typedef struct Access {
    uint64_t handle; /* handle of the object in `texture`; 0: none */
    Texture texture; /* current level of a mipmapped texture */
    Allocation *data;
    uint32_t lane, dims;
    uint32_t layer;
    uint64_t address; /* first address accessed; for border texels the texture's own, which is not
                       * read */
    uint64_t used[TEXELS]; /* addresses read or written in device memory, and their number */
    uint32_t uses;
    uint64_t texel[TEXELS];
    uint32_t texels; /* number of texels read or written, with their addresses on a GPU in
                      * `texel` */
    uint32_t levels; /* levels read of a mipmapped texture: 1, or 2 that are interpolated */
} Access;

typedef union Texel {
    uint32_t u[4];
    float f[4];
} Texel;

static unsigned char *host_at(const Access *a, uint64_t offset)
{
    return a->data->host + (a->texture.address - a->data->address) + offset;
}

/* The object of the handle; 0 if there is none. The lanes of a warp mostly use the same object,
 * which is read once; in mipmapped textures the level changes, so these are read again. */
static int object_open(Warp *warp, const Ins *ins, uint32_t lane, Access *a)
{
    const Memory *memory = &warp->worker->gpu->memory;
    uint64_t handle = SLOT(uint64_t, ins->a)[lane];
    const Texture *t = &a->texture;
    a->lane = lane;
    a->layer = 0, a->texels = 0, a->levels = 1, a->uses = 0;
    a->dims = ins->aux >> TEXTURE_DIMS & 3;
    if (a->handle && a->handle == handle && t->levels == 1) return 1;
    const Allocation *object = memory_find(memory, handle);
    if (!object || object->freed || object->address != handle || object->bytes < sizeof a->texture)
        return 0;
    touch_note_read(warp, ins, lane, handle, sizeof a->texture);
    memcpy(&a->texture, object->host, sizeof a->texture);
    a->handle = handle, a->data = NULL;
    return t->magic == TEXTURE_MAGIC && t->extent[0] && t->extent[1] && t->extent[2] &&
           t->channels - 1 <= 3 && t->channel_bytes && t->channel_bytes <= 4 &&
           t->channel_bytes != 3 && !(t->read_as_fraction && t->channel_bytes > 2) && t->levels &&
           t->levels <= LEVELS;
}

/* Memory for all of what the access says, which is one level; 0 when it is not there. */
static int texels_open(const Warp *warp, const Ins *ins, Access *a)
{
    const Memory *memory = &warp->worker->gpu->memory;
    const Texture *t = &a->texture;
    if (a->data && t->levels == 1) return 1; /* as for the lane before */
    uint64_t row = (uint64_t)t->extent[0] * t->channels * t->channel_bytes;
    uint64_t most = 1ull << 40, all = row;
    if (t->pitch > most || t->slice > most || t->extent[1] > 1u << 20 || t->extent[2] > 1u << 20)
        return 0;
    all += (t->extent[1] - 1ull) * t->pitch;
    if (t->extent[2] > 1 && t->slice > (most << 10) / t->extent[2]) return 0;
    all += (t->extent[2] - 1ull) * t->slice;
    a->data = memory_find(memory, t->address);
    if (!a->data || a->data->freed || all > a->data->bytes - (t->address - a->data->address))
        return 0;
    return (ins->aux & TEXTURE_KIND) != SURFACE_WRITE || !a->data->read_only;
}

/* Layers beyond the last are the last; `faces`: of each layer, 1 or 6. */
static void layer_take(const Warp *warp, const Ins *ins, Access *a, uint32_t faces)
{
    if (!(ins->aux >> TEXTURE_LAYERED & 1)) return;
    uint32_t layer = SLOT(uint32_t, (uint32_t)ins->imm)[a->lane];
    uint32_t layers = a->texture.extent[2] / faces;
    if (layers) a->layer = (layer < layers ? layer : layers - 1) * faces;
}

/* ---- texels --------------------------------------------------------------------------------- */

static float fraction_of(const Texture *t, uint32_t raw)
{
    uint32_t bits = 8 * t->channel_bytes;
    if (t->kind == TEXEL_UNSIGNED) return (float)raw / (float)((1u << bits) - 1);
    float value = (float)(int32_t)raw / (float)((1u << (bits - 1)) - 1);
    return value < -1.0f ? -1.0f : value;
}

static uint32_t channel_at(const unsigned char *at, uint32_t bytes)
{
    uint32_t word;
    uint16_t half;
    if (bytes == 1) return *at;
    if (bytes == 2) return memcpy(&half, at, sizeof half), half;
    return memcpy(&word, at, sizeof word), word;
}

/* Address of byte x of row y on a GPU. In an array, 64 bytes of 8 rows are contiguous; within
 * these, 32 bytes of 4 rows are a line, and 16 bytes of 2 rows are a sector, according to an H200's
 * counters. Rows that do not fill such a tile are stored one after the other. */
static uint64_t place_of(const Texture *t, uint64_t x, uint64_t y, uint64_t z)
{
    enum { WIDE = 64, HIGH = 8 };
    uint64_t first = y / HIGH * HIGH, at = t->address + z * t->slice;
    if (!t->in_pieces || first + HIGH > t->extent[1]) return at + y * t->pitch + x;
    return at + first * t->pitch + x / WIDE * WIDE * HIGH + x % 64 / 32 * 256 + y % 8 / 2 * 64 +
           x % 32 / 16 * 32 + y % 2 * 16 + x % 16;
}

static void texel_note(Access *a, uint64_t x, uint64_t y, uint64_t z)
{
    if (a->texels < TEXELS) a->texel[a->texels++] = place_of(&a->texture, x, y, z);
}

static void use_note(Access *a, uint64_t address)
{
    if (a->uses < TEXELS) a->used[a->uses++] = address;
}

static Texel texel_at(Access *a, const uint32_t *index)
{
    const Texture *t = &a->texture;
    uint32_t size = t->channel_bytes * t->channels;
    uint64_t offset =
        (uint64_t)index[0] * size + (uint64_t)index[1] * t->pitch + (uint64_t)index[2] * t->slice;
    Texel texel = {{0}};
    a->address = t->address + offset;
    use_note(a, a->address);
    texel_note(a, (uint64_t)index[0] * size, index[1], index[2]);
    for (uint32_t c = 0; c < t->channels; c++) {
        uint32_t raw = channel_at(host_at(a, offset + c * t->channel_bytes), t->channel_bytes);
        uint32_t shift = 32 - 8 * t->channel_bytes;
        if (t->kind == TEXEL_SIGNED) raw = (uint32_t)((int32_t)(raw << shift) >> shift);
        if (t->kind == TEXEL_FLOAT && t->channel_bytes == 2)
            texel.u[c] = f16_to_f32(raw);
        else if (t->kind != TEXEL_FLOAT && t->read_as_fraction)
            texel.f[c] = fraction_of(t, raw);
        else
            texel.u[c] = raw;
    }
    return texel;
}

/* Maps an integer index outside of the axis into it; 0: the index gives the border's colour. */
static int index_inside(const Texture *t, uint32_t axis, int64_t i, uint32_t *inside)
{
    int64_t n = t->extent[axis], position;
    if (i >= 0 && i < n) {
        *inside = (uint32_t)i;
        return 1;
    }
    uint32_t mode = t->mode[axis];
    if (t->linear_memory || mode == TEXTURE_BORDER) return 0;
    if (t->by_fraction && mode == TEXTURE_WRAP) {
        *inside = (uint32_t)((i % n + n) % n);
    } else if (t->by_fraction && mode == TEXTURE_MIRROR) {
        position = (i % (2 * n) + 2 * n) % (2 * n);
        *inside = (uint32_t)(position < n ? position : 2 * n - 1 - position);
    } else {
        *inside = i < 0 ? 0 : (uint32_t)(n - 1);
    }
    return 1;
}

/* The float that is next to it on the side of zero. */
static float bits_cut(double value)
{
    float nearest = (float)value;
    return fabs((double)nearest) > fabs(value) ? nextafterf(nearest, 0.0f) : nearest;
}

/* The border's colour in a texture of integers: the bits that fit, or for normalised reads the
 * value that such a texel holds. The scaled value is truncated to a float's 24 bits; a tie gives
 * the smaller value. */
static Texel border_of(const Texture *t)
{
    Texel border = {{0}};
    uint32_t bits = 8 * t->channel_bytes, shift = 32 - bits;
    for (uint32_t c = 0; !t->linear_memory && c < t->channels; c++) {
        float value = t->border[c], most, least;
        memcpy(&border.u[c], &value, sizeof value);
        if (t->kind == TEXEL_FLOAT) continue;
        if (!t->read_as_fraction) {
            border.u[c] = border.u[c] << shift >> shift;
            if (t->kind == TEXEL_SIGNED)
                border.u[c] = (uint32_t)((int32_t)(border.u[c] << shift) >> shift);
            continue;
        }
        most = (float)((1u << (bits - (t->kind == TEXEL_SIGNED))) - 1);
        least = t->kind == TEXEL_SIGNED ? -most : 0.0f;
        value = value == value ? bits_cut((double)value * most) : 0.0f;
        value = value > most ? most : value < least ? least : value;
        border.f[c] = copysignf(ceilf(fabsf(value) - 0.5f), value) / most;
    }
    return border;
}

static Texel texel_by_index(Access *a, const int64_t *index)
{
    uint32_t inside[3] = {0, 0, a->layer};
    for (uint32_t k = 0; k < a->dims; k++)
        if (!index_inside(&a->texture, k, index[k], &inside[k])) {
            a->address = a->texture.address;
            return border_of(&a->texture);
        }
    return texel_at(a, inside);
}

/* A coordinate in texels; what no texture can hold is 0.  A fraction that chooses one texel is cut
 * off first. */
static float coordinate(const Access *a, float x, uint32_t axis, int chooses)
{
    const Texture *t = &a->texture;
    if (!(fabsf(x) < 1e9f)) return 0.0f;
    if (!t->by_fraction) return x;
    if (!chooses) return x * (float)t->extent[axis];
    return (float)floor(floor((double)x * FRACTION) * t->extent[axis] / FRACTION);
}

/* Weights of the 2, 4 or 8 texels around, in 1/256, by their distance in 1/256. Along one axis
 * after the other, the weight is distributed between a texel and the next one: the next one's part
 * is rounded, and the texel keeps the rest. */
static void weights_find(const int32_t *part, uint32_t dims, int32_t *weight)
{
    static const uint32_t ORDER[] = {2, 0, 1};
    weight[0] = WHOLE;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t axis = ORDER[i];
        for (uint32_t corner = 0; axis < dims && corner < CORNERS; corner++) {
            if (corner >> axis & 1) continue;
            int32_t half = axis == 1 && !(corner & 1) ? WHOLE / 2 - 1 : WHOLE / 2;
            int32_t next = (weight[corner] * part[axis] + half) / WHOLE;
            weight[corner | 1u << axis] = next, weight[corner] -= next;
        }
    }
}

/* Rounds to `bits` bits, ties away from zero. No mean of floats is so small that a double has fewer
 * than 53 bits. */
static double bits_keep(double value, int bits)
{
    uint64_t raw, last = 1ull << (DBL_MANT_DIG - bits);
    if (!isfinite(value)) return value;
    memcpy(&raw, &value, sizeof raw);
    raw = (raw + last / 2) & ~(last - 1);
    memcpy(&value, &raw, sizeof value);
    return value;
}

/* The value that a filter uses for a texel: integers are widened to 16 bits. */
static double filtered_from(const Texture *t, float value)
{
    if (t->kind == TEXEL_FLOAT) return value;
    return t->kind == TEXEL_UNSIGNED ? round(value * 65535.0) : value * 32767.0;
}

static float filtered_to(const Texture *t, double mean)
{
    enum { FLOAT_BITS = 24, HALF_BITS = 11 };
    if (t->kind == TEXEL_FLOAT)
        return (float)bits_keep(mean, t->channel_bytes == 2 ? HALF_BITS : FLOAT_BITS);
    return (float)(round(mean) / (t->kind == TEXEL_UNSIGNED ? 65535.0 : 32767.0));
}

/* The mean of the texels around, as an H200 rounds it. */
static Texel filter(Access *a, const float *x)
{
    int64_t low[3] = {0}, index[3] = {0};
    int32_t part[3] = {0}, weight[CORNERS] = {0};
    double sum[4] = {0};
    Texel mean;
    /* One axis is two with one row, at the border between that and what is above it: half of the
     * mean is the border's colour, where the second axis has one. */
    if (a->dims == 1 && !a->texture.layered && a->texture.mode[1] == TEXTURE_BORDER) a->dims = 2;
    for (uint32_t k = 0; k < a->dims; k++) {
        float below = floorf(x[k] - 0.5f);
        low[k] = (int64_t)below;
        part[k] = (int32_t)floorf((x[k] - 0.5f - below) * WHOLE + 0.5f);
    }
    weights_find(part, a->dims, weight);
    for (uint32_t corner = 0; corner < 1u << a->dims; corner++) {
        for (uint32_t k = 0; k < a->dims; k++)
            index[k] = low[k] + (corner >> k & 1);
        if (!weight[corner]) continue;
        Texel texel = texel_by_index(a, index);
        for (int c = 0; c < 4; c++)
            sum[c] += weight[corner] * filtered_from(&a->texture, texel.f[c]);
    }
    for (int c = 0; c < 4; c++)
        mean.f[c] = filtered_to(&a->texture, sum[c] / WHOLE);
    return mean;
}

/* The four texels around, of one component each, as tld4 has them in order. */
static Texel gather(Access *a, const float *x, uint32_t component)
{
    static const int64_t CORNER[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    Texel four;
    for (int i = 0; i < 4; i++) {
        int64_t index[3] = {(int64_t)floorf(x[0] - 0.5f) + CORNER[i][0],
                            (int64_t)floorf(x[1] - 0.5f) + CORNER[i][1], 0};
        four.u[i] = texel_by_index(a, index).u[component];
    }
    return four;
}

/* ---- cubes and mipmaps ---------------------------------------------------------------------- */

/* From a direction to a face of the cube and a place in it, both in [0, 1]. */
static void face_choose(Access *a, float *x)
{
    float ax = fabsf(x[0]), ay = fabsf(x[1]), az = fabsf(x[2]), s, t, along;
    uint32_t axis = az >= ax && az >= ay ? 2 : ay >= ax ? 1 : 0;
    int negative = x[axis] < 0.0f;
    along = axis == 0 ? ax : axis == 1 ? ay : az;
    s = axis == 0 ? (negative ? x[2] : -x[2]) : axis == 1 || !negative ? x[0] : -x[0];
    t = axis == 1 ? (negative ? -x[2] : x[2]) : -x[1];
    a->layer += 2 * axis + (uint32_t)negative;
    x[0] = along > 0.0f ? (s / along + 1.0f) / 2.0f : 0.5f;
    x[1] = along > 0.0f ? (t / along + 1.0f) / 2.0f : 0.5f;
    a->dims = 2;
}

/* The level that gradients select: from the longer axis of the ellipse that a pixel covers. */
static float level_of_gradients(const Warp *warp, const Access *a, uint32_t base, uint32_t dims)
{
    const Texture *t = &a->texture;
    double product[3] = {0}; /* dot products of the gradients: x with x, y with y, x with y */
    for (uint32_t k = 0; k < dims; k++) {
        double size = t->by_fraction ? t->extent[k] : 1.0;
        double x = size * SLOT(float, base + k * LANES * 4)[a->lane];
        double y = size * SLOT(float, base + (dims + k) * LANES * 4)[a->lane];
        product[0] += x * x, product[1] += y * y, product[2] += x * y;
    }
    double half = (product[0] - product[1]) / 2;
    double longest = (product[0] + product[1]) / 2 + sqrt(half * half + product[2] * product[2]);
    return longest > 0 ? (float)(log2(longest) / 2) : -1e9f;
}

/* The level in parts of 1/256, between the limits of the texture and its levels. */
static int32_t level_find(const Warp *warp, const Ins *ins, const Access *a)
{
    const Texture *t = &a->texture;
    const uint32_t base = (uint32_t)((uint64_t)ins->imm >> 32), way = ins->aux >> TEXTURE_WAY & 3;
    const float whole = WHOLE;
    float level = 0.0f;
    if (way == TEXTURE_LEVEL) level = SLOT(float, base)[a->lane];
    if (way == TEXTURE_GRADIENT)
        level = level_of_gradients(warp, a, base, ins->aux >> TEXTURE_DIMS & 3);
    if (!(level == level)) level = 0.0f;
    level = floorf(level * whole) + floorf(t->level_bias * whole);
    level = fmaxf(level, floorf(t->level_least * whole));
    level = fminf(level, floorf(t->level_most * whole));
    level = fminf(level, (float)(t->levels - 1) * whole);
    return level > 0.0f ? (int32_t)level : 0;
}

/* Reads from one level, which the access holds. */
static Texel level_read(const Warp *warp, const Ins *ins, Access *a, const float *direction)
{
    const uint32_t slot[3] = {ins->b, ins->c, ins->target};
    const Texture *t = &a->texture;
    int64_t index[3] = {0};
    float x[3] = {0};
    int by_float = ins->aux >> TEXTURE_BY_FLOAT & 1;
    uint32_t gathers = (ins->aux >> TEXTURE_WAY & 3) == TEXTURE_GATHER;
    int is_float = t->kind == TEXEL_FLOAT || t->read_as_fraction;
    int chooses = !gathers && !(t->filtered && is_float);
    for (uint32_t k = 0; k < a->dims; k++) {
        if (by_float) x[k] = coordinate(a, direction[k], k, chooses);
        index[k] = by_float ? (int64_t)floorf(x[k]) : SLOT(int32_t, slot[k])[a->lane];
    }
    if (gathers) return gather(a, x, ins->aux >> TEXTURE_COMPONENT & 3);
    return by_float && !chooses ? filter(a, x) : texel_by_index(a, index);
}

/* 0 when there is no memory for the level. */
static int level_open(const Warp *warp, const Ins *ins, Access *a, uint32_t level, const float *x,
                      Texel *texel)
{
    if (a->texture.levels > 1) texture_level(&a->texture, level);
    if (a->layer >= a->texture.extent[2]) a->layer = a->texture.extent[2] - 1;
    if (!texels_open(warp, ins, a)) return 0;
    *texel = level_read(warp, ins, a, x);
    return 1;
}

/* Between two levels; `part`: what the upper one weighs, in 1/256. */
static int levels_mix(const Warp *warp, const Ins *ins, Access *a, uint32_t level, int32_t part,
                      const float *x, Texel *texel)
{
    Access next = *a;
    Texel other;
    next.uses = 0;
    if (!level_open(warp, ins, a, level, x, texel) ||
        !level_open(warp, ins, &next, level + 1, x, &other))
        return 0;
    a->levels = 2;
    for (uint32_t i = 0; i < next.texels && a->texels < TEXELS; i++)
        a->texel[a->texels++] = next.texel[i];
    for (uint32_t i = 0; i < next.uses; i++)
        use_note(a, next.used[i]);
    int is_float = a->texture.kind == TEXEL_FLOAT || a->texture.read_as_fraction;
    for (int c = 0; c < 4 && is_float; c++)
        texel->f[c] =
            (texel->f[c] * (float)(WHOLE - part) + other.f[c] * (float)part) / (float)WHOLE;
    return 1;
}

/* 0 when there is no memory for what it reads. */
static int texture_read(const Warp *warp, const Ins *ins, Access *a, Texel *texel)
{
    const uint32_t slot[3] = {ins->b, ins->c, ins->target};
    int cube = ins->aux >> TEXTURE_CUBE & 1;
    float x[3] = {0};
    for (uint32_t k = 0; k < a->dims; k++)
        x[k] = SLOT(float, slot[k])[a->lane];
    int32_t level = a->texture.levels > 1 ? level_find(warp, ins, a) : 0;
    int32_t part = a->texture.levels_filtered ? level % WHOLE : 0;
    int32_t half = a->texture.levels_filtered ? 0 : WHOLE / 2;
    uint32_t first = (uint32_t)((level + half) / WHOLE);
    layer_take(warp, ins, a, cube ? FACES : 1);
    if (cube) face_choose(a, x);
    return part ? levels_mix(warp, ins, a, first, part, x, texel)
                : level_open(warp, ins, a, first, x, texel);
}

/* ---- surfaces ------------------------------------------------------------------------------- */

/* Byte offset of the access; x counts bytes. 0: outside. */
static int surface_offset(const Warp *warp, const Ins *ins, Access *a, int clamp, uint64_t *offset)
{
    const Texture *t = &a->texture;
    uint32_t slot[3] = {ins->b, ins->c, ins->target}, bytes = ins->bytes * ins->vector;
    uint64_t at[3] = {0, 0, a->layer}, step[3] = {1, t->pitch, t->slice};
    uint64_t most[3] = {(uint64_t)t->extent[0] * t->channels * t->channel_bytes, t->extent[1],
                        t->extent[2]};
    if (most[0] < bytes) return 0;
    most[0] -= bytes - 1;
    *offset = 0;
    for (uint32_t k = 0; k < 3; k++) {
        if (k < a->dims) {
            int32_t x = SLOT(int32_t, slot[k])[a->lane];
            at[k] = x < 0 ? (clamp ? 0 : UINT64_MAX) : (uint64_t)x;
        }
        if (at[k] >= most[k] && !clamp) return 0;
        if (at[k] >= most[k]) at[k] = most[k] - 1;
        *offset += at[k] * step[k];
    }
    texel_note(a, at[0], at[1], at[2]);
    return 1;
}

static void surface_move(Warp *warp, const Ins *ins, const Access *a, unsigned char *at, int store)
{
    for (uint32_t k = 0; k < ins->vector; k++) {
        uint64_t value = 0;
        if (store) {
            value = ins->bytes == 8 ? SLOT(uint64_t, ins->v[k])[a->lane]
                                    : SLOT(uint32_t, ins->v[k])[a->lane];
            memcpy(at + k * ins->bytes, &value, ins->bytes);
            continue;
        }
        if (at) memcpy(&value, at + k * ins->bytes, ins->bytes);
        if (ins->v[k] == NO_SLOT) continue;
        if (ins->bytes == 8)
            SLOT(uint64_t, ins->v[k])[a->lane] = value;
        else
            SLOT(uint32_t, ins->v[k])[a->lane] = (uint32_t)value;
    }
}

/* Reports the access for the checks between threads and launches. This happens before the access,
 * because a race report includes the value that a store overwrites. */
static void access_note(Warp *warp, const Ins *ins, const Access *a, uint32_t bytes, int store)
{
    uint64_t address[LANES] = {0};
    for (uint32_t i = 0; i < a->uses; i++) {
        address[a->lane] = a->used[i];
        if (warp->worker->launch->notes)
            touch_note(warp, ins, address, 1u << a->lane, bytes,
                       store ? SIMT_TOUCH_WRITE : SIMT_TOUCH_READ);
        if (warp->worker->race.is_on)
            race_global(warp, ins, address, 1u << a->lane, bytes, store ? RACE_WRITE : RACE_READ);
    }
}

/* -1 after a fault. */
static int surface_access(Warp *warp, const Ins *ins, Access *a, int store)
{
    uint64_t offset;
    uint32_t boundary = ins->aux >> SURFACE_BOUNDARY & 3;
    a->address = a->texture.address;
    if (!surface_offset(warp, ins, a, boundary == BOUNDARY_CLAMP, &offset)) {
        if (boundary == BOUNDARY_ZERO) {
            if (!store) surface_move(warp, ins, a, NULL, 0);
            return 0;
        }
        fault_at(warp, ins, SIMT_MEMCHECK, a->lane, a->texture.address, ins->bytes * ins->vector,
                 "Invalid surface %s of %u bytes: outside of its %u x %u x %u elements of %u bytes",
                 store ? "write" : "read", ins->bytes * ins->vector, a->texture.extent[0],
                 a->texture.extent[1], a->texture.extent[2],
                 a->texture.channels * a->texture.channel_bytes);
        return -1;
    }
    a->address += offset;
    use_note(a, a->address);
    access_note(warp, ins, a, ins->bytes * ins->vector, store);
    if (store) memory_mark(&warp->worker->gpu->memory, a->address, ins->bytes * ins->vector, 1);
    surface_move(warp, ins, a, host_at(a, offset), store);
    return 0;
}

/* ---- one instruction ------------------------------------------------------------------------ */

static void unwritten_report(Warp *warp, const Ins *ins, const Access *a)
{
    const Memory *memory = &warp->worker->gpu->memory;
    uint32_t bytes = a->texture.channels * a->texture.channel_bytes;
    if (!warp->worker->initcheck || a->data->initialised) return;
    for (uint32_t i = 0; i < a->uses; i++)
        if (!memory_is_written(memory, a->used[i], bytes)) {
            finding_add(warp, ins, SIMT_INITCHECK, a->lane, a->used[i], bytes,
                        "Uninitialized texture or surface read of %u bytes", bytes);
            return;
        }
}

static const Ins *object_fault(Warp *warp, const Ins *ins, uint32_t lane)
{
    return fault_at(warp, ins, SIMT_MEMCHECK, lane, SLOT(uint64_t, ins->a)[lane], 0,
                    "Invalid texture or surface object: it was destroyed or never created, or its "
                    "memory was freed");
}

/* Cost of each texel that an H200 interpolates, in units of four bytes: more than one for texels of
 * 64 or 128 bits, and in a volume. In these cases two lanes instead of four are processed
 * together. */
static uint32_t words_of(const Ins *ins, const Access *a)
{
    const Texture *t = &a->texture;
    uint32_t bytes = t->channels * t->channel_bytes, words = bytes > 4 ? bytes / 4 : 1;
    int in_volume = (ins->aux & TEXTURE_KIND) == TEXTURE_READ && t->filtered && a->dims == 3;
    return in_volume ? 2 * words : words;
}

/* Linear memory and surfaces are looked up for twice the number of lanes at a time; linear memory
 * gives at most two lines per cycle. Gathers, and interpolation between two levels, take twice as
 * long. */
static void access_add(TextureAccess *access, const Ins *ins, const Access *a)
{
    enum { LINES = 4, LINES_ANYWHERE = 2 };
    int is_read = (ins->aux & TEXTURE_KIND) == TEXTURE_READ,
        gathers = is_read && (ins->aux >> TEXTURE_WAY & 3) == TEXTURE_GATHER;
    uint32_t words = words_of(ins, a);
    access->together = words > 1 ? TOGETHER / 2 : TOGETHER;
    if (!is_read || a->texture.linear_memory) access->together *= 2;
    access->lines_at_once = a->texture.linear_memory ? LINES_ANYWHERE : LINES;
    access->times = words > 2 ? words / 2 : 1;
    access->slower = gathers ? 2 : a->levels;
    access->count[a->lane] = a->texels;
    memcpy(access->texel[a->lane], a->texel, a->texels * sizeof a->texel[0]);
}

const Ins *texture_run(Warp *warp, const Ins *ins)
{
    uint64_t address[LANES] = {0};
    uint32_t kind = ins->aux & TEXTURE_KIND;
    TextureAccess access;
    Access a = {.handle = 0};
    Texel texel;
    memset(access.count, 0, sizeof access.count);
    for (uint32_t m = warp->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        if (!object_open(warp, ins, lane, &a)) return object_fault(warp, ins, lane);
        if (kind == TEXTURE_READ) {
            if (!texture_read(warp, ins, &a, &texel)) return object_fault(warp, ins, lane);
            access_note(warp, ins, &a, a.texture.channels * a.texture.channel_bytes, 0);
            for (uint32_t c = 0; c < 4; c++)
                if (ins->v[c] != NO_SLOT) SLOT(uint32_t, ins->v[c])[lane] = texel.u[c];
        } else {
            if (!texels_open(warp, ins, &a)) return object_fault(warp, ins, lane);
            layer_take(warp, ins, &a, 1);
            if (surface_access(warp, ins, &a, kind == SURFACE_WRITE) != 0) return NULL;
        }
        if (kind != SURFACE_WRITE) unwritten_report(warp, ins, &a);
        if (warp->count) access_add(&access, ins, &a);
        address[lane] = a.address;
    }
    if (warp->count) count_texture(warp, ins, &access, address, kind == SURFACE_WRITE);
    return ins + 1;
}

/* A size of a level: 0 if the object has no such dimension or level. Each level contains all
 * layers. */
static uint32_t size_of(const Texture *t, uint32_t which, uint32_t level)
{
    uint32_t size = which ? t->told[which - 1] : t->extent[0],
             layers = t->layered && (which == 2 || (which == 1 && t->extent[1] == 1));
    if (level >= t->levels || !size) return 0;
    return layers ? size : size >> level ? size >> level : 1;
}

const Ins *texture_ask(Warp *warp, const Ins *ins)
{
    Access a = {.handle = 0};
    for (uint32_t m = warp->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        if (!object_open(warp, ins, lane, &a)) return object_fault(warp, ins, lane);
        SLOT(uint32_t, ins->d)[lane] = size_of(&a.texture, ins->aux, SLOT(uint32_t, ins->b)[lane]);
    }
    return ins + 1;
}
