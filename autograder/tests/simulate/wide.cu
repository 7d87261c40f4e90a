// wide.cu - atomic compare and exchange of 128-bit words: a table whose entries are a key and a
// value, an exchange, and a chain of updates in shared memory whose order does not matter.
#include <cstdio>
#include <vector>

typedef unsigned __int128 Wide;

struct alignas(16) Place {
    unsigned long long key, value;
};

enum { PLACES = 128, KEYS = 97, THREADS = 256 };

__global__ void enter(Place *table)
{
    Place mine = {threadIdx.x * 7919ull % KEYS + 1, threadIdx.x};
    for (unsigned at = mine.key % PLACES;; at = (at + 1) % PLACES) {
        Place old = atomicCAS(&table[at], Place{0, 0}, mine);
        if (!old.key || old.key == mine.key) return;
    }
}

__global__ void exchange(Wide *x, Wide *old)
{
    *old = atomicExch(x, ((Wide)5 << 100) + 3);
}

__global__ void steps(Wide *out)
{
    __shared__ Wide x;
    if (threadIdx.x == 0) x = 1;
    __syncthreads();
    Wide seen = 0, wanted;
    do {
        wanted = seen;
        seen = atomicCAS(&x, wanted, wanted * 0x9e3779b97f4a7c15u + 1);
    } while (seen != wanted);
    __syncthreads();
    if (threadIdx.x == 0) *out = x;
}

template <typename T> static std::vector<T> back(const T *from, int count)
{
    std::vector<T> all(count);
    cudaMemcpy(all.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost);
    return all;
}

int main()
{
    Place *table;
    Wide *x, chain = 1;
    int keys = 0, own = 0;
    cudaMalloc(&table, PLACES * sizeof *table), cudaMalloc(&x, 2 * sizeof *x);
    cudaMemset(table, 0, PLACES * sizeof *table), cudaMemset(x, 1, 2 * sizeof *x);
    enter<<<2, THREADS>>>(table);
    for (Place p : back(table, PLACES))
        keys += p.key != 0, own += p.key && p.value * 7919 % KEYS + 1 == p.key;
    exchange<<<1, 1>>>(x, x + 1);
    auto two = back(x, 2);
    steps<<<1, THREADS>>>(x);
    for (int i = 0; i < THREADS; i++)
        chain = chain * 0x9e3779b97f4a7c15u + 1;
    printf("keys %d, own values %d, exchanged %d, steps %d\n", keys, own,
           two[0] == ((Wide)5 << 100) + 3 &&
               (unsigned long long)(two[1] >> 64) == 0x101010101010101,
           back(x, 1)[0] == chain);
    cudaFree(table), cudaFree(x);
    return 0;
}
