#!/bin/sh
# sparse.sh BUILD NVCC - labs 10 and 13 and cuDNN while x gets emptier, 0 to 95 percent zeros by 5: compare.sh's table on the
# layers of Xu, Fan et al.'s Table I at their networks' real C and K, and on VGG-19's deep ones, conv5 with strides 2 and 3
# too.  Leaves BUILD/compare/sparse.tsv.
set -eu
build=${1:?usage: sparse.sh BUILD NVCC}
nvcc=${2:?usage: sparse.sh BUILD NVCC}
mkdir -p "$build/compare"
{
    printf 'name\tshape\n'
    while read -r name shape; do
        zeros=0
        while [ "$zeros" -le 95 ]; do
            printf '%s@%d\t%s zeros=%d\n' "$name" "$zeros" "$shape" "$zeros"
            zeros=$((zeros + 5))
        done
    done <<LAYERS
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
} >"$build/compare/sparse-layers.tsv"
LAYERS=$build/compare/sparse-layers.tsv SOLUTIONS='10 13' BOUNDARY=1 sh common/compare/compare.sh "$build" "$nvcc"
mv "$build/compare/compare.tsv" "$build/compare/sparse.tsv"
