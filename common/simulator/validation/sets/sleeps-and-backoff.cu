/* sleeps-and-backoff.cu - threads that wait by a clock or asleep, at a lock with pauses between
 * two tries, or for a slow producer; and the cost of a fence after earlier accesses.
 *
 * One half of each family consists of regression launches. */
#include "common/simulator/validation/sets/entries.cuh"

static float *target;   /* 4 M floats */
static uint32_t *words; /* 4 M, of zeros */

/* ---- by a clock ------------------------------------------------------------------------------ */

/* Sleeps; with `apart` each lane for another time. */
__global__ void sleep_kernel(float *y, uint32_t ns, uint32_t apart, int times)
{
    for (int i = 0; i < times; i++)
        __nanosleep(ns + apart * (threadIdx.x % 32));
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

__device__ uint64_t timer_now()
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

enum Clock { CYCLES, CYCLES_32, TIMER };
template <int CLOCK> __device__ void clock_wait(uint32_t time)
{
    if (CLOCK == CYCLES_32) {
        clock_t begin = clock();
        while ((uint32_t)(clock() - begin) < time)
            ;
        return;
    }
    uint64_t begin = CLOCK == TIMER ? timer_now() : (uint64_t)clock64();
    while ((CLOCK == TIMER ? timer_now() : (uint64_t)clock64()) - begin < time)
        ;
}

template <int CLOCK> __global__ void clock_kernel(float *y, uint32_t time, int times)
{
    for (int i = 0; i < times; i++)
        clock_wait<CLOCK>(time);
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

/* Sleeps until a time of the timer. */
__global__ void timer_sleep_kernel(float *y, uint32_t time, uint32_t ns)
{
    uint64_t begin = timer_now();
    while (timer_now() - begin < time)
        __nanosleep(ns);
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

/* ---- locks ----------------------------------------------------------------------------------- */

enum Pause { AT_ONCE, ASLEEP, ASLEEP_LONGER, CLOCKED, LOOKING };
template <int PAUSE> __device__ void pause(uint32_t *lock, uint32_t &length)
{
    if (PAUSE == ASLEEP) __nanosleep(length);
    if (PAUSE == ASLEEP_LONGER) {
        __nanosleep(length);
        if (length < 256) length *= 2;
    }
    if (PAUSE == CLOCKED) clock_wait<CYCLES>(length);
    if (PAUSE == LOOKING)
        while (*(volatile uint32_t *)lock)
            ;
}

/* One block after the other, whoever gets the lock; in it a load and a store. */
template <int PAUSE>
__global__ void lock_kernel(uint32_t *lock, volatile uint32_t *sum, float *y, uint32_t length,
                            int turns)
{
    if (threadIdx.x == 0)
        for (int i = 0; i < turns; i++) {
            uint32_t own = length;
            while (atomicCAS(lock, 0u, 1u) != 0)
                pause<PAUSE>(lock, own);
            __threadfence();
            *sum = *sum + 1;
            __threadfence();
            atomicExch(lock, 0u);
        }
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

/* All lanes of a warp want it. */
__global__ void lane_lock_kernel(uint32_t *lock, volatile uint32_t *sum, float *y)
{
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0u, 1u) == 0) {
            *sum = *sum + 1;
            __threadfence();
            atomicExch(lock, 0u);
            done = true;
        } else {
            __nanosleep(50);
        }
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

/* Ticket lock: a thread sleeps until its number is called. */
__global__ void ticket_kernel(uint32_t *ticket, volatile uint32_t *called, float *y, uint32_t ns)
{
    if (threadIdx.x == 0) {
        uint32_t mine = atomicAdd(ticket, 1u);
        while (*called != mine)
            __nanosleep(ns);
        *called = mine + 1;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

/* A barrier of all blocks, who sleep. */
__global__ void barrier_kernel(uint32_t *count, float *y, uint32_t before, int turns, uint32_t ns)
{
    for (int i = 1; i <= turns; i++) {
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(count, 1u);
            while (*(volatile uint32_t *)count < before + i * gridDim.x)
                __nanosleep(ns);
            __threadfence();
        }
        __syncthreads();
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

/* ---- producers ------------------------------------------------------------------------------- */

/* All wait for the first block, which computes for long. */
enum Look {
    ADD_NOTHING,
    COMPARE,
    OR_NOTHING,
    VOLATILE_LOOK,
    ADD_ASLEEP,
    LOOK_ASLEEP,
    CLOCKED_LOOK
};
template <int LOOK>
__global__ void producer_kernel(uint32_t *flag, float *y, uint32_t turn, int work, uint32_t ns)
{
    if (blockIdx.x == 0) {
        float p = (float)turn;
        for (int i = 0; i < work; i++)
            p = p * 0.5f + 1.0f;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicExch(flag, turn + (p == 0.25f));
        }
    } else if (threadIdx.x == 0) {
        uint32_t seen;
        do {
            if (LOOK == ADD_NOTHING || LOOK == ADD_ASLEEP) seen = atomicAdd(flag, 0u);
            if (LOOK == COMPARE) seen = atomicCAS(flag, 0u, 0u);
            if (LOOK == OR_NOTHING) seen = atomicOr(flag, 0u);
            if (LOOK == VOLATILE_LOOK || LOOK == LOOK_ASLEEP || LOOK == CLOCKED_LOOK)
                seen = *(volatile uint32_t *)flag;
            if (LOOK == ADD_ASLEEP || LOOK == LOOK_ASLEEP) __nanosleep(ns);
            if (LOOK == CLOCKED_LOOK) clock_wait<CYCLES>(ns);
        } while (seen < turn);
    }
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

/* ---- fences ---------------------------------------------------------------------------------- */

enum Read { VOLATILE, ACQUIRE };
template <int READ> __device__ uint32_t word_read(uint32_t *x)
{
    uint32_t u;
    if (READ == VOLATILE) return *(volatile uint32_t *)x;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(u) : "l"(x) : "memory");
    return u;
}

/* Dependent accesses of one warp with a fence after each, or with another warp that does `what`
 * meanwhile. */
enum Before { NOTHING, LOADED, LOOKED, ACQUIRED, ADDED, SHARED, OTHERS };
template <int BEFORE> __global__ void behind_kernel(uint32_t *x, float *y, int steps)
{
    __shared__ uint32_t s[64];
    uint32_t u = threadIdx.x;
    s[threadIdx.x] = u;
    x += threadIdx.x;
    if (BEFORE == OTHERS && threadIdx.x >= 32)
        for (int i = 0; i < steps * 2; i++)
            u += word_read<VOLATILE>(x + (u >> 31));
    else
        for (int i = 0; i < steps; i++) {
            if (BEFORE == LOADED) u += x[u >> 31];
            if (BEFORE == LOOKED) u += word_read<VOLATILE>(x + (u >> 31));
            if (BEFORE == ACQUIRED) u += word_read<ACQUIRE>(x + (u >> 31));
            if (BEFORE == ADDED) atomicAdd(x + (u >> 31), 0u);
            if (BEFORE == SHARED) *(volatile uint32_t *)(s + threadIdx.x) = u;
            __threadfence();
        }
    y[blockIdx.x * blockDim.x + threadIdx.x] = (float)u;
}

/* A token goes through all blocks and around; who has it releases the next one. */
__global__ void release_kernel(uint32_t *flag, float *y, uint32_t before, int turns)
{
    uint32_t *own = flag + blockIdx.x * 32, *next = flag + (blockIdx.x + 1) % gridDim.x * 32;
    if (threadIdx.x == 0)
        for (uint32_t i = before; i < before + turns; i++) {
            while (word_read<ACQUIRE>(own) < i + (blockIdx.x > 0))
                ;
            asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(next), "r"(i + 1) : "memory");
        }
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

__global__ void empty_kernel()
{
}

#define F(family, name, ...) ENTER(FIT, family, name, __VA_ARGS__)
#define E(family, name, ...) ENTER(REGRESSION, family, name, __VA_ARGS__)

static void sleeps()
{
#define SLEEP(SET, what, n, threads, ns, apart, times)                                             \
    SET("sleep", what, sleep_kernel<<<n, threads>>>(target, ns, apart, times))
    SLEEP(F, "sleep-0", 1, 32, 0, 0, 64);
    SLEEP(E, "sleep-20", 1, 32, 20, 0, 64);
    SLEEP(F, "sleep-50", 1, 32, 50, 0, 64);
    SLEEP(F, "sleep-64", 1, 32, 64, 0, 64);
    SLEEP(E, "sleep-100", 1, 32, 100, 0, 64);
    SLEEP(E, "sleep-200", 1, 32, 200, 0, 64);
    SLEEP(F, "sleep-500", 1, 32, 500, 0, 32);
    SLEEP(E, "sleep-1000", 1, 32, 1000, 0, 32);
    SLEEP(F, "sleep-1000-once", 1, 32, 1000, 0, 1);
    SLEEP(E, "sleep-10000-once", 1, 32, 10000, 0, 1);
    SLEEP(F, "sleep-lanes", 1, 32, 100, 100, 16);
    SLEEP(E, "sleep-lanes-short", 1, 32, 0, 40, 16);
    SLEEP(F, "sleep-40-full", 1056, 256, 40, 0, 32);
    SLEEP(E, "sleep-100-full", 1056, 256, 100, 0, 32);
    SLEEP(F, "sleep-500-full", 1056, 256, 500, 0, 16);
    SLEEP(E, "sleep-1000-waves", 4224, 256, 1000, 0, 4);
#define CLOCK(SET, what, KIND, n, threads, time, times)                                            \
    SET("clock", what, clock_kernel<KIND><<<n, threads>>>(target, time, times))
    CLOCK(F, "clock-100", CYCLES, 1, 32, 100, 64);
    CLOCK(E, "clock-1000", CYCLES, 1, 32, 1000, 16);
    CLOCK(F, "clock-30000", CYCLES, 1, 32, 30000, 1);
    CLOCK(F, "clock-3000-full", CYCLES, 1056, 256, 3000, 4);
    CLOCK(E, "clock-10000-full", CYCLES, 1056, 256, 10000, 1);
    CLOCK(E, "clock-32-2000-132", CYCLES_32, 132, 128, 2000, 8);
    CLOCK(F, "clock-3000-waves", CYCLES, 4224, 256, 3000, 1);
    CLOCK(F, "timer-1000", TIMER, 1, 32, 1000, 16);
    CLOCK(E, "timer-5000-full", TIMER, 1056, 256, 5000, 2);
    F("clock", "timer-sleep-20000", timer_sleep_kernel<<<1, 32>>>(target, 20000, 100));
    E("clock", "timer-sleep-30000", timer_sleep_kernel<<<132, 128>>>(target, 30000, 1000));
}

static void locks()
{
#define LOCKED(SET, what, PAUSE, n, length, turns)                                                 \
    SET("lock-backoff", what,                                                                      \
        lock_kernel<PAUSE><<<n, 32>>>(words, words + 1024, target, length, turns))
    LOCKED(E, "locked-132", AT_ONCE, 132, 0, 1);
    LOCKED(F, "locked-asleep-8", ASLEEP_LONGER, 8, 8, 4);
    LOCKED(E, "locked-asleep-32", ASLEEP_LONGER, 32, 8, 1);
    LOCKED(F, "locked-asleep-132", ASLEEP_LONGER, 132, 8, 1);
    LOCKED(E, "locked-asleep-264", ASLEEP_LONGER, 264, 8, 1);
    LOCKED(F, "locked-asleep-500-32", ASLEEP, 32, 500, 2);
    LOCKED(E, "locked-asleep-100-64", ASLEEP, 64, 100, 1);
    LOCKED(F, "locked-clocked-32", CLOCKED, 32, 500, 2);
    LOCKED(E, "locked-clocked-132", CLOCKED, 132, 300, 1);
    LOCKED(F, "locked-polling-32", LOOKING, 32, 0, 2);
    LOCKED(E, "locked-polling-132", LOOKING, 132, 0, 1);
    F("lock-backoff", "locked-lanes-2", lane_lock_kernel<<<2, 32>>>(words, words + 1024, target));
    E("lock-backoff", "locked-lanes-16", lane_lock_kernel<<<16, 32>>>(words, words + 1024, target));
/* PLACE is the place of the polled word in memory, on which the distance of its L2 slice depends.
 * The records were measured with these places, once the numbers of these lines. */
#define DRAWN(SET, what, PLACE, n, ns)                                                             \
    SET("lock-backoff", what,                                                                      \
        ticket_kernel<<<n, 32>>>(words + PLACE * 4096, words + 2 * MB + PLACE * 4096, target, ns))
    DRAWN(F, "drawn-asleep-32", 286, 32, 20);
    DRAWN(E, "drawn-asleep-132", 287, 132, 20);
#define BARRIER(SET, what, PLACE, n, threads, ns)                                                  \
    SET("sleeping-barrier", what, static uint32_t turn; barrier_kernel<<<n, threads>>>(            \
            words + 3 * MB + PLACE * 64, target, turn++ * n * 8, 8, ns))
    BARRIER(F, "barrier-asleep-132", 291, 132, 32, 20);
    BARRIER(E, "barrier-asleep-1056", 292, 1056, 256, 40);
    BARRIER(F, "barrier-asleep-long-528", 293, 528, 64, 200);
    BARRIER(E, "barrier-asleep-long-132", 294, 132, 128, 100);
}

static void producers()
{
#define PRODUCED(SET, what, PLACE, LOOK, n, threads, work, ns)                                     \
    SET("slow-producer", what, static uint32_t turn; producer_kernel<LOOK>                         \
        <<<n, threads>>>(words + 2 * MB + PLACE * 64, target, ++turn, work, ns))
    PRODUCED(E, "produced-add-8", 302, ADD_NOTHING, 8, 32, 10000, 0);
    PRODUCED(F, "produced-add-264", 303, ADD_NOTHING, 264, 64, 40000, 0);
    PRODUCED(E, "produced-add-1056", 304, ADD_NOTHING, 1056, 128, 10000, 0);
    PRODUCED(E, "produced-compare-264", 305, COMPARE, 264, 32, 20000, 0);
    PRODUCED(F, "produced-or-528", 306, OR_NOTHING, 528, 32, 10000, 0);
    PRODUCED(F, "produced-poll-264", 307, VOLATILE_LOOK, 264, 64, 40000, 0);
    PRODUCED(E, "produced-poll-1056", 308, VOLATILE_LOOK, 1056, 64, 20000, 0);
    PRODUCED(F, "produced-add-asleep-264", 309, ADD_ASLEEP, 264, 256, 10000, 200);
    PRODUCED(E, "produced-poll-asleep-132", 310, LOOK_ASLEEP, 132, 256, 10000, 100);
    PRODUCED(F, "produced-clocked-132", 311, CLOCKED_LOOK, 132, 32, 10000, 400);
    PRODUCED(E, "produced-clocked-528", 312, CLOCKED_LOOK, 528, 32, 10000, 1000);
}

static void fences()
{
#define BEHIND(SET, what, BEFORE, threads)                                                         \
    SET("fence-after", what, behind_kernel<BEFORE><<<1, threads>>>(words + 2 * MB, target, 64))
    BEHIND(F, "fence-after-nothing", NOTHING, 32);
    BEHIND(F, "fence-after-load", LOADED, 32);
    BEHIND(F, "fence-after-poll", LOOKED, 32);
    BEHIND(E, "fence-after-acquire", ACQUIRED, 32);
    BEHIND(F, "fence-after-add", ADDED, 32);
    BEHIND(E, "fence-after-shared", SHARED, 32);
    BEHIND(F, "fence-after-others", OTHERS, 64);
#define RELEASED(SET, what, PLACE, n, turns)                                                       \
    SET("release", what, static uint32_t before;                                                   \
        release_kernel<<<n, 32>>>(words + 2 * MB + PLACE * 4096, target, before, turns),           \
        before += turns)
    RELEASED(F, "release-2", 330, 2, 32);
    RELEASED(E, "release-8", 331, 8, 16);
    RELEASED(F, "release-132", 332, 132, 2);
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    ENTER(FIT, "empty", "empty", empty_kernel<<<1, 32>>>());
    target = array_make(4 * MB);
    cudaMalloc(&words, 4 * MB * sizeof *words);
    cudaMemset(words, 0, 4 * MB * sizeof *words);
    sleeps();
    locks();
    producers();
    fences();
    return measure_close();
}
