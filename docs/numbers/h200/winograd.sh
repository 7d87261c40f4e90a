#!/bin/sh
# h200/winograd.sh OUT NVCC [BUILD] - on a machine with a GPU: lab 14, its steps
# (14-winograd/*.patch), lab 10 and cuDNN's fp32 on VGG-19's layers, as `make compare` times them.
# Writes OUT/winograd-h200.tsv.
set -eu
out=${1:?usage: h200/winograd.sh OUT NVCC [BUILD]}
nvcc=${2:?usage: h200/winograd.sh OUT NVCC [BUILD]}
build=${3:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

grep -E '^(name|vgg)' common/apps/compare/layers.tsv >"$work/layers.tsv"
steps=
for step in one-kernel staged-2 staged-4; do
    patch --silent --output="$work/$step.cu" solutions/14-winograd/conv.cu \
        "docs/numbers/labs/14-winograd/$step.patch"
    steps="$steps $step:$work/$step.cu"
done
LAYERS=$work/layers.tsv SOLUTIONS='10 14' EXTRA=$steps sh common/apps/compare/compare.sh "$build" "$nvcc" >&2
grep -v 'TF32 N\|FP16 N\|cuBLAS' "$build/compare/compare.tsv" >"$out/winograd-h200.tsv"
