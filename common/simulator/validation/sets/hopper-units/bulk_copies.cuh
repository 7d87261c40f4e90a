/* bulk_copies.cuh - bulk copies of contiguous bytes (part of hopper-units.cu). */

/* Block b copies segments b, b + blocks, ... of the first `span`, DEPTH at a time, and adds
 * them. */
template <int BYTES, int DEPTH>
__global__ void bulk_kernel(const unsigned char *x, float *y, int pieces, int span)
{
    __shared__ uint64_t full[DEPTH];
    unsigned char *stages = aligned_shared();
    if (threadIdx.x == 0)
        for (int s = 0; s < DEPTH; s++)
            barrier_init(&full[s], 1);
    barriers_show();
    __syncthreads();
    auto ask = [&](int i) {
        barrier_expect(&full[i % DEPTH], BYTES);
        bulk_load(stages + i % DEPTH * BYTES,
                  x + (size_t)((i * gridDim.x + blockIdx.x) % span) * BYTES, BYTES,
                  &full[i % DEPTH]);
    };
    if (threadIdx.x == 0)
        for (int i = 0; i < DEPTH; i++)
            ask(i);
    float sum = 0;
    for (int i = 0; i < pieces; i++) {
        const float *stage = (const float *)(stages + i % DEPTH * BYTES);
        barrier_wait(&full[i % DEPTH], i / DEPTH % 2);
        for (int j = threadIdx.x; j < BYTES / 4; j += blockDim.x)
            sum += stage[j];
        __syncthreads();
        if (threadIdx.x == 0 && i + DEPTH < pieces) ask(i + DEPTH);
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Block b stores segments b, b + blocks, ..., two at a time, or adds them to what is there. */
template <int BYTES, bool ADDS>
__global__ void bulk_store_kernel(unsigned char *y, int pieces, int span)
{
    unsigned char *stage = aligned_shared();
    shared_fill(stage, BYTES);
    if (threadIdx.x) return;
    for (int i = 0; i < pieces; i++) {
        unsigned char *to = y + (size_t)((i * gridDim.x + blockIdx.x) % span) * BYTES;
        if (ADDS)
            bulk_add((float *)to, stage, BYTES);
        else
            bulk_store(to, stage, BYTES);
        stores_wait<1>();
    }
    stores_wait<0>();
}

static void bulk()
{
#define X ((const unsigned char *)source)
#define Y ((unsigned char *)target)
    roomy(bulk_kernel<16384, 4>), roomy(bulk_kernel<8192, 8>);
    ENTER(FIT, "bulk-copy", "bulk-1k-alone",
          bulk_kernel<1024, 1><<<SMS, 128, 2048>>>(X, target, 64, 64));
    ENTER(FIT, "bulk-copy", "bulk-4k-4",
          bulk_kernel<4096, 4><<<SMS, 128, 17 * 1024>>>(X, target, 48, 8192));
    ENTER(FIT, "bulk-copy", "bulk-16k-4",
          bulk_kernel<16384, 4><<<SMS, 256, 66 * 1024>>>(X, target, 14, 2048));
    ENTER(FIT, "bulk-copy", "bulk-256-8",
          bulk_kernel<256, 8><<<SMS, 64, 4096>>>(X, target, 128, 1 << 17));
    ENTER(REGRESSION, "bulk-copy", "bulk-512-2",
          bulk_kernel<512, 2><<<SMS, 128, 2048>>>(X, target, 96, 1 << 16));
    ENTER(REGRESSION, "bulk-copy", "bulk-2k-2-blocks",
          bulk_kernel<2048, 2><<<SMS * 4, 128, 5 * 1024>>>(X, target, 24, 1 << 14));
    ENTER(REGRESSION, "bulk-copy", "bulk-8k-8",
          bulk_kernel<8192, 8><<<SMS, 256, 66 * 1024>>>(X, target, 24, 4096));
    ENTER(REGRESSION, "bulk-copy", "bulk-8k-8-again",
          bulk_kernel<8192, 8><<<SMS, 256, 66 * 1024>>>(X, target, 40, 256));
    ENTER(FIT, "bulk-store", "bulk-store-4k",
          bulk_store_kernel<4096, false><<<SMS, 128, 8192>>>(Y, 32, 8192));
    ENTER(FIT, "bulk-store", "bulk-add-4k",
          bulk_store_kernel<4096, true><<<SMS, 128, 8192>>>(Y, 32, 8192));
    ENTER(FIT, "bulk-store", "bulk-store-512",
          bulk_store_kernel<512, false><<<SMS, 128, 2048>>>(Y, 96, 1 << 16));
    ENTER(FIT, "bulk-store", "bulk-store-2k",
          bulk_store_kernel<2048, false><<<SMS, 128, 4096>>>(Y, 48, 1 << 14));
    ENTER(REGRESSION, "bulk-store", "bulk-add-512",
          bulk_store_kernel<512, true><<<SMS, 128, 2048>>>(Y, 64, 1 << 16));
    ENTER(REGRESSION, "bulk-store", "bulk-store-16k",
          bulk_store_kernel<16384, false><<<SMS, 256, 18 * 1024>>>(Y, 12, 2048));
    ENTER(REGRESSION, "bulk-store", "bulk-store-1k",
          bulk_store_kernel<1024, false><<<SMS, 128, 2048>>>(Y, 64, 1 << 15));
    ENTER(REGRESSION, "bulk-store", "bulk-add-2k",
          bulk_store_kernel<2048, true><<<SMS, 128, 4096>>>(Y, 48, 1 << 14));
#undef X
#undef Y
}
