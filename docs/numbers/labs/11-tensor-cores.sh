#!/bin/sh
# 11-tensor-cores.sh BUILD OUT - the numbers of lab 11's handout (README.md).  Its table of layers
# is compare.sh's.
. docs/numbers/lib.sh
page=labs/11-tensor-cores/README.md

"$build/tests/common/operations/operation/tool_rounding" >"$out/rounding.tsv"
awk -F'\t' '
    NR == 1 { printf "| inputs and accumulators; error in units of u |"; for (i = 2; i <= NF; i++) printf " %s multiply-adds |", thousands($i); printf "\n|"; for (i = 1; i <= NF; i++) printf " --- |"; print ""; next }
    {
        sub(/cut off after 11 bits/, "truncated to 11 bits")
        sub(/11 bits, and sums in fp16/, "rounded to nearest, 11 bits; fp16 accumulators")
        printf "|"; for (i = 1; i <= NF; i++) printf " %s |", $i; print ""
    }
    function thousands(x) { return x < 1000 ? x : sprintf("%d,%03d", x / 1000, x % 1000) }' \
        "$out/rounding.tsv" >"$out/rounding.md"
# Usage: of ROW COUNT, an error in that table.
of() { awk -F'\t' -v way="$1" -v count="$2" 'NR == 1 { for (i = 2; i <= NF; i++) column[$i] = i } index($1, way) { print $column[count] }' "$out/rounding.tsv"; }
[ "$(calc %d "($(of 'sums in fp16' 600) < 2 && $(of 'sums in fp16' 700) > 2 && $(of cut 4608) < 2 && $(of bf16 27) > 2)")" = 1 ] || fail "the page says which ways pass"
say $page "up to some 600 terms"
say $page "one multiplication may be off by $(calc %.3f '100 * 2 * 2 ^ -11') %"

# ---- the effect of each part ---------------------------------------------------------------------

solution=solutions/11-tensor-cores/conv.cu
patches=docs/numbers/labs/11-tensor-cores

# part NAME SUBMISSION WORDS: a row with the timed cases' cycles.
part() {
    printf '| %s' "$3"
    for case in deep wide; do
        simulate "$1-$case" 11 "$2" --case $case
        printf ' | %s' "$(thousands "$(number "$1-$case" cycles)")"
    done
    echo ' |'
}

{
    echo '| version, cycles | `deep` | `wide` |'
    echo '| --- | --- | --- |'
    part solution solutions 'lab 11'
    part one-piece "$(variant one-piece $solution $patches/one-piece.patch)" 'always one slice'
    part only-wmma "$(variant only-wmma $solution $patches/only-wmma.patch)" 'always WMMA, 64×64'
    part plain-order "$(variant plain-order $solution $patches/plain-order.patch)" \
        'chunks in plain order, no swizzle'
    part two-stages "$(variant two-stages $solution $patches/two-stages.patch)" 'two stages'
} >"$out/parts.md"

say $page "takes $(number solution-wide registers) registers, and so an SM holds $(calc %d "$(number solution-wide resident_blocks) * $(number solution-wide threads_per_block) / 32") warps"
say $page "$(calc %.1f '2048 / (32 * (4 + 2))') multiply-adds per word"
say $page "$(calc %.3f '(64 + 32) * 8 / (64 * 32 * 16)')"

after_table 11 >"$out/after.md"
