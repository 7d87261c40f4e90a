/* texture.h - a texture or surface object, as the drop-in runtime writes it into device memory and
 * the simulated GPU reads it there.  Its address is the object's handle. */
#ifndef CONVLAB_BASE_TEXTURE_H
#define CONVLAB_BASE_TEXTURE_H

#include <stdint.h>

#define TEXTURE_MAGIC 0x7e87e8ccu

typedef enum TextureKind { TEXEL_SIGNED, TEXEL_UNSIGNED, TEXEL_FLOAT } TextureKind;
typedef enum TextureMode {
    TEXTURE_WRAP,
    TEXTURE_CLAMP,
    TEXTURE_MIRROR,
    TEXTURE_BORDER
} TextureMode;

typedef struct Texture {
    uint32_t magic;
    uint32_t linear_memory; /* no array: read by whole indices, 0 outside */
    uint32_t in_pieces;     /* an array: on a card 64 bytes of 8 rows lie together */
    uint64_t address, pitch, slice;
    uint32_t extent[3]; /* texels; [2]: depth or layers */
    uint32_t channels, channel_bytes, kind;
    uint32_t filtered, by_fraction, read_as_fraction; /* linear; coordinates and values in [0, 1] */
    uint32_t mode[3];
    float border[4];
    uint32_t layered, texel; /* extent[2] counts layers, or faces of cubes; bytes of a texel */
    uint32_t told[2];        /* txq.height and .depth: of one dimension the layers are the height */
    /* Of a mipmapped array; else one level.  address, pitch, slice and extent are the first's. */
    uint32_t levels, levels_filtered;
    float level_bias, level_least, level_most;
} Texture;

/* Bytes from one row to the next: rows begin where a texture's may. */
static inline uint64_t texture_pitch(uint64_t row)
{
    enum { PITCH = 512 };
    return (row + PITCH - 1) / PITCH * PITCH;
}

/* Makes of a mipmapped texture, with its address and extent, one of its level `level`: levels lie
 * behind one another, each half as large as the one before. */
void texture_level(Texture *texture, uint32_t level);

#endif
