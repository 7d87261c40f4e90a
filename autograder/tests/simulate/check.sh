#!/bin/sh
# check.sh BUILD - make simulate: programs of their own on the simulated GPU, right ones and wrong
# ones.
set -u
. autograder/tests/lib.sh
here=autograder/tests/simulate

# A build folder of its own for the programs, with the libraries of the real one.
mkdir "$work/build"
for link in "$build"/*; do ln -s "$link" "$work/build/"; done
rm -f "$work/build/simulate"
build=$work/build

# run STATUS PROGRAM ARGS: fails unless it ends with that status.
run() {
    status=0
    GPU=${gpu:-} NVCCFLAGS=${flags:-} sh common/setup/simulate.sh "$build" "$2" "${3:-}" >"$work/out" 2>"$work/err" ||
        status=$?
    [ "$status" = "$1" ]
}
says() { grep -q -- "$1" "$work/err"; }

# Not compiled again, but when a file that it is made of is another.
echo '#define WORDS "one"' >"$work/own words.h"
printf '#include <cstdio>\n#include "own words.h"\nint main() { puts(WORDS); }\n' >"$work/own.cu"
run 0 "$work/own.cu" && grep -qx one "$work/out" && before=$(ls -i "$build"/simulate/*/program) &&
    run 0 "$work/own.cu" &&
    [ "$(ls -i "$build"/simulate/*/program)" = "$before" ] &&
    echo '#define WORDS "two"' >"$work/own words.h" && run 0 "$work/own.cu" &&
    grep -qx two "$work/out"
tell compiled-once-and-again-where-a-file-changed
echo '// another' >>"$work/own.cu"
TMPDIR=/none run 0 "$work/own.cu" && grep -qx two "$work/out" && ! ls -d "$build"/simulate/part.* 2>>"$work/err"
tell no-folder-for-what-lasts-a-moment
flags='-Xcompiler -fsanitize=address,-g -Xcompiler=-fopenmp' run 1 $here/host.cu 64 &&
    says 'AddressSanitizer: heap-buffer-overflow' && says 'host.cu:22' &&
    flags='-Xcompiler -fopenmp' run 0 $here/host.cu 63 && grep -qx '64 by two threads' "$work/out"
tell what-the-host-compiler-is-told-is-linked
flags='-fsanitize=address' run 2 $here/host.cu && says 'after -Xcompiler' &&
    flags='-ptx' run 2 $here/host.cu && says '^simulate: -ptx in NVCCFLAGS'
tell options-that-no-program-comes-of
gpu=gtx1080ti run 0 $here/sum.cu 5000 && grep -q '^sum 5000, timed$' "$work/out" &&
    [ "$(grep -c '^block [01]: ' "$work/out")" = 2 ] &&
    says 'cycles on the simulated gtx1080ti' && says '^    sum  *1  ' && ! says 'leak check'
tell a-program-with-its-own-main
run 1 $here/faults.cu end && grep -q 'done' "$work/out" && says 'Invalid __global__ write' &&
    says 'faults.cu:8' && ! says 'leak check'
tell past-the-end
run 1 $here/faults.cu race && says 'Race reported' && says 'in kernel turn_round' &&
    says 'on the simulated h200'
tell race
says 'leak check: 1 allocation was never freed: 256 bytes'
tell leak
run 0 $here/repeats.cu && grep -qx 100 "$work/out" &&
    says 'saxpy: 196 of 200 launches repeat an earlier one: executed, not priced again$' &&
    says 'blur: 196 of 200 launches repeat' && ! says 'count: ' &&
    sed '/repeat an earlier one/d' "$work/err" >"$work/repeated" &&
    SIMULATE_PRICE_ALL=1 run 0 $here/repeats.cu && ! says 'repeat an earlier one' &&
    cmp "$work/err" "$work/repeated"
