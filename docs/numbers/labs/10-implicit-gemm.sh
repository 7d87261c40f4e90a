#!/bin/sh
# 10-implicit-gemm.sh BUILD OUT - the numbers of labs/10-implicit-gemm/README.md.
. docs/numbers/lib.sh

# ---- the ladder from lab 09 to lab 10, step by step ----------------------------------------------

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
        rung "step-$step" 10 "$(variant "step-$step" docs/numbers/labs/10-implicit-gemm/steps.cu "STEP=$step")"
    done
    rung 10-implicit-gemm 10 solutions
    rung 11-tensor-cores 11 solutions
} >"$out/gemm.tsv"

{
    echo '| kernel | H200, µs | simulated h200, µs | H200, large layer, ms |'
    echo '| --- | --- | --- | --- |'
    awk -F'\t' '
        BEGIN {
            what["09-im2col"] = "lab 09: X_unroll in memory"
            what["step-1"] = "16×16 tiles in shared memory, one accumulator per thread"
            what["step-2"] = "64×64 tiles, 4×4 accumulators per thread"
            what["step-3"] = "64×64 tiles read as `float4`"
            what["step-4"] = "128×128 tiles, 8×8 accumulators per thread"
            what["step-5"] = "next tiles prefetched, two buffers"
            what["10-implicit-gemm"] = "lab 10: tile chosen by size, split-K, rows read ahead, `float4` stores"
        }
        FNR == 1 { next }
        FILENAME ~ /h200/ { us[$1] = $2; large[$1] = $3; next }
        $1 in what { printf "| %s | %.1f | %.1f | %.2f |\n", what[$1], us[$1], $2 / 1980, large[$1] / 1000 }' "$measured" "$out/gemm.tsv"
} >"$out/gemm.md"

if command -v gnuplot >/dev/null; then
    gnuplot -e "measured='$measured'; simulated='$out/gemm.tsv'; out='$out/gemm-ladder.svg'" \
        docs/numbers/labs/10-implicit-gemm/ladder.gp
fi

# ---- the effect of each part of the kernel --------------------------------------------------------

page=labs/10-implicit-gemm/README.md
solution=solutions/10-implicit-gemm/conv.cu
patches=docs/numbers/labs/10-implicit-gemm
# Those four cases use one of the seven kernels, and nvcc takes half a second for each.
late=$(variant loaded-late "$solution" "$patches/tile-16.patch" "$patches/loaded-late.patch")

# part NAME SUBMISSION WORDS: a row with the timed cases' cycles.
part() {
    printf '| %s' "$3"
    for case in lenet-c1 electrode-3 vgg-slice many-rows; do
        simulate "$1-$case" 10 "$2" --case "$case"
        cycles=$(number "$1-$case" cycles)
        printf ' | %s' "$(thousands "$cycles")"
    done
    echo ' |'
}

{
    echo '| version, cycles | `lenet-c1` | `electrode-3` | `vgg-slice` | `many-rows` |'
    echo '| --- | --- | --- | --- | --- |'
    part whole solutions 'lab 10'
    part loaded-late "$late" 'no prefetch: a tile is loaded when it is needed'
    part no-assembler "$(variant no-assembler "$solution" "$patches/tile-16.patch" "$patches/no-assembler.patch")" 'without the empty `asm`'
    part unaligned "$(variant unaligned "$solution" "$patches/tile-16.patch" "$patches/unaligned.patch")" '`Offset` not aligned'
    part one-tile "$(variant one-tile "$solution" "$patches/tile-128.patch" "$patches/one-tile.patch")" 'always tile 0, one slice'
} >"$out/parts.md"
before=$(number one-tile-electrode-3 cycles) after=$(number whole-electrode-3 cycles)
say "$page" "With tile 0 and one slice it takes $(calc '%.1f' "$before / $after") times as long"
say "$page" "The kernel with the 128×128 tile takes $(number one-tile-vgg-slice registers) registers"

# Stall reasons of many-rows' warps, as shares of their cycles.
waits() {
    folder=$(profile 10 "$2" --case many-rows)
    awk -F'\t' -v what="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
        { for (i = 1; i <= NF; i++) if (name[i] == "selected") from = i
          for (i = from; name[i] != "local_requests"; i++) { of[name[i]] += $i; all += $i } }
        END {
            printf "| %s | %.1f %% | %.1f %% | %.1f %% |\n", what, 100 * of["selected"] / all, 100 * of["long_scoreboard"] / all,
                100 * of["barrier"] / all
        }' "$folder/profile.tsv"
}
{
    echo '| many-rows | issuing | waiting for memory | waiting at a barrier |'
    echo '| --- | --- | --- | --- |'
    waits 'no prefetch: a tile is loaded when it is needed' "$late"
    waits 'the next tiles are prefetched' solutions
} >"$out/ahead.md"

# ---- numbers of the series ------------------------------------------------------------------------

# Prints a cell: of TABLE RUNG COLUMN
of() {
    awk -F'\t' -v rung="$2" -v column="$3" '$1 == rung { print $column }' "$1"
}
say "$page" "multiply-add and is $(calc '%.1f' "$(of "$measured" step-1 2) / $(of "$measured" step-2 2)") times as fast"
say "$page" "$(awk -F'\t' '
    $1 == "step-4" { small = $2; large = $3 }
    $1 == "step-5" { printf "Prefetching loses %.0f to %.0f %% on the GPU", 100 * ($3 / large - 1), 100 * ($2 / small - 1) }' "$measured")"
say "$page" "the simulator predicts a gain of $(calc '%.0f' "100 * (1 - $(of "$out/gemm.tsv" step-5 2) / $(of "$out/gemm.tsv" step-4 2))") %"

# ceiling SIDE: share, in percent, of the FMA units' measured maximum rate, on the large
# layer.
ceiling() {
    awk -F'\t' -v side="$1" '$1 == "vgg-128-112-128-n32" && $2 == side { printf "%.0f", 100 * $6 }' docs/data/compare/h200.tsv
}
say "$page" "lab 10 reaches $(ceiling 10-implicit-gemm) % of the maximum rate measured with the GPU's FMA units"
say "$page" "an existing X_unroll, reaches $(ceiling 'cuBLAS fp32') %"

after_table 10 >"$out/after.md"
