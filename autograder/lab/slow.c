#include "autograder/lab/slow.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/text/table.h"
#include "autograder/text/text.h"

static const char *const NAME[SLOW_CAUSES] = {
    [SLOW_LOCAL] = "local-memory",
    [SLOW_FEW_BLOCKS] = "few-blocks",
    [SLOW_LAUNCHES] = "launches",
    [SLOW_SECTORS] = "sectors",
    [SLOW_BYTES] = "bytes",
    [SLOW_DRAM] = "dram",
    [SLOW_STORES] = "stores",
    [SLOW_BANKS] = "bank-conflicts",
    [SLOW_SHARED] = "shared-accesses",
    [SLOW_INSTRUCTIONS] = "instructions",
    [SLOW_LANES] = "idle-lanes",
    [SLOW_OCCUPANCY] = "occupancy",
    [SLOW_BARRIERS] = "barriers",
};

const char *slow_name(SlowCause cause)
{
    return NAME[cause];
}

SlowCause slow_named(const char *name)
{
    int cause = 0;
    while (cause < SLOW_CAUSES && strcmp(name, NAME[cause]))
        cause++;
    return (SlowCause)cause;
}

/* ---- both sides ------------------------------------------------------------------------------ */

typedef struct Sides {
    const DeviceCost *mine, *other;
    const char *called, *source;
    SlowReason *reason;
    int reasons;
} Sides;

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static SlowReason *reason_add(Sides *sides, SlowCause cause, double times)
{
    SlowReason *reason = &sides->reason[sides->reasons++];
    *reason = (SlowReason){.cause = cause, .times = times};
    return reason;
}

/* " at conv.cu:87", or "" if no line is known. */
static const char *at_line(const Sides *sides, uint32_t line, char text[80])
{
    text[0] = 0;
    if (line) text_set(text, 80, " at %.48s:%u", sides->source, line);
    return text;
}

/* "1,234", "2.6 million" */
static const char *amount(double number, char text[40])
{
    if (number < 1e6) return text_thousands(number, text);
    text_set(text, 40, "%.1f million", number / 1e6);
    return text;
}

