#!/bin/sh
# 05-register-tiled.sh BUILD OUT - the numbers of labs/05-register-tiled/README.md.
. docs/numbers/lib.sh

page=labs/05-register-tiled/README.md
steps=labs/05-register-tiled/steps

# One output per thread, and the paper's figures 5, 6 and 7.  Figure 7 is this lab.
for case in table-1 eleven; do
    simulate "one-$case" 05 labs/05-register-tiled/baseline.cu --case "$case"
    simulate "fig-5-$case" 05 "$steps/fig-5.cu" --case "$case"
    simulate "fig-6-$case" 05 "$steps/fig-6.cu" --case "$case"
    simulate "fig-7-$case" 05 solutions --case "$case"
done

# step NAME LABEL: one row.
step() {
    printf '| %s | %s | %s | %s | %s | %s |\n' "$2" \
        "$(thousands "$(number "$1-table-1" global_load_bytes)")" \
        "$(thousands "$(number "$1-table-1" shared_bytes_per_block)")" \
        "$(thousands "$(number "$1-table-1" cycles)")" \
        "$(thousands "$(number "$1-eleven" shared_bytes_per_block)")" \
        "$(thousands "$(number "$1-eleven" cycles)")"
}
{
    echo '| kernel | table-1: global loads, bytes | shared memory per block, bytes | time, cycles | eleven: shared memory per block, bytes | time, cycles |'
    echo '| --- | --- | --- | --- | --- | --- |'
    step one 'one output per thread, baseline.cu'
    step fig-5 'figure 5: shared memory, the whole filter at once'
    step fig-6 'figure 6: in chunks of 4 pixels'
    step fig-7 'figure 7: 4×4 outputs per thread (this lab)'
} >"$out/steps.md"
say "$page" "11×11 filters of 3 channels fill $(thousands "$(number fig-5-eleven shared_bytes_per_block)") bytes"
[ "$(number fig-5-eleven resident_blocks)" = 1 ] ||
    fail "an SM holds more than one block of figure 5"
say "$page" "$(ratio "$(number fig-7-table-1 cycles)" "$(number one-table-1 cycles)") times as long as one output per thread"
fewer=$(ratio "$(number one-table-1 global_load_bytes)" "$(number fig-5-table-1 global_load_bytes)")
say "$page" "loads $fewer times fewer bytes from global memory"

# A full wave, and one block more.
{
    echo '| blocks | waves | occupancy | time, cycles |'
    echo '| --- | --- | --- | --- |'
    for size in 'H=10 W=12' 'H=11 W=11'; do
        simulate "$size" 05 solutions \
            --shape "N=64 C=3 $size K=16 R=5 S=5 pad=same stride=1 layout=chwn"
        say "$page" "SHAPE='N=64 C=3 $size K=16 R=5 S=5 pad=same stride=1 layout=chwn'"
        printf '| %s | %s | %s %% | %s |\n' "$(number "$size" blocks)" "$(number "$size" waves)" \
            "$(number "$size" occupancy_percent)" "$(thousands "$(number "$size" cycles)")"
    done
} >"$out/tail.md"

longer=$(ratio "$(number 'H=11 W=11' cycles)" "$(number 'H=10 W=12' cycles)")
say "$page" "One block more, and the launch takes $longer times as long."

simulate h200 05 solutions --case one-by-one --gpu h200
say "$page" "has $(machine h200 sms) SMs and holds $(number h200 resident_blocks) blocks of this kernel on each, $(thousands "$(number h200 full_wave)") in all"

# Time per phase.
kept=$(profile 05 solutions --case table-1)
{
    echo '| quantity | this lab | the paper (figure 8) |'
    echo '| --- | --- | --- |'
    awk -F'\t' '
        NR > 1 { part[$1] = $3 }
        END {
            printf "| time in multiply-adds | %.0f %% | \"over 97 %%\" |\n", 100 * part["compute"]
            printf "| time in loads | %.0f %% | |\n", 100 * (part["load images"] + part["load filters"])
        }' "$kept/phases.tsv"
    printf '| total time, cycles | %s | 524,000 |\n' "$(thousands "$(number fig-7-table-1 cycles)")"
} >"$out/phases.md"

# Measured on an H200 (docs/data/cheng).
ladder=docs/data/cheng/ladder-h200.tsv
mine=$(calc %.0f "$(cell "$ladder" '05 register-tiled' 2)") \
    naive=$(calc %.0f "$(cell "$ladder" naive 2)")
say "$page" "There the kernel takes $mine µs, and one output per thread takes $(thousands "$naive") µs"

# Stack frame of the array of accumulators: with all pragmas, without any, and without
# the one over g.
stack() {
    nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
    "$nvcc" -O3 -std=c++17 -arch=sm_90 -Icommon/include -Xptxas -v -cubin -o /dev/null "$1" 2>&1 |
        sed -n 's/^ *\([0-9]* bytes stack frame\).*/\1/p'
}
solution=solutions/05-register-tiled/conv.cu
sed '/#pragma unroll 1/d' "$solution" >"$out/free.cu"
awk '!(/#pragma unroll 1/ && ++n == 2)' "$solution" >"$out/g-free.cu"
say "$page" "the command above prints \`$(stack "$solution")\`"
say "$page" "then the array is kept in registers: \`$(stack "$out/g-free.cu")\`"
simulate free 05 "$out/free.cu" --case table-1
simulate g-free 05 "$out/g-free.cu" --case table-1
[ "$(number free local_sectors)" = 0 ] || fail 'nvcc does not unroll the loops by itself'
[ "$(number g-free local_sectors)" -gt 0 ] ||
    fail 'PTX has no array in local memory when the loop over g may be unrolled'

say "$page" "is the simplest: $(thousands "$(number one-table-1 cycles)") cycles for"
say "$page" "of the table for \`table-1\`, $(thousands "$(number fig-5-table-1 cycles)") cycles"
say "$page" "is the fastest for \`eleven\`, $(thousands "$(number fig-6-eleven cycles)") cycles"
say "$page" "implicit GEMM takes $(compared table1 "cuDNN fp32 NCHW" %.1f) µs for \`table-1\` in NCHW on an H200, and this lab's kernel $(compared table1 "05-register-tiled" %.1f) µs"
