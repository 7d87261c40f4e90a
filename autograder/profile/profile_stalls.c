#include "autograder/profile/profile_stalls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/files.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"

/* The reason for a stall, and a remedy. */
static const char *const REASON[SIMT_STALLS][2] = {
    [STALL_SELECTED] = {"issuing", ""},
    [STALL_NOT_SELECTED] = {"another warp went first",
                            "The schedulers are busy, as they should be. Only fewer instructions "
                            "for the same result help."},
    [STALL_WAIT] = {"an arithmetic result", "Each instruction waits for the previous one. Use more "
                                            "independent accumulators per thread, or more warps."},
    [STALL_LONG_SCOREBOARD] = {"global memory",
                               "Warps wait for loads. Use more warps, start loads earlier, or "
                               "reuse data from shared memory or registers."},
    [STALL_SHORT_SCOREBOARD] =
        {"shared memory",
         "Warps wait for shared memory. Use each value that was read more often, from a register."},
    [STALL_MATH_PIPE] = {"a busy arithmetic pipe",
                         "The pipe is full. Only fewer or cheaper operations help."},
    [STALL_LG_THROTTLE] = {"a busy load/store unit",
                           "Too many wavefronts or sectors: let neighbouring lanes access "
                           "neighbouring floats, or use wider loads."},
    [STALL_MIO_THROTTLE] =
        {"a busy shared memory",
         "Too many wavefronts: avoid bank conflicts, read float4, keep values in "
         "registers."},
    [STALL_BARRIER] = {"other warps, at a barrier",
                       "Warps of a block wait for one another. Use more blocks per SM, fewer "
                       "barriers, or distribute the work more evenly."},
    [STALL_LOCAL] =
        {"local memory",
         "Values without a register are in local memory: an array whose index is not known at "
         "compile time (unroll the loops over it), or more values than there are registers."},
    [STALL_SPECIAL] =
        {"a division or function",
         "A division by a number that is known only at run time takes about forty instructions. "
         "Divide once, outside of the loop, or update the index incrementally."},
    [STALL_MBARRIER] = {"an mbarrier",
                        "Warps wait for a phase of an mbarrier: for copies, or for warps that have "
                        "not arrived. Start copies earlier: use more stages."},
    [STALL_GMMA] = {"a result of tensor cores",
                    "Warps wait for results of mma, or for groups of wgmma. Start the next one "
                    "before waiting for this one: use more accumulators, or more warps."},
    [STALL_TENSOR_PIPE] = {"busy tensor cores", "The tensor cores are full, as they should be. "
                                                "Only fewer multiplications help."},
};

const char *stall_reason(SimtStall stall)
{
    return REASON[stall][0];
}

const char *stall_remedy(SimtStall stall)
{
    return REASON[stall][1];
}

void profile_stalls_find(const SimtProfile *profile, ProfileStalls *stalls)
{
    *stalls = (ProfileStalls){.cycles = profile->cycles};
    text_set(stalls->kernel, sizeof stalls->kernel, "%s", profile->kernel);
    for (uint32_t i = 0; i < profile->instructions; i++)
        for (int k = 0; k < SIMT_STALLS; k++)
            stalls->stall[k] += profile->instruction[i].stall[k];
}

/* ---- files -------------------------------------------------------------------------------- */

void profile_stalls_put(FILE *file, const ProfileStalls *stalls)
{
    fprintf(file, "kernel\t%s\ncycles\t%" PRIu64 "\n", stalls->kernel, stalls->cycles);
    for (int k = 0; k < SIMT_STALLS; k++)
        fprintf(file, "%s\t%" PRIu64 "\n", simt_stall_name((SimtStall)k), stalls->stall[k]);
}

int profile_stalls_write(const char *path, const ProfileStalls *stalls, Error *error)
{
    FILE *file = fopen(path, "w");
    if (!file) return error_set(error, "%s: %m", path);
    profile_stalls_put(file, stalls);
    const int broken = ferror(file);
    return fclose(file) || broken ? error_set(error, "%s: %m", path) : 0;
}

static void row_read(const char *name, const char *value, ProfileStalls *stalls)
{
    if (!strcmp(name, "kernel"))
        text_set(stalls->kernel, sizeof stalls->kernel, "%s", value);
    else if (!strcmp(name, "cycles"))
        stalls->cycles = strtoull(value, NULL, 10);
    for (int k = 0; k < SIMT_STALLS; k++)
        if (!strcmp(name, simt_stall_name((SimtStall)k)))
            stalls->stall[k] = strtoull(value, NULL, 10);
}

int profile_stalls_read(const char *path, ProfileStalls *stalls, Error *error)
{
    char *text = file_text(path, error), *rest = text;
    *stalls = (ProfileStalls){0};
    if (!text) return -1;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *value = strchr(line, '\t');
        if (!value) continue;
        *value++ = '\0';
        row_read(line, value, stalls);
    }
    free(text);
    if (stalls->cycles) return 0;
    return error_set(error, "%s has no line 'cycles': it is no stalls.tsv of make profile", path);
}

/* ---- comparison --------------------------------------------------------------------------- */

static uint64_t stalls_sum(const ProfileStalls *stalls)
{
    uint64_t sum = 0;
    for (int k = 0; k < SIMT_STALLS; k++)
        sum += stalls->stall[k];
    return sum;
}

void profile_stalls_print(FILE *stream, const ProfileStalls *mine, const ProfileStalls *other,
                          const char *called)
{
    const double all = (double)stalls_sum(mine), others = (double)stalls_sum(other);
    char text[2][40];
    if (all <= 0 || others <= 0) return;
    Table table = table_start("lrrrr");
    table_row(&table, "warps wait for\tyours\tof all\t%s\tof all", called);
    for (int k = 0; k < SIMT_STALLS; k++) {
        const double own = (double)mine->stall[k], there = (double)other->stall[k];
        if (own * 100 < all && there * 100 < others) continue;
        table_row(&table, "%s\t%s\t%.1f %%\t%s\t%.1f %%", stall_reason((SimtStall)k),
                  text_thousands(own, text[0]), 100 * own / all, text_thousands(there, text[1]),
                  100 * there / others);
    }
    fprintf(stream, "\n  Cycles of the warps of one SM (yours: %s; %s: %s)\n\n", mine->kernel,
            called, other->kernel);
    table_end(&table, stream, 4);
}
