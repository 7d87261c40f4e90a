/* fuzz_fatbin.c - a libFuzzer target for fat binaries and the cubins in them.
 *
 * `make fuzz` builds it, gives it the solutions' fat binaries as the initial corpus, and runs it.
 * test_fatbin.c runs the same function over a fixed series of damaged images. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/ptx/fatbin.h"

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
