#!/bin/sh
# 19-electrode.sh BUILD OUT - the numbers of labs/19-electrode/README.md.
. docs/numbers/lib.sh

data=docs/data/h200

# The baseline (one thread per output, one kernel per step) and the solution.
{
    echo '| case | baseline (cycles) | launches | solution (cycles) | launches | speedup |'
    echo '| --- | --- | --- | --- | --- | --- |'
    for case in one ten hundred; do
        simulate "plain-$case" 19 labs/19-electrode/baseline.cu --case "$case"
        simulate "mine-$case" 19 solutions --case "$case"
        before=$(number "plain-$case" cycles) after=$(number "mine-$case" cycles)
        printf '| %s | %s | %s | %s | %s | %s |\n' "$case" "$(thousands "$before")" \
            "$(number "plain-$case" launches)" \
            "$(thousands "$after")" "$(number "mine-$case" launches)" "$(ratio "$before" "$after")"
    done
    printf '\nCycles of the simulated H200, at the sizes for the simulator.\n'
} >"$out/gain.md"

# caption FILE: the GPU that its first line names.
caption() {
    sed -n '1s/^; \([^,]*\), \([^,]*\), \([^,]*\), [^,]*, \([^,]*\), \(.*\)$/\1, driver \2, \3, \4, `\5`/p' "$data/$1"
}

# The report's milliseconds, and microseconds on an H200.
strategy() { # strategy NAME WORDS REPORT
    awk -F '\t' -v name="$1" -v words="$2" -v report="$3" \
        '$1 == name { printf "| %s | %s | %.0f | %.0f |\n", words, report, $2, $3 }' \
        "$data/electrode-strategies.tsv"
}
{
    echo '| strategy | report, GTX 980 (ms) | H200, one graph (µs) | H200, launched one by one (µs) |'
    echo '| --- | --- | --- | --- |'
    strategy STREAMS 'one stream per output channel' '26–30'
    strategy CHANNELS 'many channels per kernel' 13
    strategy SCATTER 'scatter' '44–77'
    strategy IM2COL 'im2col and a matrix product' '6.7, projected'
    strategy solution 'the solution' ''
    printf '\n%s.\n' "$(caption electrode-strategies.tsv)"
} >"$out/strategies.md"

{
    echo '| recordings | lab 19 (µs) | PyTorch (µs) | speedup |'
    echo '| --- | --- | --- | --- |'
    awk -F '\t' '/^[0-9]/ { printf "| %d | %s | %s | %.2f |\n", $1, $2, $3, $3 / $2 }' \
        "$data/electrode-times.tsv"
    printf '\nMedians, kernels only, fp32 without TF32, measured alternately. Both are within the grader'"'"'s bound.\n%s.\n' \
        "$(caption electrode-times.tsv)"
} >"$out/card.md"

{
    echo '| implementation | runs | p50 (µs) | p99 (µs) | p99.9 (µs) |'
    echo '| --- | --- | --- | --- | --- |'
    awk -F '\t' '/^(lab|PyTorch)/ { printf "| %s | %d | %s | %s | %s |\n", $1, $2, $3, $4, $5 }' \
        "$data/electrode-end.tsv"
    printf '\n%s.\n' "$(caption electrode-end.tsv)"
} >"$out/end.md"

# The time of each kernel for one recording.  The multiply-adds of the layers are predictions, so the
# page shows only the rate.
kernel() { # kernel NAME WORDS MILLIONS
    awk -F '\t' -v name="$1" -v words="$2" -v macs="$3" '$1 == name {
        printf "| %s | %s | %s |\n", words, $2, macs ? sprintf("%.1f", 2 * macs / $2) : "–" }' \
        "$data/electrode-kernels.tsv"
}
{
    echo '| kernel | time (µs) | TFLOP/s |'
    echo '| --- | --- | --- |'
    kernel 'conv_kernel<8>' 'CONV1, pooled' 22.94
    kernel 'conv_kernel<4>' 'CONV2, pooled' 91.75
    kernel 'conv_kernel<2>' CONV3 5.73
    kernel 'rows_kernel<1>' "FULL, in slices" 5.73
    kernel out_kernel "FULL's sums, OUT, softmax" ""
    printf '\n%s.\n' "$(caption electrode-kernels.tsv)"
} >"$out/kernels.md"

# Recordings that were not used in training.
awk -F '\t' '/^[0-9]/ {
        print "| test recordings | classified correctly by the solution | by the same network in fp64 | largest error / bound |"
        print "| --- | --- | --- | --- |"
        printf "| %d | %d (%.1f %%) | %d | %s |\n", $1, $2, 100 * $2 / $1, $3, $4
    }' "$data/electrode-recordings.tsv" >"$out/recordings.md"
printf '\n%s.\n' "$(caption electrode-recordings.tsv)" >>"$out/recordings.md"

say labs/19-electrode/README.md \
    "generates $(thousands "$(sed -n '1s/.*; \([0-9]*\) recordings in batches.*/\1/p' docs/data/train/recordings.tsv)") and trains"
say labs/19-electrode/README.md \
    "they classify $(awk -F '\t' '/^[0-9]/ { print $2 }' "$data/electrode-designed.tsv") of the same $(awk -F '\t' '/^[0-9]/ { print $1 }' "$data/electrode-recordings.tsv")"
last=$(tail -n 1 docs/data/train/recordings.tsv)
say datasets/README.md "after $(echo "$last" | cut -f 1) epochs the network reads $(echo "$last" | cut -f 3) of $(echo "$last" | cut -f 4)"

after_table 19 >"$out/after.md"
