#!/bin/sh
# 06-unrolled.sh BUILD OUT - the numbers of labs/06-unrolled/README.md.
. docs/numbers/lib.sh

page=labs/06-unrolled/README.md

# Lab 05 with unrolled loops, and this lab.
sed 's/#pragma unroll 1.*/#pragma unroll/' solutions/05-register-tiled/conv.cu \
    >"$out/four-changes.cu"
simulate rolled 05 solutions --case table-1
simulate four-changes 05 "$out/four-changes.cu" --case table-1
simulate mine 06 solutions --case table-1
say "$page" "the kernel is $(ratio "$(number rolled cycles)" "$(number four-changes cycles)") times as fast"
before=$(calc '%.0f' "$(number rolled thread_instructions) / 1e6") \
    after=$(calc '%.0f' "$(number mine thread_instructions) / 1e6")
say "$page" "Lab 05 executes $before million thread instructions in table-1, this lab $after million"

# The store remains a loop.
simulate store 06 "$(variant store solutions/06-unrolled/conv.cu docs/numbers/labs/06-unrolled/store.patch)" --case table-1
more=$(calc '%.0f' "100 * $(number store cycles) / $(number mine cycles) - 100")
say "$page" "$(thousands "$(number store local_sectors)") sectors, and $more % more cycles"

# Time per phase, before and after.
{
    echo '| quantity | lab 05 | lab 06 | the paper |'
    echo '| --- | --- | --- | --- |'
    printf '| time, cycles | %s | %s | 524,000 → 148,000 |\n' \
        "$(thousands "$(number rolled cycles)")" "$(thousands "$(number mine cycles)")"
    before=$(profile 05 solutions --case table-1) after=$(profile 06 solutions --case table-1)
    awk -F'\t' '
        FNR == 1 { file++; next }
        $1 == "compute" { compute[file] = 100 * $3 }
        /^load/ { loads[file] += 100 * $3 }
        END {
            printf "| time in multiply-adds | %.0f %% | %.0f %% | 97 %% → 69 %% |\n", compute[1], compute[2]
            printf "| time in loads | %.0f %% | %.0f %% | |\n", loads[1], loads[2]
        }' "$before/phases.tsv" "$after/phases.tsv"
} >"$out/phases.md"

# Measured on an H200 (docs/data/cheng).
data=docs/data/cheng/unroll-h200.tsv
ladder=docs/data/cheng/ladder-h200.tsv
mine=$(cell "$ladder" '06 unrolled' 2) before=$(cell "$ladder" '05 register-tiled' 2)
say "$page" "the kernel takes **$(calc '%.0f' "$mine") µs**, lab 05's took $(calc '%.0f' "$before"): $(ratio "$before" "$mine") times as fast"
{
    echo '| unroll factor | registers per thread | time, µs | at most 32 registers: spilled, bytes | time, µs |'
    echo '| --- | --- | --- | --- | --- |'
    awk -F'\t' '
        $1 == 1 { free[$2] = $3 " | " int($5 + 0.5); times[++n] = $2 }
        $1 == 32 { tight[$2] = $4 " | " int($5 + 0.5) }
        END { for (i = 1; i <= n; i++) printf "| %d | %s | %s |\n", times[i], free[times[i]], tight[times[i]] }' "$data"
} >"$out/unroll.md"

# unrolled BLOCKS TIMES COLUMN
unrolled() {
    awk -F'\t' -v blocks="$1" -v times="$2" -v column="$3" \
        '$1 == blocks && $2 == times { print $column }' "$data"
}
say "$page" "Unrolling i saves $(saved "$(unrolled 1 1 5)" "$(unrolled 1 12 5)") % by itself"
longer=$(ratio "$(unrolled 32 1 5)" "$(unrolled 1 1 5)")
say "$page" "At most 32 registers instead of $(unrolled 1 1 3) cost up to $longer times the time"

if command -v gnuplot >/dev/null; then
    gnuplot -e "measured='$data'; out='$out/06-unroll.svg'" docs/numbers/labs/06-unrolled/unroll.gp
fi

after_table 06 >"$out/after.md"
say "$page" "implicit GEMM takes $(compared table1 "cuDNN fp32 NCHW" %.1f) µs for \`table-1\` on an H200. This lab takes $(compared table1 "06-unrolled" %.1f) µs, and lab 05 takes $(compared table1 "05-register-tiled" %.1f) µs"
