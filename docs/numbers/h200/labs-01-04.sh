#!/bin/sh
# h200/labs-01-04.sh OUT [BUILD] - on a machine with a GPU: what the handouts of labs 01 to 04 say
# of an H200.
#
# From the workbook's root, after `make setup` and `make -j tools`; needs nvcc, takes two to three
# minutes and asks nothing.  Writes
#
#     OUT/times.tsv   lab, variant, layer: median of 25 event pairs in microseconds, and the 10th
#                     and 90th percent of them;
#                     kernels only, the L2 flushed before each (common/simulator/validation/measure_gpu.cu)
#     OUT/host.tsv    lab 01 on one core, as `make run` times it: the best of five, by the
#                     processor's clock
#
# Their first line says on what and when: GPU, driver, toolkit; processor, compiler.
#
# A variant is a lab's solution, its baseline, or the solution with docs/numbers/LAB/VARIANT.patch.
set -eu
out=${1:?usage: h200/labs-01-04.sh OUT [BUILD]}
build=${2:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

fail() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit 1
}

[ -x "$build/bin/lab" ] || fail "there is no $build/bin/lab: make setup && make -j tools"
nvidia-smi >/dev/null 2>&1 || fail "this needs an NVIDIA GPU and its driver"
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
[ -x "$nvcc" ] || fail "$build/toolchain.env names no nvcc: make setup"

# compile LAB VARIANT SOURCE: $work/LAB.VARIANT, which reads layers and prints their times.
compile() {
    "$nvcc" -O3 -std=c++17 -arch=native -lineinfo -I. -Icommon/include common/simulator/validation/lab_launches.cu \
        common/simulator/validation/measure_gpu.cu "$3" -o "$work/$1.$2"
}

# compile_patched LAB VARIANT
compile_patched() {
    cp "solutions/$1/conv.cu" "$work/$1.$2.cu"
    patch -s "$work/$1.$2.cu" "docs/numbers/$1/$2.patch" ||
        fail "docs/numbers/$1/$2.patch does not fit the solution"
    compile "$1" "$2" "$work/$1.$2.cu"
}

# layer LAB NAME SHAPE: a line for layers.cu.
layer() {
    line=$("$build/bin/lab" cases --build "$build" --lab "$1" --shape "$3") ||
        fail "lab $1 has no such shape: $3"
    printf '%s %s\n' "$2" "${line#* }"
}

# measure LAB VARIANT LAYERS: LAYERS is one of the functions below.
measure() {
    "$3" >"$work/layers"
    "$work/$1.$2" time <"$work/layers" >"$work/times" || fail "lab $1, $2: the program failed"
    awk -F'\t' -v lab="$1" -v variant="$2" \
        'NR > 1 { printf "%s\t%s\t%s\t%s\t%s\t%s\n", lab, variant, $1, $4, $5, $6 }' "$work/times"
}

c1='N=1024 C=1 H=32 W=32 K=6 R=5 S=5 pad=valid stride=1'
c3='N=1024 C=6 H=14 W=14 K=16 R=5 S=5 pad=valid stride=1'
electrode_1='C=1 H=56 W=100 K=64 R=8 S=8 pad=same stride=1'
electrode_2='C=64 H=28 W=50 K=64 R=4 S=4 pad=same stride=1'
electrode_3='C=64 H=14 W=25 K=64 R=2 S=2 pad=same stride=1'
vgg='N=1 C=3 H=224 W=224 K=64 R=3 S=3 pad=1 stride=1'
cifar='N=128 C=3 H=32 W=32 K=32 R=5 S=5 pad=same stride=1'
deep='N=64 C=64 H=16 W=16 K=64 R=3 S=3 pad=1 stride=1'
strided='N=16 C=16 H=65 W=65 K=32 R=3 S=3 pad=1 stride=2'

layers_02() {
    layer 02 lenet-c1 "$c1"
    layer 02 lenet-c3 "$c3"
    layer 02 electrode-1 "N=1 $electrode_1"
    layer 02 electrode-2 "N=1 $electrode_2"
    layer 02 electrode-3 "N=1 $electrode_3"
    layer 02 vgg-conv1_1 "$vgg"
}

