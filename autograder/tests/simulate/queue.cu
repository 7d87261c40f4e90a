// queue.cu - a bounded queue without locks: some blocks put numbers in, others take them out.
#include <cuda/atomic>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        if (status_ != cudaSuccess) {                                                              \
            printf("%s: %s\n", #call, cudaGetErrorString(status_));                                \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)

enum { ROOM = 64, PRODUCERS = 4, CONSUMERS = 3, EACH = 100 };

struct Cell {
    cuda::atomic<unsigned, cuda::thread_scope_device> turn;
    int value;
};

struct Queue {
    Cell cell[ROOM];
    cuda::atomic<unsigned, cuda::thread_scope_device> head, tail, finished;
};

__global__ void prepare(Queue *q)
{
    for (unsigned i = threadIdx.x; i < ROOM; i += blockDim.x)
        q->cell[i].turn.store(i, cuda::memory_order_relaxed);
    if (threadIdx.x == 0) q->head.store(0), q->tail.store(0), q->finished.store(0);
}

__device__ void put(Queue *q, int value)
{
    unsigned at = q->tail.fetch_add(1, cuda::memory_order_relaxed);
    Cell *c = &q->cell[at % ROOM];
    while (c->turn.load(cuda::memory_order_acquire) != at)
        __nanosleep(20);
    c->value = value;
    c->turn.store(at + 1, cuda::memory_order_release);
}

__device__ bool take(Queue *q, int *value)
{
    unsigned at = q->head.load(cuda::memory_order_relaxed);
    for (;;) {
        Cell *c = &q->cell[at % ROOM];
        unsigned turn = c->turn.load(cuda::memory_order_acquire);
        if (turn == at + 1) {
            if (q->head.compare_exchange_weak(at, at + 1, cuda::memory_order_relaxed)) {
                *value = c->value;
                c->turn.store(at + ROOM, cuda::memory_order_release);
                return true;
            }
        } else if ((int)(turn - at - 1) < 0)
            return false;
        else
            at = q->head.load(cuda::memory_order_relaxed);
    }
}

__global__ void work(Queue *q, unsigned long long *sum, unsigned *taken)
{
    if (threadIdx.x % 32) return;
    if (blockIdx.x < PRODUCERS) {
        for (int i = 0; i < EACH; i++)
            put(q, blockIdx.x * EACH + i + 1);
        q->finished.fetch_add(1, cuda::memory_order_release);
        return;
    }
    for (;;) {
        bool last = q->finished.load(cuda::memory_order_acquire) == PRODUCERS;
        int value;
        if (take(q, &value))
            atomicAdd(sum, (unsigned long long)value), atomicAdd(taken, 1u);
        else if (last)
            return;
        else
            __nanosleep(50);
    }
}

int main()
{
    Queue *q;
    unsigned long long *sum, host;
    unsigned *taken, count;
    CHECK(cudaMalloc(&q, sizeof *q));
    CHECK(cudaMalloc(&sum, 16));
    CHECK(cudaMemset(sum, 0, 16));
    taken = (unsigned *)(sum + 1);
    prepare<<<1, 32>>>(q);
    work<<<PRODUCERS + CONSUMERS, 32>>>(q, sum, taken);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&host, sum, 8, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&count, taken, 4, cudaMemcpyDeviceToHost));
    printf("taken %u, sum %llu\n", count, host);
    CHECK(cudaFree(q));
    CHECK(cudaFree(sum));
    return count == PRODUCERS * EACH && host == 400ull * 401 / 2 ? 0 : 1;
}
