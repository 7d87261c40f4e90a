#!/bin/sh
# 02-naive.sh BUILD OUT - the numbers of labs/02-naive/README.md.
. docs/numbers/lib.sh
. docs/numbers/card.sh

page=labs/02-naive/README.md
pairs=labs/02-naive/baseline.cu

# One thread per (image, filter) pair against one per output: simulated for the timed cases, and
# measured on a GPU.
{
    echo '| case | simulated: thread per pair, cycles | thread per output, cycles | speedup | measured: thread per pair, µs | thread per output, µs | speedup |'
    echo '| --- | --- | --- | --- | --- | --- | --- |'
    for case in lenet-c1 lenet-c3 electrode-1 electrode-2 vgg-conv1_1; do
        before='' after=''
        if sed -n "/^\[case $case\]/,/^\$/p" labs/02-naive/lab.ini | grep -q '^timed *= *yes'; then
            simulate "pairs-$case" 02 "$pairs" --case "$case"
            simulate "outputs-$case" 02 solutions --case "$case"
            before=$(number "pairs-$case" cycles) after=$(number "outputs-$case" cycles)
        fi
        there=$(us 02-naive baseline $case) here=$(us 02-naive solution $case)
        printf '| %s | %s | %s | %s | %s | %s | %s |\n' $case "$(rounded "$before")" \
            "$(rounded "$after")" "$(ratio "$before" "$after")" \
            "$(rounded "$there")" "$(rounded "$here")" "$(ratio "$there" "$here")"
    done
    printf '\nCycles: simulated H200, simulator sizes. Times: medians, kernel only, with the L2 flushed, GPU sizes;\n%s.\n' "$(measured_on times.tsv)"
} >"$out/gain.md"

# The number of threads that an H200 can hold at once.
held=$(($(machine h200 sms) * $(machine h200 max_threads_per_sm)))
say "$page" "64 threads, on a GPU that can hold $(thousands "$held")"

# Question 1: the threads of a map's tiles that have no output.
idle() {
    all=$((($1 + 15) / 16 * 16 * (($1 + 15) / 16) * 16)) owners=$(($1 * $1))
    printf '%d (%s %%)' "$((all - owners))" "$(calc '%.0f' "100 * ($all - $owners) / $all")"
}
say "$page" "1. $(idle 28), and $(idle 10)."

say "$page" "four taps take $(machine_code 02-naive 2) instructions, $(a_product 02-naive) per multiply-add"

after_table 02 >"$out/after.md"
say "$page" "is FFT with tiles: $(compared lenet-c1 "cuDNN fp32 NCHW" %.1f) µs, this lab $(compared lenet-c1 "02-naive" %.1f) µs"
say "$page" "with 32 images takes $(compared vgg-512-28-512-n32 "cuDNN fp32 NCHW" %.0f) µs in cuDNN and $(compared vgg-512-28-512-n32 "02-naive" %.0f) µs here"
