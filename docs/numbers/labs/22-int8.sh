#!/bin/sh
# 22-int8.sh BUILD OUT - the numbers of lab 22's handout (README.md).
. docs/numbers/lib.sh
page=labs/22-int8/README.md
solution=solutions/22-int8/conv.cu

# ---- cycles --------------------------------------------------------------------------------------

# shape_of CASE: its shape without the keys that a float convolution does not have.
shape_of() { case_shape 22-int8 "$1" | sed 's/ output=.*//'; }

simulate baseline-narrow 22 labs/22-int8/baseline.cu --case narrow
simulate baseline-vgg 22 labs/22-int8/baseline.cu --case vgg
simulate narrow 22 solutions --case narrow
simulate vgg 22 solutions --case vgg
simulate dp4a-vgg 22 \
    "$(variant dp4a $solution autograder/tests/ideas/22-int8/dp4a-everywhere.patch)" --case vgg
simulate half-narrow 11 solutions --shape "$(shape_of narrow)"
simulate half-vgg 11 solutions --shape "$(shape_of vgg)"
of() { thousands "$(number "$1" cycles)"; }
{
    echo '| kernel, cycles | `narrow` | `vgg` |'
    echo '| --- | --- | --- |'
    echo "| baseline, a byte at a time | $(of baseline-narrow) | $(of baseline-vgg) |"
    echo "| \`dp4a\` | $(of narrow) | $(of dp4a-vgg) |"
    echo "| \`mma.sync\`, int8 | | $(of vgg) |"
    echo "| lab 11, fp16 | $(of half-narrow) | $(of half-vgg) |"
} >"$out/kernels.md"

# ---- accuracy ------------------------------------------------------------------------------------

tool=$build/tests/common/apps/train/tool_int8
"$tool" layer >"$out/layer.tsv"
{
    echo '| weights of the filters | scale | all outputs, dB | lowest filter, dB |'
    echo '| --- | --- | --- | --- |'
    awk -F'\t' 'NR > 1 {
        printf "| %s | per %s | %s | %s |\n", $1 == "equal" ? "equal standard deviations" : "standard deviations from 1 to 1/16", $2, $3, $4
    }' "$out/layer.tsv"
} >"$out/layer.md"

# Training takes 20 s: make numbers repeats it, make check takes the record.
record=docs/data/int8/network.tsv
if [ -n "${NUMBERS_LONG:-}" ]; then
    mkdir -p "$out/data/docs/data/int8"
    "$tool" network 12 >"$out/data/$record"
    record=$out/data/$record
fi
{
    echo '| numbers | right of 360 test images | accuracy, % |'
    echo '| --- | --- | --- |'
    awk -F'\t' 'NR > 1 { printf "| %s | %d | %.1f |\n", $1, $2, 100 * $2 / $3 }' "$record"
} >"$out/network.md"

# ---- sentences -----------------------------------------------------------------------------------

say $page "0.5 / 127 = $(calc %.6f '0.5 / 127')"
say $page "at most 128 · 127 = $(thousands "$(calc %d '128 * 127')")"
say $page "room for $(thousands "$(calc %d '(2 ^ 31 - 1) / (128 * 127)')") multiply-adds"
say $page "have 512 · 9 = $(thousands "$(calc %d '512 * 9')") multiply-adds per output"
say $page "2¹⁷ = $(thousands "$(calc %d '2 ^ 17')") per output"
say $page "16 · 32 + 8 · 32 = $(calc %d '16 * 32 + 8 * 32') bytes for $(thousands "$(calc %d '16 * 8 * 32')") multiply-adds: $(calc %.1f '4096 / 768') per byte"

after_table 22 >"$out/after.md"
