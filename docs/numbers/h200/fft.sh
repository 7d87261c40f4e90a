#!/bin/sh
# h200/fft.sh OUT NVCC [BUILD] - times filters of 3x3 to 31x31 and 1x31 (15-fft/layers.tsv) on a
# machine with a GPU, as `make compare` does.  The sides are lab 15, each of its tiles alone
# (15-fft/*.patch), labs 10 and 14, and cuDNN's fp32.  Writes OUT/fft-h200.tsv.
set -eu
out=${1:?usage: h200/fft.sh OUT NVCC [BUILD]}
nvcc=${2:?usage: h200/fft.sh OUT NVCC [BUILD]}
build=${3:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

steps=
for tile in tile-16 tile-32 tile-64; do
    patch --silent --output="$work/$tile.cu" solutions/15-fft/conv.cu \
        "docs/numbers/labs/15-fft/$tile.patch"
    steps="$steps $tile:$work/$tile.cu"
done
LAYERS=docs/numbers/labs/15-fft/layers.tsv SOLUTIONS='10 14 15' EXTRA=$steps sh common/apps/compare/compare.sh "$build" "$nvcc" >&2
grep -v 'TF32 N\|FP16 N\|cuBLAS' "$build/compare/compare.tsv" >"$out/fft-h200.tsv"
