#!/bin/sh
# 18-training.sh BUILD OUT - the numbers of labs/18-training/README.md.
. docs/numbers/lib.sh

page=labs/18-training/README.md

# A thread a value and a thread a parameter against shared sums.
{
    echo '| case | a thread a parameter, cycles | shared sums, cycles | times as fast |'
    echo '| --- | --- | --- | --- |'
    for case in lenet digits-8x8; do
        simulate "plain-$case" 18 labs/18-training/baseline.cu --case "$case"
        simulate "shared-$case" 18 solutions --case "$case"
        before=$(number "plain-$case" cycles) after=$(number "shared-$case" cycles)
        printf '| %s | %s | %s | %s |\n' "$case" "$(thousands "$before")" "$(thousands "$after")" "$(ratio "$before" "$after")"
    done
    printf '\nCycles are of the simulated H200, at its sizes.\n'
} >"$out/gain.md"

# What make train learnt: docs/data/train/README.md.
last=$(tail -n 1 docs/data/train/digits-8x8.tsv)
{
    echo '| set | engine | images | epochs | test images read right |'
    echo '| --- | --- | --- | --- | --- |'
    printf '| digits-8x8 | simulated H200 | 1,437 | %s | %s %% |\n' "$(echo "$last" | cut -f1)" "$(calc '%.2f' "100 * $(echo "$last" | cut -f3)")"
} >"$out/learnt.md"
if command -v gnuplot >/dev/null; then
    mkdir -p "$out/curves"
    cp docs/data/train/digits-8x8.tsv "$out/curves/curves.tsv"
    gnuplot -c common/train/curves.gp "$out/curves"
    mv "$out/curves/curves.svg" "$out/18-curves.svg"
fi
simulate one 18 solutions --case lenet
say "$page" "a step has $(ratio "$(number one flops)" $((2 * 4 * 416520))) times the"
