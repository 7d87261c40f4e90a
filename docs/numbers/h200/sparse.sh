#!/bin/sh
# h200/sparse.sh SET OUT NVCC [BUILD] - on a machine with a GPU: labs 10 and 13 and cuDNN where x
# has zeros, as `make compare` times them.  Writes OUT/SET-h200.tsv, of one of these sets of layers:
#
#     sparse    layers of Xu, Fan et al.'s Table I at their networks' own sizes, and VGG-19's deep
#               ones, conv5 also with strides 2 and 3.  The zeros of x are 0, 5, ..., 95 percent.
#     vgg19     all of VGG-19's convolutions, as empty as datasets/vgg19.c takes them to be, with
#               strides 1, 2 and 3
#     table-1   Table I's own sizes
#     authors   algorithms 1 and 2 as lab 13 corrects them: one channel, 0 to 95 percent zeros
set -eu
usage='usage: h200/sparse.sh sparse|vgg19|table-1|authors OUT NVCC [BUILD]'
set=${1:?$usage}
out=${2:?$usage}
nvcc=${3:?$usage}
build=${4:-build}
maps=$build/tests/datasets/tool_maps
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -x "$maps" ] || { echo "h200/sparse.sh: there is no $maps: make maps" >&2; exit 1; }
mkdir -p "$out"

# Reads lines of a name and a shape; each comes out at many percentages, the percentage after its
# name.
emptied() {
    while read -r name shape; do
        for zeros in 0 5 10 15 20 25 30 35 40 45 50 55 60 65 70 75 80 85 90 95; do printf '%s@%d\t%s zeros=%d\n' "$name" "$zeros" "$shape" "$zeros"; done
    done
}

layers_sparse() {
    emptied <<LAYERS
lenet-conv2 N=1 C=20 H=11 W=11 K=50 R=5 S=5 pad=valid stride=1
alexnet-conv4 N=1 C=384 H=13 W=13 K=384 R=3 S=3 pad=1 stride=1
inception-4a N=1 C=96 H=14 W=14 K=208 R=3 S=3 pad=1 stride=1
inception-4e N=1 C=160 H=14 W=14 K=320 R=3 S=3 pad=1 stride=1
inception-5a N=1 C=160 H=7 W=7 K=320 R=3 S=3 pad=1 stride=1
inception-5b N=1 C=192 H=7 W=7 K=384 R=3 S=3 pad=1 stride=1
vgg-conv4_2 N=1 C=512 H=28 W=28 K=512 R=3 S=3 pad=1 stride=1
vgg-conv5_1 N=1 C=512 H=14 W=14 K=512 R=3 S=3 pad=1 stride=1
vgg-conv5_1-n32 N=32 C=512 H=14 W=14 K=512 R=3 S=3 pad=1 stride=1
vgg-conv5_1-s2 N=1 C=512 H=14 W=14 K=512 R=3 S=3 pad=1 stride=2
vgg-conv5_1-s3 N=1 C=512 H=14 W=14 K=512 R=3 S=3 pad=1 stride=3
LAYERS
}

layers_vgg19() {
    for stride in 1 2 3; do
        "$maps" layers "$stride" |
            awk -F'\t' -v stride="$stride" \
            '{ split($2, zeros, "zeros="); print $1 "-s" stride "@" zeros[2] "\t" $2 }'
    done
}

layers_table_1() {
    awk -F'\t' 'NR > 1 { split($2, zeros, "zeros="); print $1 "@" zeros[2] "\t" $2 }' \
        common/apps/compare/table-1-layers.tsv
}

layers_authors() {
    echo 'authors N=16 C=1 H=28 W=28 K=64 R=3 S=3 pad=1 stride=1' | emptied
}

case $set in
sparse) layers=layers_sparse ;;
vgg19) layers=layers_vgg19 ;;
table-1) layers=layers_table_1 ;;
authors) layers=layers_authors ;;
*) printf '%s\n' "$usage" >&2; exit 2 ;;
esac
{
    printf 'name\tshape\n'
    "$layers"
} >"$work/layers.tsv"
LAYERS=$work/layers.tsv SOLUTIONS='10 13' BOUNDARY=1 sh common/apps/compare/compare.sh "$build" "$nvcc" >&2
cp "$build/compare/compare.tsv" "$out/$set-h200.tsv"
