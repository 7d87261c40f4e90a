#!/bin/sh
# 15-fft.sh BUILD OUT - the numbers of labs/15-fft/README.md.
. docs/numbers/lib.sh
page=labs/15-fft/README.md
solution=solutions/15-fft/conv.cu
patches=docs/numbers/labs/15-fft
measured=docs/data/compare/fft-h200.tsv
. docs/numbers/layers.sh

# saved TILE R: multiplications of direct convolution over 4 real multiplications per frequency.
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

# version_row NAME LAB SUBMISSION WORDS: a row with the cycles of the timed cases, and the launches,
# instructions and bytes of `eleven`.
version_row() {
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
    echo '| version | `alexnet-2` (cycles) | `eleven` (cycles) | launches | fp32 warp instructions (millions) | loaded and stored (MB) |'
    echo '| --- | --- | --- | --- | --- | --- |'
    version_row direct 10 solutions 'lab 10'
    for side in 16 32 64; do
        version_row tile-$side 15 "$(variant tile-$side "$solution" "$patches/tile-$side.patch")" \
            "tiles of $side×$side"
    done
    version_row chosen 15 solutions 'lab 15: the tile with the smallest cost'
} >"$out/steps.md"
simulate_long one-by-one 15 "$(variant one-by-one "$solution" "$patches/one-by-one.patch")" \
    --shape "$(case_shape 15-fft eleven)" --gpu h200
say $page "and \`eleven\` took $(thousands "$(number one-by-one cycles)") cycles instead of $(thousands "$(number chosen-eleven cycles)")"

# ---- times measured on an H200 -----------------------------------------------------------------------

awk -F'\t' '
    FILENAME ~ /times/ { us[$1, $2] = $3; how[$1, $2] = $4; next }
    { name[++n] = $1 }
    function t(side) { return (l, side) in us ? sprintf((us[l, side] < 100 ? "%.1f" : "%.0f"), us[l, side]) : "–" }
    END {
        print "| filter | lab 10 (µs) | lab 14 (µs) | tile 16×16 (µs) | tile 32×32 (µs) | tile 64×64 (µs) | **lab 15** (µs) | cuDNN fp32 (µs) | cuDNN algorithm | cuDNN / lab 15 | lab 10 / lab 15 |"
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
say $page "7×7 takes $(calc %.0f "$(of 7x7 15-fft)") µs and 15×15 takes $(calc %.0f "$(of 15x15 15-fft)"), although direct convolution needs $(calc %.1f '15^2 / 7^2') times the multiplications"
say $page "at 1×7 it is $(ratio %.2f 1x7 10-implicit-gemm 15-fft) times as fast as lab 10, at 1×31 $(ratio %.1f 1x31 10-implicit-gemm 15-fft) times as fast"
rm "$out/times.dat" "$out/order"

after_table 15 >"$out/after.md"
