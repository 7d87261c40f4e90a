/* interblock-waits.cu - threads that wait for each other through memory: polls and arrivals at
 * one word, tokens, hand-written grid barriers, locks with tickets, look-back scans; and
 * matches between lanes.
 *
 * Nearly half of the launches are regression launches. */
#include "common/simulator/validation/sets/entries.cuh"

static float *target;   /* 4 M floats */
static uint32_t *words; /* 4 M, of zeros */

/* Each step reads a word that all others read, or one of its own, after the step before. */
enum Read { VOLATILE, ACQUIRE, ATOMIC };
template <int READ> __device__ uint32_t word_read(uint32_t *x)
{
    uint32_t u;
    if (READ == VOLATILE) return *(volatile uint32_t *)x;
    if (READ == ATOMIC) return atomicAdd(x, 0u);
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(u) : "l"(x) : "memory");
    return u;
}

template <int READ> __global__ void poll_kernel(uint32_t *x, float *y, int apart, int steps)
{
    uint32_t u = 0;
    x += blockIdx.x * apart;
    if (threadIdx.x == 0)
        for (int i = 0; i < steps; i++)
            u += word_read<READ>(x + (u & 1));
    y[blockIdx.x * blockDim.x + threadIdx.x] = (float)u;
}

/* A token goes through all blocks and around; who has it writes for the next one. */
template <bool FENCED>
__global__ void around_kernel(volatile uint32_t *flag, float *y, uint32_t before, int turns)
{
    uint32_t next = (blockIdx.x + 1) % gridDim.x;
    if (threadIdx.x == 0)
        for (uint32_t i = before; i < before + turns; i++) {
            while (flag[blockIdx.x * 32] < i + (blockIdx.x > 0))
                ;
            if (FENCED) __threadfence();
            flag[next * 32] = i + 1;
        }
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

/* A token once through all blocks: each waits for the one before it. */
template <bool FENCED> __global__ void pass_kernel(volatile uint32_t *flag, float *y, uint32_t turn)
{
    if (threadIdx.x == 0) {
        if (blockIdx.x > 0)
            while (flag[(blockIdx.x - 1) * 32] < turn)
                ;
        if (FENCED) __threadfence();
        flag[blockIdx.x * 32] = turn;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

/* All wait for the first block, which has something to do before. */
__global__ void start_kernel(volatile uint32_t *flag, float *y, uint32_t turn, int work)
{
    if (threadIdx.x == 0) {
        float p = (float)turn;
        if (blockIdx.x == 0) {
            for (int i = 0; i < work; i++)
                p = p * 0.5f + 1.0f;
            flag[0] = turn + (p == 0.25f);
        }
        while (flag[0] < turn)
            ;
    }
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

/* A barrier of all blocks: a count, and what it must reach. */
template <bool FENCED>
__global__ void all_kernel(uint32_t *count, float *y, uint32_t before, int turns)
{
    for (int i = 1; i <= turns; i++) {
        __syncthreads();
        if (threadIdx.x == 0) {
            if (FENCED) __threadfence();
            atomicAdd(count, 1u);
            while (*(volatile uint32_t *)count < before + i * gridDim.x)
                ;
            if (FENCED) __threadfence();
        }
        __syncthreads();
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

/* One block after the other, whoever gets the lock; in it a load and a store. */
__global__ void lock_kernel(uint32_t *lock, volatile uint32_t *sum, float *y, int turns)
{
    if (threadIdx.x == 0)
        for (int i = 0; i < turns; i++) {
            while (atomicCAS(lock, 0u, 1u) != 0)
                ;
            __threadfence();
            *sum = *sum + 1;
            __threadfence();
            atomicExch(lock, 0u);
        }
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

/* Ticket lock: a thread waits until its number is called. */
__global__ void ticket_kernel(uint32_t *ticket, volatile uint32_t *called, float *y, int turns)
{
    if (threadIdx.x == 0)
        for (int i = 0; i < turns; i++) {
            uint32_t mine = atomicAdd(ticket, 1u);
            while (*called != mine)
                ;
            *called = mine + 1;
        }
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

/* Each block's step needs that of the block before it: a wave goes through all. */
__global__ void wave_kernel(volatile uint32_t *flag, float *y, uint32_t turn, int steps)
{
    if (threadIdx.x == 0)
        for (int i = 1; i <= steps; i++) {
            if (blockIdx.x > 0)
                while (flag[(blockIdx.x - 1) * 32] < turn * steps + i)
                    ;
            flag[blockIdx.x * 32] = turn * steps + i;
        }
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

/* The sum of all blocks before: each publishes its own, looks back, one block or a warp of them at
 * a time, and publishes that of all. */
template <bool WARP>
__global__ void back_kernel(volatile unsigned long long *state, float *y, uint32_t turn)
{
    unsigned long long mine = 2 * turn + 1, all = 2 * turn + 2, seen;
    uint32_t before = 0, lane = threadIdx.x, tile = blockIdx.x;
    if (lane == 0) state[tile] = (tile ? mine : all) << 32 | 1;
    if (WARP && tile) {
        for (int last = tile - 1;; last -= 32) {
            int k = last - (int)lane;
            do
                seen = k < 0 ? all << 32 : state[k];
            while (__any_sync(0xffffffff, seen >> 32 < mine));
            uint32_t done = __ballot_sync(0xffffffff, seen >> 32 == all), part = (uint32_t)seen;
            int first = done ? __ffs(done) - 1 : 31;
            if ((int)lane > first) part = 0;
            before += __reduce_add_sync(0xffffffff, part);
            if (done) break;
        }
    } else if (lane == 0 && tile) {
        for (int k = (int)tile - 1; k >= 0; k--) {
            do
                seen = state[k];
            while (seen >> 32 < mine);
            before += (uint32_t)seen;
            if (seen >> 32 == all) break;
        }
    }
    if (lane == 0) state[tile] = all << 32 | (before + 1);
    y[blockIdx.x * blockDim.x + threadIdx.x] = (float)before;
}

/* Match: lanes with an equal value among `values` different ones, or a test that all are equal. */
template <bool ALL> __global__ void equal_kernel(float *__restrict__ y, uint32_t values, int steps)
{
    uint32_t sum = 0, u = threadIdx.x % 32 % values;
    for (int i = 0; i < steps; i++) {
        int same;
        uint32_t who =
            ALL ? __match_all_sync(0xffffffffu, u, &same) : __match_any_sync(0xffffffffu, u);
        sum += who, u += (who == 0x12345u) + 1;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = (float)sum;
}

__global__ void empty_kernel()
{
}

#define F(family, name, ...) ENTER(FIT, family, name, __VA_ARGS__)
#define E(family, name, ...) ENTER(REGRESSION, family, name, __VA_ARGS__)

static void polls()
{
#define POLL(SET, what, READ, n, apart)                                                            \
    SET("poll", what, poll_kernel<READ><<<n, 32>>>(words, target, apart, 64))
    POLL(F, "poll-1", VOLATILE, 1, 0);
    POLL(F, "poll-132", VOLATILE, 132, 0);
    POLL(E, "poll-528", VOLATILE, 528, 0);
    POLL(F, "poll-1056", VOLATILE, 1056, 0);
    POLL(E, "poll-2112", VOLATILE, 2112, 0);
    POLL(E, "poll-own-1056", VOLATILE, 1056, 64);
    POLL(F, "poll-acquire-1", ACQUIRE, 1, 0);
    POLL(F, "poll-acquire-132", ACQUIRE, 132, 0);
    POLL(E, "poll-acquire-1056", ACQUIRE, 1056, 0);
    POLL(F, "poll-atomic-1", ATOMIC, 1, 0);
    POLL(E, "poll-atomic-132", ATOMIC, 132, 0);
    POLL(F, "poll-atomic-1056", ATOMIC, 1056, 0);
}

static void tokens()
{
    static uint32_t turn;
/* PLACE is the place of the polled word in memory, on which the distance of its L2 slice depends.
 * The records were measured with these places, once the numbers of these lines. */
#define AROUND(SET, what, PLACE, FENCED, n, turns)                                                 \
    SET("token-ring", what, static uint32_t before;                                                \
        around_kernel<FENCED><<<n, 32>>>(words + PLACE * 4096, target, before, turns),             \
        before += turns)
    AROUND(F, "around-2", 214, false, 2, 32);
    AROUND(E, "around-8", 215, false, 8, 16);
    AROUND(F, "around-fence-2", 216, true, 2, 32);
    AROUND(E, "around-132", 217, false, 132, 2);
    F("token-pass", "pass-8",
      pass_kernel<false><<<8, 32>>>(words + 2 * MB + 5 * 65536, target, ++turn));
    E("token-pass", "pass-132",
      pass_kernel<false><<<132, 32>>>(words + 2 * MB + 5 * 65536, target, ++turn));
    F("token-pass", "pass-1056",
      pass_kernel<false><<<1056, 32>>>(words + 2 * MB + 5 * 65536, target, ++turn));
    F("token-pass", "pass-fence-132",
      pass_kernel<true><<<132, 32>>>(words + 2 * MB + 5 * 65536, target, ++turn));
    E("token-pass", "pass-fence-8",
      pass_kernel<true><<<8, 32>>>(words + 2 * MB + 5 * 65536, target, ++turn));
    E("broadcast-flag", "start-8",
      start_kernel<<<8, 32>>>(words + 2 * MB + 6 * 65536, target, ++turn, 1024));
    F("broadcast-flag", "start-132",
      start_kernel<<<132, 32>>>(words + 2 * MB + 6 * 65536, target, ++turn, 1024));
    F("broadcast-flag", "start-1056",
      start_kernel<<<1056, 32>>>(words + 2 * MB + 6 * 65536, target, ++turn, 1024));
    E("wave", "wave-8", wave_kernel<<<8, 32>>>(words + 2 * MB + 7 * 65536, target, ++turn, 32));
    F("wave", "wave-132", wave_kernel<<<132, 32>>>(words + 2 * MB + 7 * 65536, target, ++turn, 32));
}

static void barriers()
{
#define BARRIER(SET, what, PLACE, FENCED, n, threads)                                              \
    SET("grid-barrier", what, static uint32_t turn; all_kernel<FENCED>                             \
        <<<n, threads>>>(words + 2 * MB + PLACE * 64, target, turn++ * n * 8, 8))
    BARRIER(F, "all-8", 242, false, 8, 32);
    BARRIER(E, "all-132", 243, false, 132, 32);
    BARRIER(F, "all-528", 244, false, 528, 32);
    BARRIER(E, "all-1056", 245, false, 1056, 32);
    BARRIER(F, "all-2112", 246, false, 2112, 32);
    BARRIER(E, "all-8-fence", 247, true, 8, 32);
    BARRIER(F, "all-132-fence", 248, true, 132, 256);
    BARRIER(E, "all-1056-fence", 249, true, 1056, 256);
    F("lock", "lock-1",
      lock_kernel<<<1, 32>>>(words + 2 * MB + 524288, words + 2 * MB + 524416, target, 32));
    F("lock", "lock-8",
      lock_kernel<<<8, 32>>>(words + 2 * MB + 524288, words + 2 * MB + 524416, target, 4));
    E("lock", "lock-32",
      lock_kernel<<<32, 32>>>(words + 2 * MB + 524288, words + 2 * MB + 524416, target, 4));
    F("lock", "ticket-1",
      ticket_kernel<<<1, 32>>>(words + 2 * MB + 524544, words + 2 * MB + 524672, target, 32));
    E("lock", "ticket-8",
      ticket_kernel<<<8, 32>>>(words + 2 * MB + 524800, words + 2 * MB + 524928, target, 8));
    F("lock", "ticket-132",
      ticket_kernel<<<132, 32>>>(words + 2 * MB + 525056, words + 2 * MB + 525184, target, 2));
}

static void backs()
{
    static uint32_t turn;
#define STATE (unsigned long long *)(words + 3 * MB)
    E("look-back", "back-8", back_kernel<false><<<8, 32>>>(STATE, target, turn++));
    F("look-back", "back-132", back_kernel<false><<<132, 32>>>(STATE, target, turn++));
    E("look-back", "back-528", back_kernel<false><<<528, 32>>>(STATE, target, turn++));
    F("look-back", "back-1056", back_kernel<false><<<1056, 32>>>(STATE, target, turn++));
    E("look-back", "back-8448", back_kernel<false><<<8448, 32>>>(STATE, target, turn++));
    F("look-back", "back-warp-132", back_kernel<true><<<132, 32>>>(STATE, target, turn++));
    E("look-back", "back-warp-1056", back_kernel<true><<<1056, 32>>>(STATE, target, turn++));
    F("look-back", "back-warp-8448", back_kernel<true><<<8448, 32>>>(STATE, target, turn++));
}

static void equals()
{
#define EQUAL(SET, what, ALL, n, threads, values)                                                  \
    SET("match", what, equal_kernel<ALL><<<n, threads>>>(target, values, 64))
    EQUAL(F, "equal-1-alone", false, 1, 32, 1);
    EQUAL(F, "equal-2-alone", false, 1, 32, 2);
    EQUAL(E, "equal-8-alone", false, 1, 32, 8);
    EQUAL(F, "equal-32-alone", false, 1, 32, 32);
    EQUAL(E, "equal-32-two", false, 1, 64, 32);
    EQUAL(F, "equal-32-four", false, 1, 128, 32);
    EQUAL(F, "equal-1-full", false, 1056, 256, 1);
    EQUAL(E, "equal-4-full", false, 1056, 256, 4);
    EQUAL(E, "equal-16-full", false, 1056, 256, 16);
    EQUAL(F, "equal-32-full", false, 1056, 256, 32);
    EQUAL(F, "equal-all-alone", true, 1, 32, 1);
    EQUAL(E, "equal-all-not-alone", true, 1, 32, 2);
    EQUAL(F, "equal-all-full", true, 1056, 256, 1);
    EQUAL(E, "equal-all-not-full", true, 1056, 256, 2);
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    ENTER(FIT, "empty", "empty", empty_kernel<<<1, 32>>>());
    target = array_make(4 * MB);
    cudaMalloc(&words, 4 * MB * sizeof *words);
    cudaMemset(words, 0, 4 * MB * sizeof *words);
    polls();
    tokens();
    barriers();
    backs();
    equals();
    return measure_close();
}
