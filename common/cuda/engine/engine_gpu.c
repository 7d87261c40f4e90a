/* engine_gpu.c - this machine's GPU, with NVIDIA's own runtime. */
#include "common/cuda/engine/engine.h"

const char *engine_words(void)
{
    return "this machine's GPU";
}

void engine_trust(void)
{
}

const char *engine_complaint(void)
{
    return "";
}
