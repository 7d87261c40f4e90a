#include "common/simulator/launch/clusters.h"

#include <stdlib.h>

#include "common/simulator/exec/exec.h"

enum { MOST_BLOCKS = 16 };

/* One host thread and the workers of a cluster, by rank. */
typedef struct Team {
    Launch *launch;
    Worker *worker, *peer[MOST_BLOCKS];
    uint32_t size;
} Team;

/* Block `rank` of a cluster, as a number in the grid. */
static uint64_t block_number(const Launch *launch, uint64_t cluster, uint32_t rank)
{
    const uint32_t *c = launch->cluster, *grid = launch->launch->grid;
    uint64_t wide = grid[0] / c[0], high = grid[1] / c[1];
    uint64_t x = cluster % wide * c[0] + rank % c[0],
             y = cluster / wide % high * c[1] + rank / c[0] % c[1],
             z = cluster / wide / high * c[2] + rank / c[0] / c[1];
    return (z * grid[1] + y) * grid[0] + x;
}

/* Runs a slice of each unfinished block. BLOCK_RUNS: a block made progress; BLOCK_WAITS: some only
 * polled; BLOCK_SLEEPS: all remaining blocks sleep. */
static BlockStep team_step(Team *team, uint32_t *left)
{
    int moved = 0, waited = 0;
    for (uint32_t i = 0; i < team->size; i++) {
        if (!(*left >> i & 1)) continue;
        BlockStep step = block_step(&team->worker[i]);
        if (step == BLOCK_FAILED) return BLOCK_FAILED;
        if (step == BLOCK_DONE) *left &= ~(1u << i);
        moved |= step == BLOCK_DONE || step == BLOCK_RUNS;
        waited |= step == BLOCK_WAITS || step == BLOCK_PAUSES;
    }
    if (!*left) return BLOCK_DONE;
    return moved ? BLOCK_RUNS : waited ? BLOCK_WAITS : BLOCK_SLEEPS;
}

/* All blocks of a cluster, from their beginning to their end.  -1: stopped. */
static int cluster_run(Team *team, uint64_t cluster)
{
    uint32_t left = (uint32_t)((1ull << team->size) - 1), vain = 0, rotations = 0;
    for (uint32_t i = 0; i < team->size; i++)
        if (block_begin(&team->worker[i], block_number(team->launch, cluster, i)) != 0) return -1;
    for (;;) {
        BlockStep step = team_step(team, &left);
        if (step == BLOCK_DONE || step == BLOCK_FAILED) return step == BLOCK_DONE ? 0 : -1;
        if (cluster_release(team->peer, team->size) || step == BLOCK_RUNS) {
            vain = rotations = 0;
        } else if (step == BLOCK_SLEEPS) {
            int woken = blocks_wake(team->peer, team->size);
            if (!woken) blocks_stuck(team->worker, team->size);
            if (woken <= 0) return -1;
        } else if (++vain > TURNS_IN_VAIN) {
            vain = TURNS_IN_VAIN - ROTATION_TURNS;
            if (blocks_rotate(team->worker, team->size, &rotations)) continue;
            blocks_stuck(team->worker, team->size);
            return -1;
        }
    }
}

static void team_open(Team *team, Launch *launch, Worker *worker)
{
    team->launch = launch, team->worker = worker, team->size = launch->cluster_blocks;
    for (uint32_t i = 0; i < team->size; i++) {
        team->peer[i] = &worker[i];
        worker[i].cluster.peer = team->peer, worker[i].cluster.peers = team->size,
        worker[i].cluster.rank = i;
    }
}

void clusters_run(Launch *launch, Worker *worker)
{
    Team team;
    team_open(&team, launch, worker);
    for (;;) {
        uint64_t cluster = __atomic_fetch_add(&launch->next, 1, __ATOMIC_RELAXED);
        if (cluster >= launch->blocks / team.size ||
            block_number(launch, cluster, 0) > __atomic_load_n(&launch->stop_at, __ATOMIC_RELAXED))
            return;
        if (__atomic_load_n(&launch->timeout, __ATOMIC_RELAXED)) return;
        cluster_run(&team, cluster);
    }
}
