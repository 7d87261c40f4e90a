#!/bin/sh
# 04-tiled.sh BUILD OUT - the numbers of labs/04-tiled/README.md.
. docs/numbers/lib.sh
. docs/numbers/card.sh

page=labs/04-tiled/README.md

# step NAME VARIANT: a row for electrode-1, simulated.
step() {
    case $2 in
    naive) submission=solutions/02-naive/conv.cu ;;
    solution) submission=solutions ;;
    *) submission=$(variant "$2" solutions/04-tiled/conv.cu "docs/numbers/labs/04-tiled/$2.patch") ;;
    esac
    simulate "$2" 04 "$submission" --case electrode-1
    accesses=$(($(number "$2" shared_load_requests) + $(number "$2" shared_store_requests)))
    printf '| %s | %s | %s | %s | %s |\n' "$1" "$(thousands "$(number "$2" cycles)")" \
        "$(thousands "$(number "$2" warp_instructions)")" \
        "$(thousands $accesses)" "$(if [ $accesses = 0 ]; then echo –; else calc '%.2f' "$(number "$2" shared_wavefronts) / $accesses"; fi)"
}
{
    echo '| kernel | time, cycles | warp instructions | shared-memory accesses | wavefronts per access |'
    echo '| --- | --- | --- | --- | --- |'
    step 'lab 02' naive
    step "the book's kernel: FILTERS = 1, pitch = width" book
    step 'FILTERS = 4' filters-4
    step '**FILTERS = 8**' solution
    step 'FILTERS = 16' filters-16
    step 'FILTERS = 8, pitch = width' plain-pitch
    step 'FILTERS = 8, scalar weights' scalar
    step "FILTERS = 8, without \`#pragma unroll 1\`" unrolled
} >"$out/steps.md"
launch=$(machine h200 launch_cycles)
say "$page" "(the launch's $(thousands "$launch") cycles included)"

# The measured variants (columns) and layers (rows).
columns='book filters-4 solution filters-16 plain-pitch scalar unrolled'
heading() {
    case $1 in
    book) echo "the book's kernel" ;;
    filters-*) echo "FILTERS = ${1#filters-}" ;;
    solution) echo '**FILTERS = 8**' ;;
    plain-pitch) echo '8, pitch = width' ;;
    scalar) echo '8, scalar weights' ;;
    unrolled) echo '8, unrolled' ;;
    esac
}
measured=
for column in $columns; do [ -z "$(us 04-tiled "$column" lenet-c1)" ] || measured="$measured $column"; done
layer() { # NAME LAYER
    printf '| %s | %s' "$1" "$(rounded "$(us 02-naive solution "$2")")"
    for column in $measured; do printf ' | %s' "$(rounded "$(us 04-tiled "$column" "$2")")"; done
    echo ' |'
}
{
    printf '| time, µs | lab 02'
    for column in $measured; do printf ' | %s' "$(heading "$column")"; done
    printf ' |\n| ---'
    for column in lab-02 $measured; do printf ' | ---'; done
    echo ' |'
    layer 'lenet-c1, N=1024' lenet-c1
    layer 'lenet-c3, N=1024' lenet-c3
    layer 'electrode-1, N=1' electrode-1
    layer 'electrode-2, N=1' electrode-2
    layer 'electrode-2, N=16' electrode-2x16
    layer 'electrode-3, N=1' electrode-3
    layer 'vgg-conv1_1, N=1' vgg-conv1_1
    layer 'N=128 C=3 32×32 K=32 5×5' cifar
    layer 'N=16 C=16 65×65 K=32 3×3, stride 2' strided
    printf '\nMedians, kernel only, with the L2 flushed; %s.\n' "$(measured_on times.tsv)"
} >"$out/layers.md"

say "$page" "The kernel takes $(number solution registers) registers."
say "$page" "then $(machine_code 04-tiled 2) instructions for $(machine_code 04-tiled 3) multiply-adds, $(a_product 04-tiled) each against $(a_product 02-naive) in lab 02"
[ "$(machine_code 04-tiled 2)" = "$(machine_code 04-tiled-scalar 2)" ] ||
    fail "the loop with scalar weights has other instructions"

# range OVER UNDER LAYER...: the smallest and the largest ratio of OVER's time to UNDER's on these
# layers.  OVER and UNDER are "LAB VARIANT".
range() {
    over=$1 under=$2
    shift 2
    for name; do
        # shellcheck disable=SC2086 # a lab and a variant
        calc '%.4f\n' "$(us $over "$name") / $(us $under "$name")"
    done | sort -n | awk 'NR == 1 { print $1 } END { print $1 }' | paste -s -d ' ' -
}
full='lenet-c1 lenet-c3 electrode-1 electrode-2x16 vgg-conv1_1 cifar strided'
every="$full electrode-2 electrode-3"
# shellcheck disable=SC2086 # names of layers
{
    say "$page" "it takes $(range '04-tiled book' '02-naive solution' $every | awk '{ printf "%.2f to %.2f", $1, $2 }') times as long as lab 02's"
    say "$page" "8 filters makes the kernel $(range '02-naive solution' '04-tiled solution' $full | awk '{ printf "%.1f to %.1f", $1, $2 }') times as fast as lab 02's"
    say "$page" "$(range '04-tiled unrolled' '04-tiled solution' $every | awk '{ printf "%.0f to %.0f", 100 * $1 - 100, 100 * $2 - 100 }') % more on the GPU"
    say "$page" "$(range '04-tiled plain-pitch' '04-tiled solution' $every | awk '{ printf "%.0f to %.0f", 100 * $1 - 100, 100 * $2 - 100 }') % on the GPU"
    say "$page" "take the same time within $(range '04-tiled scalar' '04-tiled solution' $every | awk '{ low = 1 - $1; high = $2 - 1; printf "%.0f", 100 * (low > high ? low : high) }') %"
}
# The page says that no variant helps on one image of electrode-2 or electrode-3.
for column in $measured; do
    for name in electrode-2 electrode-3; do
        [ "$(calc %d "($(us 04-tiled "$column" $name) > $(us 02-naive solution $name))")" = 1 ] ||
            fail "$column helps on $name"
    done
done

after_table 04 >"$out/after.md"
say "$page" "this lab takes $(compared lenet-c1 "04-tiled" %.1f) µs for \`lenet-c1\` with 1,024 images and cuDNN $(compared lenet-c1 "cuDNN fp32 NCHW" %.1f) µs"
say "$page" "with one image $(compared vgg-3-224-64-n1 "04-tiled" %.1f) and $(compared vgg-3-224-64-n1 "cuDNN fp32 NCHW products" %.1f) µs"
say "$page" "the other way round: $(compared vgg-512-28-512-n1 "04-tiled" %.0f) and $(compared vgg-512-28-512-n1 "cuDNN fp32 NCHW" %.0f) µs for 512 channels"
