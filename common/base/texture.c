/* Addresses of the levels of a mipmapped array. */
#include "common/base/texture.h"

static uint32_t half(uint32_t extent)
{
    return extent > 1 ? extent / 2 : 1;
}

void texture_level(Texture *texture, uint32_t level)
{
    for (uint32_t i = 0;; i++) {
        uint64_t row = (uint64_t)texture->extent[0] * texture->texel;
        texture->pitch = texture_pitch(row);
        texture->slice = texture->pitch * texture->extent[1];
        if (i == level) return;
        texture->address += texture->slice * texture->extent[2];
        texture->extent[0] = half(texture->extent[0]);
        texture->extent[1] = half(texture->extent[1]);
        if (!texture->layered) texture->extent[2] = half(texture->extent[2]);
    }
}
