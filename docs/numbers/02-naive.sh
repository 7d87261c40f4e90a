#!/bin/sh
# 02-naive.sh BUILD OUT - the numbers of labs/02-naive/README.md.
. docs/numbers/lib.sh
. docs/numbers/card.sh

page=labs/02-naive/README.md
pairs=labs/02-naive/baseline.cu

# One thread a pair (image, filter) against one an output: simulated on the timed cases, and on a
# card.
{
    echo '| case | a thread a pair, cycles | a thread an output, cycles | times as fast | on a card: a pair, µs | an output, µs | times as fast |'
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
    printf '\nCycles are of the simulated H200, at its sizes. Times are medians, kernel only, the L2 flushed, at\nthe sizes for a GPU; %s.\n' "$(measured_on times.tsv)"
} >"$out/gain.md"

# How many threads an H200 holds at once.
held=$(($(machine h200 sms) * $(machine h200 max_threads_per_sm)))
say "$page" "64 threads, on a machine that holds $(thousands "$held")"

# Question 1: the threads of a map's tiles that own no output.
idle() {
    all=$((($1 + 15) / 16 * 16 * (($1 + 15) / 16) * 16)) owners=$(($1 * $1))
    printf '%d (%s %%)' "$((all - owners))" "$(calc '%.0f' "100 * ($all - $owners) / $all")"
}
say "$page" "1. $(idle 28), and $(idle 10)."

say "$page" "four taps take $(machine_code 02-naive 2) instructions, $(a_product 02-naive) a product"
