#!/bin/sh
# h200-tail.sh OUT NVCC [BUILD] - on a machine with a GPU: the sweeps and the networks of lab 20's handout, as `make sweep` and
# `make widths` measure them.  Leaves OUT/NAME.tsv.
set -eu
out=${1:?usage: h200-tail.sh OUT NVCC [BUILD]}
nvcc=${2:?usage: h200-tail.sh OUT NVCC [BUILD]}
build=${3:-build}
mkdir -p "$out"

# sweep NAME LAB OVER SHAPE
sweep() {
    sh common/tail/sweep.sh "$build" "$nvcc" "$2" "$4" "$3" gpu h200 1
    for table in "$build"/sweep/*.tsv; do
        case $table in */tasks.tsv | */measured.tsv | */launches.tsv | */times.tsv | */sweep.tsv) continue ;; esac
        mv "$table" "$out/$1-$(basename "$table")"
    done
}

for n in 1 32; do
    sweep "h200-b-n$n" cudnn-fp32 16:528:16 "N=$n C=256 H=28 W=28 K=% R=3 S=3 pad=1 stride=1"
    sweep "h200-d-n$n" cudnn-fp32 16:512:16 "N=$n C=64 H=32 W=32 K=% R=3 S=3 pad=1 stride=1"
    sweep "h200-f-n$n" cudnn-fp32 32:1024:32 "N=$n C=512 H=7 W=7 K=% R=3 S=3 pad=1 stride=1"
    sweep "h200-g-n$n" cudnn-fp32 16:512:16 "N=$n C=512 H=28 W=28 K=% R=1 S=1 pad=0 stride=1"
done
sweep h200-filters 02 40:1240:40 'N=1 C=32 H=16 W=16 K=% R=3 S=3 pad=1 stride=1'
sweep h200-a cudnn-fastest 32:544:32 'N=1 C=512 H=14 W=14 K=% R=3 S=3 pad=1 stride=1'
# widths NETWORK LAB BATCH
widths() {
    sh common/tail/widths.sh "$build" "$nvcc" "$1" "$2" latency 50 "$3" gpu h200 1
    cp "$build/widths/$1-n$3-$2-gpu.tsv" "$out/widths-$1-n$3-$2-h200.tsv"
}
widths vgg-16-pruned cudnn-fp32 128
widths resnet-56-pruned cudnn-fp32 128
widths vgg-16-pruned 10 128
widths resnet-56-pruned 10 128
widths vgg-16 cudnn-fp32 1

for n in 1 32; do
    sweep "h200-a-n$n" cudnn-fp32 16:544:16 "N=$n C=512 H=14 W=14 K=% R=3 S=3 pad=1 stride=1"
    sweep "h200-c-n$n" cudnn-fp32 8:256:8 "N=$n C=128 H=56 W=56 K=% R=3 S=3 pad=1 stride=1"
    sweep "h200-e-n$n" cudnn-fp32 32:1056:32 "N=$n C=256 H=14 W=14 K=% R=1 S=1 pad=0 stride=1"
done
