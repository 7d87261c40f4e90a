/* texture.c - reads of textures, reads and writes of surfaces; CUDA's programming guide, "Texture
 * Fetching".  The weights of a linear filter have 8 bits, each texel's own, and its means are
 * rounded as an H200's are: integers to 16 bits, halves to halves. */
#include <math.h>
#include <string.h>

#include "common/base/texture.h"
#include "common/simt/checks/race.h"
#include "common/simt/checks/report.h"
#include "common/simt/checks/touch.h"
#include "common/simt/core/kinds.h"
#include "common/simt/exec/exec_math.h"
#include "common/simt/exec/exec_parts.h"
#include "common/simt/time/cost.h"

#define SLOT(T, offset) ((T *)(void *)(warp->file + (offset)))

enum { WHOLE = 256, CORNERS = 8 }; /* of a filter: 1, as a weight; texels, at most */

/* One lane's access. */
typedef struct Access {
    Texture texture;
    Allocation *data;
    uint32_t lane, dims;
    uint32_t layer;
    uint64_t address; /* of what it touches first */
} Access;

typedef union Texel {
    uint32_t u[4];
    float f[4];
} Texel;

static unsigned char *host_at(const Access *a, uint64_t offset)
{
    return a->data->host + (a->texture.address - a->data->address) + offset;
}

/* The object behind the handle, and memory for all of it; 0 when either is not there. */
static int access_open(const Warp *warp, const Ins *ins, uint32_t lane, Access *a)
{
    const Memory *memory = &warp->worker->gpu->memory;
    uint64_t handle = SLOT(uint64_t, ins->a)[lane];
    const Allocation *object = memory_find(memory, handle);
    if (!object || object->freed || object->address != handle || object->bytes < sizeof a->texture)
        return 0;
    memcpy(&a->texture, object->host, sizeof a->texture);
    const Texture *t = &a->texture;
    if (t->magic != TEXTURE_MAGIC || !t->extent[0] || !t->extent[1] || !t->extent[2] ||
        t->channels - 1 > 3 || !t->channel_bytes || t->channel_bytes > 4 ||
        (t->read_as_fraction && t->channel_bytes > 2))
        return 0;
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
    if ((ins->aux & TEXTURE_KIND) == SURFACE_WRITE && a->data->read_only) return 0;
    a->lane = lane;
    a->dims = ins->aux >> TEXTURE_DIMS & 3;
    a->layer = 0;
    if (!(ins->aux >> TEXTURE_LAYERED & 1)) return 1;
    uint32_t layer = SLOT(uint32_t, (uint32_t)ins->imm)[lane];
    a->layer = layer < t->extent[2] ? layer : t->extent[2] - 1;
    return 1;
}

/* ---- texels --------------------------------------------------------------------------------- */

static float fraction_of(const Texture *t, uint32_t raw)
{
    uint32_t bits = 8 * t->channel_bytes;
    if (t->kind == TEXEL_UNSIGNED) return (float)raw / (float)((1u << bits) - 1);
    float value = (float)(int32_t)raw / (float)((1u << (bits - 1)) - 1);
    return value < -1.0f ? -1.0f : value;
}

