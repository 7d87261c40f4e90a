#!/bin/sh
# 18-training.sh BUILD OUT - the numbers of labs/18-training/README.md.
. docs/numbers/lib.sh

page=labs/18-training/README.md

# A thread a value and a thread a parameter against shared sums.
{
    echo '| case | a thread a parameter, cycles | shared sums, cycles | times as fast |'
    echo '| --- | --- | --- | --- |'
    for case in lenet digits-8x8; do
        simulate "plain-$case" 18 labs/18-training/baseline.cu --case "$case"
        simulate "shared-$case" 18 solutions --case "$case"
        before=$(number "plain-$case" cycles) after=$(number "shared-$case" cycles)
        printf '| %s | %s | %s | %s |\n' "$case" "$(thousands "$before")" "$(thousands "$after")" \
            "$(ratio "$before" "$after")"
    done
    printf '\nCycles are of the simulated H200, at its sizes.\n'
} >"$out/gain.md"

# What make train learnt, and how long a step takes beside PyTorch's: docs/data/train/README.md.
learnt() {
    last=$(tail -n 1 "docs/data/train/$1.tsv")
    printf '| %s | %s | %s | %s | %s %% |\n' "$1" "$2" "$3" \
        "$(echo "$last" | cut -f1)" "$(calc '%.2f' "100 * $(echo "$last" | cut -f3)")"
}
{
    echo '| set | on | images | epochs | test images read right |'
    echo '| --- | --- | --- | --- | --- |'
    learnt digits-8x8 'the simulated H200' 1,437
    learnt digits 'an H200' 60,000
} >"$out/learnt.md"
say "$page" "all five epochs of the 60,000 take $(calc '%.1f' "$(tail -n 1 docs/data/train/digits.tsv | cut -f4)") seconds"

of() { awk -F'\t' -v side="$1" -v batch="$2" '$1 ~ "^" side && $2 == batch { print $3 }' docs/data/train/times.tsv; }
{
    echo '| batch | this step, µs | PyTorch, µs | times as fast |'
    echo '| --- | --- | --- | --- |'
    for batch in 64 256 1024; do
        printf '| %s | %s | %s | %s |\n' "$(thousands $batch)" "$(of lab $batch)" \
            "$(of pytorch $batch)" "$(ratio "$(of pytorch $batch)" "$(of lab $batch)")"
    done
    printf '\nLeNet-5 on an NVIDIA H200 (driver 580.159.04, CUDA 13.0, PyTorch 2.11.0, 2026-11-22), both one CUDA\ngraph a step, fp32 with TF32 off: `sh common/apps/train/compare.sh build`.\n'
} >"$out/torch.md"
if command -v gnuplot >/dev/null; then
    mkdir -p "$out/curves"
    cp docs/data/train/digits-8x8.tsv "$out/curves/curves.tsv"
    gnuplot -c common/apps/train/curves.gp "$out/curves"
    mv "$out/curves/curves.svg" "$out/18-curves.svg"
fi
simulate one 18 solutions --case lenet
say "$page" "a step has $(ratio "$(number one flops)" $((2 * 4 * 416520))) times the"
