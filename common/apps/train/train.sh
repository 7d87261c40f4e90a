#!/bin/sh
# train.sh BUILD DATA EPOCHS SEED ENGINE - trains lab 18's step on a set of digits: make train.
# DATA=recordings is electrode.sh's.
#
# SUBMISSION=labs selects your own step, solutions the course's, which also replaces a skeleton.
# RESUME=1 continues from the last checkpoint, CHECK=100 compares the first steps with fp64, and
# WINDOW=1 draws the curves in a window meanwhile.  STOP=2 ends after two epochs, GPU=name is the
# simulated machine.  BUILD/train/DATA gets the weights, the curves and pictures of misclassified
# images.
set -eu
build=${1:?usage: train.sh BUILD DATA EPOCHS SEED ENGINE}
data=${2:-digits-8x8}
epochs=${3:-0}
seed=${4:-1}
engine=${5:-auto}
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
cxx=$(sed -n 's/^CXX=//p' "$build/toolchain.env")
cc=$(sed -n 's/^CC=//p' "$build/toolchain.env")
source=${SUBMISSION:-labs}/18-training/train.cu
libraries='-ljansson -linih -lmuparser -lsodium -lzstd -llz4 -ldl -lpthread -lm'

fail() {
    printf 'train: %s\n' "$1" >&2
    exit 2
}
for number in "EPOCHS=$epochs" "SEED=$seed" "STOP=${STOP:-0}" "CHECK=${CHECK:-0}" \
    "RESUME=${RESUME:-0}"; do
    case ${number#*=} in *[!0-9]* | '' | ??????????*) fail "${number%%=*} is a whole number of at most nine digits" ;; esac
done
sets="digits-8x8 digits recordings $(cut -f1 datasets/recipes.tsv | sed 1d | sort -u | tr '\n' ' ')"
case " $sets" in *" $data "*) ;; *) fail "DATA is one of: $sets" ;; esac
if [ "$engine" = auto ]; then
    engine=sim
    nvidia-smi >/dev/null 2>&1 && engine=gpu
fi
case $engine in
sim) ;;
gpu) nvidia-smi >/dev/null 2>&1 || fail "ENGINE=gpu needs an NVIDIA GPU and its driver; ENGINE=sim simulates one" ;;
*) fail "ENGINE is sim, gpu or auto, not '$engine'" ;;
esac
gpu=${GPU:-h200}
[ -f "common/simulator/gpus/$gpu.ini" ] || fail "there is no machine $gpu in common/simulator/gpus"
[ "$data" != recordings ] || exec sh common/apps/train/electrode.sh "$build" "$epochs" "$seed" "$engine"
[ -f "$source" ] || fail "there is no $source"
if cmp -s "$source" autograder/tests/skeletons/18-training/train.cu &&
    [ -f solutions/18-training/train.cu ]; then
    echo "train: $source is still the skeleton: the workbook's own step is used"
    source=solutions/18-training/train.cu
fi
case $data in
digits-8x8) ;;
*) [ -f "$build/datasets/$data/train-images-idx3-ubyte" ] || sh datasets/datasets.sh "$build" "$data" 1 ;;
esac

out=$build/train/$data
mkdir -p "$out"

# The lab's step and the trainer's kernels; on a GPU with NVIDIA's runtime, else with the drop-in
# runtime and the simulated GPU, which needs no machine code.  An earlier build of the same parts is
# reused.
if [ "$engine" = gpu ]; then
    flags='-arch=native -cudart static'
else
    flags='-cudart none -gencode arch=compute_75,code=compute_75'
fi
# digest PART...: a digest of the parts and the compiler.
digest() {
    { printf '%s\n' "$flags $nvcc"; cat "$@"; } | sha256sum | cut -c 1-16
}
trainer="common/apps/train/learner.cu common/apps/train/learner.h common/apps/train/plan.h common/cuda/engine/engine.h common/base/error.h common/include/convlab/train.h common/include/convlab/conv.h"
parts="common/cuda/engine/engine_$engine.c $build/obj/common/apps/train/train_main.o $build/lib/train.a $build/lib/engine-sim.a $build/lib/run-modules.a"
# shellcheck disable=SC2086
learner=$build/train/learner-$engine-$(digest $trainer).o \
    program=$build/train/program-$engine-$(digest "$source" $trainer $parts)
compile() {
    # shellcheck disable=SC2086
    "$nvcc" -O1 -lineinfo -std=c++17 -Wno-deprecated-gpu-targets -ccbin "$cxx" -I. \
        -Icommon/include $flags -c "$1" -o "$2"
}
link() {
    if [ "$engine" = gpu ]; then
        "${cc:-cc}" -O2 -std=c11 -I. -Icommon/include -c common/cuda/engine/engine_gpu.c \
            -o "$work/engine.o"
        # shellcheck disable=SC2086
        "$nvcc" $flags -ccbin "$cxx" "$work"/*.o "$learner" "$build/obj/common/apps/train/train_main.o" \
            "$build/lib/train.a" \
            "$build/lib/run-modules.a" $libraries -o "$work/train"
    else
        # shellcheck disable=SC2086
        "$cxx" -o "$work/train" "$work"/*.o "$learner" "$build/obj/common/apps/train/train_main.o" \
            "$build/lib/train.a" \
            -Wl,--whole-archive "$build/lib/engine-sim.a" \
            -Wl,--no-whole-archive "$build/lib/run-modules.a" $libraries
    fi
}
if [ ! -x "$program" ]; then
    work=$(mktemp -d "$build/train/part.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
    [ -f "$learner" ] || compile common/apps/train/learner.cu "$work/learner" &
    compile "$source" "$work/step.o" || fail "$source does not compile"
    wait $! || fail "common/apps/train/learner.cu does not compile"
    [ -f "$learner" ] || mv "$work/learner" "$learner"
    link || fail "$source cannot be linked: it must define train_step"
    mv "$work/train" "$program"
fi

window=
if [ -n "${WINDOW:-}" ]; then
    if [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || ! command -v gnuplot >/dev/null; then
        fail "WINDOW=1 needs a screen (DISPLAY) and a gnuplot that has windows: sudo apt-get install gnuplot-qt"
    fi
    rm -f "$out/curves.tsv"
    gnuplot -c common/apps/train/window.gp "$out" 2>/dev/null &
    window=$!
fi

export ENGINE_GPU="$gpu"
status=0
"$program" . "$build/datasets" "$out" "$data" "$epochs" "$seed" "${RESUME:-0}" "${STOP:-0}" \
    "${CHECK:-0}" || status=$?
[ -z "$window" ] || kill "$window" 2>/dev/null || :
[ "$status" = 0 ] || exit "$status"
if ! command -v gnuplot >/dev/null; then
    printf '  %s:\n  weights.npy, checkpoint, tables; for the pictures: sudo apt-get install gnuplot-nox\n' "$out"
elif [ "$(wc -l <"$out/curves.tsv")" -lt 3 ]; then
    printf '  %s:\n  weights.npy, checkpoint, tables; the pictures come after two epochs\n' "$out"
else
    gnuplot -c common/apps/train/curves.gp "$out" && gnuplot -c common/apps/train/misread.gp "$out"
    printf '  %s: weights.npy, curves.svg, curves.png, misread.png, checkpoint, tables\n' "$out"
fi