tell repeated-launches-have-the-same-cycles-and-counters
PROFILE=1 KERNEL=blur LAUNCH=7 TRACE="$work/t.json" run 0 $here/repeats.cu 10 && says '^  blur: grid 16x1x1' &&
    says 'launch 17 of 50' && says '^    FP32 ' && python3 -m json.tool "$work/t.json" /dev/null &&
    grep -q 'Warps by stall reason' "$work/t.html" && KERNEL=blur run 2 $here/repeats.cu 10 && says 'need PROFILE=1' &&
    PROFILE=1 KERNEL=none run 0 $here/repeats.cu 10 && says 'no launch is selected'
tell a-profile-of-a-selected-launch-and-its-trace
run 1 $here/findings.cu 'often fault' && says 'findings.cu:13' &&
    says 'Uninitialized __shared__ memory read' && says 'RAW hazard' &&
    says 'launch 126 of the program (kernel reverse) at findings.cu:32' &&
    says '^simulate: and 124 more like this: Uninitialized .* kernel add, at findings.cu:13$' &&
    run 0 $here/findings.cu 'often clean' && ! says 'a check found' && ! says 'more like this'
tell findings-are-grouped-by-check-and-lines
run 1 $here/findings.cu 'hides fault' && says 'Invalid __global__ write' &&
    says 'Uninitialized __shared__ memory read' && run 0 $here/findings.cu 'hides clean' &&
    ! says 'a check found'
tell the-cause-of-a-fault-is-reported-with-it
run 1 $here/findings.cu 'which fault' && says 'findings.cu:62' &&
    says 'launch 5 of the program (kernel step) at findings.cu:66' &&
    run 0 $here/findings.cu 'which clean' && run 0 $here/findings.cu 'threads fault' &&
    says 'launch 2 of the program (kernel step) at findings.cu:81' &&
    run 0 $here/findings.cu 'threads clean' && ! says 'launch 2'
tell launches-have-a-number-and-a-host-line
run 0 $here/findings.cu 'capture fault' && says 'cudaErrorStreamCaptureUnsupported' &&
    says 'called at findings.cu:104' && run 0 $here/findings.cu 'capture clean' &&
    [ "$(grep -c 'no error' "$work/out")" = 2 ] && ! says 'called at'
tell a-joined-stream-of-a-capture-is-destroyed
run 0 $here/findings.cu 'map fault' && says 'elementStrides' && says 'called at findings.cu:118' &&
    run 0 $here/findings.cu 'map clean' && grep -qx 'map 0' "$work/out"
tell tensor-maps-by-a-call-of-the-driver
# warns MODE WORDS: a warning with the fault, which does not change the status; silence without it.
warns() {
    run 0 $here/warnings.cu "$1 fault" && says '^simulate: a warning:$' && says "$2" &&
        ! says 'a check found' && run 0 $here/warnings.cu "$1 clean" && ! says 'a warning' &&
        ! says 'a check found'
}
warns update 'both load a word of' && warns lockstep '__syncwarp() is missing' &&
    warns volatile '__syncwarp() is missing'
tell races-within-a-warp
warns returns '28 threads of this warp returned before this barrier'
tell threads-that-return-before-a-barrier
warns grid_size '928 of the 4000 bytes' && warns prints 'output may not appear'
tell memory-and-output-that-nobody-has-written-or-seen
# finds MODE WORDS: a finding with the fault; silence without it.
finds() {
    run 1 $here/warnings.cu "$1 fault" && says "$2" && run 0 $here/warnings.cu "$1 clean" &&
        ! says 'a warning' && ! says 'a check found'
}
finds async 'up to an asynchronous copy, wrote' &&
    finds reuses 'writes managed or pinned memory that an asynchronous copy reads'
tell pinned-memory-of-copies-in-flight
# waits MODE WORDS: as `finds`, of streams.
waits() {
    run 0 $here/waits.cu "$1 clean" && ! says 'a warning' && ! says 'a check found' &&
        grep -qx 'seen 100' "$work/out" && run 1 $here/waits.cu "$1 fault" && says "$2"
}
for mode in streams joined copied; do
    waits $mode 'that count_up wrote, and the host$' && says 'has waited for other work since, but not'
    tell managed-memory-while-the-host-waits-for-other-work-$mode
