#!/bin/sh
# 21-depthwise.sh BUILD OUT - the numbers of labs/21-depthwise/README.md.
. docs/numbers/lib.sh

page=labs/21-depthwise/README.md
plain=labs/21-depthwise/baseline.cu

# ---- the roof --------------------------------------------------------------------------------------

peak=$(calc '%.1f' "$(machine h200 sms) * $(machine h200 fp32_lanes) * 2 * $(machine h200 clock_mhz) / 1e6")
bandwidth=$(machine h200 dram_gb_s)

# roof_row NAME FLOP BYTES: a row of the table, for one output.
roof_row() {
    awk -v name="$1" -v flop="$2" -v bytes="$3" -v peak="$peak" -v bandwidth="$bandwidth" 'BEGIN {
        roof = flop / bytes * bandwidth / 1000
        printf "| %s | %d | %d | %.2f | %.1f | %s |\n", name, flop, bytes, flop / bytes, \
            roof < peak ? roof : peak, roof < peak ? "memory" : "arithmetic" }'
}

{
    echo '| layer, stride 1 | FLOP per output | bytes per output | FLOP per byte | roof (TFLOP/s) | limit |'
    echo '| --- | --- | --- | --- | --- | --- |'
    roof_row '3×3, 64 channels, 64 filters, groups=1' $((2 * 9 * 64)) 8
    roof_row '1×1, 64 channels, 64 filters, groups=1' $((2 * 64)) 8
    roof_row '3×3, 64 channels, 64 filters, groups=64' $((2 * 9)) 8
} >"$out/roof.md"
say "$page" "$peak TFLOP/s"
say "$page" "$(calc '%.1f' "$bandwidth / 1000") TB/s"
say "$page" "At $(calc '%.1f' "$peak / $bandwidth * 1000") FLOP per byte"

# ---- the steps of the lab --------------------------------------------------------------------------

scalar=$(variant no-vectors solutions/21-depthwise/conv.cu docs/numbers/labs/21-depthwise/no-vectors.patch)
{
    echo '| case | one output per thread (cycles) | tiles of 4×4 outputs (cycles) | with vector loads (cycles) | speedup |'
    echo '| --- | --- | --- | --- | --- |'
    for case in mobilenet mobilenet-stride convnext; do
        simulate "plain-$case" 21 "$plain" --case "$case"
        simulate "scalar-$case" 21 "$scalar" --case "$case"
        simulate "mine-$case" 21 solutions --case "$case"
        printf '| %s | %s | %s | %s | %s |\n' "$case" \
            "$(thousands "$(number "plain-$case" cycles)")" \
            "$(thousands "$(number "scalar-$case" cycles)")" \
            "$(thousands "$(number "mine-$case" cycles)")" \
            "$(ratio "$(number "plain-$case" cycles)" "$(number "mine-$case" cycles)")"
    done
} >"$out/gain.md"

simulate plain-separable 21 "$plain" --case separable
simulate mine-separable 21 solutions --case separable
say "$page" "takes $(thousands "$(number mine-separable cycles)") cycles; the two launches of the baseline take $(thousands "$(number plain-separable cycles)")"

# ---- one more wave ---------------------------------------------------------------------------------

# wave GROUPS CHANNELS FILTERS: a layer of 16x16 maps, 256 outputs and so one block per filter.
wave() {
    simulate "wave-$1-$3" 21 "$plain" --shape "N=1 C=$2 H=16 W=16 K=$3 R=3 S=3 groups=$1 pad=1 stride=1"
    number "wave-$1-$3" cycles
}

# wave_row NAME CYCLES CYCLES
wave_row() {
    printf '| %s | %s | %s | %s | %s |\n' "$1" "$(thousands "$2")" "$(thousands "$3")" \
        "$(thousands "$(($3 - $2))")" "$(calc '%.2f' "($3 - $2) / $(machine h200 clock_mhz)")"
}

{
    echo '| layer | 1,056 filters (cycles) | 1,188 filters (cycles) | difference (cycles) | difference (µs) |'
    echo '| --- | --- | --- | --- | --- |'
    wave_row '3×3, 16 channels per filter' "$(wave 1 16 1056)" "$(wave 1 16 1188)"
    wave_row '3×3, depthwise' "$(wave 1056 1056 1056)" "$(wave 1188 1188 1188)"
} >"$out/waves.md"

# ---- an H200 ---------------------------------------------------------------------------------------

awk -F'\t' '
    /^;/ || $1 == "layer" { next }
    !($1 in seen) { seen[$1] = ++n; name[n] = $1; bytes[$1] = $6 }
    { us[$1, $2] = $3 }
    END {
        print "| layer | lab 21 (µs) | PyTorch (µs) | PyTorch / lab 21 | copy of the same bytes (µs) | lab 21 (TB/s) |"
        print "| --- | --- | --- | --- | --- | --- |"
        for (i = 1; i <= n; i++) {
            l = name[i]
            printf "| %s | %.1f | %.1f | %.2f | %.1f | %.2f |\n", l, us[l, "lab-21"], us[l, "torch"], \
                us[l, "torch"] / us[l, "lab-21"], us[l, "copy"], bytes[l] / us[l, "lab-21"] / 1e6
        }
    }' docs/data/compare/depthwise-times-h200.tsv >"$out/h200.md"

after_table 21 >"$out/after.md"
