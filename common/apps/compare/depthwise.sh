#!/bin/sh
# depthwise.sh NVCC OUT - compares lab 21's convolutions with PyTorch on this machine's GPU, and with
# the time of a copy (depthwise.py lists the file).  Needs PyTorch in PYTHON (python3).
# HEIGHTS='1 2 4 8' also times the solution with other heights of a tile.
set -eu
nvcc=${1:?usage: depthwise.sh NVCC OUT}
out=${2:?usage: depthwise.sh NVCC OUT}
mkdir -p "$out"
nvidia-smi >/dev/null 2>&1 || { echo "depthwise: this needs an NVIDIA GPU and its driver" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# library NAME SOURCE
library() {
    "$nvcc" -O3 -std=c++17 -arch=native -Icommon/include "-DCAPTURED_SOURCE=\"$2\"" -shared \
        -Xcompiler -fPIC common/apps/compare/captured.cu -o "$work/$1.so"
}

solution=$(realpath solutions/21-depthwise/conv.cu)
library lab-21 "$solution"
libraries=$work/lab-21.so
for height in ${HEIGHTS:-}; do
    sed "s/HEIGHT = [0-9]*,/HEIGHT = $height,/" "$solution" >"$work/height-$height.cu"
    library "height-$height" "$work/height-$height.cu"
    libraries="$libraries $work/height-$height.so"
done
# shellcheck disable=SC2086 # the names have no blanks
"${PYTHON:-python3}" common/apps/compare/depthwise.py "$out" $libraries
