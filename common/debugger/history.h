/* history.h - the launches of a program, and checkpoints from which they are executed again.
 *
 * A checkpoint holds device memory as it was when a block began.  Execution is deterministic, so a
 * moment in the past is reached from the checkpoint before it.  Pages that did not change between
 * checkpoints are stored once; all pages together stay below HISTORY_BYTES. */
#ifndef CONVLAB_DEBUGGER_HISTORY_H
#define CONVLAB_DEBUGGER_HISTORY_H

#include "common/simulator/core/core.h"

#define HISTORY_BYTES (512ull << 20)

typedef struct Page {
    uint32_t users;
    unsigned char bytes[4096 + 4096 / 8]; /* memory, and which bytes of it are written */
} Page;

typedef struct AllocationState {
    uint64_t address, bytes;
    uint8_t freed, kept, initialised;
} AllocationState;

/* Device memory is divided into such parts, and each checkpoint lists those that threads wrote
 * before the next one, so that the search for a writer skips executions without a write. */
enum { WRITE_PART_BYTES = 1024 };

typedef struct Checkpoint {
    uint64_t moment, block; /* the block that begins */
    Page **page;            /* NULL: all zeros, nothing written */
    uint64_t pages;
    AllocationState *allocation;
    uint32_t allocations;
    uint64_t serial, next;
    uint8_t *written;         /* a bit per WRITE_PART_BYTES of device memory */
    uint64_t written_bytes;   /* size of `written` */
    int is_written_elsewhere; /* threads may have written any part */
} Checkpoint;

/* `set var` at a moment: it is carried out again when the moment is reached again. */
typedef struct Change {
    uint64_t moment;
    uint32_t warp, lane, slot, bytes; /* slot: NO_SLOT for memory */
    uint64_t address, value;
} Change;

typedef struct FoundReport {
    uint64_t moment;
    SimtReport report;
} FoundReport;

typedef struct LaunchRecord {
    SimtKernel *kernel;
    SimtLaunch request;
    void *params;
    uint32_t dynamic_limit;
    uint32_t before;        /* launches of the GPU before this one: kernels can read the number */
    Checkpoint *checkpoint; /* in rising order; the first is the launch's beginning */
    uint32_t checkpoints, room;
    Change *change; /* in the order of moments */
    uint32_t changes, change_room;
    FoundReport *found;
    uint32_t founds, found_room;
    uint64_t furthest, total; /* moments reached so far; when it has ended, 0: not yet */
    uint64_t spacing;         /* moments between two checkpoints, at least */
    int has_history;          /* 0: it cannot be executed again */
    const char *why;          /* ... why not */
} LaunchRecord;

typedef struct History {
    SimtGpu *gpu;
    LaunchRecord *launch;
    uint32_t launches, room;
    uint64_t bytes; /* total size of all pages */
    double cost;    /* seconds that the last checkpoint took */
} History;

/* -1: out of memory. */
int history_launch(History *history, SimtKernel *kernel, const SimtLaunch *request);
/* A checkpoint of the last launch, where it is worth its cost. */
void history_checkpoint(History *history, LaunchRecord *record, uint64_t moment, uint64_t block);
/* The last one at or before the moment. */
const Checkpoint *history_before(const LaunchRecord *record, uint64_t moment);
void history_restore(History *history, const Checkpoint *checkpoint);
/* Discards the history after the moment. */
void history_cut(History *history, LaunchRecord *record, uint64_t moment);
int history_change(LaunchRecord *record, const Change *change);
void history_found(LaunchRecord *record, uint64_t moment, const SimtReport *report);
/* A thread is about to write these bytes of device memory, after the last checkpoint.  bytes 0:
 * unknown ones. */
void history_written(LaunchRecord *record, uint64_t address, uint64_t bytes);
/* May a thread have written these bytes between the checkpoint and the next one? */
int checkpoint_may_write(const Checkpoint *checkpoint, uint64_t address, uint64_t bytes);
void history_close(History *history);

#endif
