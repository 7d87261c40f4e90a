#!/bin/sh
# h200/tail.sh OUT NVCC [BUILD [PART ...]] - on a machine with a GPU: the sweeps and the networks of
# lab 20's handout, as `make sweep` and `make widths` measure them.  Leaves OUT/NAME.tsv.  Parts:
# shaped, the layers that shaped the formula; held and one, those that it had not seen, with 1 and
# 32 images and with one; algorithms; labs; networks.  All of them take some five minutes.
set -eu
usage='usage: h200/tail.sh OUT NVCC [BUILD [PART ...]]'
out=${1:?$usage}
nvcc=${2:?$usage}
build=${3:-build}
shift 2
[ $# = 0 ] || shift
mkdir -p "$out"

# sweep NAME LAB OVER SHAPE
sweep() {
    sh common/apps/tail/sweep.sh "$build" "$nvcc" "$2" "$4" "$3" gpu h200 1
    for table in "$build"/sweep/*.tsv; do
        case $table in */tasks.tsv | */measured.tsv | */launches.tsv | */times.tsv | */sweep.tsv) continue ;; esac
        mv "$table" "$out/$1-$(basename "$table")"
    done
}

# widths NETWORK LAB BATCH
widths() {
    sh common/apps/tail/widths.sh "$build" "$nvcc" "$1" "$2" latency 50 "$3" gpu h200 1
    cp "$build/widths/$1-n$3-$2-gpu.tsv" "$out/widths-$1-n$3-$2-h200.tsv"
}

# measure PART
measure() {
    case $1 in
    shaped) for n in 1 32; do
        sweep "h200-a-n$n" cudnn-fp32 16:544:16 "N=$n C=512 H=14 W=14 K=% R=3 S=3 pad=1 stride=1"
        sweep "h200-c-n$n" cudnn-fp32 8:256:8 "N=$n C=128 H=56 W=56 K=% R=3 S=3 pad=1 stride=1"
        sweep "h200-e-n$n" cudnn-fp32 32:1056:32 "N=$n C=256 H=14 W=14 K=% R=1 S=1 pad=0 stride=1"
    done ;;
    held) for n in 1 32; do
        sweep "h200-b-n$n" cudnn-fp32 16:528:16 "N=$n C=256 H=28 W=28 K=% R=3 S=3 pad=1 stride=1"
        sweep "h200-d-n$n" cudnn-fp32 16:512:16 "N=$n C=64 H=32 W=32 K=% R=3 S=3 pad=1 stride=1"
        sweep "h200-f-n$n" cudnn-fp32 32:1024:32 "N=$n C=512 H=7 W=7 K=% R=3 S=3 pad=1 stride=1"
        sweep "h200-g-n$n" cudnn-fp32 16:512:16 "N=$n C=512 H=28 W=28 K=% R=1 S=1 pad=0 stride=1"
    done ;;
    one)
        sweep h200-h-n1 cudnn-fp32 8:320:8 'N=1 C=140 H=8 W=8 K=% R=3 S=3 pad=1 stride=1'
        sweep h200-i-n1 cudnn-fp32 16:640:16 'N=1 C=320 H=10 W=10 K=% R=3 S=3 pad=1 stride=1'
        sweep h200-j-n1 cudnn-fp32 16:640:16 'N=1 C=96 H=24 W=24 K=% R=3 S=3 pad=1 stride=1'
        sweep h200-k-n1 cudnn-fp32 16:640:16 'N=1 C=384 H=12 W=12 K=% R=3 S=3 pad=1 stride=1'
        sweep h200-l-n1 cudnn-fp32 32:1024:32 'N=1 C=128 H=32 W=32 K=% R=1 S=1 pad=0 stride=1'
        ;;
    algorithms) sweep h200-a-n1 \
        'cudnn-fastest cudnn-fft cudnn-implicit cudnn-precomputed cudnn-winograd-nonfused' \
        32:544:32 \
        'N=1 C=512 H=14 W=14 K=% R=3 S=3 pad=1 stride=1' ;;
    labs) sweep h200-filters 02 40:1240:40 'N=1 C=32 H=16 W=16 K=% R=3 S=3 pad=1 stride=1' ;;
    networks)
        widths vgg-16-pruned cudnn-fp32 128
        widths resnet-56-pruned cudnn-fp32 128
        widths vgg-16-pruned 10 128
        widths vgg-16-pruned cudnn-fp32 1
        ;;
    *)
        echo "h200-tail: there is no part '$1'" >&2
        exit 2
        ;;
    esac
}
[ $# != 0 ] || set -- shaped held one algorithms labs networks
for part; do measure "$part"; done
