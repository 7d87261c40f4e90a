#!/bin/sh
# 17-backward.sh BUILD OUT - the numbers of labs/17-backward/README.md.
. docs/numbers/lib.sh

page=labs/17-backward/README.md
scatter=labs/17-backward/steps/scatter.cu

# The race checker's report for the scatter with a plain +=.
sed 's/atomicAdd(to, value)/*to += value/' "$scatter" >"$out/race.cu"
"$build/bin/lab" run --build "$build" --lab 17 --submission "$out/race.cu" --engine sim --seed 1 \
    --case dx-lenet-c3 --alone >"$out/race.log" 2>&1 || true
{
    echo '```'
    sed -n '/WRONG/,/at race.cu:[0-9]*$/p' "$out/race.log" |
        sed 's/0x[0-9a-f]*/0x.../g; /WRONG/s/: .*/: .../'
    echo '```'
} >"$out/race.md"
grep -q 'Race reported' "$out/race.md" || fail "no race is reported: $(cat "$out/race.log")"

# The three versions, simulated on the timed cases.
{
    echo '| case | baseline: gather, one thread per element (cycles) | scatter with atomics (cycles) | solution (cycles) | speedup over the baseline |'
    echo '| --- | --- | --- | --- | --- |'
    for case in dx-lenet-c1 dw-lenet-c1 dx-lenet-c3 dw-lenet-c3 dx-deep dw-deep; do
        simulate "baseline-$case" 17 labs/17-backward/baseline.cu --case "$case"
        simulate "scatter-$case" 17 "$scatter" --case "$case"
        simulate "solution-$case" 17 solutions --case "$case"
        before=$(number "baseline-$case" cycles) there=$(number "scatter-$case" cycles) \
            here=$(number "solution-$case" cycles)
        printf '| %s | %s | %s | %s | %s |\n' "$case" "$(thousands "$(calc %.0f "$before")")" \
            "$(thousands "$(calc %.0f "$there")")" \
            "$(thousands "$(calc %.0f "$here")")" "$(ratio "$before" "$here")"
    done
} >"$out/ways.md"

say "$page" "on a machine that holds $(thousands $(($(machine h200 sms) * $(machine h200 max_threads_per_sm)))) threads"
say "$page" "$(calc %.0f '1024 * 6 * 28 * 28 * 25 / 1e6') million of them for dx-lenet-c1 alone"
say "$page" "N·P·Q rows, $(thousands $((32 * 112 * 112))) for VGG-19's conv2_1 with 32 images"

# Compared with PyTorch, measured on a GPU; "stride-2" and the VGG layers by their shapes in
# gradients.py.
card=docs/data/h200/gradients
{
    echo '| layer | gradient | lab 17 (µs) | PyTorch, fp32 (µs) | lab 17 / PyTorch |'
    echo '| --- | --- | --- | --- | --- |'
    awk -F'\t' '!/^;/ && $1 != "layer" { printf "| %s | %s | %s | %s | %.2f |\n", $1, $2, $3, $4, $3 / $4 }' "$card/times.tsv"
    printf '\n%s.\n' \
        "$(sed -n '1s/^; //; 1s/, sh .*//p' "$card/times.tsv")"
} >"$out/card.md"
differ=$(awk -F'\t' '$1 == "lenet-c3" && $2 == "dx" { print $7 }' "$card/errors.tsv")
all=$(awk -F'\t' '$1 == "lenet-c3" && $2 == "dx" { print $5 }' "$card/errors.tsv")
say "$page" "in $(thousands "$differ") of lenet-c3's $(thousands "$all") elements of dx"
awk -F'\t' '!/^;/ && $1 != "layer" && $6 != 0 { exit 1 }' "$card/errors.tsv" ||
    fail "the solution's bits differ from run to run"
say "$page" "$(calc %.0f '2 * 32 * 512 * 784 * 2304 / 1e9') GFLOP in $(calc %.0f "$(awk -F'\t' '$1 == "vgg-256-28-512-n32" && $2 == "dx" { print $4 }' "$card/times.tsv")") µs"
error_of() { calc %.2f "1e6 * $(awk -F'\t' -v layer="$1" '$1 == layer && $2 == "dx" { print $3 }' "$card/errors.tsv")"; }
say "$page" "dx of vgg-64-112-128-n32 up to $(error_of vgg-64-112-128-n32) millionths"
say "$page" "which the stride-2 layer has, it is $(error_of stride-2)."

# Without phases: the share of dx-stride's (pixel, tap) pairs that have no gradient.
shape=$(case_shape 17-backward dx-stride)
field() { printf '%s\n' "$shape" | tr ' ' '\n' | sed -n "s/^$1=//p"; }
without=$(awk -v H="$(field H)" -v W="$(field W)" -v R="$(field R)" -v S="$(field S)" \
    -v pad="$(field pad)" -v stride="$(field stride)" 'BEGIN {
    split(pad, z, ","); split(stride, step, ",")
    for (h = 0; h < H; h++) for (r = 0; r < R; r++) rows += (h + z[1] - r) % step[1] == 0
    for (w = 0; w < W; w++) for (s = 0; s < S; s++) columns += (w + z[2] - s) % step[2] == 0
    printf "%.0f", 100 * (1 - rows * columns / (H * W * R * S)) }')
say "$page" "without them, $without % of dx-stride's multiplications"

after_table 17 >"$out/after.md"
say "$page" "and $(calc %.0f "$(number scatter-dw-lenet-c1 cycles) / $(number solution-dw-lenet-c1 cycles)") times the time in \`dw-lenet-c1\`"
say "$page" "right, and $(after_ratio 17 "the first tile, one slice" "t / best" %.1f) times as slow in \`dw-deep\`"
