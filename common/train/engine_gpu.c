/* engine_gpu.c - the trainer on this machine's card, with NVIDIA's own runtime. */
#include "common/train/learner.h"

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
