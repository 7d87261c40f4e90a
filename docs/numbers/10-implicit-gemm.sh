#!/bin/sh
# 10-implicit-gemm.sh BUILD OUT - the numbers of labs/10-implicit-gemm/README.md.
. docs/numbers/lib.sh

# ---- the ladder from lab 09 to lab 10, step by step ---------------------------------------------------------------------

measured=docs/data/compare/gemm-h200.tsv
shape='N=32 C=32 H=28 W=28 K=128 R=3 S=3 pad=1 stride=1'

# rung NAME LAB SUBMISSION: a row with cycles of the simulated h200.
rung() {
    simulate_long "$1" "$2" "$3" --shape "$shape" --gpu h200
    printf '%s\t%s\n' "$1" "$(number "$1" cycles)"
}

{
    printf 'what\th200_cycles\n'
    rung 02-naive 02 solutions
    rung 04-tiled 04 solutions
    rung 09-im2col 09 solutions
    for step in 1 2 3 4 5; do
        rung "step-$step" 10 "$(variant "step-$step" docs/numbers/10-implicit-gemm/steps.cu "STEP=$step")"
    done
    rung 10-implicit-gemm 10 solutions
    rung 11-tensor-cores 11 solutions
} >"$out/gemm.tsv"

{
    echo '| | H200, µs | simulated h200, µs | H200, a large layer, ms |'
    echo '| --- | --- | --- | --- |'
    awk -F'\t' '
        BEGIN {
            what["09-im2col"] = "lab 09: X_unroll written, then read"
            what["step-1"] = "tiles of 16×16 in shared memory, one sum a thread"
            what["step-2"] = "64×64, 4×4 sums a thread in registers"
            what["step-3"] = "the tiles read as `float4`"
            what["step-4"] = "128×128, 8×8 sums a thread"
            what["step-5"] = "the next tiles loaded ahead, two buffers"
            what["10-implicit-gemm"] = "lab 10: tiles by size, pieces, rows read ahead, stores of `float4`"
        }
        FNR == 1 { next }
        FILENAME ~ /h200/ { us[$1] = $2; large[$1] = $3; next }
        $1 in what { printf "| %s | %.1f | %.1f | %.2f |\n", what[$1], us[$1], $2 / 1980, large[$1] / 1000 }' "$measured" "$out/gemm.tsv"
} >"$out/gemm.md"

if command -v gnuplot >/dev/null; then
    gnuplot -e "measured='$measured'; simulated='$out/gemm.tsv'; out='$out/gemm-ladder.svg'" docs/numbers/10-implicit-gemm/ladder.gp
fi
