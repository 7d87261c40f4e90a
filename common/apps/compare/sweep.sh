#!/bin/sh
# sweep.sh BUILD NVCC TASKS SIDE ... - times of sides over the tasks of a sweep on this machine's
# GPU (sweep.c).  A side is the number of a lab, with its solution or its source in SUBMISSION;
# or cudnn-fp32 or cudnn-tf32, by cuDNN's heuristics; or cudnn-fastest or cudnn-ALGORITHM.  The
# algorithms for fp32 are implicit, precomputed, gemm, direct, fft, fft-tiling, winograd and
# winograd-nonfused.  Leaves BUILD/sweep/launches.tsv and times.tsv.
set -eu
usage='usage: sweep.sh BUILD NVCC TASKS SIDE ...'
build=${1:?$usage}
nvcc=${2:?$usage}
tasks=${3:?$usage}
shift 3
out=$build/sweep
. common/apps/compare/sides.sh
program sweep

chosen=
for side; do
    case $side in
    cudnn-fp32 | cudnn-tf32) chosen="$chosen cudnn:${side#*-}" ;;
    cudnn-*) chosen="$chosen cudnn:fp32:${side#*-}" ;;
    *)
        name=$(basename labs/"$side"-*)
        source=${SUBMISSION:-solutions}/$name/conv.cu
        [ -f "$source" ] || fail "there is no $source: '$side' is not a lab with a convolution"
        layout=$(sed -n 's/^with *= *layout=\([a-z]*\).*/\1/p' "labs/$name/lab.ini")
        add_side "$name" "$source" "${layout:-nchw}" fp32
        chosen="$chosen $name:$out/$name.so:${layout:-nchw}"
        ;;
    esac
done
wait

caption="; $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1), nvcc $("$nvcc" --version |
    sed -n 's/.*release \([0-9.]*\).*/\1/p'), $(date -u +%Y-%m-%d)"
# shellcheck disable=SC2086
"$out/sweep" "$tasks" $chosen >"$out/sweep.tsv"
{ echo "$caption" && sed '/^$/,$d' "$out/sweep.tsv"; } >"$out/launches.tsv"
{ echo "$caption" && sed '1,/^$/d' "$out/sweep.tsv"; } >"$out/times.tsv"
