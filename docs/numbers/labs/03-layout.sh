#!/bin/sh
# 03-layout.sh BUILD OUT - the numbers of labs/03-layout/README.md.
. docs/numbers/lib.sh
. docs/numbers/card.sh

# Simulated: case chwn-deep in every layout, with every lane mapping, weights in global memory.  The
# sectors of CHWN along n equal the answer of prediction load-chwn, so the page does not show them.
deep=$(sed -n '/^\[case chwn-deep\]/,/^$/s/^shape  *= *\(.*\) layout=chwn$/\1/p' labs/03-layout/lab.ini)
{
    echo '| sectors per load / time, cycles | lanes along q | along k | along n |'
    echo '| --- | --- | --- | --- |'
    for layout in nchw nhwc chwn; do
        printf '| %s' "$(echo $layout | tr '[:lower:]' '[:upper:]')"
        for lanes in along-q along-k along-n; do
            source=$(variant $lanes solutions/03-layout/conv.cu docs/numbers/labs/03-layout/$lanes.patch)
            simulate $layout-$lanes 03 "$source" --shape "$deep layout=$layout"
            sectors=$(calc '%.2f' "$(number $layout-$lanes sectors_per_load)")
            [ $layout-$lanes != chwn-along-n ] || sectors=–
            printf ' | %s / %s' "$sectors" "$(thousands "$(number $layout-$lanes cycles)")"
        done
        echo ' |'
    done
    printf '\nShape: %s, in every layout.\n' "\`$deep\`"
} >"$out/lanes-sim.md"

# Measured on a GPU, on larger layers.
lanes_of() { # LAYER NAME
    printf '| **%s** | | | |\n' "$2"
    for layout in nchw nhwc chwn; do
        printf '| %s | %s | %s | %s |\n' "$(echo $layout | tr '[:lower:]' '[:upper:]')" \
            "$(rounded "$(us 03-layout along-q "$1-$layout")")" \
            "$(rounded "$(us 03-layout along-k "$1-$layout")")" \
            "$(rounded "$(us 03-layout along-n "$1-$layout")")"
    done
}
{
    echo '| time, µs | lanes along q | along k | along n |'
    echo '| --- | --- | --- | --- |'
    lanes_of cifar 'N=128 C=3 32×32 K=32 5×5'
    lanes_of deep 'N=64 C=64 16×16 K=64 3×3'
    printf '\nMedians, kernel only, with the L2 flushed; %s.\n' "$(measured_on times.tsv)"
} >"$out/lanes.md"

# constant LAYER NAME FILTERS BYTES-OF-A-FILTER
constant() {
    fit=$((65536 / $4))
    printf '| %s | %s | %d | %s | %s |\n' "$2" "$(thousands "$(($3 * $4))")" \
        "$((($3 + fit - 1) / fit))" \
        "$(rounded "$(us 03-layout along-q "$1")")" "$(rounded "$(us 03-layout solution "$1")")"
}
{
    echo '| layer | weights, bytes | launches | weights in global memory, µs | in constant memory, µs |'
    echo '| --- | --- | --- | --- | --- |'
    constant cifar-nchw 'N=128 C=3 32×32 K=32 5×5' 32 $((4 * 3 * 5 * 5))
    constant electrode-1 'electrode-1, N=1' 64 $((4 * 8 * 8))
    constant electrode-1x16 'electrode-1, N=16' 64 $((4 * 8 * 8))
    constant electrode-2 'electrode-2, N=1' 64 $((4 * 64 * 4 * 4))
    constant electrode-2x16 'electrode-2, N=16' 64 $((4 * 64 * 4 * 4))
    constant deep-nchw 'N=64 C=64 16×16 K=64 3×3' 64 $((4 * 64 * 3 * 3))
    printf '| first layer, lanes along k | | | %s | %s |\n' \
        "$(rounded "$(us 03-layout along-k cifar-nchw)")" \
        "$(rounded "$(us 03-layout constant-along-k cifar-nchw)")"
} >"$out/constant.md"

page=labs/03-layout/README.md
say "$page" "at run time takes about $(machine_code division 2) instructions"

# Time of the worst lane mapping over time of the best, for each layer and layout.
worst=$(for layer in cifar deep; do
    for layout in nchw nhwc chwn; do
        for lanes in along-q along-k along-n; do us 03-layout $lanes $layer-$layout; done | sort -n | awk 'NR == 1 { best = $1 } END { print $1 / best }'
    done
done | sort -n | tail -n 1)
say "$page" "A wrong choice takes up to $(calc '%.1f' "$worst") times as long as the best one"

after_table 03 >"$out/after.md"
