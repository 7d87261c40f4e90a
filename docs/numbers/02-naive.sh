#!/bin/sh
# 02-naive.sh BUILD OUT - the numbers of labs/02-naive/README.md.
. docs/numbers/lib.sh

page=labs/02-naive/README.md
pairs=$(variant pairs labs/02-naive/baseline.cu)

# The timed cases, simulated: one thread a pair (image, filter) against one an output.
{
    echo '| case | one thread a pair, cycles | one an output | times faster |'
    echo '| --- | --- | --- | --- |'
    for case in lenet-c1 lenet-c3 electrode-1; do
        simulate "pairs-$case" 02 "$pairs" --case "$case"
        simulate "outputs-$case" 02 solutions --case "$case"
        before=$(number "pairs-$case" cycles) after=$(number "outputs-$case" cycles)
        printf '| %s | %s | %s | %s |\n' "$case" "$(thousands "$before")" "$(thousands "$after")" "$(calc '%.1f' "$before / $after")"
    done
} >"$out/cycles.md"

# How many threads an H200 holds at once.
held=$(($(machine h200 sms) * $(machine h200 max_threads_per_sm)))
say "$page" "64 threads on a machine that holds $(thousands "$held")"

# Question 1: the threads of a map's tiles that own no output.
idle() {
    all=$((($1 + 15) / 16 * 16 * (($1 + 15) / 16) * 16)) owners=$(($1 * $1))
    printf '%d (%s %%)' "$((all - owners))" "$(calc '%.0f' "100 * ($all - $owners) / $all")"
}
say "$page" "1. $(idle 28), and $(idle 10)."
