#!/bin/sh
# h200/gpu.sh OUT NVCC - on a machine with a GPU: book/curves.cu, whose curves book/gpu.md shows.
# Writes OUT/gpu.tsv.
set -eu
out=${1:?usage: h200/gpu.sh OUT NVCC}
nvcc=${2:?usage: h200/gpu.sh OUT NVCC}
program=$(mktemp)
trap 'rm -f "$program"' EXIT
mkdir -p "$out"

"$nvcc" -O3 -std=c++17 -arch=native -o "$program" book/curves.cu
{
    printf '; %s\n' "$(nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader | head -n 1)"
    printf '; %s\n' "$("$nvcc" --version | sed -n 's/.*\(release [0-9.]*\).*/\1/p')"
    printf '; %s\n' "$(date -u +%F)"
    echo '; docs/numbers/h200/gpu.sh'
    "$program"
} >"$out/gpu.tsv"