# Every layout, for the lanes.
layers_03() {
    for layout in nchw nhwc chwn; do
        layer 03 "cifar-$layout" "$cifar layout=$layout"
        layer 03 "deep-$layout" "$deep layout=$layout"
    done
}

# NCHW, for constant memory.
layers_03_constant() {
    layer 03 cifar-nchw "$cifar"
    layer 03 electrode-1 "N=1 $electrode_1"
    layer 03 electrode-1x16 "N=16 $electrode_1"
    layer 03 electrode-2 "N=1 $electrode_2"
    layer 03 electrode-2x16 "N=16 $electrode_2"
    layer 03 deep-nchw "$deep"
}

layers_03_along_k() {
    layer 03 cifar-nchw "$cifar"
}

layers_04() {
    layers_02
    layer 04 electrode-2x16 "N=16 $electrode_2"
    layer 04 cifar "$cifar"
    layer 04 strided "$strided"
}

gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1 | sed 's/, /, driver /')
toolkit=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
compiler=$("$(sed -n 's/^CC=//p' "$build/toolchain.env")" -dumpfullversion)
processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
today=$(date -u +%Y-%m-%d)

compile 02-naive solution solutions/02-naive/conv.cu &
compile 02-naive baseline labs/02-naive/baseline.cu &
compile 03-layout solution solutions/03-layout/conv.cu &
compile 04-tiled solution solutions/04-tiled/conv.cu &
for patch in docs/numbers/labs/03-layout/*.patch docs/numbers/labs/04-tiled/*.patch; do
    compile_patched "$(basename "$(dirname "$patch")")" "$(basename "$patch" .patch)" &
done
wait

{
    printf 'lab\tvariant\tlayer\tus\tlow\thigh\n'
    for variant in baseline solution; do measure 02-naive $variant layers_02; done
    for variant in along-q along-k along-n; do measure 03-layout $variant layers_03; done
    for variant in solution along-q; do measure 03-layout $variant layers_03_constant; done
    measure 03-layout constant-along-k layers_03_along_k
    measure 02-naive solution layers_04
    for variant in solution book filters-4 filters-16 plain-pitch scalar unrolled; do
        measure 04-tiled $variant layers_04
    done
} >"$work/measured"
{
    printf '; %s, CUDA %s, %s\n' "$gpu" "$toolkit" "$today"
    awk -F'\t' '!seen[$1, $2, $3]++' "$work/measured"
} >"$out/times.tsv"

# host VARIANT SUBMISSION CASE [OPTIONS]: a row of host.tsv.
host() {
    variant=$1 submission=$2 name=$3
    shift 3
    [ $# -gt 0 ] || set -- --case "$name"
    "$build/bin/lab" run --build "$build" --lab 01 --submission "$submission" "$@" >"$work/page"
    awk -v row="$variant	$name" '
        / us$/ { own = $1 }
        /the baseline/ { sub(/.*: /, ""); base = $1 }
        END { if (own == "" || base == "") exit 1; printf "%s\t%s\t%s\n", row, own, base }' \
            "$work/page" ||
        fail "lab 01, $variant, $name: no times in what make run says"
}

for patch in docs/numbers/labs/01-sequential/*.patch; do
    there=$work/$(basename "$patch" .patch)/01-sequential
    mkdir -p "$there"
    cp solutions/01-sequential/conv.c "$there"
    patch -s "$there/conv.c" "$patch" || fail "$patch does not fit the solution"
done
{
    printf '; one core of %s, gcc %s, %s\n' "$processor" "$compiler" "$today"
    printf 'variant\tcase\tus\tbaseline_us\n'
    for name in lenet-c1 lenet-c3 electrode-1 electrode-2 electrode-3 vgg-conv1_1; do
        host solution solutions $name
    done
    host solution solutions vgg-stride-2 --shape 'N=1 C=3 H=224 W=224 K=8 R=3 S=3 pad=1 stride=2'
    for variant in test-inside no-restrict; do host $variant "$work/$variant" vgg-conv1_1; done
} >"$out/host.tsv"
printf '  %s: times.tsv, host.tsv\n' "$out"
