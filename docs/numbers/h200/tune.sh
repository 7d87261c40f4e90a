#!/bin/sh
# h200/tune.sh OUT NVCC [BUILD] - measures the constants of `make tune` on a machine with an H100 or
# H200.  It times the labs with these constants and the solutions with their own, as `make compare`
# does, on the layers of docs/student/compare.md.  Writes OUT/tune-h200.tsv, the constants, and
# OUT/tuned-h200.tsv.
set -eu
out=${1:?usage: h200/tune.sh OUT NVCC [BUILD]}
nvcc=${2:?usage: h200/tune.sh OUT NVCC [BUILD]}
build=${3:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

sh common/apps/compare/tune.sh "$build" "$nvcc" >&2
for lab in 10 12 14 15; do sed "s/^/$lab\t/" "$build/tune/programs/tune_$lab.tsv"; done >"$out/tune-h200.tsv"

{ cat common/apps/compare/layers.tsv && sed 1d common/apps/compare/unfitted-layers.tsv; } >"$work/layers.tsv"
tuned() { for lab; do printf '%s-tuned:%s ' "$lab" "$build/tune/$lab"-*/conv.cu; done; }
ALONE=1 LAYERS=$work/layers.tsv SOLUTIONS='10 12 14 15' EXTRA=$(tuned 10 14 15) HOPPER=$(tuned 12) sh common/apps/compare/compare.sh "$build" "$nvcc" >&2
cp "$build/compare/compare.tsv" "$out/tuned-h200.tsv"
