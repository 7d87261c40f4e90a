#!/bin/sh
# unroll.sh BUILD ENGINE - lab 06 with its outermost product loop unrolled 1, 2 ... 12 times, with and without a bound on
# registers: what ptxas reports for an H100 or H200, and cycles (ENGINE=sim, of gtx480 and h200) or microseconds (gpu).
set -eu
build=${1:?usage: unroll.sh BUILD ENGINE}
engine=${2:?usage: unroll.sh BUILD ENGINE}
shape='N=128 C=3 H=40 W=33 K=64 R=5 S=5 pad=same stride=1 layout=chwn'
out=$build/plots
nvcc=$(sed -n 's/^NVCC *:*= *//p' "$build/toolchain.env")
mkdir -p "$out/unroll/06-unrolled"

. docs/plots/cost.sh

printf 'blocks\tunroll\tregisters\tspilled_bytes\t%s\n' "$(costs_columns)"
for blocks in 1 32; do
    for unroll in 1 2 3 4 6 12; do
        sed -e "s/^__global__ void conv_kernel/__global__ void __launch_bounds__(64, $blocks) conv_kernel/" \
            -e "/END TODO(1)/q" solutions/06-unrolled/conv.cu |
            awk -v n="$unroll" '/TODO\(1\)/ { first = 1 } /#pragma unroll/ && first { print "#pragma unroll " n; first = 0; next } { print }' \
                >"$out/unroll/06-unrolled/conv.cu"
        sed -e '1,/END TODO(1)/d' solutions/06-unrolled/conv.cu >>"$out/unroll/06-unrolled/conv.cu"
        "$nvcc" -O3 -arch=sm_90 -Icommon/include -Xptxas -v -cubin -o "$out/unroll/x.cubin" "$out/unroll/06-unrolled/conv.cu" 2>"$out/ptxas"
        registers=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$out/ptxas")
        spilled=$(sed -n 's/.* \([0-9]*\) bytes spill stores, \([0-9]*\) bytes spill loads.*/\1 \2/p' "$out/ptxas" | awk '{ print $1 + $2 }')
        cells=$(costs 06 "$out/unroll")
        printf '%s\t%s\t%s\t%s\t%s\n' "$blocks" "$unroll" "$registers" "$spilled" "$cells"
    done
done
