#!/bin/sh
# gemm.sh BUILD ENGINE [SHAPE] - the spine's labs on one layer, and lab 10's product step by step (gemm.cu): cycles of the
# simulated h200 (ENGINE=sim), or the median of nine times in microseconds (gpu).
set -eu
build=${1:?usage: gemm.sh BUILD ENGINE [SHAPE]}
engine=${2:?usage: gemm.sh BUILD ENGINE [SHAPE]}
shape=${3:-N=32 C=32 H=28 W=28 K=128 R=3 S=3 pad=1 stride=1}
mkdir -p "$build/plots"
. docs/plots/cost.sh

row() {
    if [ "$engine" = gpu ]; then cells=$(costs "$2" "$3"); else cells=$(cost "$2" "$3" '--gpu h200'); fi
    printf '%s\t%s\n' "$1" "$cells"
}

if [ "$engine" = gpu ]; then printf 'what\tgpu_us\n'; else printf 'what\th200_cycles\n'; fi
for lab in 02-naive 04-tiled 09-im2col; do row "$lab" "${lab%%-*}" solutions; done
for step in 1 2 3 4 5; do
    mkdir -p "$build/plots/gemm/10-implicit-gemm"
    { echo "#define STEP $step"; cat docs/plots/gemm.cu; } >"$build/plots/gemm/10-implicit-gemm/conv.cu"
    row "step $step" 10 "$build/plots/gemm"
done
for lab in 10-implicit-gemm 11-tensor-cores; do row "$lab" "${lab%%-*}" solutions; done
