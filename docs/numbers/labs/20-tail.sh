#!/bin/sh
# 20-tail.sh BUILD OUT - the numbers of labs/20-tail/README.md.
. docs/numbers/lib.sh

page=labs/20-tail/README.md
data=docs/data/tail
remedies=labs/20-tail/steps/remedies.cu

# sweep FILE LAYER: a row with the sweep and the number of steps at their predicted widths.
sweep() {
    awk -F'\t' -v layer="$2" '
        /^; steps/ { split($0, n, /[^0-9]+/); row = n[2] " | " n[3] " | " n[4] " | " n[5] " % | " n[6] " %" }
        /^;/ && !machine { machine = $0; sub(/, [0-9.]+, nvcc.*/, "", machine); sub(/.*, /, "", machine) }
        /^[0-9]/ && !first { first = $10 }
        /^[0-9]/ { last = $10 }
        END { printf "| %s | %s | %.1f to %.1f | %s |\n", layer, machine, first, last, row }' \
            "$data/$1.tsv"
}
{
    echo '| layer and kernel | GPU | time (µs) | predicted steps | measured steps | right steps | right / measured | right / all |'
    echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
    for gpu in gtx1080ti titanv h200; do sweep filters-$gpu '32 channels of 16×16, 3×3, 40 to 1,240 filters, lab 02'; done
    sweep one-titanv '64 channels, 1×1 filters'
    sweep five-titanv '16 channels, 5×5 filters'
    sweep depthwise-titanv 'one channel, 3×3, as a depthwise layer has'
    sweep batch-titanv '64 filters, 1 to 20 images'
    sweep resolution-titanv '64 filters, maps of 8×8 to 136×136, lab 04'
    sweep tail-gtx480 '64 images of 10×12, 8 to 128 filters, lab 05'
    sweep chosen-titanv '256 channels of 14×14, 16 to 640 filters, lab 10'
} >"$out/sweeps.md"

# cuDNN on a GPU: the layers that the formula was fitted to.
layer_of() {
    sed -n '1s/^; [^,]*, N=\([0-9]*\) C=\([0-9]*\) H=\([0-9]*\) .* R=\([0-9]\) .*the % is \([0-9]*\):\([0-9]*\):.*/N=\1, \2 channels of \3×\3, \4×\4, \5 to \6 filters/p' "$data/$1.tsv"
}
sum_of() {
    cat "$data"/h200-[ace]-n*-cudnn-fp32-nchw-rules.tsv | awk '
        /^; steps/ { split($0, n, /[^0-9]+/); ours += n[2]; theirs += n[3]; both += n[4] }
        END { printf "%d | %d | %d | %.0f %% | %.0f %%", ours, theirs, both, 100 * both / theirs, 100 * both / (ours + theirs - both) }'
}
{
    echo '| layer | time (µs) | predicted steps | measured steps | right steps | right / measured | right / all |'
    echo '| --- | --- | --- | --- | --- | --- | --- |'
    for table in "$data"/h200-[ace]-n*-cudnn-fp32-nchw-rules.tsv; do
        sweep "$(basename "$table" .tsv)" "$(layer_of "$(basename "$table" .tsv)")" |
            sed 's/ | NVIDIA H200 / /'
    done
    echo "| **together** | | $(sum_of) |"
} >"$out/card.md"

