#!/bin/sh
# decisions.sh BUILD OUT - the numbers of docs/developer/decisions.md.
. docs/numbers/lib.sh

page=docs/developer/decisions.md

# The error of rounding (tool_rounding.c states its unit).
rounding=$build/tests/common/operations/operation/tool_rounding
"$rounding" >"$out/rounding.tsv"
"$rounding" fp32 >"$out/fp32.tsv"
# range WAY FORMAT: the least and the most over all lengths.
range() {
    awk -F'\t' -v way="$1" -v format="$2" '
        index($1, way) { least = most = $2; for (i = 3; i <= NF; i++) { if ($i < least) least = $i; if ($i > most) most = $i } }
        END { a = sprintf(format, least); b = sprintf(format, most); print a == b ? a : a " to " b }' "$out/rounding.tsv"
}
while IFS='	' read -r way rest; do
    [ "$way" = sums ] || say "$page" "| $way | $(printf '%s' "$rest" | sed 's/	/ | /g') |"
done <"$out/fp32.tsv"
say "$page" "rounding to nearest has $(range 'rounded to nearest, 11' %.2f), truncation $(range 'cut off' %.1f), bf16 $(range bf16 %.1f)"

# The speedup of lab 07 over its baseline, lab 06, in the mean of its timed cases.
for case in table-1 wide; do
    simulate "before-$case" 07 solutions/06-unrolled/conv.cu --case "$case"
    simulate "after-$case" 07 solutions --case "$case"
done
gain=$(calc '%.0f' "100 * (sqrt($(number before-table-1 cycles) / $(number after-table-1 cycles) * $(number before-wide cycles) / $(number after-wide cycles)) - 1)")
say "$page" "Lab 07 gains $gain % on its machine"
