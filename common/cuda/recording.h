/* recording.h - device operations of one call of an entry point, stored for replays.
 *
 * A recorder is a Device in front of an engine.  It forwards every call and stores the ones that do
 * work on the device (copies, fills, launches, events, waits, host synchronisations) with a copy of
 * their data.  Frees are deferred until the recording is closed, so that a replay finds the same
 * addresses; for the calls that follow, the memory is freed nevertheless (Device.retire). */
#ifndef CONVLAB_CUDA_RECORDING_H
#define CONVLAB_CUDA_RECORDING_H

#include "common/cuda/device.h"

struct Recording {
    DeviceCall *call; /* each with its own copy of data */
    size_t count, capacity;
    uint64_t *deferred_free;
    size_t deferred_count;
    uint64_t data_bytes;
    int serial;   /* the engine lost the order between streams: one chain in the order of calls */
    int overflow; /* over the limits: not replayable, `why` says so */
    char why[256];
    void *engine_cache; /* the gpu engine's instantiated graph */
    void (*engine_cache_free)(void *);
    struct RecordingOrder *order; /* recording_edges' own cache; zero it with the rest */
};

enum { RECORDING_CALLS = 100000 };
#define RECORDING_BYTES (256ull << 20)

/* A device that forwards to `engine` and appends to `recording` (both outlive it; `recording` is
 * initially zero).  NULL if memory is exhausted.  A deferred free still returns CUDA's status:
 * freeing twice is an error.  Closing the recorder closes neither. */
Device *recorder_open(Device *engine, Recording *recording);
/* Executes the deferred frees; leaves the recording zeroed. */
void recording_clear(Recording *recording, Device *engine);

/* Edges of the recording as a graph: for call i, stores the indices of the calls for which it must
 * wait in `before` (capacity count) and returns their number.  The order is that of streams, the
 * legacy default stream's barriers, event record/wait pairs, and host synchronisations, which
 * precede everything after them (call_order.h).  Calls without device work have no node: edges are
 * only between nodes.  Copies to the host and frees also count as host synchronisations, because
 * the host could act on them. */
size_t recording_edges(const Recording *recording, size_t i, size_t *before);
int recording_is_node(const DeviceCall *call);

#endif
