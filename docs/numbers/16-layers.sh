#!/bin/sh
# 16-layers.sh BUILD OUT - the numbers of labs/16-layers/README.md.
. docs/numbers/lib.sh

plain=labs/16-layers/baseline.cu

# The timed cases: a thread an output or an image, a launch a layer, against the solution.
{
    echo '| case | baseline, cycles | launches | solution, cycles | launches | times as fast |'
    echo '| --- | --- | --- | --- | --- | --- |'
    for case in fc-c5 fc-electrode softmax-imagenet lenet; do
        simulate "plain-$case" 16 "$plain" --case "$case"
        simulate "mine-$case" 16 solutions --case "$case"
        printf '| %s | %s | %s | %s | %s | %s |\n' $case \
            "$(thousands "$(number "plain-$case" cycles)")" "$(number "plain-$case" launches)" \
            "$(thousands "$(number "mine-$case" cycles)")" "$(number "mine-$case" launches)" \
            "$(ratio "$(number "plain-$case" cycles)" "$(number "mine-$case" cycles)")"
    done
} >"$out/gain.md"

# What a load of a fully connected layer touches, with rows that begin anywhere and with rows of
# whole lines.
{
    echo '| case | a thread an output: sectors a load | a warp an output: sectors a load |'
    echo '| --- | --- | --- |'
    simulate plain-fc-ragged 16 "$plain" --case fc-ragged
    simulate mine-fc-ragged 16 solutions --case fc-ragged
    for case in fc-electrode fc-ragged; do
        printf '| %s | %s | %s |\n' $case \
            "$(calc '%.1f' "$(number "plain-$case" sectors_per_load)")" \
            "$(calc '%.1f' "$(number "mine-$case" sectors_per_load)")"
    done
} >"$out/sectors.md"

# LeNet-5 on a card, beside PyTorch: docs/data/h200/lenet-times.tsv.
awk -F '\t' '
    /^;/ { split($0, by, ", "); card = substr(by[1], 3) ", driver " by[2] ", " by[3] ", " by[5]; next }
    $1 == "network" { print "| network | images | lab 16, µs | PyTorch, µs | times as fast |\n| --- | --- | --- | --- | --- |"; next }
    { printf "| %s | %d | %s | %s | %.1f |\n", $1, $2, $3, $4, $4 / $3 }
    END { printf "\nMedians, fp32 without TF32, twenty passes in one CUDA graph each, taken in turn;\n%s.\n", card }' \
    docs/data/h200/lenet-times.tsv >"$out/card.md"
