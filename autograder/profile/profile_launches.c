#include "autograder/profile/profile_launches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/table.h"
#include "autograder/text/text.h"

enum { MOST_ROWS = 20 }; /* launches in a table with a row for each */

static uint64_t cycles_of_all(const ProfileLaunches *launches)
{
    uint64_t cycles = 0;
    for (uint32_t i = 0; i < launches->launches; i++)
        cycles += launches->launch[i].cycles;
    return cycles;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

static void each_print(FILE *stream, const ProfileLaunches *launches)
{
    Table table = table_start("rrrrlllr");
    const uint64_t all = cycles_of_all(launches);
    table_row(&table, "launch\tbegin us\tus\tof all\tgrid\tblock\tkernel\tstream");
    for (uint32_t i = 0; i < launches->launches; i++) {
        const DeviceLaunch *l = &launches->launch[i];
        table_row(&table, "%" PRIu32 "\t%.2f\t%.2f\t%.1f %%\t%ux%ux%u\t%ux%ux%u\t%s\t%u", i + 1,
                  (double)l->begin / launches->clock_mhz, (double)l->cycles / launches->clock_mhz,
                  share(l->cycles, all), l->grid[0], l->grid[1], l->grid[2], l->block[0],
                  l->block[1], l->block[2], l->kernel, l->stream);
    }
    table_end(&table, stream, 4);
}

/* All launches of one kernel. */
typedef struct KernelSum {
    const char *kernel;
    uint64_t cycles, least, most;
    uint32_t launches;
} KernelSum;

static int by_cycles(const void *a, const void *b)
{
    const KernelSum *left = a, *right = b;
    return left->cycles < right->cycles ? 1 : left->cycles > right->cycles ? -1 : 0;
}

static KernelSum *sum_of(KernelSum *sum, uint32_t *sums, const char *kernel)
{
    for (uint32_t i = 0; i < *sums; i++)
        if (!strcmp(sum[i].kernel, kernel)) return &sum[i];
    sum[*sums] = (KernelSum){.kernel = kernel, .least = UINT64_MAX};
    return &sum[(*sums)++];
}

static void kernels_print(FILE *stream, const ProfileLaunches *launches)
{
    KernelSum *sum = calloc(launches->launches, sizeof *sum);
    uint32_t sums = 0;
    if (!sum) return;
    for (uint32_t i = 0; i < launches->launches; i++) {
        const DeviceLaunch *l = &launches->launch[i];
        KernelSum *own = sum_of(sum, &sums, l->kernel);
        own->launches++, own->cycles += l->cycles;
        if (l->cycles < own->least) own->least = l->cycles;
        if (l->cycles > own->most) own->most = l->cycles;
    }
    qsort(sum, sums, sizeof *sum, by_cycles);
    Table table = table_start("rrrrrrl");
    const uint64_t all = cycles_of_all(launches);
    table_row(&table, "of all\tus\tlaunches\tmean us\tleast us\tmost us\tkernel");
    for (uint32_t i = 0; i < sums; i++)
        table_row(&table, "%.1f %%\t%.1f\t%u\t%.2f\t%.2f\t%.2f\t%s", share(sum[i].cycles, all),
                  (double)sum[i].cycles / launches->clock_mhz, sum[i].launches,
                  (double)sum[i].cycles / sum[i].launches / launches->clock_mhz,
                  (double)sum[i].least / launches->clock_mhz,
                  (double)sum[i].most / launches->clock_mhz, sum[i].kernel);
    table_end(&table, stream, 4);
    free(sum);
}

void profile_launches_print(FILE *stream, const ProfileLaunches *launches)
{
    if (launches->launches < 2) return;
    fprintf(stream, "\n  Launches (%u)\n\n", launches->launches);
    if (launches->launches <= MOST_ROWS)
        each_print(stream, launches);
    else
        kernels_print(stream, launches);
}

void profile_launches_write(FILE *file, const ProfileLaunches *launches)
{
    fprintf(file, "launch\tkernel\tstream\tbegin_us\tus\tcycles\tgrid_x\tgrid_y\tgrid_z\tblock_x\t"
                  "block_y\tblock_z\n");
    for (uint32_t i = 0; i < launches->launches; i++) {
        const DeviceLaunch *l = &launches->launch[i];
        fprintf(file, "%u\t%s\t%u\t%.4f\t%.4f\t%" PRIu64 "\t%u\t%u\t%u\t%u\t%u\t%u\n", i + 1,
                l->kernel, l->stream, (double)l->begin / launches->clock_mhz,
                (double)l->cycles / launches->clock_mhz, l->cycles, l->grid[0], l->grid[1],
                l->grid[2], l->block[0], l->block[1], l->block[2]);
    }
}
