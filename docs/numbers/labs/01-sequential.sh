#!/bin/sh
# 01-sequential.sh BUILD OUT - the numbers of labs/01-sequential/README.md.
. docs/numbers/lib.sh
. docs/numbers/card.sh

page=labs/01-sequential/README.md

# row NAME VARIANT CASE: times of the plain loop and of the variant.
row() {
    awk -F'\t' -v variant="$2" -v name="$3" '$1 == variant && $2 == name { print $3, $4 }' \
        "$data/host.tsv" >"$out/row"
    read -r own plain <"$out/row" || fail "$data/host.tsv has no $2 of $3"
    printf '| %s | %s | %s | %s |\n' "$1" "$(calc '%.2f' "$plain / 1000")" \
        "$(calc '%.2f' "$own / 1000")" "$(ratio "$plain" "$own")"
}

{
    echo '| case | plain loop, ms | solution, ms | speedup |'
    echo '| --- | --- | --- | --- |'
    for case in lenet-c1 lenet-c3 electrode-1 electrode-2 electrode-3 vgg-conv1_1; do row "$case" solution $case; done
    row 'vgg-conv1_1, stride 2' solution vgg-stride-2
    row 'vgg-conv1_1, test in the innermost loop' test-inside vgg-conv1_1
    row "vgg-conv1_1, without \`restrict\`" no-restrict vgg-conv1_1
    printf '\nBest of five runs, on %s.\n' "$(measured_on host.tsv)"
} >"$out/host.md"

# Arithmetic intensity: FLOP of the formula per byte of x, w and y.
intensity() {
    "$build/bin/lab" cases --build "$build" --lab 01 | awk -v name="01-sequential/$1" '
        $1 == name { N = $2; C = $3; H = $4; W = $5; K = $6; R = $7; S = $8; P = $9; Q = $10
            printf "%.0f", 2 * N * K * P * Q * C * R * S / (4 * (N * C * H * W + K * C * R * S + N * K * P * Q)) }'
}
say "$page" "lenet-c1 does about $(intensity lenet-c1) FLOP per byte, and electrode-2 about $(intensity electrode-2)."

after_table 01 >"$out/after.md"
say "$page" "It is $(calc %.1f "$(after_ratio 01 "the plain loop nest" t %d) / $(after_ratio 01 "the test in the innermost loop" t %d)") times as fast as the plain loop nest. The solution is $(after_ratio 01 "the plain loop nest" "t / best" %.1f) times as fast, and four filters at once $(calc %.1f "$(after_ratio 01 "the plain loop nest" t %d) / $(after_ratio 01 "four filters at once" t %d)") times."
