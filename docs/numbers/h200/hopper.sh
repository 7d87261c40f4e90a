#!/bin/sh
# h200/hopper.sh OUT NVCC [BUILD] - times lab 12, its steps (labs/12-hopper/baseline.cu), lab 11 and
# cuDNN with TF32 on a machine with an H100 or H200, as `make compare` does.  The layers are VGG's
# and a few to which no choice was fitted (12-hopper/unfitted.tsv).  Writes OUT/hopper-h200.tsv.
set -eu
out=${1:?usage: h200/hopper.sh OUT NVCC [BUILD]}
nvcc=${2:?usage: h200/hopper.sh OUT NVCC [BUILD]}
build=${3:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

{ grep -e '^name' -e '^vgg' common/apps/compare/layers.tsv && cat docs/numbers/labs/12-hopper/unfitted.tsv; } >"$work/layers.tsv"
steps=
for step in 1 2 3 4 5; do
    { echo "#define STEP $step"; cat labs/12-hopper/baseline.cu; } >"$work/step-$step.cu"
    steps="$steps step-$step:$work/step-$step.cu"
done
# The solution with changes: mbarriers that also order other memory; a wait for the latest wgmma
# group; few channels padded to 16 bytes instead of 32-byte sectors.
solution=solutions/12-hopper/conv.cu
sed 's/mbarrier.arrive.shared::cluster/mbarrier.arrive.release.cluster.shared::cluster/
     s/try_wait.parity.shared::cta/try_wait.parity.acquire.cluster.shared::cta/' $solution \
         >"$work/ordered.cu"
sed 's/wgmma_wait<1>/wgmma_wait<0>/' $solution >"$work/one-group.cu"
sed 's/SECTOR = 2 \* VECTOR/SECTOR = VECTOR/' $solution >"$work/in-pieces.cu"
steps="$steps ordered:$work/ordered.cu one-group:$work/one-group.cu in-pieces:$work/in-pieces.cu"
TENSOR=1 LAYERS=$work/layers.tsv SOLUTIONS='11 12' HOPPER=$steps sh common/apps/compare/compare.sh "$build" "$nvcc" >&2
cp "$build/compare/compare.tsv" "$out/hopper-h200.tsv"