done
waits events 'that add wrote, and the host has$' &&
    waits read 'up to an asynchronous copy, wrote, and the host has waited for other work$' &&
    waits written 'up to an asynchronous copy, reads, and the host has waited for other work$' &&
    waits overwritten 'Race reported between count_up on non-blocking stream 1 and count_up on$'
tell copies-and-events-that-the-host-has-not-waited-for
finds host_atomic 'that add_device wrote'
tell atomics-of-kernel-and-host
finds grid_sync 'this launch is not$'
tell a-grid-that-synchronises-in-a-normal-launch
finds locks 'polls memory that no thread will write' && grep -qx 'entries 256' "$work/out" &&
    run 0 $here/warnings.cu 'locks clean 16 256' && grep -qx 'entries 4096' "$work/out"
tell locks-that-lanes-take-one-after-the-other
ARCH=90 run 1 $here/mbarriers.cu 'cluster fault' && says 'block (1,0,0)' &&
    says 'Possible cause: nobody arrives at' && says 'called$' && ARCH=90 run 0 $here/mbarriers.cu 'cluster clean' &&
    grep -qx 'out 1' "$work/out" && ! says 'a check found'
tell a-hang-in-a-cluster
ARCH=90 run 1 $here/mbarriers.cu 'two fault' && says 'waits for 1 of 2 arrivals' &&
    says 'waiting: thread 0 of block (0,0,0)' && says '0x0, with 1 of 1 arrivals' &&
    ARCH=90 run 0 $here/mbarriers.cu 'two clean'
tell mbarriers-that-are-waited-for-in-vain
ARCH=90 run 0 $here/mbarriers.cu 'copy fault' && says 'was initialised without a fence' &&
    ARCH=90 flags=-DFENCE run 0 $here/mbarriers.cu 'copy clean' && ! says 'a warning'
tell a-copy-whose-mbarrier-lacks-a-fence
printf 'int helper(unsigned int n, float x);\nint main() { return helper(1, 2); }\n' >"$work/part.cu"
run 2 "$work/part.cu" && says 'uses helper(unsigned int, float), which it does not define'
tell a-function-of-another-source-file
run 1 $here/faults.cu surface && says 'Invalid surface write of 4 bytes' &&
    says 'in kernel below' && says 'block (4,0,0)' && says 'faults.cu:20'
tell outside-of-a-surface
run 1 $here/faults.cu texels && says 'Uninitialized texture or surface read of 4 bytes' &&
    says 'in kernel texels' && says 'faults.cu:25'
tell texels-that-nothing-wrote
run 1 $here/faults.cu added && grep -q 'done' "$work/out" && says 'faults.cu:31' &&
    [ "$(grep -c 'did not execute all of the program' "$work/err")" = 1 ] &&
    sed '1,/did not execute all of the program/d' "$work/err" >"$work/last" &&
    grep -q 'a reduction on a surface' "$work/last" && ! grep -q '^[^ ]' "$work/last"
tell what-only-hardware-does
run 0 $here/samples.cu && [ "$(grep -c '^ok ' "$work/out")" = 9 ] &&
    ! grep -q '^not ok' "$work/out" && ! says 'a check found' &&
    says 'a cooperative grid of [0-9]* blocks' && ! says 'leak check'
tell samples-of-others
# The numbers are what an H200 printed.
run 0 $here/modern.cu && sort "$work/out" | tr '\n' ' ' |
    grep -q '^barriers 63f30000 gates ok groups 156ad1f8 lanes 004b9000 pipelined 87af6000 types' &&
    grep -qx 'types f5f16000' "$work/out" && ! says 'a check found'
tell templates-of-libcu++
run 0 $here/queue.cu && grep -qx 'taken 400, sum 80200' "$work/out" && ! says 'a check found'
tell a-queue-between-blocks
run 0 $here/layers.cu && grep -qx 'blur: worst 0.000000, sum 367008.0000' "$work/out" &&
    grep -qx 'filtered: 1792.0037' "$work/out" && grep -qx 'half: 13232b80' "$work/out" &&
    ! says 'a check found'