# Layers that were not used for the fit: every width that make widths measured of three networks, one
# layer at a time.
held() {
    measured=$data/measured-$1-h200.tsv
    launch_us=$(sed -n '1s/^; \([0-9.]*\) us, .*/\1/p' "$measured")
    awk -F'\t' 'NF > 1 { print $2 }' "$measured" | sort | uniq -c |
        awk '$1 >= 8 { sub(/^ *[0-9]* /, ""); print }' >"$out/layers"
    while read -r layer; do
        awk -F'\t' -v OFS='\t' -v layer="$layer" \
            '$2 == layer { print $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 }' \
            "$measured" | sort -n |
            "$build/tests/common/apps/tail/tool_stairs" "$launch_us" | grep '^; steps'
    done <"$out/layers" >"$out/steps"
    awk -v what="$2" -v layers="$(wc -l <"$out/layers")" '
        { split($0, n, /[^0-9]+/); ours += n[2]; theirs += n[3]; both += n[4] }
        END { printf "| %s | %d | %d | %d | %d | %.0f %% | %.0f %% |\n", what, layers, ours, theirs, both, 100 * both / theirs, 100 * both / (ours + theirs - both) }' "$out/steps"
}
# unseen WHAT TABLE ...: the same for sweeps that were measured after the formula was complete.
unseen() {
    what=$1
    shift
    awk -v what="$what" -v layers="$#" '
        /^; steps/ { split($0, n, /[^0-9]+/); ours += n[2]; theirs += n[3]; both += n[4] }
        END { printf "| %s | %d | %d | %d | %d | %.0f %% | %.0f %% |\n", what, layers, ours, theirs, both, 100 * both / theirs, 100 * both / (ours + theirs - both) }' "$@"
}
{
    echo '| set of layers | layers | predicted steps | measured steps | right steps | right / measured | right / all |'
    echo '| --- | --- | --- | --- | --- | --- | --- |'
    unseen 'four layers, one image' "$data"/h200-[bdfg]-n1-*-rules.tsv
    unseen 'the same, 32 images' "$data"/h200-[bdfg]-n32-*-rules.tsv
    unseen 'five others, one image' "$data"/h200-[h-l]-n1-*-rules.tsv
    held vgg-16-pruned-n128 'VGG-16, pruned, 128 images'
    held resnet-56-pruned-n128 'ResNet-56, pruned, 128 images'
    held vgg-16-pruned-n1 'VGG-16, pruned, one image'
} >"$out/held.md"

together() {
    cat "$data"/h200-[bdfg]-n*-rules.tsv "$data"/h200-[h-l]-n1-*-rules.tsv | awk '
        /^; steps/ { split($0, n, /[^0-9]+/); theirs += n[3]; both += n[4] }
        END { printf "%d of their %d steps are where the formula predicts them (%.0f %%)", both, theirs, 100 * both / theirs }'
}
say "$page" "$(together)"

# Two algorithms of cuDNN on 512 channels of 14x14, and their microseconds at a width.
by() { # by ALGORITHM FILTERS
    awk -F'\t' -v filters="$2" \
        '$1 == filters { printf "%.0f", $10; found = 1 } END { exit !found }' \
        "$data/h200-a-n1-cudnn-fp32-nchw-$1.tsv" ||
        fail "$1 was not measured with $2 filters"
}
say "$page" "FFT takes $(by fft 32), $(by fft 64), $(by fft 96) and $(by fft 128) µs at 32, 64, 96 and 128 filters"
say "$page" "takes $(by implicit-precomputed-gemm 32) µs at 32 filters and $(by implicit-precomputed-gemm 544) at 544"

