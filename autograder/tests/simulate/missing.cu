// Asks for calls that the workbook's runtime does not have.
#include <cuda_runtime.h>

int main()
{
    cudaIpcMemHandle_t handle;
    void *memory;
    cudaMalloc(&memory, 256);
    cudaIpcGetMemHandle(&handle, memory);
    return cudaIpcCloseMemHandle(memory);
}
