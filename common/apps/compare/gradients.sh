#!/bin/sh
# gradients.sh NVCC OUT - compares lab 17's solution with PyTorch on this machine's GPU: gradients
# of small problems for a test, errors and times of large ones (gradients.py lists the files).
# Needs PyTorch in PYTHON (python3).  SOURCE=file takes another source.
set -eu
nvcc=${1:?usage: gradients.sh NVCC OUT}
out=${2:?usage: gradients.sh NVCC OUT}
mkdir -p "$out"
nvidia-smi >/dev/null 2>&1 || { echo "gradients: this needs an NVIDIA GPU and its driver" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build() {
    "$nvcc" -O3 -std=c++17 -arch=native -Icommon/include "-DCAPTURED_SOURCE=\"$(realpath "$1")\"" \
        -shared -Xcompiler -fPIC \
        common/apps/compare/captured.cu -o "$work/$2.so"
}
build "${SOURCE:-solutions/17-backward/conv.cu}" solution
build labs/17-backward/steps/scatter.cu scatter
"${PYTHON:-python3}" common/apps/compare/gradients.py "$work/solution.so" "$work/scatter.so" "$out"
