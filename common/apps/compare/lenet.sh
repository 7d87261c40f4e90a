#!/bin/sh
# lenet.sh NVCC OUT - compares lab 16's forward pass of LeNet-5 with PyTorch on this machine's GPU:
# outputs for a test, times (lenet.py lists the files).  Needs PyTorch in PYTHON (python3).
# SOURCE=file takes another source.
set -eu
nvcc=${1:?usage: lenet.sh NVCC OUT}
out=${2:?usage: lenet.sh NVCC OUT}
mkdir -p "$out"
nvidia-smi >/dev/null 2>&1 || { echo "lenet: this needs an NVIDIA GPU and its driver" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$nvcc" -O3 -std=c++17 -arch=native \
    -Icommon/include "-DCAPTURED_SOURCE=\"$(realpath "${SOURCE:-solutions/16-layers/conv.cu}")\"" \
    -shared -Xcompiler -fPIC common/apps/compare/captured.cu -o "$work/solution.so"
"${PYTHON:-python3}" common/apps/compare/lenet.py "$work/solution.so" "$out"
