#!/bin/sh
# int8.sh NVCC OUT - compares lab 22's convolution of 8-bit integers with cuBLASLt and cuDNN on this
# machine's GPU (int8.py lists the file).  Needs PyTorch in PYTHON (python3).
set -eu
nvcc=${1:?usage: int8.sh NVCC OUT}
out=${2:?usage: int8.sh NVCC OUT}
mkdir -p "$out"
nvidia-smi >/dev/null 2>&1 || { echo "int8: this needs an NVIDIA GPU and its driver" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$nvcc" -O3 -std=c++17 -arch=native -Icommon/include \
    "-DCAPTURED_SOURCE=\"$(realpath solutions/22-int8/conv.cu)\"" -shared -Xcompiler -fPIC \
    common/apps/compare/captured.cu -o "$work/solution.so"
"${PYTHON:-python3}" common/apps/compare/int8.py "$work/solution.so" "$out"
