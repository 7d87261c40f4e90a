#!/bin/sh
# gemm.sh BUILD ENGINE [NVCC] - the spine's labs and lab 10's product step by step (gemm.cu) on one layer: cycles of the
# simulated h200 (ENGINE=sim); or microseconds on this machine's GPU, and on a large layer beside it (gpu, with NVCC).
set -eu
build=${1:?usage: gemm.sh BUILD ENGINE [NVCC]}
engine=${2:?usage: gemm.sh BUILD ENGINE [NVCC]}
shape='N=32 C=32 H=28 W=28 K=128 R=3 S=3 pad=1 stride=1'
large='N=32 C=128 H=112 W=112 K=128 R=3 S=3 pad=1 stride=1'
steps='step-1 step-2 step-3 step-4 step-5'
rungs="02-naive 04-tiled 09-im2col $steps 10-implicit-gemm 11-tensor-cores"
out=$build/plots/gemm
for step in $steps; do
    mkdir -p "$out/$step/10-implicit-gemm"
    { echo "#define STEP ${step#step-}"; cat docs/plots/gemm.cu; } >"$out/$step/10-implicit-gemm/conv.cu"
done

if [ "$engine" = gpu ]; then
    printf 'name\tshape\nladder\t%s\nlarge\t%s\n' "$shape" "$large" >"$out/layers.tsv"
    extra=
    for step in $steps; do extra="$extra $step:$out/$step/10-implicit-gemm/conv.cu"; done
    LAYERS=$out/layers.tsv SOLUTIONS='02 04 09 10 11' EXTRA=$extra sh common/compare/compare.sh "$build" "${3:?gemm.sh: say which nvcc}" >&2
    awk -F'\t' -v rungs="$rungs" '
        { us[$1, $2] = $4 }
        END {
            print "what\tgpu_us\tlarge_gpu_us"
            n = split(rungs, rung, " ")
            for (i = 1; i <= n; i++) print rung[i] "\t" us["ladder", rung[i]] "\t" us["large", rung[i]]
        }' "$build/compare/compare.tsv"
    exit
fi

. docs/plots/cost.sh
printf 'what\th200_cycles\n'
for rung in $rungs; do
    case $rung in
    step-*) cycles=$(cost 10 "$out/$rung" '--gpu h200') ;;
    *) cycles=$(cost "${rung%%-*}" solutions '--gpu h200') ;;
    esac
    printf '%s\t%s\n' "$rung" "$cycles"
done
