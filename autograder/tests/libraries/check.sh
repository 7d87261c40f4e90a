#!/bin/sh
# check.sh BUILD - programs that use CUDA's libraries and names that CUDA removed.
set -u
. autograder/tests/lib.sh
here=$PWD/autograder/tests/libraries

mkdir "$work/build"
for link in "$build"/*; do ln -s "$link" "$work/build/"; done
rm -f "$work/build/simulate"

# run STATUS PROGRAM ARGS: fails unless it ends with that status.
run()
{
    status=0
    NVCCFLAGS=${flags:-} sh common/setup/simulate.sh "$work/build" "$here/$2" "${3:-}" \
        >"$work/out" 2>"$work/err" || status=$?
    [ "$status" = "$1" ]
}
says() { grep -q -- "$1" "$work/err"; }
skips=
has() { ldconfig -p | grep -q "$1"; }

run 0 removed.cu '-size=12 --fast -name=x' && grep -qx 'all right' "$work/out"
tell removed-names-and-helpers
run 1 removed.cu '-size=13' && grep -q 'failures' "$work/out"
tell the-test-of-removed-names-can-fail
printf '3\n1\n2\n3\n' >"$work/a.raw"
printf '3\n10\n20\n30\n' >"$work/b.raw"
printf '3\n11\n22\n33\n' >"$work/sum.raw"
run 0 course.cu "-i $work/a.raw,$work/b.raw -e $work/sum.raw -o $work/c.raw -t vector" &&
    grep -qx 'The solution is correct' "$work/out" && cmp -s "$work/c.raw" "$work/sum.raw" &&
    run 3 course.cu "-i $work/a.raw,$work/b.raw -e $work/a.raw" &&
    grep -q 'wrong at element 0: expected 1, got 11' "$work/out"
tell a-program-with-wb.h

run 0 blas.cu && grep -qx 'all right' "$work/out" && says 'not priced.*cublasHgemm 8'
tell cublas
# The headers of a toolkit without libraries.
flags="-I$PWD/common/include/cuda" run 0 blas.cu && grep -qx 'all right' "$work/out"
tell cublas-with-its-own-header
run 1 blas.cu unwritten && says 'memory read by cublasSaxpy: nothing has written' &&
    says 'called at blas.cu:'
tell cublas-reads-unwritten-memory
run 1 blas.cu outside && says 'are more than the 400 that are there' &&
    grep -qx CUBLAS_STATUS_EXECUTION_FAILED "$work/out"
tell cublas-past-the-end
run 1 blas.cu late && says 'Race reported'
tell cublas-on-a-stream-that-nothing-orders
run 0 rand.cu && grep -qx 'all right' "$work/out" && says 'not priced.*curandGenerateUniform 10'
tell curand

cat >"$work/main.cu" <<'END'
#include <cstdio>
#include <cublas_v2.h>
#include <curand.h>
int main()
{
    cublasHandle_t handle;
    curandGenerator_t generator;
    float *x, sum;
    cudaMalloc(&x, 400);
    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
    curandGenerateUniform(generator, x, 100);
    cublasCreate(&handle);
    cublasSasum(handle, 100, x, 1, &sum);
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    printf("%d\n", sum > 30 && sum < 70 && properties.clockRate > 0);
    return 0;
}
END
(cd "$work" && "$build/bin/simnvcc" -arch=sm_80 main.cu -o prog -lcublas -lcurand -lcublasLt) \
    >"$work/said" 2>&1 &&
    [ "$("$work/prog" 2>"$work/err")" = 1 ] && says 'cublasSasum 1'
tell simnvcc-links-the-libraries
nm "$work/prog" | grep -q cublasSasum_v2 &&
    ! nm "$work/prog" | grep -q 'cublasSgemm_v2\|cufftPlan1d'
tell only-what-a-program-uses-is-linked

# The driver API: kernels from a file of PTX.
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
cat >"$work/scale.cu" <<'END'
__device__ float factor = 1;
extern "C" __global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
END
"$nvcc" -arch=compute_80 -lineinfo -ptx "$work/scale.cu" -o "$work/scale.ptx" 2>"$work/said" &&
    run 0 driver.cu "$work/scale.ptx" && grep -qx 'all right' "$work/out" && says '^    scale  *2 '
tell driver
(cd "$work" && "$build/bin/simnvcc" --cubin -arch=sm_80 scale.cu) >"$work/said" 2>&1 &&
    run 0 driver.cu "$work/scale.cubin" && grep -qx 'all right' "$work/out" && says '^    scale  *2 '
tell driver-loads-a-cubin-of-simnvcc
run 1 driver.cu "$work/scale.ptx outside" && says 'Invalid __global__ read' && says 'scale.cu:5'
tell driver-checks-name-the-kernels-line

# NVIDIA's wheels of the compiler have no nvrtc.h.
echo '#include <nvrtc.h>' >"$work/has.cu"
if "$nvcc" -E "$work/has.cu" >"$work/said" 2>&1; then
    run 0 nvrtc.cu && grep -qx 'all right' "$work/out" && says '^    scale  *1 '
    tell nvrtc
else
    echo "# $room/nvrtc did not run: the compiler has no nvrtc.h"
fi

if has 'libfftw3f\.so\.3' && has 'libfftw3\.so\.3'; then
    run 0 fft.cu && grep -qx 'all right' "$work/out" && says 'not priced.*cufftExecC2C'
    tell cufft
else
    skips="$skips; cufft: no FFTW: sudo apt-get install libfftw3-single3 libfftw3-double3"
fi

# Python packages, from PyPI once per build folder, into build/python.
python=$build/python/bin/python
if ! "$python" -c 'import numba, cuda.bindings' 2>/dev/null; then
    rm -rf "$build/python"
    python3 -m venv "$build/python" >"$work/said" 2>&1 &&
        "$python" -m pip install -q numba==0.68.1 cuda-bindings==13.5.0 >>"$work/said" 2>&1
fi
# python_run STATUS SCRIPT ARGS: as run.
python_run()
{
    wanted=$1
    shift
    status=0
    LD_LIBRARY_PATH=$build/simcuda CUDA_HOME=$(dirname "$(dirname "$nvcc")") \
        "$python" "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" = "$wanted" ]
}
if "$python" -c 'import numba, cuda.bindings' 2>>"$work/said"; then
    python_run 0 "$here/numba_add.py" && grep -qx right "$work/out" && says '^    add  *1 '
    tell numba
    python_run 1 "$here/numba_add.py" outside && says 'Invalid __global__ read' &&
        says 'numba_add.py:13'
    tell numba-findings-name-the-line
    python_run 0 "$here/bindings_add.py" && grep -qx right "$work/out" && says '^    add  *1 '
    tell cuda-python
    python_run 1 "$here/bindings_add.py" outside && says 'Invalid __global__ read' &&
        says 'add.cu:4'
    tell cuda-python-findings-name-the-line
else
    skips="$skips; Numba and cuda-python: pip install numba cuda-bindings failed"
fi
[ -z "$skips" ] || [ "$failed" != 0 ] || skip "${skips#; }"
exit "$failed"
