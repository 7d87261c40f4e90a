#!/bin/sh
# 06-unrolled.sh BUILD OUT - the numbers of labs/06-unrolled/README.md.
. docs/numbers/lib.sh

data=docs/data/cheng/unroll-h200.tsv

# Unrolling the loop over rows, with and without a bound on registers.
{
    echo '| times | as many registers as it likes | at most 32 registers |'
    echo '| --- | --- | --- |'
    awk -F'\t' '
        $1 == 1 { free[$2] = sprintf("%d (%d%s)", $5 + 0.5, $3, $2 == 1 ? " registers" : "") }
        $1 == 32 { printf "| %d | %s | %d (%d%s) |\n", $2, free[$2], $5 + 0.5, $4, $2 == 1 ? " bytes" : "" }' "$data"
} >"$out/unroll.md"

if command -v gnuplot >/dev/null; then
    gnuplot -e "measured='$data'; out='$out/06-unroll.svg'" docs/numbers/06-unrolled/unroll.gp
fi
