"""bindings_add.py [outside]: a kernel that cuda-python compiles with NVRTC and launches."""

import ctypes
import sys

import numpy as np
from cuda.bindings import driver, nvrtc


def good(result):
    assert int(result[0]) == 0, result
    return result[1] if len(result) == 2 else result[1:]


source = b'''extern "C" __global__ void add(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] += a[i];
}'''
program = good(nvrtc.nvrtcCreateProgram(source, b"add.cu", 0, [], []))
good(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_90"]))
ptx = b" " * good(nvrtc.nvrtcGetPTXSize(program))
good(nvrtc.nvrtcGetPTX(program, ptx))
good(driver.cuInit(0))
device = good(driver.cuDeviceGet(0))
context = good(driver.cuDevicePrimaryCtxRetain(device))
good(driver.cuCtxSetCurrent(context))
module = good(driver.cuModuleLoadData(ptx))
add = good(driver.cuModuleGetFunction(module, b"add"))
n = 1000 + (len(sys.argv) > 1) * 24
host = np.arange(1000, dtype=np.float32)
a = good(driver.cuMemAlloc(host.nbytes))
b = good(driver.cuMemAlloc(host.nbytes))
good(driver.cuMemcpyHtoD(a, host.ctypes.data, host.nbytes))
good(driver.cuMemcpyHtoD(b, host.ctypes.data, host.nbytes))
parameters = ((a, b, n), (None, None, ctypes.c_int))
good(driver.cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, 0, parameters, 0))
result = np.zeros_like(host)
good(driver.cuMemcpyDtoH(result.ctypes.data, b, host.nbytes))
print("right" if (result == 2 * host).all() else "wrong")
good(driver.cuMemFree(a))
good(driver.cuMemFree(b))
