#!/bin/sh
# 14-winograd.sh BUILD OUT - the numbers of labs/14-winograd/README.md.
. docs/numbers/lib.sh
solution=solutions/14-winograd/conv.cu
patches=docs/numbers/labs/14-winograd
measured=docs/data/compare/winograd-h200.tsv
. docs/numbers/layers.sh

# version_row NAME LAB SUBMISSION WORDS: a row with the cycles of the timed cases, and the launches,
# instructions and bytes of staged-timed.
version_row() {
    simulate_long "$1-small" "$2" "$3" --shape "$(case_shape 14-winograd one-kernel-timed)" --gpu h200
    simulate_long "$1-large" "$2" "$3" --shape "$(case_shape 14-winograd staged-timed)" --gpu h200
    printf '| %s | %s | %s | %s | %s | %s |\n' "$4" "$(thousands "$(number "$1-small" cycles)")" \
        "$(thousands "$(number "$1-large" cycles)")" \
        "$(number "$1-large" launches)" \
        "$(calc %.0f "$(number "$1-large" float_instructions) / 1e6")" \
        "$(calc %.0f "($(number "$1-large" global_load_sectors) + $(number "$1-large" global_store_sectors)) * 32 / 1e6")"
}

{
    echo '| version | `one-kernel-timed` (cycles) | `staged-timed` (cycles) | launches | fp32 warp instructions (millions) | loaded and stored (MB) |'
    echo '| --- | --- | --- | --- | --- | --- |'
    version_row direct 10 solutions 'lab 10'
    version_row rows 14 "$(variant rows "$solution" "$patches/rows.patch")" 'F(2, 3), one dimension'
    version_row one-kernel 14 "$(variant one-kernel "$solution" "$patches/one-kernel.patch")" \
        'F(2×2, 3×3), fused'
    version_row staged-2 14 "$(variant staged-2 "$solution" "$patches/staged-2.patch")" \
        'F(2×2, 3×3), staged'
    version_row staged-4 14 "$(variant staged-4 "$solution" "$patches/staged-4.patch")" \
        'F(4×4, 3×3), staged, block tile 128×64'
    version_row chosen 14 solutions 'lab 14: the version with the smallest cost'
} >"$out/steps.md"

# ---- times measured on an H200 -----------------------------------------------------------------------

awk -F'\t' '
    FILENAME ~ /times/ { us[$1, $2] = $3; how[$1, $2] = $4; next }
    { name[++n] = $1 }
    function t(side) { x = us[l, side]; return sprintf(x < 100 ? "%.1f" : "%.0f", x) }
    END {
        print "| layer | lab 10 (µs) | F(2×2), fused (µs) | F(2×2), staged (µs) | F(4×4), staged (µs) | **lab 14** (µs) | cuDNN fp32 (µs) | cuDNN algorithm | cuDNN / lab 14 | lab 10 / lab 14 |"
        print "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
        for (i = 1; i <= n; i++) {
            l = name[i]
            printf "| %s | %s | %s | %s | %s | %s | %s | %s | %.2f | %.2f |\n", l, t("10-implicit-gemm"), t("one-kernel"), t("staged-2"), t("staged-4"), t("14-winograd"),
                t("cuDNN"), how[l, "cuDNN"], us[l, "cuDNN"] / us[l, "14-winograd"], us[l, "10-implicit-gemm"] / us[l, "14-winograd"]
        }
    }' "$out/times.dat" "$out/order" >"$out/h200.md"

# against WORDS SIDE PATTERN: speedup of a side over cuDNN; `best` is the faster of labs 10 and 14.
against() {
    awk -F'\t' -v words="$1" -v side="$2" -v pattern="$3" '
        $1 !~ pattern { next }
        $2 == "cuDNN" { cudnn[$1] = $3; winograd[$1] = $4 ~ /Winograd/ }
        $2 == side || (side == "best" && ($2 == "14-winograd" || $2 == "10-implicit-gemm")) { if (!($1 in us) || $3 < us[$1]) us[$1] = $3 }
        END {
            least = 1e9
            for (l in us) {
                if (words ~ /Winograd/ && !winograd[l]) continue
                x = cudnn[l] / us[l]; sum += log(x); n++; won += x >= 1
                if (x < least) { least = x; where = l }
            }
            printf "| %s | %d | %.2f | %d | %.2f (%s) |\n", words, n, exp(sum / n), won, least, where
        }' "$out/times.dat"
}
{
    echo '| compared programs | layers | speedup, geometric mean | layers with speedup above 1 | minimum speedup |'
    echo '| --- | --- | --- | --- | --- |'
    against "lab 14 against cuDNN's Winograd" 14-winograd .
    against 'lab 14 against cuDNN fp32, its best, N=1' 14-winograd 'n1$'
    against 'the better of labs 10 and 14 against cuDNN fp32, its best' best .
} >"$out/summary.md"
page=labs/14-winograd/README.md
say $page "as fast as cuDNN's Winograd or faster, $(range cuDNN 14-winograd '-(64|128|256|512)-.*-.*n32' 2) times, and $(range 10-implicit-gemm 14-winograd '-(64|128|256|512)-.*-.*n32') times as fast as lab 10"
say $page "With one image it is $(range cuDNN 14-winograd 'n1$') times as fast as cuDNN"
say $page "lab 10 is $(calc %.1f "$(of vgg-3-224-64-n1 14-winograd) / $(of vgg-3-224-64-n1 10-implicit-gemm)") times as fast"
say $page "whose tiles fit, is $(calc %.1f "$(of vgg-512-14-512-n1 14-winograd) / $(of vgg-512-14-512-n1 staged-2)") times as fast"
say $page "F(4×4) in stages would be $(range 14-winograd staged-4 '(64-112-128|256-28-512)-n1') times as fast"
cell() { awk -F' *[|] *' -v what="$1" -v column="$2" '$2 == what { print $column }' "$out/summary.md"; }
say docs/student/compare.md "Lab 14 is at $(cell "lab 14 against cuDNN's Winograd" 6 | cut -d' ' -f1) of cuDNN's Winograd at least, $(cell "lab 14 against cuDNN's Winograd" 4) in the geometric mean"
say docs/student/compare.md "the better of labs 10 and 14 is $(cell 'the better of labs 10 and 14 against cuDNN fp32, its best' 4) times as fast"
rm "$out/times.dat" "$out/order"

after_table 14 >"$out/after.md"
