#!/bin/sh
# 13-sparse.sh BUILD OUT - the numbers of lab 13's handout (README.md).
. docs/numbers/lib.sh
page=labs/13-sparse/README.md
maps=$build/tests/datasets/tool_maps
measured=docs/data/compare/sparse-h200.tsv

# ---- the authors' kernel: one channel ------------------------------------------------------------
single='N=16 C=1 H=28 W=28 K=64 R=3 S=3 pad=1 stride=1'
levels='0 50 70 90 95'
taps=$(variant taps solutions/13-sparse/conv.cu docs/numbers/labs/13-sparse/taps.patch)
warps=$(variant warps solutions/13-sparse/conv.cu docs/numbers/labs/13-sparse/warps.patch)
for zeros in $levels; do
    simulate "authors-$zeros" 13 solutions --shape "$single zeros=$zeros"
    simulate "taps-$zeros" 13 "$taps" --shape "$single zeros=$zeros,$zeros"
    simulate "warps-$zeros" 13 "$warps" --shape "$single zeros=$zeros"
done
simulate naive 02 solutions --shape "$single zeros=70"
simulate dense 10 solutions --shape "$single zeros=70"

cycles() { thousands "$(number "$1" cycles)"; }
millions() { calc %.0f "$(number "$1" thread_instructions) / 1e6"; }
lanes() { calc %.1f "$(number "$1" thread_instructions) / $(number "$1" warp_instructions)"; }
# row WORDS FUNCTION RUN: a column for each level, of RUN-LEVEL, or of RUN itself.
row() {
    printf '| %s |' "$1"
    for zeros in $levels; do
        run=$3-$zeros
        [ -f "$out/runs/$run" ] || run=$3
        printf ' %s |' "$($2 "$run")"
    done
    printf '\n'
}
# The same on an H200, if measured: h200/sparse.sh authors.
card=docs/data/compare/authors-h200.tsv
card_rows() {
    sh common/apps/compare/sparse_table.sh "$card" | awk -F'\t' -v levels="$levels" '
        { ten[$2] = $3; thirteen[$2] = $4; cudnn[$2] = $5 }
        function row(words, us) { printf "| H200, µs: %s |", words; for (i = 1; i <= n; i++) printf " %.1f |", us[level[i]]; print "" }
        END { n = split(levels, level, " "); row("algorithms 1 and 2", thirteen); row("lab 10", ten); row("cuDNN", cudnn) }'
}
{
    printf '| kernel, by zeros in x | 0 %% | 50 %% | 70 %% | 90 %% | 95 %% |\n| --- | --- | --- | --- | --- | --- |\n'
    row 'algorithms 1 and 2, cycles' cycles authors
    row 'algorithms 1 and 2, million thread instructions' millions authors
    row 'algorithms 1 and 2, active lanes of 32' lanes authors
    row 'the same zeros in w, skipped too, cycles' cycles taps
    row 'one list per warp and 128 filters (rest of this lab), cycles' cycles warps
    row 'lab 02, simple loops, cycles' cycles naive
    row 'lab 10, the baseline, cycles' cycles dense
    [ ! -f "$card" ] || card_rows
} >"$out/authors.md"
first=$(number authors-0 cycles) last=$(number authors-95 cycles)
say "$page" "$(calc %.0f "100 * (1 - $last / $first)") % fewer cycles"
say "$page" "$(calc %.1f "$last / $(number naive cycles)") times as many as the simple loops of lab 02"
say "$page" "$(calc %.0f "$(number authors-0 shared_bytes_per_block) / 1024") KB of lists for one warp"
if [ -f "$card" ]; then
    on_card=$(sh common/apps/compare/sparse_table.sh "$card" | awk -F'\t' '$2 == 0 { first = $4 } $2 == 95 { printf "%.0f %% less time, and %.1f times as long as lab 10", 100 * (1 - $4 / first), $4 / $3 }')
    say "$page" "On the H200 it takes $on_card"
fi
gain=$(for zeros in $levels; do calc '%.6f\n' "100 * (1 - $(number "taps-$zeros" cycles) / $(number "authors-$zeros" cycles))"; done | sort -n)
say "$page" "this gains only $(calc %.0f "$(echo "$gain" | head -n 1)") to $(calc %.0f "$(echo "$gain" | tail -n 1)") %"
say "$page" "spoils $(calc %.0f '144 * (1 - 0.7 ^ 6)') of the 144 outputs"
say "$page" "27 multiplications that become 10 save $(calc %.0f '100 * 17 / 27') %, not 70; 24 additions that become 7 save $(calc %.0f '100 * 17 / 24') %, not 58"
simulate many 13 solutions --case inception
say "$page" "takes 16 registers of $(number many registers). So an SM holds $(calc %d "$(number many resident_blocks) * $(number many threads_per_block) / 32") warps"

