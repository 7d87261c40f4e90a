#!/bin/sh
# 09-im2col.sh BUILD OUT - the numbers of labs/09-im2col/README.md.
. docs/numbers/lib.sh

page=labs/09-im2col/README.md
solution=solutions/09-im2col/conv.cu
patches=docs/numbers/labs/09-im2col

# ---- on the host ---------------------------------------------------------------------------------

# unroll_on_host [OPTIONS]: what steps/unroll.c prints; it fails if the result is not the
# convolution.
unroll_on_host() {
    cc -o "$out/unroll" "$@" labs/09-im2col/steps/unroll.c
    "$out/unroll"
}
{
    echo '```text'
    unroll_on_host
    echo '```'
} >"$out/host.md"

# sectors WORDS OPTIONS...: a row of what a warp reads and writes.
sectors() {
    _words=$1
    shift
    unroll_on_host "$@" | sed -n "s/^sectors per warp: \([0-9.]*\) read, \([0-9.]*\) written, \([0-9.]*\) written.*/| $_words | \`$*\` | \1 | \2 | \3 |/p"
}
{
    echo '| layer | options for `cc` | sectors read | sectors written | sectors written as printed |'
    echo '| --- | --- | --- | --- | --- |'
    sectors 'an image of lenet-c3' -DC=6 -DH=14 -DW=14 -DK=16 -DR=5 -DS=5
    sectors 'the same with stride 2' -DC=6 -DH=14 -DW=14 -DK=16 -DR=5 -DS=5 -DSTRIDE=2
    sectors '30×30, 3×3 filters' -DC=6 -DH=30 -DW=30 -DK=16 -DR=3 -DS=3
} >"$out/sectors.md"

# ---- forms of the loads in TODO(2) ---------------------------------------------------------------

shape=$(case_shape 09-im2col vgg-slice)
simulate naive 02 solutions --shape "$shape" --gpu h200

# loads NAME WORDS: a row; NAME is a patch of the solution, or `solution`.
loads() {
    if [ "$1" = solution ]; then simulate "$1" 09 solutions --case vgg-slice; else
        simulate "$1" 09 "$(variant "$1" "$solution" "$patches/$1.patch")" --case vgg-slice
    fi
    cycles=$(number "$1" cycles)
    printf '| %s | %s | %s |\n' "$2" "$(thousands "$cycles")" \
        "$(calc '%.2f' "$(number naive cycles) / $cycles")"
}
{
    echo '| form of TODO(2) | cycles | speedup over lab 02 |'
    echo '| --- | --- | --- |'
    loads solution 'the solution: the compiler knows the number of iterations'
    loads rounds-by-thread '`for (i = t; i < DEPTH * COLUMNS; i += THREADS)`: the number of iterations depends on t'
    loads one-by-one '`#pragma unroll 1`'
    loads long-address '`unrolled[(size_t)row * columns + column0 + g]` after the check'
    loads long-address-ldg 'the same address computed before the check, then `__ldg(address)`'
    loads long-address-registers \
        'the same after the check, but into registers first, then into shared memory'
} >"$out/loads.md"

simulate pitch-64 09 "$(variant pitch-64 "$solution" "$patches/pitch-64.patch")" --case vgg-slice
conflicts=$(number pitch-64 bank_conflicts) fewer=$(number solution bank_conflicts)
say "$page" "vgg-slice would have $(thousands "$conflicts") bank conflicts instead of $(thousands "$fewer")"
simulate no-bounds 09 "$(variant no-bounds "$solution" "$patches/no-bounds.patch")" --case vgg-slice
say "$page" "limits the kernel to $(number solution registers) registers, so that an SM holds $(number solution resident_blocks) blocks. Without it the kernel takes $(number no-bounds registers) registers, and an SM holds $(number no-bounds resident_blocks) blocks."

# ---- on hardware -----------------------------------------------------------------------------------

