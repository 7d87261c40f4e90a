#!/bin/sh
# gemm.sh BUILD ENGINE [NVCC] - the spine's labs and lab 10's product step by step (gemm.cu) on one layer: cycles of the
# simulated h200 (ENGINE=sim); or microseconds on this machine's GPU, and on a large layer beside it (gpu, with NVCC).
set -eu
build=${1:?usage: gemm.sh BUILD ENGINE [NVCC]}
engine=${2:?usage: gemm.sh BUILD ENGINE [NVCC]}
shape='N=32 C=32 H=28 W=28 K=128 R=3 S=3 pad=1 stride=1'
large='N=32 C=128 H=112 W=112 K=128 R=3 S=3 pad=1 stride=1'
steps='1 2 3 4 5'
out=$build/plots/gemm
for step in $steps; do
    mkdir -p "$out/step-$step/10-implicit-gemm"
    { echo "#define STEP $step"; cat docs/plots/gemm.cu; } >"$out/step-$step/10-implicit-gemm/conv.cu"
done

if [ "$engine" = gpu ]; then
    printf 'name\tshape\nladder\t%s\nlarge\t%s\n' "$shape" "$large" >"$out/layers.tsv"
    extra=
    for step in $steps; do extra="$extra step-$step:$out/step-$step/10-implicit-gemm/conv.cu"; done
    LAYERS=$out/layers.tsv SOLUTIONS='02 04 09 10 11' EXTRA=$extra sh common/compare/compare.sh "$build" "${3:?gemm.sh: say which nvcc}" >&2
    awk -F'\t' '
        $1 == "ladder" && $3 == "-" { us[$2] = $4; name[++n] = $2 }
        $1 == "large" && $3 == "-" { large[$2] = $4 }
        function rung(what) { return what ~ /^step/ ? 9.5 : what + 0 } # the steps lie between labs 09 and 10
        END {
            print "what\tgpu_us\tlarge_gpu_us"
            for (r = 0; r < 20; r += 0.5) for (i = 1; i <= n; i++) if (rung(name[i]) == r) print name[i] "\t" us[name[i]] "\t" large[name[i]]
        }' "$build/compare/compare.tsv"
    exit
fi

. docs/plots/cost.sh
row() { printf '%s\t%s\n' "$1" "$(cost "$2" "$3" '--gpu h200')"; }
printf 'what\th200_cycles\n'
for lab in 02-naive 04-tiled 09-im2col; do row "$lab" "${lab%%-*}" solutions; done
for step in $steps; do row "step-$step" 10 "$out/step-$step"; done
for lab in 10-implicit-gemm 11-tensor-cores; do row "$lab" "${lab%%-*}" solutions; done
