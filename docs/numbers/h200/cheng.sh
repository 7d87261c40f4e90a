#!/bin/sh
# h200/cheng.sh OUT [BUILD] - labs 05 to 07 on a machine with a GPU.  The problem fills an H200:
# 10,560 blocks, four full waves of lab 06's (20 an SM, 132 SMs).  From the root, after `make setup`
# and `make -j tools`.  Writes
#
#     OUT/ladder-h200.tsv   the labs, and one thread per output
#     OUT/unroll-h200.tsv   lab 06 with its outermost reduction loop unrolled 1 to 12 times, with and
#                           without a bound on registers, and what ptxas reports for an H100 or H200
#
# in microseconds: the median of nine.
set -eu
out=${1:?usage: h200/cheng.sh OUT [BUILD]}
build=${2:-build}
shape='N=128 C=3 H=40 W=33 K=64 R=5 S=5 pad=same stride=1 layout=chwn'
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# median LAB SUBMISSION
median() {
    for _ in 1 2 3 4 5 6 7 8 9; do
        "$build/bin/lab" run --build "$build" --lab "$1" --submission "$2" --engine gpu \
            --shape "$shape" --alone --counters "$work/counters" >"$work/page" ||
            { cat "$work/page" >&2; exit 1; }
        sed -n 's/^microseconds\t//p' "$work/counters"
    done | sort -n | sed -n 5p | xargs printf '%.1f'
}

{
    printf 'lab\tgpu_us\n'
    printf 'naive\t%s\n' "$(median 05 labs/05-register-tiled/baseline.cu)"
    printf '05 register-tiled\t%s\n' "$(median 05 solutions)"
    printf '06 unrolled\t%s\n' "$(median 06 solutions)"
    printf '07 strength-reduced\t%s\n' "$(median 07 solutions)"
} >"$out/ladder-h200.tsv"

# unrolled BLOCKS TIMES: lab 06 with BLOCKS blocks per SM promised to ptxas, and its first loop
# unrolled TIMES times.
unrolled() {
    awk -v blocks="$1" -v times="$2" '
        /^__global__ void conv_kernel/ { sub("__global__ void", "__global__ void __launch_bounds__(64, " blocks ")") }
        /TODO\(1\)/ { first = 1 }
        /#pragma unroll/ && first { $0 = "#pragma unroll " times; first = 0 }
        { print }' solutions/06-unrolled/conv.cu
}

printf 'blocks\tunroll\tregisters\tspilled_bytes\tgpu_us\n' >"$out/unroll-h200.tsv"
for blocks in 1 32; do
    for times in 1 2 3 4 6 12; do
        unrolled "$blocks" "$times" >"$work/conv.cu"
        "$nvcc" -O3 -arch=sm_90 -Icommon/include -Xptxas -v -cubin -o "$work/cubin" \
            "$work/conv.cu" 2>"$work/ptxas"
        registers=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$work/ptxas")
        spilled=$(sed -n 's/.* \([0-9]*\) bytes spill stores, \([0-9]*\) bytes spill loads.*/\1 \2/p' "$work/ptxas" | awk '{ print $1 + $2 }')
        printf '%s\t%s\t%s\t%s\t%s\n' "$blocks" "$times" "$registers" "$spilled" \
            "$(median 06 "$work/conv.cu")" >>"$out/unroll-h200.tsv"
    done
done
