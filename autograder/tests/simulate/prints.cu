// prints.cu - ./prints [launches]: each prints 1,000 lines; "flood" prints more in one than a
// launch's buffer holds.
#include <cstdio>
#include <cstdlib>

__global__ void lines(int launch)
{
    printf("%d %d\n", launch, threadIdx.x);
}

int main(int argc, char **argv)
{
    int launches = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < launches; i++)
        lines<<<1, 1000>>>(i);
    if (!launches) lines<<<50, 1000>>>(0);
    return cudaDeviceSynchronize();
}
