/* texture.h - texture or surface object in device memory, written by the drop-in runtime and read
 * by the simulated GPU.  Its address is the object's handle. */
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
    uint32_t linear_memory; /* Boolean: no array; read by integer indices, 0 outside */
    uint32_t in_pieces;     /* Boolean: an array; on a GPU 64 bytes of 8 rows are contiguous */
    uint64_t address, pitch, slice;
    uint32_t extent[3]; /* texels; [2]: depth or layers */
    uint32_t channels, channel_bytes, kind;
    uint32_t filtered, by_fraction, read_as_fraction; /* Booleans: linear filtering; coordinates and
                                                       * values in [0, 1] */
    uint32_t mode[3];
    float border[4];
    uint32_t layered, texel; /* Boolean: extent[2] counts layers, or faces of cubes; bytes of a
                              * texel */
    uint32_t told[2];        /* txq.height and .depth: for one dimension the layers are the
                              * height */
    /* Levels of a mipmapped array; else one level.  address, pitch, slice and extent are the first
     * level's. */
    uint32_t levels, levels_filtered;
    float level_bias, level_least, level_most;
} Texture;

/* Bytes from one row to the next: rows have a texture's alignment. */
static inline uint64_t texture_pitch(uint64_t row)
{
    enum { PITCH = 512 };
    return (row + PITCH - 1) / PITCH * PITCH;
}

/* Converts a mipmapped texture, with its address and extent, to one of its level `level`: levels
 * are contiguous, each half as large as the previous one. */
void texture_level(Texture *texture, uint32_t level);

#endif