tell layered-textures-and-surfaces
run 0 $here/filter.cu && grep -qx 'bytes 2f7a865cc9362629' "$work/out" &&
    grep -qx 'words 30ecf328288b3714' "$work/out" &&
    grep -qx 'floats 64187c44e1b9b5c4' "$work/out" &&
    grep -qx 'apart 05333efa0184cb60' "$work/out" &&
    grep -qx 'halves de8dd5ebd19e0000' "$work/out" &&
    grep -qx 'plane 1d9e27e51fe11120' "$work/out" && grep -qx 'cube 33eba9a2fb66a62f' "$work/out"
tell every-weight-of-a-linear-filter
run 0 $here/kinds.cu && tr '\n' ' ' <"$work/out" | grep -qx "$(tr '\n' ' ' <$here/kinds.txt)" &&
    ! says 'a check found' && ! says 'leak check'
tell cubes-mipmaps-gathers
run 0 $here/calls.cu && [ "$(grep -c '^ok ' "$work/out")" = 18 ] &&
    ! grep -q '^not ok' "$work/out" && ! says 'a check found' && ! says 'leak check'
tell calls-that-few-programs-make
run 1 $here/faults.cu gaps && [ "$(grep -c 'a check found' "$work/err")" = 1 ] &&
    says "Uninitialized __global__ memory read of 8 bytes" && says "faults.cu:46"
tell gaps-of-a-struct-and-what-nobody-wrote
run 139 $here/faults.cu host &&
    says 'host code accessed device memory, 28 bytes into a 256-byte allocation' &&
    says 'with cudaMemcpy$'
tell a-device-pointer-on-the-host
run 139 $here/faults.cu jump && says 'host code jumped to device or managed memory, 0 bytes into' &&
    says 'no code is there'
tell a-jump-into-managed-memory
run 0 $here/refused.cu calls && grep -q '^done$' "$work/out" &&
    says 'cudaMemcpy: the destination 0x[0-9a-f]* (256 bytes) is not host memory,$' &&
    says 'cudaMemcpy: the source 0x[0-9a-f]* (256 bytes) is not host memory, which$' &&
    says 'cudaMemcpy: the source 0x[0-9a-f]* (256 bytes) is not host memory, and$' &&
    says 'is host memory, but not all of the$' &&
    says '1048576 bytes of dynamic shared memory: fill can have at most'
tell calls-that-are-refused-and-nobody-looks
run 0 $here/refused.cu child && says 'a child of fork() cannot use CUDA' &&
    grep -q '^done$' "$work/out" && [ "$(grep -c 'on the simulated h200' "$work/err")" = 1 ]
tell a-child-of-a-process-that-used-cuda
run 1 $here/refused.cu pointer && says "a pointer to the program's own memory?"
tell a-host-pointer-in-a-kernel
ARCH=90 run 1 $here/refused.cu grid && grep -q '^done$' "$work/out" &&
    says 'a cooperative grid of clusters is not supported'
tell a-grid-of-clusters
status=0
timeout -s INT 5 sh common/setup/simulate.sh "$build" $here/refused.cu endless >"$work/out" \
    2>"$work/err" || status=$?
[ $status = 124 ] && ! grep -q '^done$' "$work/out" &&
    says 'was interrupted after [0-9]* warp instructions' && says 'in the loop at refused.cu:1[67]'
tell an-endless-kernel-that-is-interrupted
run 1 $here/early.cu reads && grep -qx 'seen 4000' "$work/out" &&
    says 'host code uses managed or pinned memory that fill wrote, and nothing has' &&
    run 1 $here/early.cu two && says 'one of the last 2 kernels, up$' && says 'to copy, wrote,' &&
    run 1 $here/early.cu pinned && says 'host code uses managed or pinned memory' &&
    run 1 $here/early.cu writes && says 'writes managed or pinned memory that copy reads' &&
    run 1 $here/early.cu variable && grep -qx 'seen 1' "$work/out" && says 'variable calls at'
tell managed-memory-that-nobody-waited-for
run 0 $here/early.cu beside && ! says 'a check found' && run 0 $here/early.cu waits &&
    grep -qx 'seen 4000' "$work/out" && ! says 'a check found' &&
    run 0 $here/early.cu polls && grep -qx 'seen 7' "$work/out" && ! says 'a check found'
