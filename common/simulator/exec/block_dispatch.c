#include "common/simulator/exec/block_dispatch.h"

#include <time.h>

#include "common/simulator/exec/exec.h"

/* Minimum time for which a thread keeps its block: ten times the time in which the block's working
 * set moves from another core's cache. */
static const double KEPT_SECONDS = 4e-4;

uint32_t dispatch_workers(uint64_t blocks, uint32_t threads)
{
    if (threads <= 1 || blocks <= threads) return threads;
    return blocks < 2 * (uint64_t)threads ? (uint32_t)blocks : 2 * threads;
}

void dispatch_open(BlockDispatch *deal, Launch *launch, Worker *worker, LaunchArena *shelf,
                   uint32_t threads, uint32_t workers)
{
    *deal = (BlockDispatch){.launch = launch,
                            .worker = worker,
                            .shelf = shelf,
                            .threads = threads,
                            .workers = workers,
                            .seats = threads};
    pthread_mutex_init(&deal->lock, NULL);
}

void dispatch_close(BlockDispatch *deal)
{
    pthread_mutex_destroy(&deal->lock);
}

/* Number of blocks that have not started. */
static uint64_t blocks_left(const Launch *launch)
{
    uint64_t next = __atomic_load_n(&launch->next, __ATOMIC_RELAXED);
    if (next >= launch->blocks || next > __atomic_load_n(&launch->stop_at, __ATOMIC_RELAXED) ||
        __atomic_load_n(&launch->timeout, __ATOMIC_RELAXED))
        return 0;
    return launch->blocks - next;
}

/* Takes the next block; 0: none is left. */
static int block_take(Launch *launch, uint64_t *number)
{
    if (!blocks_left(launch)) return 0;
    *number = __atomic_fetch_add(&launch->next, 1, __ATOMIC_RELAXED);
    return *number < launch->blocks &&
           *number <= __atomic_load_n(&launch->stop_at, __ATOMIC_RELAXED);
}

/* The block that ran into the limit, the first of several. */
static void block_note(const BlockDispatch *deal, Worker *worker)
{
    Launch *launch = deal->launch;
    uint64_t number = worker->block.number,
             least = __atomic_load_n(&launch->timeout_block, __ATOMIC_RELAXED);
    if (!__atomic_load_n(&launch->timeout, __ATOMIC_RELAXED)) return;
    deal->stopped(worker);
    while (number < least && !__atomic_compare_exchange_n(&launch->timeout_block, &least, number, 0,
                                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

/* 0: the block has ended. */
static int block_start(BlockDispatch *deal, uint32_t seat, uint64_t number)
{
    Worker *worker = &deal->worker[seat];
    deal->seat[seat].failed_polls = deal->seat[seat].rotations = 0;
    if (block_begin(worker, number) == 0) return 1;
    block_note(deal, worker);
    return 0;
}

/* Runs one slice of the block and handles its result. */
static int block_goes_on(BlockDispatch *deal, uint32_t seat)
{
    Worker *worker = &deal->worker[seat];
    uint32_t *vain = &deal->seat[seat].failed_polls;
    BlockStep step = block_step(worker);
    *vain = step == BLOCK_WAITS ? *vain + worker->progress.effort : 0;
    if (!*vain) deal->seat[seat].rotations = 0;
    if (*vain > TURNS_IN_VAIN) {
        if (blocks_rotate(worker, 1, &deal->seat[seat].rotations)) {
            *vain = TURNS_IN_VAIN - ROTATION_TURNS;
            return 1;
        }
        blocks_stuck(worker, 1);
        step = BLOCK_FAILED;
    }
    if (step == BLOCK_FAILED) block_note(deal, worker);
    return step != BLOCK_DONE && step != BLOCK_FAILED;
}

/* ---- which block a thread has in hand ----------------------------------------------------- */

/* The waiting block that has made least progress; the lock is held, and a block waits. */
static uint32_t least_waiting(const BlockDispatch *deal)
{
    uint32_t least = deal->seats;
    for (uint32_t i = 0; i < deal->seats; i++)
        if (deal->seat[i].waits &&
            (least == deal->seats || deal->worker[i].budget.ran < deal->worker[least].budget.ran))
            least = i;
    return least;
}

static void seat_leave(BlockDispatch *deal, uint32_t seat)
{
    deal->seat[seat].waits = 1, deal->waiting++;
}

static void seat_take(BlockDispatch *deal, uint32_t seat)
{
    deal->seat[seat].waits = 0, deal->waiting--;
}

/* The block of *seat has ended: takes the next one, of this seat or of another. 0: no block waits.
 * None will wait later, because a thread suspends its block only for another one when no new block
 * is left. */
static int next_take(BlockDispatch *deal, uint32_t *seat)
{
    uint64_t number;
    while (block_take(deal->launch, &number))
        if (block_start(deal, *seat, number)) return 1;
    pthread_mutex_lock(&deal->lock);
    uint32_t ended = *seat;
    int found = deal->waiting > 0;
    if (found) seat_take(deal, *seat = least_waiting(deal));
    pthread_mutex_unlock(&deal->lock);
    worker_tell(&deal->worker[ended]);
    return found;
}

/* Takes a block that has not started, instead of the current one, and a worker for it. */
static int new_take(BlockDispatch *deal, uint32_t *seat, uint64_t *number)
{
    if (deal->seats == deal->workers || !block_take(deal->launch, number)) return 0;
    seat_leave(deal, *seat);
    *seat = deal->seats++;
    return 1;
}

/* Takes a suspended block instead, if it had made less progress when this thread took its own. */
static void other_take(BlockDispatch *deal, uint32_t *seat, uint64_t since)
{
    if (!deal->waiting) return;
    uint32_t least = least_waiting(deal);
    if (deal->worker[least].budget.ran >= since) return;
    seat_leave(deal, *seat);
    seat_take(deal, *seat = least);
}

/* Suspends the current block in favour of one that has made less progress, if there is one.
 * `since`: progress of the current block when it was taken. -1: out of memory. */
static int seat_change(BlockDispatch *deal, uint32_t *seat, uint64_t since)
{
    uint64_t number;
    pthread_mutex_lock(&deal->lock);
    int begins = new_take(deal, seat, &number);
    if (!begins) other_take(deal, seat, since);
    pthread_mutex_unlock(&deal->lock);
    if (!begins) return 0;
    if (worker_open(&deal->worker[*seat], deal->launch, &deal->shelf[*seat]) != 0) return -1;
    return block_start(deal, *seat, number) || next_take(deal, seat) ? 0 : 1;
}

/* Are only the last blocks left? */
static int is_ending(const BlockDispatch *deal)
{
    return deal->workers > deal->threads && blocks_left(deal->launch) <= deal->threads;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int dispatch_run(BlockDispatch *deal, uint32_t thread)
{
    uint32_t seat = thread;
    uint64_t ran = 0;
    double since = 0; /* start of the current block, when its progress was `ran`; 0: not measured
                       * yet */
    if (!next_take(deal, &seat)) return 0;
    for (;;) {
        const Worker *worker = &deal->worker[seat];
        if (!block_goes_on(deal, seat)) {
            if (!next_take(deal, &seat)) return 0;
            since = 0;
        } else if (is_ending(deal) && !worker->budget.begin) {
            if (since && now() - since > KEPT_SECONDS) {
                int over = seat_change(deal, &seat, ran);
                if (over) return over < 0 ? -1 : 0;
                since = 0;
            }
            if (!since) since = now(), ran = deal->worker[seat].budget.ran;
        }
    }
}
