#!/bin/sh
# h200/gemm.sh OUT NVCC [BUILD] - times a small and a large layer on a machine with a GPU, as `make
# compare` does.  The sides are the labs on which others build, and lab 10's GEMM step by step
# (10-implicit-gemm/steps.cu).  Writes OUT/gemm-h200.tsv.
set -eu
out=${1:?usage: h200/gemm.sh OUT NVCC [BUILD]}
nvcc=${2:?usage: h200/gemm.sh OUT NVCC [BUILD]}
build=${3:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

printf 'name\tshape\nladder\t%s\nlarge\t%s\n' 'N=32 C=32 H=28 W=28 K=128 R=3 S=3 pad=1 stride=1' \
    'N=32 C=128 H=112 W=112 K=128 R=3 S=3 pad=1 stride=1' >"$work/layers.tsv"
steps=
for step in 1 2 3 4 5; do
    { echo "#define STEP $step"; cat docs/numbers/labs/10-implicit-gemm/steps.cu; } \
        >"$work/step-$step.cu"
    steps="$steps step-$step:$work/step-$step.cu"
done
LAYERS=$work/layers.tsv SOLUTIONS='02 04 09 10 11' EXTRA=$steps sh common/apps/compare/compare.sh "$build" "$nvcc" >&2
awk -F'\t' '
    { us[$1, $2] = $4 }
    END {
        print "what\tgpu_us\tlarge_gpu_us"
        n = split("02-naive 04-tiled 09-im2col step-1 step-2 step-3 step-4 step-5 10-implicit-gemm 11-tensor-cores", rung, " ")
        for (i = 1; i <= n; i++) print rung[i] "\t" us["ladder", rung[i]] "\t" us["large", rung[i]]
    }' "$build/compare/compare.tsv" >"$out/gemm-h200.tsv"
