#include <string.h>

#include "autograder/record/report.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"

enum { COUNTERS_MAX = 40 };

typedef struct CounterRow {
    const char *name, *note;
    char text[48];
} CounterRow;

typedef struct CounterRows {
    int count;
    CounterRow item[COUNTERS_MAX];
} CounterRows;

static CounterRow *counter_add(CounterRows *counters, const char *name, const char *note)
{
    CounterRow *counter = &counters->item[counters->count];
    if (counters->count + 1 < COUNTERS_MAX) counters->count++;
    *counter = (CounterRow){.name = name, .note = note};
    return counter;
}

static void counter_whole(CounterRows *counters, const char *name, uint64_t value, const char *note)
{
    text_thousands((double)value, counter_add(counters, name, note)->text);
}

/* part / whole with decimals; 0 / 0 is 0. */
static void counter_ratio(CounterRows *counters, const char *name, int decimals, uint64_t part,
                          uint64_t whole, const char *note)
{
    CounterRow *counter = counter_add(counters, name, note);
    text_set(counter->text, sizeof counter->text, "%.*f", decimals,
             whole ? (double)part / (double)whole : 0);
}

static void counter_percent(CounterRows *counters, const char *name, uint64_t part, uint64_t whole,
                            const char *note)
{
    counter_ratio(counters, name, 1, 100 * part, whole, note);
}

static void counter_sizes(CounterRows *counters, const char *name, const uint32_t size[3],
                          const char *note)
{
    CounterRow *counter = counter_add(counters, name, note);
    text_set(counter->text, sizeof counter->text, "%ux%ux%u", size[0], size[1], size[2]);
}

static void counters_of_launch(CounterRows *counters, const DeviceCost *cost)
{
    counter_whole(counters, "launches", cost->launches,
                  "of the most expensive launch: grid to occupancy");
    counter_sizes(counters, "grid", cost->grid, "blocks: x, y, z");
    counter_sizes(counters, "block", cost->block, "threads: x, y, z");
    counter_whole(counters, "registers", cost->registers, "a thread");
    counter_whole(counters, "shared memory", cost->shared_bytes, "bytes a block");
    counter_whole(counters, "resident blocks", cost->resident_blocks, "an SM");
    counter_whole(counters, "occupancy", cost->occupancy_percent,
                  "% of the warps that an SM can hold (achieved)");
}

static void counters_of_instructions(CounterRows *counters, const DeviceCost *cost)
{
    uint64_t warps = cost->warp_instructions;
    counter_whole(counters, "instructions", cost->instructions, "by threads");
    counter_whole(counters, "warp instructions", warps, "by warps");
    counter_ratio(counters, "lanes active", 1, cost->instructions, warps, "of a warp's 32");
    counter_percent(counters, "float",
                    cost->float_instructions + cost->tensor_instructions +
                        cost->special_instructions,
                    warps, "% of the warps' instructions");
    counter_percent(counters, "integer", cost->integer_instructions, warps, "%");
    counter_percent(counters, "memory", cost->memory_instructions, warps, "%");
    counter_percent(counters, "control", cost->control_instructions, warps, "%");
    counter_whole(counters, "branches", cost->branches, "by warps");
    counter_percent(counters, "divergent", cost->divergent_branches, cost->branches,
                    "% of the branches");
    counter_whole(counters, "barriers", cost->barriers, "by warps");
}

static void counters_of_memory(CounterRows *counters, const DeviceCost *cost)
{
    uint64_t loaded = cost->global_load_sectors;
    uint64_t shared = cost->shared_load_requests + cost->shared_store_requests;
    counter_whole(counters, "global loads", cost->global_load_bytes, "bytes asked for");
    counter_ratio(counters, "sectors a load", 2, loaded, cost->global_load_requests,
                  "of 32 bytes, for a warp");
    counter_whole(counters, "global stores", cost->global_store_bytes, "bytes asked for");
    counter_ratio(counters, "sectors a store", 2, cost->global_store_sectors,
                  cost->global_store_requests, "");
    counter_percent(counters, "sectors from L1", cost->l1_hit_sectors, loaded, "% of those loaded");
    counter_percent(counters, "sectors from L2", cost->l2_hit_sectors, loaded,
                    "%; the rest comes from DRAM");
    counter_whole(counters, "shared accesses", shared, "requests by warps");
    counter_ratio(counters, "wavefronts", 2, cost->shared_wavefronts, shared, "a shared access");
    counter_whole(counters, "bank conflicts", cost->bank_conflicts,
                  "wavefronts more than the words need");
    counter_whole(counters, "constant loads", cost->const_requests, "requests by warps");
    counter_whole(counters, "local memory", cost->local_sectors,
                  "sectors (spills, arrays indexed at run time)");
}

/* Printed last, because most machines have no accelerators. */
static void counters_of_accelerators(CounterRows *counters, const DeviceCost *cost)
{
    if (!cost->accelerator_calls) return;
    counter_whole(counters, "accelerator calls", cost->accelerator_calls, "by warps");
    counter_whole(counters, "accelerator cycles", cost->accelerator_cycles,
                  "for which those held their warps");
}

static void counters_fill(CounterRows *counters, const DeviceCost *cost)
{
    counters->count = 0;
    counters_of_launch(counters, cost);
    counters_of_instructions(counters, cost);
    counters_of_memory(counters, cost);
    counters_of_accelerators(counters, cost);
}

void report_counters(FILE *stream, int indent, const DeviceCost *cost, const DeviceCost *other,
                     const char *called)
{
    CounterRows yours, theirs = {0};
    Table table = table_start(other ? "lrrw" : "lrw");
    counters_fill(&yours, cost);
    if (other) {
        counters_fill(&theirs, other);
        table_row(&table, "\tyours\t%s", called);
    }
    for (int i = 0; i < yours.count; i++) {
        const CounterRow *counter = &yours.item[i];
        if (other) {
            table_row(&table, "%s\t%s\t%s\t%s", counter->name, counter->text, theirs.item[i].text,
                      counter->note);
        } else {
            table_row(&table, "%s\t%s\t%s", counter->name, counter->text, counter->note);
        }
    }
    table_end(&table, stream, indent);
}
