#!/bin/sh
# 15-fft.sh BUILD OUT - the numbers of labs/15-fft/README.md.
. docs/numbers/lib.sh
page=labs/15-fft/README.md
solution=solutions/15-fft/conv.cu
patches=docs/numbers/15-fft
measured=docs/data/compare/fft-h200.tsv
. docs/numbers/layers.sh

# saved TILE R: products of the definition for one of four at each point.
saved() { calc %.1f "$2^2 * ($1 - $2 + 1)^2 / (4 * ($1^2 / 2 + 2))"; }
{
    echo '| tile | 3×3 | 5×5 | 7×7 | 11×11 | 15×15 | 21×21 | 31×31 |'
    echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
    for tile in 16 32 64; do
        printf '| %s×%s |' "$tile" "$tile"
        for r in 3 5 7 11 15 21 31; do
            if [ "$r" -gt "$tile" ]; then printf ' – |'; else printf ' %s |' "$(saved "$tile" "$r")"; fi
        done
        echo
    done
} >"$out/saved.md"

# way NAME LAB SUBMISSION WORDS: a row with the timed cases' cycles, and what `eleven` has to do.
way() {
    for timed in alexnet-2 eleven; do
        simulate_long "$1-$timed" "$2" "$3" --shape "$(case_shape 15-fft $timed)" --gpu h200
    done
    printf '| %s | %s | %s | %s | %s | %s |\n' "$4" \
        "$(thousands "$(number "$1-alexnet-2" cycles)")" \
        "$(thousands "$(number "$1-eleven" cycles)")" \
        "$(number "$1-eleven" launches)" \
        "$(calc %.1f "$(number "$1-eleven" float_instructions) / 1e6")" \
        "$(calc %.0f "($(number "$1-eleven" global_load_sectors) + $(number "$1-eleven" global_store_sectors)) * 32 / 1e6")"
}
{
    echo '| | `alexnet-2`, cycles | `eleven`, cycles | launches | million float instructions of its warps | MB loaded and stored |'
    echo '| --- | --- | --- | --- | --- | --- |'
    way direct 10 solutions 'lab 10'
    for side in 16 32 64; do
        way tile-$side 15 "$(variant tile-$side "$solution" "$patches/tile-$side.patch")" \
            "tiles of $side×$side"
    done
    way chosen 15 solutions 'lab 15: what costs least'
} >"$out/steps.md"
simulate_long one-by-one 15 "$(variant one-by-one "$solution" "$patches/one-by-one.patch")" \
    --shape "$(case_shape 15-fft eleven)" --gpu h200
say $page "and \`eleven\` took $(thousands "$(number one-by-one cycles)") cycles instead of $(thousands "$(number chosen-eleven cycles)")"

# ---- what an H200 measured -----------------------------------------------------------------------

awk -F'\t' '
    FILENAME ~ /times/ { us[$1, $2] = $3; how[$1, $2] = $4; next }
    { name[++n] = $1 }
    function t(side) { return (l, side) in us ? sprintf((us[l, side] < 100 ? "%.1f" : "%.0f"), us[l, side]) : "–" }
    END {
        print "| layer | lab 10 | lab 14 | 16×16 | 32×32 | 64×64 | **lab 15** | cuDNN fp32 | how | cuDNN / 15 | 10 / 15 |"
        print "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
        for (i = 1; i <= n; i++) {
            l = name[i]
            printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %.2f | %.2f |\n", l, t("10-implicit-gemm"), t("14-winograd"), t("tile-16"), t("tile-32"), t("tile-64"),
                t("15-fft"), t("cuDNN"), how[l, "cuDNN"], us[l, "cuDNN"] / us[l, "15-fft"], us[l, "10-implicit-gemm"] / us[l, "15-fft"]
        }
    }' "$out/times.dat" "$out/order" >"$out/h200.md"

ratio() { calc "$1" "$(of "$2" "$3") / $(of "$2" "$4")"; }
say $page "from 5×5 to 31×31 lab 15 is $(range cuDNN 15-fft '^(5x5|7x7|9x9|11x11|15x15|21x21|31x31)$') times as fast as cuDNN's best"
say docs/student/compare.md "there lab 15 is $(range cuDNN 15-fft '^(5x5|7x7|9x9|11x11|15x15|21x21|31x31)$') times as fast as cuDNN's best from 5×5 on"
say $page "and $(range 10-implicit-gemm 15-fft '^(5x5|7x7|9x9|11x11|15x15|21x21|31x31)$') times as fast as lab 10"
say $page "at 3×3 lab 14 is $(ratio %.1f 3x3 15-fft 14-winograd) times as fast as lab 15"
say $page "7×7 takes $(calc %.0f "$(of 7x7 15-fft)") µs and 15×15 takes $(calc %.0f "$(of 15x15 15-fft)"), with $(calc %.1f '15^2 / 7^2') times as many products in the definition"
say $page "at 1×7 it is $(ratio %.2f 1x7 10-implicit-gemm 15-fft) times as fast as lab 10, at 1×31 $(ratio %.1f 1x31 10-implicit-gemm 15-fft) times as fast"
rm "$out/times.dat" "$out/order"