tell managed-memory-that-nobody-else-uses
run 0 $here/early.cu handler && grep -qx 'seen 5' "$work/out" && ! says 'a check found'
tell managed-memory-where-the-program-handles-faults
run 1 $here/early.cu fails && grep -qx 'seen 4000' "$work/out" && says 'Invalid __global__ write' &&
    ! says 'nothing has'
tell managed-memory-after-a-fault-for-which-no-wait-can-be-made
ARCH=90 run 0 $here/fp8.cu &&
    grep -qx 'halves 0, above zero 0, floats 0, back 0 wrong' "$work/out" && ! says 'a check found'
tell conversions-of-8-bit-floats
ARCH=90 run 0 $here/wide.cu &&
    grep -qx 'keys 97, own values 97, exchanged 1, steps 1' "$work/out" && ! says 'a check found' &&
    ARCH=90 gpu=a100 run 1 $here/wide.cu && says 'no atomics of 128 bits'
tell atomics-of-128-bits
run 0 $here/groups.cu && grep -qx '51140 429 53 12277' "$work/out" && ! says 'a check found' &&
    ! says 'warning'
tell cooperative-groups-and-cub-without-a-finding
run 0 $here/recursion.cu && [ "$(grep -c '^ok ' "$work/out")" = 6 ] &&
    ! grep -q '^not ok' "$work/out" && ! says 'a check found' && ! says 'leak check'
tell recursion-and-the-device-heap
run 0 $here/stack.cu array && grep -qx 'right: cudaSuccess' "$work/out" &&
    ! says 'a check found'
tell a-large-frame-needs-no-stack
run 0 $here/stack.cu 'calls 524288 3000' && grep -qx 'right: cudaSuccess' "$work/out" &&
    run 1 $here/stack.cu 'calls 64 3' &&
    says 'Stack overflow: 1 call that has not returned takes' &&
    run 1 $here/stack.cu 'calls 524288 100000' && says 'Stack overflow: [0-9]* calls' &&
    says 'stack.cu:[0-9]*$'
tell calls-as-deep-as-the-stack
run 1 $here/stack.cu pointer && says 'Invalid stack pointer' && says 'stack.cu:[0-9]*$'
tell a-stack-pointer-that-was-never-given
ARCH=90a run 1 $here/flight.cu && grep -qx 'no error: 0 wrong' "$work/out" &&
    says 'The block ends while a bulk copy may still write its shared memory' &&
    says 'flight.cu:[0-9]*$'
tell bytes-that-come-after-their-block
run 1 $here/recursion.cu deep && says 'Stack overflow: 65 calls' && says 'recursion.cu:[0-9]*$' &&
    run 0 $here/recursion.cu deeper && ! says 'Stack'
tell the-end-of-the-stack
run 0 $here/recursion.cu lost && grep -q '^ok lost' "$work/out" &&
    says '1 allocation was never freed: 4 bytes at 0x[0-9a-f]* (on the device heap'
tell a-block-of-the-heap-that-stays
ARCH=90 run 0 $here/branches.cu && [ "$(grep -c '^ok ' "$work/out")" = 7 ] &&
    ! grep -q '^not ok' "$work/out" && ! says 'a check found'
tell branches-of-a-graph-overlap
ARCH=90 run 1 $here/branches.cu missing && says 'Race reported between grow on' &&
    says 'and join on'
tell an-edge-that-a-graph-lacks
ARCH=90 run 0 $here/branches.cu clusters && [ "$(grep -c '^ok ' "$work/out")" = 4 ]
tell launches-with-attributes
run 0 $here/spills.cu squeezed &&
    says '^    mix spills [0-9]* bytes per thread, most at line 14: there are not enough registers$' &&
    run 0 $here/spills.cu && ! says 'mix spills'
tell spilled-registers
PROFILE=1 run 0 $here/spills.cu squeezed &&
    says 'ptxas spills [0-9]* bytes per thread to local memory, most at line 14'
