#!/bin/sh
# 18-training.sh BUILD OUT - the numbers of labs/18-training/README.md.
. docs/numbers/lib.sh

page=labs/18-training/README.md

# The baseline (one thread per value and per parameter) and the solution.
{
    echo '| case | baseline (cycles) | solution (cycles) | speedup |'
    echo '| --- | --- | --- | --- |'
    for case in lenet digits-8x8; do
        simulate "plain-$case" 18 labs/18-training/baseline.cu --case "$case"
        simulate "shared-$case" 18 solutions --case "$case"
        before=$(number "plain-$case" cycles) after=$(number "shared-$case" cycles)
        printf '| %s | %s | %s | %s |\n' "$case" "$(thousands "$before")" "$(thousands "$after")" \
            "$(ratio "$before" "$after")"
    done
    printf '\nCycles of the simulated H200, at the sizes for the simulator.\n'
} >"$out/gain.md"

# The test accuracy that make train reached, and the time of a step compared with PyTorch's:
# docs/data/train/README.md.
accuracy_row() {
    last=$(tail -n 1 "docs/data/train/$1.tsv")
    printf '| %s | %s | %s | %s | %s %% |\n' "$1" "$2" "$3" \
        "$(echo "$last" | cut -f1)" "$(calc '%.2f' "100 * $(echo "$last" | cut -f3)")"
}
{
    echo '| data set | trained on | training images | epochs | test accuracy |'
    echo '| --- | --- | --- | --- | --- |'
    accuracy_row digits-8x8 'the simulated H200' 1,437
    accuracy_row digits 'an H200' 60,000
} >"$out/learnt.md"
say "$page" "all five epochs of the 60,000 take $(calc '%.1f' "$(tail -n 1 docs/data/train/digits.tsv | cut -f4)") seconds"

of() { awk -F'\t' -v side="$1" -v batch="$2" '$1 ~ "^" side && $2 == batch { print $3 }' docs/data/train/times.tsv; }
{
    echo '| mini-batch (images) | this step (µs) | PyTorch (µs) | speedup |'
    echo '| --- | --- | --- | --- |'
    for batch in 64 256 1024; do
        printf '| %s | %s | %s | %s |\n' "$(thousands $batch)" "$(of lab $batch)" \
            "$(of pytorch $batch)" "$(ratio "$(of pytorch $batch)" "$(of lab $batch)")"
    done
    printf '\nLeNet-5 on an NVIDIA H200 (driver 580.159.04, CUDA 13.0, PyTorch 2.11.0, 2026-11-22), both one CUDA\ngraph per step, fp32 with TF32 off: `sh common/apps/train/compare.sh build`.\n'
} >"$out/torch.md"
if command -v gnuplot >/dev/null; then
    mkdir -p "$out/curves"
    cp docs/data/train/digits-8x8.tsv "$out/curves/curves.tsv"
    gnuplot -c common/apps/train/curves.gp "$out/curves"
    mv "$out/curves/curves.svg" "$out/18-curves.svg"
fi

after_table 18 >"$out/after.md"
say "$page" "It takes $(after_ratio 18 "one partial sum at a time" "100 * t / best - 100" %.0f) % longer"
