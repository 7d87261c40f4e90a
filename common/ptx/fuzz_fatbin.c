/* fuzz_fatbin.c - a libFuzzer target for fat binaries and the cubins in them.
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE -I. \
 *       common/ptx/fuzz_fatbin.c common/ptx/fatbin*.c common/base/error.c -llz4 -lzstd \
 *       -o fuzz_fatbin
 *   mkdir -p corpus && nvcc -gencode arch=compute_90,code=sm_90 \
 *       -gencode arch=compute_90,code=compute_90 -fatbin kernel.cu -o corpus/kernel.fatbin
 *   ./fuzz_fatbin -max_len=40000 -rss_limit_mb=1024 -max_total_time=120 corpus
 *
 * test_fatbin.c runs the same function over a fixed series of damaged images. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/ptx/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Error error = {""};
    Fatbin fatbin;
    if (fatbin_open(data, size, &fatbin, &error)) {
        if (!error.text[0] || strchr(error.text, '\n') || fatbin.ptx || fatbin.kernel) abort();
        return 0;
    }
    if (!fatbin.ptx || fatbin.ptx[fatbin.ptx_bytes] != 0) abort();
    for (uint32_t i = 0; i < fatbin.kernels; i++) {
        if (strlen(fatbin.kernel[i].name) >= sizeof fatbin.kernel[i].name) abort();
    }
    fatbin_close(&fatbin);
    return 0;
}