/* Compares a counter, and reports it if it exceeds the other's by a factor of at least `least`. */
static void count_compare(Sides *sides, SlowCause cause, double mine, double other, double least,
                          const char *what)
{
    char number[40], times[48] = "";
    if (mine <= other * least) return;
    if (other > 0) text_set(times, sizeof times, ", %.1f times those of", mine / other);
    SlowReason *reason = reason_add(sides, cause, other > 0 ? mine / other : 10);
    text_set(reason->text, sizeof reason->text, "%s %s%s %s.", amount(mine, number), what,
             other > 0 ? times : "; there are none in", sides->called);
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static void compare_local(Sides *sides)
{
    char number[40], line[80];
    double mine = (double)sides->mine->local_sectors, other = (double)sides->other->local_sectors;
    if (mine < 1000 || mine <= 1.5 * other) return;
    SlowReason *reason = reason_add(sides, SLOW_LOCAL, 1e3);
    text_set(reason->text, sizeof reason->text,
             "%s sectors of local memory%s: an array of the thread is indexed at run time, or "
             "there are not enough registers.",
             amount(mine, number), at_line(sides, sides->mine->local_line, line));
}

static uint64_t grid_blocks(const DeviceCost *cost)
{
    return (uint64_t)cost->grid[0] * cost->grid[1] * cost->grid[2];
}

/* The most expensive launch has fewer blocks than the GPU has SMs. */
static void compare_blocks(Sides *sides)
{
    enum { FEW = 132 };
    double mine = (double)grid_blocks(sides->mine), other = (double)grid_blocks(sides->other);
    if (mine >= FEW || other <= 1.5 * mine || mine < 1) return;
    SlowReason *reason = reason_add(sides, SLOW_FEW_BLOCKS, other / mine);
    text_set(reason->text, sizeof reason->text,
             "%.0f blocks, but %s launches %.0f: SMs without a block are idle.", mine,
             sides->called, other);
}

static void compare_access(Sides *sides, SlowCause cause, double mine, double other, uint32_t line,
                           const char *what)
{
    char place[80];
    if (mine <= 1.15 * other || mine <= 0) return;
    SlowReason *reason = reason_add(sides, cause, other > 0 ? mine / other : mine);
    if (other > 0)
        text_set(reason->text, sizeof reason->text, "%s: %.1f, where %s has %.1f%s%s.", what, mine,
                 sides->called, other, line ? "; most" : "", at_line(sides, line, place));
    else
        text_set(reason->text, sizeof reason->text, "%s: %.1f; %s has none%s%s.", what, mine,
                 sides->called, line ? "; most" : "", at_line(sides, line, place));
}

/* The kind of instruction with the largest surplus. */
static const char *surplus_kind(const DeviceCost *mine, const DeviceCost *other)
{
    const struct {
        double surplus;
        const char *words;
    } kind[] = {
        {(double)mine->integer_instructions - (double)other->integer_instructions,
         "integer arithmetic: indices and their tests"},
        {(double)mine->float_instructions - (double)other->float_instructions, "floating point"},
        {(double)mine->memory_instructions - (double)other->memory_instructions,
         "loads and stores"},
        {(double)mine->control_instructions - (double)other->control_instructions,
         "branches: loops that are not unrolled, tests"},
    };
    size_t most = 0;
    for (size_t i = 1; i < sizeof kind / sizeof *kind; i++)
        if (kind[i].surplus > kind[most].surplus) most = i;
    return kind[most].words;
}

static void compare_instructions(Sides *sides)
{
    double times =
        ratio((double)sides->mine->warp_instructions, (double)sides->other->warp_instructions);
    if (times < 1.15) return;
    SlowReason *reason = reason_add(sides, SLOW_INSTRUCTIONS, times);
    text_set(reason->text, sizeof reason->text,
             "%.1f times the instructions of %s; most of the additional ones are %s.", times,
             sides->called, surplus_kind(sides->mine, sides->other));
}

static void compare_warps(Sides *sides)
{
    const DeviceCost *mine = sides->mine, *other = sides->other;
    double lanes = ratio((double)mine->instructions, (double)mine->warp_instructions),
           theirs = ratio((double)other->instructions, (double)other->warp_instructions);
    if (lanes > 0 && theirs > 1.15 * lanes) {
        SlowReason *reason = reason_add(sides, SLOW_LANES, theirs / lanes);
        text_set(reason->text, sizeof reason->text,
                 "%.1f of a warp's 32 lanes are active; %s has %.1f.", lanes, sides->called,
                 theirs);
    }
    double warps = mine->occupancy_percent, warps_there = other->occupancy_percent;
    if (warps > 0 && warps_there > 1.4 * warps) {
        SlowReason *reason = reason_add(sides, SLOW_OCCUPANCY, warps_there / warps);
        text_set(reason->text, sizeof reason->text, "the occupancy is %.0f %%; %s has %.0f %%.",
                 warps, sides->called, warps_there);
    }
}

/* More of the same work needs more barriers; only those beyond that are reported. */
static void compare_barriers(Sides *sides)
{
    double more =
        ratio((double)sides->mine->warp_instructions, (double)sides->other->warp_instructions);
    int before = sides->reasons;
    if (more < 1) more = 1;
    count_compare(sides, SLOW_BARRIERS, (double)sides->mine->barriers,
                  (double)sides->other->barriers, 1.5 * more, "arrivals of warps at barriers");
    if (sides->reasons > before) sides->reason[before].times /= more;
}

static int by_times(const void *a, const void *b)
{
    const SlowReason *left = a, *right = b;
    if (left->times != right->times) return left->times < right->times ? 1 : -1;
    return (int)left->cause - (int)right->cause;
}

static double shared_accesses(const DeviceCost *cost)
{
    return (double)(cost->shared_load_requests + cost->shared_store_requests);
}

int slow_find(const DeviceCost *mine, const DeviceCost *other, const char *called,
              const char *source, SlowReason *reason, int most)
{
    SlowReason all[SLOW_CAUSES];
    Sides sides = {mine, other, called, source, all, 0};
    compare_local(&sides);
    compare_blocks(&sides);
    count_compare(&sides, SLOW_LAUNCHES, (double)mine->launches, (double)other->launches, 1,
                  "launches");
    compare_access(&sides, SLOW_SECTORS,
                   ratio((double)mine->global_load_sectors, (double)mine->global_load_requests),
                   ratio((double)other->global_load_sectors, (double)other->global_load_requests),
                   mine->load_line, "sectors that a warp's load touches");
    count_compare(&sides, SLOW_BYTES, (double)mine->global_load_bytes,
                  (double)other->global_load_bytes, 1.3, "bytes loaded from global memory");
    count_compare(&sides, SLOW_DRAM, (double)mine->dram_bytes, (double)other->dram_bytes, 1.3,
                  "bytes to and from DRAM");
    compare_access(&sides, SLOW_STORES,
                   ratio((double)mine->global_store_sectors, (double)mine->global_store_requests),
                   ratio((double)other->global_store_sectors, (double)other->global_store_requests),
                   0, "sectors that a warp's store touches");
    compare_access(&sides, SLOW_BANKS,
                   ratio((double)mine->shared_wavefronts, shared_accesses(mine)),
                   ratio((double)other->shared_wavefronts, shared_accesses(other)),
                   mine->conflict_line, "wavefronts of an access to shared memory");
    count_compare(&sides, SLOW_SHARED, shared_accesses(mine), shared_accesses(other), 1.3,
                  "accesses to shared memory");
    compare_instructions(&sides);
    compare_warps(&sides);
    compare_barriers(&sides);
    qsort(all, (size_t)sides.reasons, sizeof *all, by_times);
    int kept = sides.reasons < most ? sides.reasons : most;
    memcpy(reason, all, (size_t)kept * sizeof *all);
    return kept;
}
