/* dependent_launches.cuh - launches that overlap (programmatic dependent launch) (part of
 * hopper-units.cu). */

/* One step of a chain: work of its own, then what depends on the launch before. */
template <bool EARLY> __global__ void link_step_kernel(const float *x, float *y, int work)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i;
    if (EARLY) asm volatile("griddepcontrol.launch_dependents;");
    for (int k = 0; k < work; k++)
        sum = sum * 0.5f + 1.0f;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    y[i] = x[i] + sum;
}

/* Half of the work is done before the launch waits, half of it after; the next may begin when the
 * first half is done. */
__global__ void link_halves_kernel(const float *x, float *y, int work)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i;
    for (int k = 0; k < work / 2; k++)
        sum = sum * 0.5f + 1.0f;
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    sum += x[i];
    for (int k = 0; k < work / 2; k++)
        sum = sum * 0.5f + 1.0f;
    y[i] = sum;
}

typedef void LinkKernel(const float *x, float *y, int work);

template <LinkKernel *KERNEL> static void links(int count, int blocks, int work)
{
    cudaLaunchAttribute overlaps = {};
    overlaps.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlaps.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks, config.blockDim = 256;
    config.attrs = &overlaps, config.numAttrs = 1;
    for (int i = 0; i < count; i++)
        cudaLaunchKernelEx(&config, KERNEL, (const float *)target, target, work);
}

static void chains()
{
#define EARLY  link_step_kernel<true>
#define LATE   link_step_kernel<false>
#define HALVES link_halves_kernel
    ENTER(FIT, "dependent-launch", "chain-4-late", links<LATE>(4, SMS, 2048));
    ENTER(FIT, "dependent-launch", "chain-4-early", links<EARLY>(4, SMS, 2048));
    ENTER(FIT, "dependent-launch", "chain-5-halves", links<HALVES>(5, SMS, 2048));
    ENTER(FIT, "dependent-launch", "chain-3-early-waves", links<EARLY>(3, SMS * 12, 512));
    ENTER(REGRESSION, "dependent-launch", "chain-8-early", links<EARLY>(8, SMS * 2, 1024));
    ENTER(REGRESSION, "dependent-launch", "chain-6-late", links<LATE>(6, SMS * 4, 512));
    ENTER(REGRESSION, "dependent-launch", "chain-4-halves", links<HALVES>(4, SMS * 4, 1024));
    ENTER(REGRESSION, "dependent-launch", "chain-6-early-small", links<EARLY>(6, 32, 1024));
#undef EARLY
#undef LATE
#undef HALVES
}

/* The part that every time includes. */
__global__ void empty_kernel()
{
}
