/* gpu_image.c - images of modules, and their PTX as data.
 *
 * Each process of a program loads the same image, and a grade starts fifty.  Parsing a megabyte of
 * PTX takes 20 ms, so the last few images are cached after their last use. */
#include <stdlib.h>
#include <string.h>

#include "common/cuda/gpu/gpu_engine.h"
#include "common/simulator/ptx/fatbin.h"

/* Larger images are not cached, because a hostile program must not fill this process' memory. */
static const uint64_t CACHED_BYTES = 8u << 20;

static void image_free(GpuImage *image)
{
    if (!image) return;
    ptx_free(image->ptx);
    free(image->data);
    free(image);
}

static GpuImage *image_find(const GpuDevice *device, const void *data, uint64_t bytes)
{
    for (int i = 0; i < GPU_IMAGES; i++) {
        GpuImage *image = device->image[i];
        if (image && image->bytes == bytes && !memcmp(image->data, data, bytes)) return image;
    }
    return NULL;
}

static GpuImage *image_make(const void *data, uint64_t bytes)
{
    enum { HEADER = 16 }; /* size of the longest header that fatbin_image_bytes reads */
    GpuImage *image = calloc(1, sizeof *image);
    if (!image) return NULL;
    image->bytes = bytes;
    image->data = calloc(1, bytes + HEADER);
    if (!image->data) {
        free(image);
        return NULL;
    }
    if (bytes) memcpy(image->data, data, bytes);
    return image;
}

/* Replaces the oldest unused one. */
static void image_keep(GpuDevice *device, GpuImage *image)
{
    for (int i = 0; i < GPU_IMAGES && !image->cached; i++) {
        GpuImage **place = &device->image[device->images++ % GPU_IMAGES];
        if (*place && (*place)->users) continue;
        image_free(*place);
        *place = image;
        image->cached = 1;
    }
}

GpuImage *gpu_image_open(GpuDevice *device, const void *data, uint64_t bytes)
{
    GpuImage *image = bytes ? image_find(device, data, bytes) : NULL;
    if (!image) image = image_make(data, bytes);
    if (!image) return NULL;
    image->users++;
    if (!image->cached && bytes <= CACHED_BYTES) image_keep(device, image);
    return image;
}

int gpu_image_parse(GpuImage *image, Error *error)
{
    Fatbin fatbin;
    if (image->ptx) return 0;
    if (fatbin_open(image->data, image->bytes, &fatbin, error)) return -1;
    image->ptx = ptx_parse(fatbin.ptx, fatbin.ptx_bytes, error);
    fatbin_close(&fatbin);
    return image->ptx ? 0 : -1;
}

void gpu_image_close(GpuImage *image)
{
    if (image && !--image->users && !image->cached) image_free(image);
}

void gpu_images_free(GpuDevice *device)
{
    for (int i = 0; i < GPU_IMAGES; i++)
        image_free(device->image[i]);
}
