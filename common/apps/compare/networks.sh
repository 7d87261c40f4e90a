#!/bin/sh
# networks.sh NVCC OUT - compares ResNet-18 and MobileNetV2 from the labs' kernels with PyTorch on
# this machine's GPU (networks.py lists the files).  Needs PyTorch in PYTHON (python3).
set -eu
nvcc=${1:?usage: networks.sh NVCC OUT}
out=${2:?usage: networks.sh NVCC OUT}
mkdir -p "$out"
nvidia-smi >/dev/null 2>&1 || { echo "networks: this needs an NVIDIA GPU and its driver" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for lab in solutions/10-* solutions/14-* solutions/15-* solutions/21-*; do
    number=$(basename "$lab" | cut -c 1-2)
    "$nvcc" -O3 -std=c++17 -arch=native -I. -Icommon/include \
        "-DCAPTURED_SOURCE=\"$(realpath "$lab/conv.cu")\"" -shared -Xcompiler -fPIC \
        common/apps/compare/networks.cu -o "$work/$number.so" &
done
wait
"${PYTHON:-python3}" common/apps/compare/networks.py "$work" "$out"