static Texel texel_at(Access *a, const uint32_t *index)
{
    const Texture *t = &a->texture;
    uint32_t size = t->channel_bytes * t->channels;
    uint64_t offset =
        (uint64_t)index[0] * size + (uint64_t)index[1] * t->pitch + (uint64_t)index[2] * t->slice;
    Texel texel = {{0}};
    a->address = t->address + offset;
    for (uint32_t c = 0; c < t->channels; c++) {
        uint32_t raw = 0, shift = 32 - 8 * t->channel_bytes;
        memcpy(&raw, host_at(a, offset + c * t->channel_bytes), t->channel_bytes);
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

/* Where a whole index outside of the axis lies; 0: nowhere, the border's colour. */
static int index_inside(const Texture *t, uint32_t axis, int64_t i, uint32_t *inside)
{
    int64_t n = t->extent[axis], turn;
    if (i >= 0 && i < n) {
        *inside = (uint32_t)i;
        return 1;
    }
    uint32_t mode = t->mode[axis];
    if (t->linear_memory || mode == TEXTURE_BORDER) return 0;
    if (t->by_fraction && mode == TEXTURE_WRAP) {
        *inside = (uint32_t)((i % n + n) % n);
    } else if (t->by_fraction && mode == TEXTURE_MIRROR) {
        turn = (i % (2 * n) + 2 * n) % (2 * n);
        *inside = (uint32_t)(turn < n ? turn : 2 * n - 1 - turn);
    } else {
        *inside = i < 0 ? 0 : (uint32_t)(n - 1);
    }
    return 1;
}

static Texel texel_by_index(Access *a, const int64_t *index)
{
    uint32_t inside[3] = {0, 0, a->layer};
    for (uint32_t k = 0; k < a->dims; k++)
        if (!index_inside(&a->texture, k, index[k], &inside[k])) {
            Texel border = {{0}};
            if (!a->texture.linear_memory) memcpy(border.f, a->texture.border, sizeof border.f);
            a->address = a->texture.address;
            return border;
        }
    return texel_at(a, inside);
}

/* A coordinate in texels; what no texture can hold is 0. */
static float coordinate(const Warp *warp, const Access *a, uint32_t slot, uint32_t axis)
{
    float x = SLOT(float, slot)[a->lane];
    if (a->texture.by_fraction) x *= (float)a->texture.extent[axis];
    return fabsf(x) < 1e9f ? x : 0.0f;
}

/* Weights of the 2, 4 or 8 texels around, in 1/256, by their distance in 1/256.  Along one axis
 * after the other what a texel weighs is parted between it and the next: the next one's part is
 * rounded, and the rest stays. */
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

/* To so many bits; what lies in the middle goes away from zero. */
static double bits_keep(double value, int bits)
{
    int exponent;
    if (!isfinite(value)) return value;
    double part = frexp(value, &exponent);
    return ldexp(round(ldexp(part, bits)), exponent - bits);
}

/* What a filter takes of a texel: integers are widened to 16 bits. */
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

static Texel texture_read(const Warp *warp, const Ins *ins, Access *a)
{
    const uint32_t slot[3] = {ins->b, ins->c, ins->target};
    const Texture *t = &a->texture;
    int64_t index[3] = {0};
    float x[3] = {0};
    int by_float = ins->aux >> TEXTURE_BY_FLOAT & 1;
    for (uint32_t k = 0; k < a->dims; k++) {
        if (by_float) x[k] = coordinate(warp, a, slot[k], k);
        index[k] = by_float ? (int64_t)floorf(x[k]) : SLOT(int32_t, slot[k])[a->lane];
    }
    int is_float = t->kind == TEXEL_FLOAT || t->read_as_fraction;
    if (by_float && t->filtered && is_float) return filter(a, x);
    return texel_by_index(a, index);
}

/* ---- surfaces ------------------------------------------------------------------------------- */

/* Where the bytes are; x counts bytes.  0: outside. */
static int surface_offset(const Warp *warp, const Ins *ins, const Access *a, int clamp,
                          uint64_t *offset)
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

/* What other threads, and other launches, must be ordered with.  Before it is done, because a race
 * is told by what a store finds. */
static void access_note(Warp *warp, const Ins *ins, const Access *a, uint32_t bytes, int store)
{
    uint64_t address[LANES] = {0};
    address[a->lane] = a->address;
    if (warp->worker->launch->notes)
        touch_note(warp, ins, address, 1u << a->lane, bytes,
                   store ? SIMT_TOUCH_WRITE : SIMT_TOUCH_READ);
    if (warp->worker->racecheck)
        race_global(warp, ins, address, 1u << a->lane, bytes, store ? RACE_WRITE : RACE_READ);
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
    if (!warp->worker->initcheck || a->data->initialised ||
        memory_is_written(memory, a->address, bytes))
        return;
    finding_add(warp, ins, SIMT_INITCHECK, a->lane, a->address, bytes,
                "Uninitialized texture or surface read of %u bytes", bytes);
}

const Ins *texture_run(Warp *warp, const Ins *ins)
{
    uint64_t address[LANES] = {0};
    uint32_t kind = ins->aux & TEXTURE_KIND, to_float = ins->aux >> TEXTURE_TO_FLOAT & 1;
    Access a;
    for (uint32_t m = warp->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        if (!access_open(warp, ins, lane, &a))
            return fault_at(warp, ins, SIMT_MEMCHECK, lane, SLOT(uint64_t, ins->a)[lane], 0,
                            "Invalid texture or surface object: it was destroyed or never made, or "
                            "its memory is freed");
        if (kind == TEXTURE_READ) {
            Texel texel = texture_read(warp, ins, &a);
            access_note(warp, ins, &a, a.texture.channels * a.texture.channel_bytes, 0);
            int is_float = a.texture.kind == TEXEL_FLOAT || a.texture.read_as_fraction;
            for (uint32_t c = 0; c < 4; c++)
                if (ins->v[c] != NO_SLOT) SLOT(uint32_t, ins->v[c])
            [lane] = is_float && !to_float ? (uint32_t)texel.f[c] : texel.u[c];
        } else if (surface_access(warp, ins, &a, kind == SURFACE_WRITE) != 0) {
            return NULL;
        }
        if (kind != SURFACE_WRITE) unwritten_report(warp, ins, &a);
        address[lane] = a.address;
    }
    if (warp->count) count_global(warp, ins, address, warp->mask, kind == SURFACE_WRITE);
    return ins + 1;
}