tell spills-in-a-profile
run 0 $here/prints.cu 50 && [ "$(wc -l <"$work/out")" = 50000 ] && ! says 'not shown' &&
    run 0 $here/prints.cu && [ "$(wc -l <"$work/out")" = 32768 ] &&
    [ "$(grep -c "the rest of kernel .*lines.* is not shown" "$work/err")" = 1 ]
tell prints-of-many-launches-and-too-many-of-one
run 2 $here/missing.cu && [ "$(wc -l <"$work/err")" = 1 ] &&
    says 'calls cudaIpcCloseMemHandle, cudaIpcGetMemHandle, which the' &&
    says 'docs/simulator/cuda-calls.md lists the supported calls'
tell a-call-that-is-not-there
# A function that is called in PTX (of pow) does not change the code of the file's other kernels.
cat >"$work/plain.cu" <<'END'
#include <cmath>
#ifdef POW
__global__ void powers(double *x) { x[threadIdx.x] = pow(x[threadIdx.x], 1.3); }
#endif
__global__ void plain(float *x) { x[threadIdx.x] = x[threadIdx.x] * 2 + 1; }
int main()
{
    float *x;
    cudaMalloc(&x, 256);
    cudaMemset(x, 0, 256);
#ifdef POW
    powers<<<1, 32>>>((double *)x);
#endif
    plain<<<1, 32>>>(x);
    return cudaFree(x);
}
END
run 0 "$work/plain.cu" && alone=$(grep '^    plain ' "$work/err" | tr -s ' ' | cut -d ' ' -f 4) && ! says 'predicted from PTX' &&
    flags=-DPOW run 0 "$work/plain.cu" && [ "$(grep '^    plain ' "$work/err" | tr -s ' ' | cut -d ' ' -f 4)" = "$alone" ] &&
    says 'powers: cycles predicted from PTX, because its SASS does not correspond' && ! says 'plain: '
tell a-called-function-leaves-the-machine-code-of-other-kernels
cat >"$work/conditional.cu" <<'END'
__global__ void set(cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, 0); }
int main()
{
    cudaGraph_t graph;
    cudaGraphConditionalHandle handle;
    cudaGraphCreate(&graph, 0);
    cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault);
    set<<<1, 1>>>(handle);
}
END
run 2 "$work/conditional.cu" && [ "$(wc -l <"$work/err")" = 1 ] && says 'calls cudaGraphConditionalHandleCreate, which'
tell conditional-nodes-of-a-graph
run 2 $here/nested.cu && [ "$(wc -l <"$work/err")" = 1 ] && says 'kernels that launch kernels' &&
    NVCCFLAGS=-rdc=true run 2 $here/nested.cu && says 'kernels that launch kernels'
tell dynamic-parallelism
NVCCFLAGS='-rdc=true --default-stream per-thread' run 0 $here/sum.cu 5000 &&
    grep -q '^sum 5000, timed$' "$work/out" && ! says 'a check found' &&
    NVCCFLAGS='--default-stream per-thread' run 2 $here/missing.cu &&
    says 'calls cudaIpcCloseMemHandle, cudaIpcGetMemHandle, which the'
tell what-needs-no-more-of-one-source-file
run 2 "$work/no-such.cu" && says 'there is no file .*no-such.cu' && run 2 '' &&
    says 'say which program: make simulate PROGRAM=file.cu'
tell no-program
echo '__global__ void alone() {}' >"$work/alone.cu"
run 2 "$work/alone.cu" && [ "$(wc -l <"$work/err")" = 1 ] && says 'alone.cu has no main$'
tell no-main
ARCH=100 run 2 $here/missing.cu &&
    says '^simulate: ARCH=100 is newer than every simulated machine: use at most 90 or 90a'
tell what-nvcc-can-and-this-cannot
gpu=no-such run 2 $here/faults.cu && says "there is no machine no-such; there are: .*gtx1080ti"
tell no-machine
status=0
SIMULATE_GPUS=/none "$(find "$build/simulate" -name program | head -n 1)" 2>"$work/err" || status=$?
[ "$status" = 2 ] && says 'cannot read the folder of GPU descriptions /none' &&
    says 'SIMULATE_GPUS has to name it'
tell no-folder-of-machines
exit $failed
