#!/bin/sh
# check.sh BUILD - simnvcc builds projects of several files, with make and with CMake.
set -eu
. autograder/tests/lib.sh
simnvcc=$build/bin/simnvcc
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
cc=$(sed -n 's/^CC=//p' "$build/toolchain.env")
command -v jq >/dev/null || skip 'no jq: sudo apt-get install jq'
script=$(realpath common/setup/simnvcc.sh)
cd "$work"

cat >add.h <<'EOF'
void add_launch(int n, const float *a, float *b);
EOF
cat >add.cu <<'EOF'
#include "add.h"
__global__ void add(int n, const float *a, float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n + EXTRA) b[i] += a[i];
}
void add_launch(int n, const float *a, float *b)
{
    add<<<(n + 255) / 256, 256>>>(n, a, b);
}
EOF
cat >main.cu <<'EOF'
#include "add.h"
#include <cstdio>
#include <vector>
int main(int argc, char **argv)
{
    const int n = 1000;
    std::vector<float> host(n, 1.0f);
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMemcpy(a, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(b, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    add_launch(n, a, b);
    cudaMemcpy(host.data(), b, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%g %s\n", host[n - 1], argc > 1 ? argv[1] : "");
    cudaFree(a), cudaFree(b);
    return 0;
}
EOF
cat >Makefile <<'EOF'
EXTRA = 0
prog: main.o libadd.a
	$(NVCC) -o $@ main.o -L. -ladd -lcudart
libadd.a: add.o
	ar rcs $@ $^
%.o: %.cu
	$(NVCC) -O2 -arch=sm_86 -rdc=true -Xcompiler -Wall,-Wextra -DEXTRA=$(EXTRA) -c $< -o $@
EOF
cat >CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.18)
project(adding LANGUAGES CXX CUDA)
add_compile_definitions(EXTRA=0)
add_library(static_add STATIC add.cu)
set_target_properties(static_add PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
add_library(shared_add SHARED add.cu)
add_executable(with_static main.cu)
target_link_libraries(with_static static_add)
add_executable(with_shared main.cu)
target_link_libraries(with_shared shared_add)
EOF
# Device code of one file calls another's and uses its variables.
mkdir relocatable
cat >relocatable/table.h <<'EOF'
extern __device__ float scale(float x);
extern __device__ int calls;
extern __constant__ float factors[2];
template <typename T> __device__ __noinline__ T twice(T x) { return x + x; }
EOF
cat >relocatable/table.cu <<'EOF'
#include "table.h"
#include <cstdio>
static __device__ int offset = 3;
__device__ int calls = 5;
__constant__ float factors[2] = {1, 10};
__device__ float scale(float x)
{
    atomicAdd(&calls, 1);
    if (x == 0) printf("zero\n");
    return twice(x) * factors[1] + offset;
}
EOF
cat >relocatable/main.cu <<'EOF'
#include "table.h"
#include <cstdio>
static __device__ int offset = 100;
__global__ void run(float *y, int n)
{
    int i = threadIdx.x;
    if (i == 1) printf("one\n");
    y[i + n] = scale(twice((float)i)) + offset;
}
int main(int argc, char **argv)
{
    float *y, host[32], factor = 20;
    int count;
    cudaMalloc(&y, sizeof host);
    cudaMemcpyToSymbol(factors, &factor, sizeof factor, sizeof factor);
    run<<<1, 32>>>(y, argc - 1);
    cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&count, calls, sizeof count);
    printf("%g %g %d\n", host[0], host[31], count);
    cudaFree(y);
    return 0;
}
EOF
cat >relocatable/Makefile <<'EOF'
all: whole steps
whole: main.o libtable.a
	$(NVCC) -arch=sm_80 -o $@ main.o -L. -ltable
steps: main.o table.o
	$(NVCC) -arch=sm_80 -dlink -o linked.o main.o table.o
	$(NVCC) -arch=sm_80 -o $@ main.o table.o linked.o
libtable.a: table.o
	$(NVCC) -lib -o $@ $^
%.o: %.cu
	$(NVCC) -arch=sm_80 -dc $< -o $@
EOF
cat >relocatable/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.18)
project(relocatable LANGUAGES CXX CUDA)
set(CMAKE_CUDA_SEPARABLE_COMPILATION ON)
add_library(table STATIC table.cu)
add_executable(prog main.cu)
target_link_libraries(prog table)
EOF
set +e

# NVCC=simnvcc in the environment, for other projects, may reach the workbook's build.
mkdir own
echo "NVCC=$simnvcc" >own/toolchain.env
! timeout 10 sh "$script" own --version 2>said && grep -q 'NVCC in own/toolchain.env is simnvcc itself' said
tell refuses-itself-as-nvcc

# The variables of the outer make are not those of the project.
project()
{
    env -u MAKEFLAGS -u MAKELEVEL -u CFLAGS make "$@"
}
project NVCC="$simnvcc" >said 2>&1 && ./prog word >out 2>err && [ "$(cat out)" = "2 word" ] &&
    grep -q 'cycles on the simulated h200' err && grep -q '^    add  ' err
tell a-project-with-a-makefile
# As CMake's find_package(CUDA) next to the language CUDA does.
"$simnvcc" -o both main.o add.o "$build/simnvcc/libcudart_static.a" "$build/simnvcc/libcudart.so" >said 2>&1 &&
    [ "$(./both word 2>err)" = "2 word" ] && [ "$(grep -c 'cycles on the simulated' err)" = 1 ]
tell a-link-with-both-runtimes
# Older C files call functions that CUDA 12 removed, without a declaration.
cat >old.c <<'EOF'
int main(void) { return cudaThreadSynchronize() + cudaThreadExit(); }
EOF
"$cc" -std=gnu89 -Wno-implicit-function-declaration -c old.c -o old.o && "$simnvcc" -o old old.o >said 2>&1 && ./old 2>err
tell removed-functions-in-a-c-file
(mkdir elsewhere && cd elsewhere && SIMULATE_GPU=titanv ../prog) >out 2>err && grep -q 'simulated titanv' err
tell another-folder-and-machine
project -B NVCC="$simnvcc" EXTRA=1 >said 2>&1 && ! ./prog >out 2>err && grep -q 'past the end of a' err && grep -q 'add.cu:5' err
tell a-finding-names-its-line-and-sets-the-status
linked()
{
    [ "$(relocatable/"$1" 2>err)" = "$(printf 'one\nzero\n103 2583 37')" ] && grep -q 'cycles on the simulated' err
}
project -C relocatable NVCC="$simnvcc" >said 2>&1 && linked whole && linked steps
tell device-code-of-several-files
! relocatable/whole past >out 2>err && grep -q 'past the end of' err && grep -q 'main.cu:8' err
tell a-finding-in-linked-code-names-its-line
command -v cmake >/dev/null || skip 'no cmake: sudo apt-get install cmake'
cmake -S . -B cmake -DCMAKE_CUDA_COMPILER="$simnvcc" -DCMAKE_CUDA_ARCHITECTURES=80 >said 2>&1 && cmake --build cmake >>said 2>&1 &&
    [ "$(cmake/with_static 2>err)" = '2 ' ] && grep -q 'simulated h200' err && [ "$(cmake/with_shared 2>err)" = '2 ' ] &&
    [ "$(grep -c 'cycles on the simulated' err)" = 1 ]
tell a-project-with-cmake
cmake -S relocatable -B relink -DCMAKE_CUDA_COMPILER="$simnvcc" -DCMAKE_CUDA_ARCHITECTURES=80 >said 2>&1 &&
    cmake --build relink >>said 2>&1 && [ "$(relink/prog 2>err | tail -n 1)" = '103 2583 37' ]
tell separable-compilation-with-cmake
! "$simnvcc" -arch=sm_100 -c add.cu >said 2>&1 && grep -q 'sm_100 are newer than every simulated machine' said && [ ! -e add.o.tmp ]
tell a-newer-architecture-is-refused
"$simnvcc" -gencode arch=compute_75,code=sm_75 -gencode arch=compute_120,code=sm_120 -DEXTRA=0 --dryrun -c add.cu >said 2>&1 &&
    grep -q 'arch compute_75' said && ! grep -q 'compute_120' said
tell the-newest-possible-architecture-is-chosen
"$simnvcc" -arch=sm_20 -DEXTRA=0 -c add.cu -o old.o >said 2>&1
tell an-architecture-that-nvcc-dropped
"$simnvcc" --version >said 2>&1 && "$nvcc" --version | cmp -s - said
tell version-is-that-of-nvcc
! sh "$OLDPWD/common/setup/simnvcc.sh" "$work/nowhere" -c add.cu >said 2>&1 && grep -q 'run make simnvcc' said
tell a-missing-library-is-named

# ---- the report's settings ----
cat >faults.cu <<'EOF'
#include <simcuda.h>
const SimcudaSettings simcuda_settings = {.gpu = "titanv"};
__global__ void past(float *x)
{
    if (threadIdx.x == 0) x[threadIdx.x] = x[1];
}
__global__ void turn(float *x)
{
    __shared__ float part[64];
    part[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = part[63 - threadIdx.x];
}
int main()
{
    float *x;
    cudaMalloc(&x, 256);
    cudaMemset(x, 0, 256);
    turn<<<1, 64>>>(x);
    turn<<<1, 64>>>(x);
    past<<<1, 32>>>(x);
    cudaDeviceSynchronize();
    cudaFree(x);
    return 0;
}
EOF
"$simnvcc" -o faults faults.cu >said 2>&1 && ! SIMULATE_REPORT=all.sarif ./faults 2>err && grep -q 'simulated titanv' err &&
    jq -e '.runs[0].results | length == 3 and .[0].ruleId == "racecheck" and .[0].occurrenceCount == 2
        and .[0].locations[0].physicalLocation == {artifactLocation: {uri: "faults.cu"}, region: {startLine: 10}}' all.sarif >said
tell a-report-in-sarif-and-settings-of-the-program
! SIMULATE_REPORT=all.supp ./faults 2>err && SIMULATE_SUPPRESSIONS=all.supp SIMULATE_REPORT=all.json ./faults 2>err &&
    grep -q 'suppressed 2 findings by \[finding-1\]' err && jq -e 'all(.findings[]; .suppressed)' all.json >said
tell a-report-suppresses-its-findings
mkdir reports && mv all.sarif reports
! sh "$OLDPWD/common/setup/ci/annotate.sh" github reports >said && grep -q '^::error file=faults.cu,line=10,title=racecheck::Race reported.*%0Alaunch 1 of' said
tell annotations-for-github
! sh "$OLDPWD/common/setup/ci/annotate.sh" gitlab reports >said && jq -e 'length == 3 and all(.[]; .severity == "critical" and .location.path == "faults.cu")' said >out
tell a-report-for-gitlab
SIMULATE_SUPPRESSIONS=all.supp SIMULATE_REPORT=reports/all.sarif ./faults 2>err && sh "$OLDPWD/common/setup/ci/annotate.sh" github reports >said && [ ! -s said ]
tell suppressed-findings-are-not-annotated
printf '[a]\ncolour = red\n' >bad.supp
! SIMULATE_SUPPRESSIONS=bad.supp ./faults >out 2>err && grep -q "bad.supp:2: unknown key 'colour'" err
tell an-unknown-key-of-a-suppression

# ---- the installed tool, from elsewhere ----
(cd "$OLDPWD" && sh common/setup/install/install.sh "$build" "$work/opt") >said 2>&1 && mkdir away && cd away &&
    "$work/opt/bin/simnvcc" -o faults ../faults.cu >../said 2>&1 && cd .. &&
    ! "$work/opt/bin/simrun" --gpu h200 --kernel 'tu*' --launch 2 --report two.json away/faults 2>err &&
    grep -q 'simulated h200' err && jq -e '.findings | length == 3 and all(.[]; .count == 1 and .kernel == "turn")' two.json >said
tell installed-with-filters
"$work/opt/bin/simrun" --kernel past away/faults 2>err && ! grep -q 'a check found' err
tell findings-of-other-kernels-are-not-reported
"$work/opt/bin/simrun" --launches 1 --report one.json away/faults 2>err
jq -e '[.findings[].count] | add == 3' one.json >said
tell the-first-launch-only
! "$work/opt/bin/simrun" --launch two away/faults >out 2>err && grep -q "takes a number, not 'two'" err &&
    ! "$work/opt/bin/simrun" --report x.txt away/faults >out 2>err && grep -q 'ends with .json' err
tell bad-options-are-named
cat >host.c <<'EOF'
#include <cuda_runtime_api.h>
int main(void)
{
    void *memory;
    return cudaMalloc(&memory, 100) || cudaFree(memory);
}
EOF
if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH="$work/opt/lib/pkgconfig"
    # shellcheck disable=SC2046 # flags
    "$cc" $(pkg-config --cflags simcuda) -o host host.c $(pkg-config --libs simcuda) >said 2>&1 && ./host 2>err && grep -q 'simulated h200' err
    tell a-c-program-with-pkg-config
fi
mkdir package && cp host.c package && cat >package/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.18)
project(host LANGUAGES C CXX)
find_package(simcuda REQUIRED)
add_executable(host host.c)
set_target_properties(host PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(host simcuda::simcuda)
EOF
cmake -S package -B packaged -DCMAKE_PREFIX_PATH="$work/opt" >said 2>&1 && cmake --build packaged >>said 2>&1 && packaged/host 2>err &&
    grep -q 'simulated h200' err
tell a-cmake-package
if command -v man >/dev/null; then
    [ -z "$(man --warnings -l "$work/opt/share/man/man1/simnvcc.1" 2>&1 >said)" ] && grep -q SIMULATE_REPORT said
    tell the-manual-page-is-well-formed
else
    echo "# $room/the-manual-page-is-well-formed did not run: there is no man"
fi
exit "$failed"
