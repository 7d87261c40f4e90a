#include "common/operations/conv_diagnosis/explain_parts.h"

#include <string.h>

/* Takes one of each of `take` equal shares of `all` outputs, at a random position: with a constant
 * distance it could see only every second column of an alternating pattern. */
typedef struct Sampler {
    size_t *sample;
    size_t all, seen, next;
    int take, taken;
} Sampler;

static void sampler_aim(Sampler *sampler, Random *random)
{
    double place = (sampler->taken + random_unit(random)) / sampler->take;
    sampler->next = (size_t)(place * (double)sampler->all);
}

static void sampler_offer(Sampler *sampler, Random *random, size_t index)
{
    if (sampler->taken == sampler->take || sampler->seen++ != sampler->next) return;
    sampler->sample[sampler->taken++] = index;
    sampler_aim(sampler, random);
    if (sampler->next < sampler->seen) sampler->next = sampler->seen;
}

void samples_choose(const unsigned char *mark, size_t total, size_t wrong, Samples *samples)
{
    Random random;
    random_seed(&random, 1); /* fixed, so that the same output gets the same diagnosis */
    size_t right = total - wrong;
    Sampler of_wrong = {.sample = samples->index, .all = wrong};
    of_wrong.take = wrong < SAMPLES_WRONG ? (int)wrong : SAMPLES_WRONG;
    Sampler of_right = {.sample = samples->index + of_wrong.take, .all = right};
    of_right.take = right < SAMPLES_RIGHT ? (int)right : SAMPLES_RIGHT;
    if (of_wrong.take) sampler_aim(&of_wrong, &random);
    if (of_right.take) sampler_aim(&of_right, &random);
    for (size_t i = 0; i < total; i++)
        sampler_offer(mark[i] != MARK_RIGHT ? &of_wrong : &of_right, &random, i);
    samples->wrong = of_wrong.taken;
    samples->right = of_right.taken;
    memmove(samples->index + of_wrong.taken, of_right.sample,
            (size_t)of_right.taken * sizeof *samples->index);
}
