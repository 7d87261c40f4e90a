/* cuda_texture_types.h - a header that CUDA 12 or 13 removed; cuda_runtime.h declares its contents. */
#include <cuda_runtime.h>
