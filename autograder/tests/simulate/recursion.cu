// recursion.cu - device functions that call themselves: directly, mutually, by a virtual function,
// with local arrays, in warps whose lanes go to different depths; lists and trees on the device
// heap. "deep" overflows the stack, "deeper" asks for more stack first; "lost" leaves a block on
// the heap.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static int failed;

static void tell(const char *name, bool right)
{
    printf("%s %s\n", right ? "ok" : "not ok", name);
    failed |= !right;
}

// ---- each lane its own depth; the host runs the same function ----
__host__ __device__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__host__ __device__ unsigned ackermann(unsigned m, unsigned n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__host__ __device__ bool is_odd(unsigned n);
__host__ __device__ bool is_even(unsigned n)
{
    return n == 0 || is_odd(n - 1);
}
__host__ __device__ bool is_odd(unsigned n)
{
    return n != 0 && is_even(n - 1);
}

__host__ __device__ double power(double x, int n)
{
    if (n == 0) return 1;
    double half = power(x, n / 2);
    return n % 2 ? half * half * x : half * half;
}

struct Answers {
    double power;
    int fibonacci, even;
    unsigned ackermann;
};

__host__ __device__ Answers answers_of(int i)
{
    return {power(1.0 + i, i % 6), fibonacci(i % 14), is_even(i % 40), ackermann(i % 3, i % 5)};
}

__global__ void numbers(Answers *out)
{
    out[threadIdx.x] = answers_of(threadIdx.x);
}

static void numbers_test()
{
    Answers *device, host[96];
    cudaMalloc(&device, sizeof host);
    numbers<<<1, 96>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    bool right = true;
    for (int i = 0; i < 96; i++) {
        Answers own = answers_of(i);
        right &= own.power == host[i].power && own.fibonacci == host[i].fibonacci &&
                 own.even == host[i].even && own.ackermann == host[i].ackermann;
    }
    tell("numbers", right);
    cudaFree(device);
}

// ---- quicksort, one row per thread ----
__device__ void quicksort(int *x, int first, int last)
{
    if (first >= last) return;
    int pivot = x[(first + last) / 2], i = first, j = last;
    while (i <= j) {
        while (x[i] < pivot)
            i++;
        while (x[j] > pivot)
            j--;
        if (i > j) break;
        int t = x[i];
        x[i++] = x[j], x[j--] = t;
    }
    quicksort(x, first, j);
    quicksort(x, i, last);
}

__global__ void sort_rows(int *x, int length)
{
    quicksort(x + threadIdx.x * length, 0, length - 1);
}

static void quicksort_test()
{
    const int rows = 40, length = 50;
    std::vector<int> x(rows * length), got(rows * length);
    for (size_t i = 0; i < x.size(); i++)
        x[i] = (int)((i * 2654435761u) >> 16) % 1000;
    int *device;
    cudaMalloc(&device, x.size() * sizeof(int));
    cudaMemcpy(device, x.data(), x.size() * sizeof(int), cudaMemcpyHostToDevice);
    sort_rows<<<1, rows>>>(device, length);
    cudaMemcpy(got.data(), device, x.size() * sizeof(int), cudaMemcpyDeviceToHost);
    for (int r = 0; r < rows; r++)
        std::sort(x.begin() + r * length, x.begin() + (r + 1) * length);
    tell("quicksort", x == got);
    cudaFree(device);
}

// ---- permutations: each call hands its caller's array on and has one of its own ----
__host__ __device__ int permutations(const int *left, int count, int sum, int depth)
{
    if (count == 0) return sum;
    int best = 0;
    for (int i = 0; i < count; i++) {
        int rest[5];
        for (int k = 0, n = 0; k < count; k++)
            if (k != i) rest[n++] = left[k];
        int own = permutations(rest, count - 1, sum * 3 % 1009 + left[i] * depth, depth + 1);
        best = own > best ? own : best;
    }
    return best;
}

__global__ void permute(int *out)
{
    int all[5];
    for (int i = 0; i < 5; i++)
        all[i] = (i * 7 + threadIdx.x) % 11;
    out[threadIdx.x] = permutations(all, 2 + threadIdx.x % 4, 0, 1);
}

static void permutations_test()
{
    int *device, host[64];
    cudaMalloc(&device, sizeof host);
    permute<<<1, 64>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    bool right = true;
    for (int t = 0; t < 64; t++) {
        int all[5];
        for (int i = 0; i < 5; i++)
            all[i] = (i * 7 + t) % 11;
        right &= permutations(all, 2 + t % 4, 0, 1) == host[t];
    }
    tell("permutations", right);
    cudaFree(device);
}

// ---- an expression as a tree of objects with virtual functions ----
struct Node {
    __device__ virtual float value(float x) const = 0;
};
struct Variable : Node {
    __device__ float value(float x) const override
    {
        return x;
    }
};
struct Sum : Node {
    const Node *a, *b;
    __device__ Sum(const Node *a, const Node *b) : a(a), b(b)
    {
    }
    __device__ float value(float x) const override
    {
        return a->value(x) + b->value(x + 1);
    }
};
struct Product : Node {
    const Node *a, *b;
    __device__ Product(const Node *a, const Node *b) : a(a), b(b)
    {
    }
    __device__ float value(float x) const override
    {
        return a->value(x) * b->value(x - 1);
    }
};

__global__ void evaluate(float *out)
{
    Variable x;
    Sum sum(&x, &x);
    Product square(&sum, &x);
    Sum both(&square, &sum);
    Product all(&both, &square);
    const Node *nodes[] = {&x, &sum, &square, &both, &all};
    out[threadIdx.x] = nodes[threadIdx.x % 5]->value((float)threadIdx.x);
}

static float expected(int node, float x)
{
    switch (node) {
    case 0:
        return x;
    case 1:
        return x + (x + 1);
    case 2:
        return expected(1, x) * (x - 1);
    case 3:
        return expected(2, x) + expected(1, x + 1);
    default:
        return expected(3, x) * expected(2, x - 1);
    }
}

static void virtual_test()
{
    float *device, host[70];
    cudaMalloc(&device, sizeof host);
    evaluate<<<1, 70>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    bool right = true;
    for (int i = 0; i < 70; i++)
        right &= host[i] == expected(i % 5, (float)i);
    tell("virtual", right);
    cudaFree(device);
}

// ---- threads that end within a call, and shuffles and printf in one ----
__device__ int countdown(int n, int stop)
{
    if (n == stop) asm volatile("exit;");
    if (n == 0) return __reduce_add_sync(__activemask(), 1);
    return countdown(n - 1, stop) + n;
}

__global__ void leave(int *out)
{
    out[threadIdx.x] = -1;
    int sum = countdown(threadIdx.x % 7, threadIdx.x % 2 ? 3 : -1);
    if (threadIdx.x == 6) printf("countdown %d\n", sum);
    out[threadIdx.x] = sum;
}

static void exit_test()
{
    int *device, host[32];
    cudaMalloc(&device, sizeof host);
    leave<<<1, 32>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    bool right = true;
    for (int i = 0; i < 32; i++) {
        int n = i % 7, sum = n * (n + 1) / 2;
        bool ended = i % 2 && n >= 3;
        right &= ended ? host[i] == -1 : host[i] > sum;
    }
    tell("exit", right);
    cudaFree(device);
}

// ---- a sorted list and a search tree, built, traversed and freed by each thread ----
struct Link {
    Link *next;
    int value;
};

__device__ int list_sum(int count, int seed)
{
    Link *first = nullptr;
    for (int i = 0; i < count; i++) {
        Link *link = new Link;
        link->value = (i * 37 + seed) % 101;
        Link **at = &first;
        while (*at && (*at)->value < link->value)
            at = &(*at)->next;
        link->next = *at;
        *at = link;
    }
    int sum = 0, place = 1;
    while (first) {
        Link *next = first->next;
        sum += first->value * place++;
        delete first;
        first = next;
    }
    return sum;
}

struct Tree {
    Tree *left, *right;
    int key;
};

__device__ Tree *tree_insert(Tree *tree, int key)
{
    if (!tree) {
        tree = (Tree *)malloc(sizeof *tree);
        *tree = {nullptr, nullptr, key};
    } else if (key < tree->key) {
        tree->left = tree_insert(tree->left, key);
    } else {
        tree->right = tree_insert(tree->right, key);
    }
    return tree;
}

/* In order: the n-th key counts n times. Gives the tree back. */
__device__ int tree_sum(Tree *tree, int *place)
{
    if (!tree) return 0;
    int left = tree_sum(tree->left, place), own = tree->key * ++*place;
    int sum = left + own + tree_sum(tree->right, place);
    free(tree);
    return sum;
}

__global__ void heap(int *lists, int *trees, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, place = 0;
    lists[i] = list_sum(count, i);
    Tree *tree = nullptr;
    for (int k = 0; k < count; k++)
        tree = tree_insert(tree, (k * 37 + i) % 101);
    trees[i] = tree_sum(tree, &place);
}

static void heap_test()
{
    const int threads = 128, count = 20;
    int *device, host[2 * threads];
    cudaMalloc(&device, sizeof host);
    heap<<<2, threads / 2>>>(device, device + threads, count);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    bool right = true;
    for (int t = 0; t < threads; t++) {
        std::vector<int> keys(count);
        int sum = 0;
        for (int k = 0; k < count; k++)
            keys[k] = (k * 37 + t) % 101;
        std::sort(keys.begin(), keys.end());
        for (int k = 0; k < count; k++)
            sum += keys[k] * (k + 1);
        right &= host[t] == sum && host[threads + t] == sum;
    }
    tell("heap", right);
    cudaFree(device);
}

__device__ int *kept[3];

__global__ void keep()
{
    kept[threadIdx.x] = new int(threadIdx.x);
}

__global__ void give_back(int *out)
{
    out[threadIdx.x] = *kept[threadIdx.x];
    if (threadIdx.x) delete kept[threadIdx.x];
}

/* The heap is the device's: a later kernel finds what an earlier one left there. */
static void lost_test()
{
    int *device, host[3];
    cudaMalloc(&device, sizeof host);
    keep<<<1, 3>>>();
    give_back<<<1, 3>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    tell("lost", host[0] == 0 && host[1] == 1 && host[2] == 2);
    cudaFree(device);
}

// ---- the stack's end ----
__device__ int descend(const int *next, int at)
{
    return next[at] < 0 ? at : descend(next, next[at]) + next[at] % 3;
}

__global__ void deep(const int *next, int *out)
{
    *out = descend(next, 0);
}

static void deep_test(size_t stack)
{
    const int length = 500;
    std::vector<int> next(length);
    int sum = length - 1, got = 0, *device;
    for (int i = 0; i < length; i++) {
        next[i] = i + 1 < length ? i + 1 : -1;
        sum += next[i] < 0 ? 0 : next[i] % 3;
    }
    if (stack) cudaDeviceSetLimit(cudaLimitStackSize, stack);
    cudaMalloc(&device, (length + 1) * sizeof(int));
    cudaMemcpy(device, next.data(), length * sizeof(int), cudaMemcpyHostToDevice);
    deep<<<1, 1>>>(device, device + length);
    cudaError_t error = cudaMemcpy(&got, device + length, sizeof got, cudaMemcpyDeviceToHost);
    printf("%s\n", cudaGetErrorName(error));
    tell("deep", error == cudaSuccess && got == sum);
    if (error == cudaSuccess) cudaFree(device);
}

int main(int count, char **argument)
{
    if (count > 1 && strcmp(argument[1], "lost") == 0) {
        lost_test();
    } else if (count > 1) {
        deep_test(strcmp(argument[1], "deeper") == 0 ? 64 << 10 : 0);
    } else {
        numbers_test();
        quicksort_test();
        permutations_test();
        virtual_test();
        exit_test();
        heap_test();
    }
    return failed;
}
