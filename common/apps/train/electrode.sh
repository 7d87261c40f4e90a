#!/bin/sh
# electrode.sh BUILD EPOCHS SEED ENGINE - trains lab 19's network on synthetic recordings: make
# train DATA=recordings.
#
# It uses the sources of labs 17, 18 and 19 in SUBMISSION: labs are your own, solutions the
# course's, which also replace a skeleton.  BUILD/train/recordings gets weights.npy, the unseen
# recordings with their labels, and
#            curves.tsv, whose first line says how they were made.  TRAIN=, BATCH= and RATE= are
#            other numbers; FILTERS= and UNITS= another network, as small as a simulator can train.
set -eu
usage='usage: electrode.sh BUILD EPOCHS SEED ENGINE'
build=${1:?$usage}
epochs=${2:?$usage}
seed=${3:?$usage}
engine=${4:?$usage}
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
cxx=$(sed -n 's/^CXX=//p' "$build/toolchain.env")
cc=$(sed -n 's/^CC=//p' "$build/toolchain.env")
libraries='-ljansson -linih -lmuparser -lsodium -lzstd -llz4 -ldl -lpthread -lm'

fail() {
    printf 'train: %s\n' "$1" >&2
    exit 2
}

# source_of LAB FILE: path of the source.
source_of() {
    source=${SUBMISSION:-labs}/$1/$2
    if cmp -s "$source" "autograder/tests/skeletons/$1/$2" && [ -f "solutions/$1/$2" ]; then
        echo "train: $source is still the skeleton: the workbook's own kernels are used" >&2
        source=solutions/$1/$2
    fi
    [ -f "$source" ] || fail "there is no $source"
    echo "$source"
}
step=$(source_of 18-training train.cu)
back=$(source_of 17-backward conv.cu)
network=$(source_of 19-electrode electrode.cu)

# On the simulator, by default a network small enough to be trained there.
if [ "$engine" = gpu ]; then
    flags='-arch=native -cudart static'
    : "${FILTERS:=64}" "${UNITS:=256}" "${TRAIN:=10000}" "${TEST:=400}" "${BATCH:=50}"
    [ "$epochs" != 0 ] || epochs=10
else
    flags='-cudart none -gencode arch=compute_80,code=compute_80'
    : "${FILTERS:=4}" "${UNITS:=8}" "${TRAIN:=40}" "${TEST:=20}" "${BATCH:=4}"
    [ "$epochs" != 0 ] || epochs=1
fi
for number in "FILTERS=$FILTERS" "UNITS=$UNITS" "TRAIN=$TRAIN" "TEST=$TEST" "BATCH=$BATCH"; do
    case ${number#*=} in *[!0-9]* | '' | 0* | ??????*) fail "${number%%=*} is a whole number from 1 to 99999" ;; esac
done
rate=${RATE:-0.006}
case $rate in *[!0-9.]* | *.*.* | '' | .) fail "RATE is a number such as 0.006, not '$rate'" ;; esac
[ "$BATCH" -le "$TRAIN" ] || fail "BATCH=$BATCH is more than TRAIN=$TRAIN"

out=$build/train/recordings
mkdir -p "$out"
work=$(mktemp -d "$out/part.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
compile() { # arguments: compile SOURCE OBJECT [option]
    # shellcheck disable=SC2086
    "$nvcc" -O1 -std=c++17 -Wno-deprecated-gpu-targets -ccbin "$cxx" -I. -Icommon/include $flags \
        ${3:+"$3"} -c "$1" -o "$work/$2" || fail "$1 does not compile"
}
compile common/apps/train/electrode.cu electrode.o "-DSTEP_SOURCE=\"$step\"" &
first=$!
compile "$back" back.o &
second=$!
compile "$network" network.o
wait $first
wait $second
if [ "$engine" = gpu ]; then
    "${cc:-cc}" -O2 -std=c11 -I. -Icommon/include -c common/cuda/engine/engine_gpu.c -o "$work/engine.o"
    # shellcheck disable=SC2086
    "$nvcc" $flags -ccbin "$cxx" "$work"/*.o "$build/lib/datasets.a" "$build/lib/run-modules.a" \
        $libraries -o "$work/train"
else
    # shellcheck disable=SC2086
    "$cxx" -o "$work/train" "$work"/*.o "$build/lib/datasets.a" \
        -Wl,--whole-archive "$build/lib/engine-sim.a" -Wl,--no-whole-archive \
        "$build/lib/run-modules.a" $libraries
fi
ENGINE_GPU=${GPU:-h200} "$work/train" "$out" "$seed" "$TRAIN" "$TEST" "$BATCH" "$epochs" "$rate" \
    "$FILTERS" "$UNITS"
machine="the simulated ${GPU:-h200}"
[ "$engine" = sim ] || machine=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)
{
    printf '; %s, %s; %s recordings in batches of %s, rate %s, seed %s; SHA-256 of weights.npy: %s\n' "$machine" "$(date -u +%Y-%m-%d)" \
        "$TRAIN" "$BATCH" "$rate" "$seed" "$(sha256sum <"$out/weights.npy" | cut -d ' ' -f 1)"
    cat "$out/curves.tsv"
} >"$work/curves.tsv"
mv "$work/curves.tsv" "$out/curves.tsv"
printf '  %s: weights.npy, curves.tsv, test-recordings.npy, test-labels.npy\n' "$out"