compared=docs/data/compare/h200.tsv
{
    echo '| N C H×W K | lab 02, µs | lab 04, µs | lab 09, µs | lab 02 / lab 09 | lab 09, TFLOP/s |'
    echo '| --- | --- | --- | --- | --- | --- |'
    while IFS='|' read -r layer words; do
        awk -F'\t' -v layer="$layer" -v words="$words" '
            function us(x) {
                if (x < 20) return sprintf("%.1f", x)
                x = sprintf("%.0f", x) + 0
                return x < 1000 ? x : sprintf("%d,%03d", x / 1000, x % 1000)
            }
            $1 == layer { time[$2] = $4; rate[$2] = $5 }
            END {
                printf "| %s | %s | %s | %s | %.1f | %.1f |\n", words, us(time["02-naive"]), us(time["04-tiled"]), us(time["09-im2col"]),
                    time["02-naive"] / time["09-im2col"], rate["09-im2col"]
            }' "$compared"
    done <<'LAYERS'
vgg-3-224-64-n1|1 3 224×224 64
vgg-64-224-64-n1|1 64 224×224 64
vgg-128-112-128-n1|1 128 112×112 128
vgg-256-56-256-n1|1 256 56×56 256
vgg-512-28-512-n1|1 512 28×28 512
vgg-512-14-512-n1|1 512 14×14 512
vgg-64-224-64-n32|32 64 224×224 64
vgg-256-56-256-n32|32 256 56×56 256
vgg-512-28-512-n32|32 512 28×28 512
vgg-512-14-512-n32|32 512 14×14 512
lenet-c3|1024 6 14×14 16, 5×5, no padding
lenet-c1|1024 1 32×32 6, 5×5, no padding
electrode-2|1 64 28×50 64, 4×4, same
LAYERS
} >"$out/h200.md"
say "$page" "$(awk -F'\t' '
    $1 ~ /^vgg-/ && $1 !~ /^vgg-3-/ && $2 == "02-naive" { naive[$1] = $4 }
    $1 in naive && $2 == "09-im2col" {
        ratio = naive[$1] / $4
        least = !least || ratio < least ? ratio : least
        most = ratio > most ? ratio : most
    }
    END { printf "Many channels: %.0f to %.0f times as fast as naive", least, most }' "$compared")"
say "$page" "The maximum measured with the GPU's fp32 units is $(sed -n 's/.*fp32 FMA \([0-9]*\)\.[0-9]* TFLOP.*/\1/p' "$compared")"

# One image of 14x14: the blocks, and the slices that TODO(5) makes of 4,608 rows.
enough=$(constant TARGET_BLOCKS "$solution") columns=4 filters=8 rows=4608
pieces=$((enough / (columns * filters)))
say "$page" "$columns blocks for the columns times $filters for the filters, $((columns * filters)) blocks for $(machine h200 sms) SMs. Split into $pieces slices of $((rows / pieces)) rows, it has $((columns * filters * pieces)) blocks"

# ---- the report's windows ------------------------------------------------------------------------

# Layer 1, 56x100, 8x8: windows that begin 1 outside instead of 3, and hold another number of
# inputs.
say "$page" "$(awk 'function held(at, before, size,    from, to) {
        from = at - before; to = from + 7
        return (to < size ? to : size - 1) - (from > 0 ? from : 0) + 1
    }
    BEGIN {
        for (i = 0; i < 56; i++)
            for (j = 0; j < 100; j++)
                wrong += held(i, 3, 56) * held(j, 3, 100) != held(i, 1, 56) * held(j, 1, 100)
        printf "another number of inputs are wrong: %d,%03d of layer 1", wrong / 1000, wrong % 1000
    }')"

after_table 09 >"$out/after.md"
say "$page" "for 512 channels of 28×28 with 32 images: $(compared vgg-512-28-512-n32 "cuDNN fp32 NCHW products" %.0f) µs, this lab $(compared vgg-512-28-512-n32 "09-im2col" %.0f) µs"
