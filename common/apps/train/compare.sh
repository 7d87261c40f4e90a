#!/bin/sh
# compare.sh BUILD - compares LeNet-5's training step with PyTorch's on this machine's GPU: side,
# batch, microseconds, tab-separated.
#
# Needs a GPU, and Python with PyTorch.  Both are one CUDA graph per step in fp32 with TF32 off;
# they alternate three times, and the least of each side's medians is printed.
set -eu
build=${1:?usage: compare.sh BUILD}
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nvidia-smi >/dev/null 2>&1 || { echo 'compare: this needs an NVIDIA GPU and its driver' >&2; exit 1; }
python3 -c 'import torch' 2>/dev/null ||
    { echo 'compare: this needs PyTorch: pip install torch' >&2; exit 1; }
# shellcheck disable=SC2086
"$nvcc" -O3 -std=c++17 -arch=native -cudart static -I. -Icommon/include common/apps/train/time.cu \
    "${SUBMISSION:-solutions}/18-training/train.cu" \
    "$build/lib/run-modules.a" -lsodium -lpthread -lm -ldl -o "$work/time"
for _ in 1 2 3; do
    "$work/time" 64 256 1024
    python3 common/apps/train/torch_time.py 64 256 1024
done >"$work/all"
awk -F'\t' '{ key = $1 "\t" $2; if (!(key in least) || $3 < least[key]) least[key] = $3; if (!seen[key]++) order[++keys] = key }
    END { for (i = 1; i <= keys; i++) printf "%s\t%s\n", order[i], least[order[i]] }' "$work/all"