# The same layers distributed over blocks in four ways, and by lab 10.
remedy() {
    simulate_long "$1-$2" 10 "$3" --shape "$4" --gpu titanv
}
{
    echo '| number of tiles | blocks | waves | one block per tile (cycles) | split-K, four slices (cycles) | persistent (cycles) | stream-K (cycles) | lab 10 (cycles) |'
    echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
    while read -r name shape; do
        for way in 0 1 2 3; do remedy "$name" $way "$(variant remedy-$way $remedies REMEDY=$way)" "$shape"; done
        remedy "$name" lab10 solutions "$shape"
        printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$(echo "$name" | tr _ ' ')" \
            "$(number "$name-0" blocks)" "$(number "$name-0" waves)" \
            "$(thousands "$(number "$name-0" cycles)")" \
            "$(thousands "$(number "$name-1" cycles)")" \
            "$(thousands "$(number "$name-2" cycles)")" \
            "$(thousands "$(number "$name-3" cycles)")" \
            "$(thousands "$(number "$name-lab10" cycles)")"
    done <<LAYERS
few_tiles N=1 C=128 H=14 W=14 K=256 R=3 S=3 pad=1 stride=1
a_full_wave N=8 C=64 H=16 W=16 K=640 R=3 S=3 pad=1 stride=1
one_and_a_tenth N=8 C=64 H=16 W=16 K=704 R=3 S=3 pad=1 stride=1
LAYERS
} >"$out/remedies.md"
tenth=$(ratio "$(number one_and_a_tenth-0 cycles)" "$(number a_full_wave-0 cycles)")
say "$page" "a tenth more filters take $tenth times as long"
plain=$(calc '%.2f' "$(number one_and_a_tenth-0 cycles) / $(number one_and_a_tenth-3 cycles)")
say "$page" "the plain kernel takes $plain times as long as stream-K"

# Networks with the old and the new widths: the results of make widths.
{
    echo '| network | images | GPU | kernels | old widths (µs) | new widths (µs) | latency change | parameter change |'
    echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
    for file in "$data"/widths-*.tsv; do
        awk '
            NR == 1 {
                split($2, name, "-n[0-9]+-"); network = name[1]
                batch = $2; sub(/.*-n/, "", batch); sub(/-.*/, "", batch)
                side = $2; sub(/.*-n[0-9]+-/, "", side); sub(/-[a-z0-9]*,$/, "", side)
                machine = $0; sub(/.*tau=[0-9]*, /, "", machine); sub(/, driver.*|, [0-9.]+, nvcc.*/, "", machine)
            }
            /^; latency/ { printf "| %s | %s | %s | %s | %s | %s | %s %% | %s %% |\n", network, batch, machine, side ~ /^[0-9]/ ? "lab " side : side, $3, $6, $8, $14 }' "$file"
    done
} >"$out/networks.md"

# Why ResNet-56 gains so little: the time of a layer at a width in µs, and the saving of the best of all
# widths.
pruned=$data/measured-resnet-56-pruned-n128-h200.tsv
at_width() { # at_width SHAPE WIDTH
    awk -F'\t' -v shape="N=128 $1 K=% R=3 S=3 pad=1 stride=1" -v width="$2" \
        '$2 == shape && $3 == width { printf "%.1f", $12; found = 1 } END { exit !found }' \
        "$pruned" ||
        fail "$pruned has no $1 with $2 filters"
}
exact() { awk -f docs/numbers/labs/20-tail/exact.awk -v part="$1" common/apps/tail/networks/resnet-56-pruned.tsv "$pruned" | tr -d -; }
first='C=13 H=32 W=32' second='C=27 H=16 W=16' third='C=64 H=8 W=8'
say "$page" "4 filters take $(at_width "$first" 4) µs and 16 take $(at_width "$first" 16)"
say "$page" "4 take $(at_width "$second" 4) µs and 32 take $(at_width "$second" 32)"
say "$page" "second tile: $(at_width "$third" 38) µs, and $(at_width "$third" 32) at 32"
say "$page" "saves $(exact 0.5) % when each layer keeps at least half of its filters, and $(exact 0.85) % when it keeps 85 %"
say "$page" "which goes from edge to edge, saved $(sed -n 's/^; latency .*: -\([0-9.]*\) %; .*/\1/p' "$data/widths-resnet-56-pruned-n128-cudnn-fp32-h200.tsv")"

if command -v gnuplot >/dev/null; then
    gnuplot -c docs/numbers/labs/20-tail/machines.gp "$data" "$out/20-tail.svg"
    gnuplot -c docs/numbers/labs/20-tail/cudnn.gp "$data" "$out/20-tail-cudnn.svg"
    gnuplot -c docs/numbers/labs/20-tail/widths.gp "$data" "$out/20-tail-widths.svg"
fi
