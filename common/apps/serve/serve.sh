#!/bin/sh
# serve.sh BUILD LAB ENGINE - serves a case of a lab on a Unix socket: make serve.
#
# SUBMISSION=labs selects your own kernels, solutions the course's, which also replace a skeleton.
# CASE=name or SHAPE='...' selects the problem, SEED or WEIGHTS=file the weights, GPU=name the
# simulated machine.  SOCKET=path is the socket, by default BUILD/serve/socket; LIMIT, WINDOW,
# BATCH, QUEUE and METRICS are in docs/student/serve.md.
set -eu
build=${1:?usage: serve.sh BUILD LAB ENGINE}
lab=${2:?usage: serve.sh BUILD LAB ENGINE}
engine=${3:-auto}
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
cxx=$(sed -n 's/^CXX=//p' "$build/toolchain.env")
cc=$(sed -n 's/^CC=//p' "$build/toolchain.env")
libraries='-levent -ljansson -linih -lmuparser -lsodium -lzstd -llz4 -ldl -lpthread -lm'

fail() {
    printf 'serve: %s\n' "$1" >&2
    exit 2
}
if [ "$engine" = auto ]; then
    engine=sim
    nvidia-smi >/dev/null 2>&1 && engine=gpu
fi
case $engine in sim | gpu) ;; *) fail "ENGINE is sim, gpu or auto, not '$engine'" ;; esac

# The served problem, from lab.ini: one line per word.
set -- served --build "$build" --lab "$lab" --engine "$engine"
[ -z "${CASE:-}" ] || set -- "$@" --case "$CASE"
[ -z "${SHAPE:-}" ] || set -- "$@" --shape "$SHAPE"
served=$("$build/bin/lab" "$@") || exit 2
word() { printf '%s\n' "$served" | sed -n "s/^$1 //p"; }
name=$(word lab)
gpu=${GPU:-$(word gpu)}
[ -f "common/simulator/gpus/$gpu.ini" ] || fail "there is no machine $gpu in common/simulator/gpus"
source=${SUBMISSION:-labs}/$name/$(word source)
[ -f "$source" ] || fail "there is no $source"
skeleton=autograder/tests/skeletons/$name/$(word source)
solution=solutions/$name/$(word source)
if cmp -s "$source" "$skeleton" && [ -f "$solution" ]; then
    echo "serve: $source is still the skeleton: the workbook's own kernels are used"
    source=$solution
fi

# The lab's kernels and the server; on a GPU with NVIDIA's runtime, else with the drop-in runtime
# and the simulated GPU, which needs no machine code.  An earlier build of the same parts is reused.
mkdir -p "$build/serve"
if [ "$engine" = gpu ]; then
    flags='-arch=native -cudart static'
else
    flags="-cudart none -gencode arch=compute_$(word cc),code=compute_$(word cc)"
fi
wrapped='--wrap=cudaMalloc,--wrap=cudaFree' # see common/apps/serve/pool.h
calls=
for entry in $(word entries); do calls="$calls $build/obj/common/operations/calls/${entry}.o"; done
parts="$build/obj/common/apps/serve/serve_main.o $build/lib/serve.a $build/lib/batches.a $calls $build/lib/calls.a"
# shellcheck disable=SC2086
program=$build/serve/program-$engine-$({ printf '%s\n' "$flags $nvcc $wrapped"; cat "$source" common/cuda/engine/engine_gpu.c $parts "$build/lib/engine-sim.a" "$build/lib/run-modules.a"; } | sha256sum | cut -c 1-16)
link() {
    if [ "$engine" = gpu ]; then
        "${cc:-cc}" -O2 -std=c11 -I. -Icommon/include -c common/cuda/engine/engine_gpu.c \
            -o "$work/engine.o"
        # shellcheck disable=SC2086
        "$nvcc" $flags -ccbin "$cxx" -Xlinker "$wrapped" "$work"/*.o $parts \
            "$build/lib/run-modules.a" $libraries -o "$work/serve"
    else
        # shellcheck disable=SC2086
        "$cxx" -o "$work/serve" -Wl,"$wrapped" "$work"/*.o $parts \
            -Wl,--whole-archive "$build/lib/engine-sim.a" \
            -Wl,--no-whole-archive "$build/lib/run-modules.a" $libraries
    fi
}
if [ ! -x "$program" ]; then
    work=$(mktemp -d "$build/serve/part.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
    printf '  NVCC    %s (1 of 2)\n' "$source" >&2
    # shellcheck disable=SC2086
    "$nvcc" -O1 -lineinfo -std=c++17 -Wno-deprecated-gpu-targets -ccbin "$cxx" \
        -Icommon/include $flags -c "$source" -o "$work/lab.o" ||
        fail "$source does not compile"
    printf '  LD      %s (2 of 2)\n' "$program" >&2
    link || fail "$source cannot be linked: it must define $(word entries)"
    mv "$work/serve" "$program"
    rm -rf "$work"
    trap - EXIT INT TERM
fi

# On the simulator a batch takes a thousand times as long as on a GPU.
[ "$engine" = gpu ] || : "${LIMIT:=2000}" "${WINDOW:=5}" "${MARGIN:=50}"
export ENGINE_GPU="$gpu"
exec "$program" OPERATION="$(word operation)" SHAPE="$(word shape)" PRECISION="$(word precision)" \
    SOCKET="${SOCKET:-$build/serve/socket}" SEED="${SEED:-}" WEIGHTS="${WEIGHTS:+$(realpath "$WEIGHTS")}" \
    LIMIT="${LIMIT:-}" WINDOW="${WINDOW:-}" MARGIN="${MARGIN:-}" BATCH="${BATCH:-}" QUEUE="${QUEUE:-}" METRICS="${METRICS:-}"
