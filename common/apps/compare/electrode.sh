#!/bin/sh
# electrode.sh NVCC OUT [RECORDINGS] - compares lab 19's solution with PyTorch on this machine's
# GPU: outputs for a test, times, times end to end, accuracy on recordings (electrode.py lists the
# files).  Needs PyTorch in PYTHON (python3). SOURCE=file takes another source.
set -eu
nvcc=${1:?usage: electrode.sh NVCC OUT}
out=${2:?usage: electrode.sh NVCC OUT}
mkdir -p "$out"
nvidia-smi >/dev/null 2>&1 || { echo "electrode: this needs an NVIDIA GPU and its driver" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
library() { # arguments: library NAME SOURCE [option]
    "$nvcc" -O3 -std=c++17 -arch=native -Icommon/include "-DCAPTURED_SOURCE=\"$(realpath "$2")\"" \
        ${3:+"$3"} -shared -Xcompiler -fPIC \
        common/apps/compare/captured.cu -o "$work/$1.so"
}
library solution "${SOURCE:-solutions/19-electrode/electrode.cu}" "" &
for strategy in STREAMS CHANNELS SCATTER IM2COL; do
    library $strategy labs/19-electrode/steps/report.cu -DSTRATEGY=$strategy &
done
wait
"${PYTHON:-python3}" common/apps/compare/electrode.py "$work" "$out" ${3:+"$3"}
