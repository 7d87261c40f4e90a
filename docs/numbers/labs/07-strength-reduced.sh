#!/bin/sh
# 07-strength-reduced.sh BUILD OUT - the numbers of labs/07-strength-reduced/README.md.
. docs/numbers/lib.sh

page=labs/07-strength-reduced/README.md
patches=docs/numbers/labs/07-strength-reduced
solution=solutions/07-strength-reduced/conv.cu

launch=$(machine gtx480 launch_cycles)
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")

# Lab 06, and this lab's changes one after the other.
for case in table-1 wide; do
    simulate "unrolled-$case" 06 solutions --case "$case"
    simulate "carried-$case" 07 \
        "$(variant carried "$solution" $patches/divides.patch $patches/checked.patch)" \
        --case "$case"
    simulate "extracted-$case" 07 "$(variant extracted "$solution" $patches/divides.patch)" \
        --case "$case"
    simulate "counters-$case" 07 solutions --case "$case"
    simulate "inside-$case" 07 "$(variant inside "$solution" $patches/both-inside.patch)" \
        --case "$case"
done

# change RUN BEFORE: how much longer the kernel alone takes.
change() {
    calc '%.1f' "100 * ($(number "$1" cycles) - $launch) / ($(number "$2" cycles) - $launch) - 100"
}

# step NAME BEFORE PAPER WORDS: a row; no BEFORE for the first.
step() {
    printf '| %s | %s |' "$4" "$3"
    for case in table-1 wide; do
        printf ' %s | %s |' "$(thousands "$(number "$1-$case" cycles)")" \
            "${2:+$(change "$1-$case" "$2-$case") %}"
    done
    echo
}
{
    echo '| kernel | change in the paper | table-1, cycles | table-1, change | wide, cycles | wide, change |'
    echo '| --- | --- | --- | --- | --- | --- |'
    step unrolled '' '' 'lab 06'
    step carried unrolled '-25.9 %' 'strength reduction from image to image and channel to channel'
    step extracted carried '-2.6 %' 'conditionals extracted, TODO(5)'
    step counters extracted '(hardware: -5 %)' 'strength reduction from chunk to chunk, TODO(4)'
} >"$out/ladder.md"
say "$page" "the $(thousands "$launch") cycles of the launch are subtracted first"
worth=$(change counters-table-1 extracted-table-1)
say docs/student/cheng.md "In a kernel whose multiplications are plain code that saves $(calc '%.0f' "-($worth)") %"
inside=$(thousands "$(number inside-table-1 cycles)")
say "$page" "$inside cycles for table-1 and $(thousands "$(number inside-wide cycles)") for wide"

# share RUN: integer instructions of all, in percent.
share() {
    calc '%.0f' "100 * $(number "$1" integer_instructions) / $(number "$1" warp_instructions)"
}
{
    echo '| counter, table-1 | lab 06 | lab 07 |'
    echo '| --- | --- | --- |'
    printf '| thread instructions | %s | %s |\n' \
        "$(thousands "$(number unrolled-table-1 thread_instructions)")" \
        "$(thousands "$(number counters-table-1 thread_instructions)")"
    printf '| share of integer instructions in all warp instructions | %s %% | %s %% |\n' \
        "$(share unrolled-table-1)" "$(share counters-table-1)"
} >"$out/counts.md"

# Lab 06's time that goes to loading.
kept=$(profile 06 solutions --case table-1)
loading=$(awk -F'\t' '/^load/ { part += $3 } END { printf "%.0f", 100 * part }' "$kept/phases.tsv")
say "$page" "Loading takes $loading % of lab 06's time"

# Instructions of the kernel in PTX, every index computed from the beginning or by strength reduction (CARRIED of
# cheng/steps.cu).
ptx_instructions() {
    "$nvcc" -O3 -std=c++17 -arch=compute_75 -Icommon/include -ptx -o "$out/steps.ptx" \
        "$(variant steps docs/numbers/cheng/steps.cu COMPUTE=0 CARRIED="$1" CHECKED=1 CONVERTER=0)"
    awk '/^\.visible \.entry/ { inside = 1 } /^}/ { inside = 0 } inside && /^\t[@a-z].*;/ { n++ } END { print n }' "$out/steps.ptx"
}
anew=$(ptx_instructions 0) carried=$(ptx_instructions 1)
say "$page" "(fig 26) has $anew PTX instructions. The kernel with strength reduction (fig 29) has $carried."
say docs/student/errata.md "and 29, $anew instructions and $carried"

# Measured on an H200 (docs/data/cheng).
ladder=docs/data/cheng/ladder-h200.tsv
before=$(cell "$ladder" '06 unrolled' 2) after=$(cell "$ladder" '07 strength-reduced' 2)
say "$page" "lab 06 takes $before µs and lab 07 takes **$after µs**, which is $(saved "$before" "$after") % less"

after_table 07 >"$out/after.md"
say "$page" "cuDNN takes $(compared table1 "cuDNN fp32 NCHW" %.1f) µs for \`table-1\` on an H200 and this lab $(compared table1 "07-strength-reduced" %.1f) µs"
