/* texture_fetch_functions.h - a header that CUDA removed: cuda_runtime.h declares its contents. */
#include <cuda_runtime.h>