# ---- rows that are kept --------------------------------------------------------------------------
# kept ZEROS STRIDE COLUMN: 2 to 4 are patches of 1, 2x2 and 4x4 outputs.
kept() {
    "$maps" kept 1 "N=1 C=512 H=28 W=28 K=1 R=3 S=3 pad=1 stride=$2 zeros=$1" |
        awk -F'\t' -v column="$3" 'NR == 2 { printf "%.0f", $column }'
}
random_rows() {
    calc %.0f "100 * (1 - ($1 / 100) ^ $2)"
}
{
    printf '| zeros | 1×1 tile, rows kept in %% | 2×2 | 4×4 | 2×2, stride 2 | 2×2, stride 3 |\n| --- | --- | --- | --- | --- | --- |\n'
    for zeros in 50 70 90 95; do
        printf '| %s %% | %s (%s) | %s (%s) | %s (%s) | %s | %s |\n' "$zeros" \
            "$(kept "$zeros" 1 2)" "$(random_rows "$zeros" 1)" "$(kept "$zeros" 1 3)" \
            "$(random_rows "$zeros" 4)" "$(kept "$zeros" 1 4)" "$(random_rows "$zeros" 16)" \
            "$(kept "$zeros" 2 3)" "$(kept "$zeros" 3 3)"
    done
} >"$out/kept.md"
say "$page" "$(kept 90 1 3) % of a tile's rows still have a value"
say "$page" "$(random_rows 90 1), $(random_rows 90 4) and $(random_rows 90 16). The generator's zeros form clusters: $(kept 90 1 2), $(kept 90 1 3) and $(kept 90 1 4)."
say "$page" "$(kept 90 3 3) % of its rows have a value instead of $(kept 90 1 3), and $(random_rows 90 4) % with zeros at random positions"

# ---- measurements of an H200 ---------------------------------------------------------------------
sh common/apps/compare/sparse_table.sh "$measured" >"$out/sparse.dat"
awk -F'\t' '
    BEGIN {
        print "| layer | lab 10, µs | cuDNN, µs | lab 13 with 0 % zeros, µs | 50 % | 70 % | 90 % | 95 % | faster than lab 10 from |"
        print "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
        what["vgg-conv4_2"] = "VGG conv4_2, 512 28×28 512"; what["vgg-conv5_1"] = "VGG conv5_1, 512 14×14 512"
        what["vgg-conv5_1-s2"] = "the same with stride 2"; what["vgg-conv5_1-s3"] = "the same with stride 3"
        what["vgg-conv5_1-n32"] = "the same with N=32"; what["inception-4e"] = "inception 4e, 160 14×14 320"
        n = split("vgg-conv4_2 vgg-conv5_1 vgg-conv5_1-s2 vgg-conv5_1-s3 vgg-conv5_1-n32 inception-4e", order, " ")
        m = split("0 50 70 90 95", level, " ")
    }
    { ten[$1, $2] = $3; thirteen[$1, $2] = $4; cudnn[$1, $2] = $5; if ($4 < $3 && !($1 in from)) from[$1] = $2 }
    function us(x) { return sprintf(x < 1000 ? "%.0f" : "%d,%03d", x < 1000 ? x : x / 1000, x % 1000) }
    END {
        for (i = 1; i <= n; i++) {
            l = order[i]
            printf "| %s | %s | %s |", what[l], us(ten[l, 90]), us(cudnn[l, 90])
            for (j = 1; j <= m; j++)
                printf thirteen[l, level[j]] < ten[l, 90] ? " **%s** |" : " %s |", us(thirteen[l, level[j]])
            printf " %s |\n", l in from ? from[l] " %" : "never"
        }
    }' "$out/sparse.dat" >"$out/h200.md"
from() {
    awk -F'\t' -v layer="$1" '$1 == layer && $4 < $3 { print $2; exit }' "$out/sparse.dat"
}
say "$page" "from $(from vgg-conv5_1-n32) % zeros with 32 images, from $(from vgg-conv4_2) % on conv4_2, from $(from vgg-conv5_1) % on conv5_1"
for layer in inception-4a inception-4e inception-5a inception-5b vgg-conv5_1-s2 vgg-conv5_1-s3; do
    [ -z "$(from $layer)" ] || fail "the page says that skipping zeros is never faster on $layer"
done
rm "$out/sparse.dat"

after_table 13 >"$out/after.md"
say "$page" "it takes $(after_ratio 13 "lab 10's dense kernel" "t / best" %.1f) times as long as the solution"
