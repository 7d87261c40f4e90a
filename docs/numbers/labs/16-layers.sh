#!/bin/sh
# 16-layers.sh BUILD OUT - the numbers of labs/16-layers/README.md.
. docs/numbers/lib.sh

plain=labs/16-layers/baseline.cu

# The timed cases: the baseline (one thread per output or image, one launch per layer) and the
# solution.
{
    echo '| case | baseline (cycles) | launches | solution (cycles) | launches | speedup |'
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

# Sectors per load of a fully connected layer in the baseline.  The solution's values are
# predictions, so the page does not show them.
{
    echo '| case | baseline (one thread per output): sectors per load |'
    echo '| --- | --- |'
    simulate plain-fc-ragged 16 "$plain" --case fc-ragged
    for case in fc-electrode fc-ragged; do
        printf '| %s | %s |\n' $case "$(calc '%.1f' "$(number "plain-$case" sectors_per_load)")"
    done
} >"$out/sectors.md"

# LeNet-5 on a GPU, compared with PyTorch: docs/data/h200/lenet-times.tsv.
awk -F '\t' '
    /^;/ { split($0, by, ", "); card = substr(by[1], 3) ", driver " by[2] ", " by[3] ", " by[5]; next }
    $1 == "network" { print "| network | images | lab 16 (µs) | PyTorch (µs) | speedup |\n| --- | --- | --- | --- | --- |"; next }
    { printf "| %s | %d | %s | %s | %.1f |\n", $1, $2, $3, $4, $4 / $3 }
    END { printf "\nMedians, fp32 without TF32, twenty forward passes per CUDA graph, measured alternately;\n%s.\n", card }' \
    docs/data/h200/lenet-times.tsv >"$out/card.md"

# The speedups of the two fully connected layers in the introduction.
say labs/16-layers/README.md "fully connected layers of this lab $(ratio "$(number plain-fc-c5 cycles)" "$(number mine-fc-c5 cycles)") and $(ratio "$(number plain-fc-electrode cycles)" "$(number mine-fc-electrode cycles)") times as fast"

after_table 16 >"$out/after.md"
