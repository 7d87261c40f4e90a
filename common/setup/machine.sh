#!/bin/sh
# machine.sh BUILD - measures this machine's GPU and describes it for the simulator:
# common/simulator/gpus/NAME.ini, with the source of each number (docs/simulator/machines.md).
#
# NAME=name is the file's name; the default is the GPU's with "-measured" at the end.  A description
# written by somebody else is not replaced.
set -eu
build=${1:?usage: machine.sh BUILD}
nvcc=$(sed -n 's/^NVCC=//p' "$build/toolchain.env")
gpus=common/simulator/gpus

fail() {
    printf 'machine: %s\n' "$1" >&2
    exit "${2:-2}"
}
command -v nvidia-smi >/dev/null ||
    fail "no NVIDIA GPU here, or no driver; docs/simulator/machines.md lists descriptions of other GPUs" 3
name=${NAME:-}
case $name in *[!a-z0-9-]*) fail "NAME may contain lower-case letters, digits and -, not '$name'" ;; esac

work=$(mktemp -d "$build/machine.XXXXXX") || fail "nothing can be written into $build"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)
case $capability in '' | *[!0-9]*) fail "the driver finds no GPU (nvidia-smi); docs/simulator/machines.md lists descriptions of other GPUs" 3 ;; esac
"$nvcc" -O3 -std=c++17 -Wno-deprecated-gpu-targets \
    -arch="sm_$capability" common/simulator/machine/measure.cu -o "$work/measure" ||
    fail "nvcc cannot compile for this GPU, sm_$capability"
"$work/measure" >"$work/said.ini" || fail "nothing was written" $?
[ -n "$name" ] || name=$(sed -n 's/^title = //p' "$work/said.ini" | tr '[:upper:]' '[:lower:]' |
    sed 's/nvidia//; s/geforce//; s/[^a-z0-9]//g')-measured
file=$gpus/$name.ini
if [ -f "$file" ] && ! head -n 1 "$file" | grep -q 'measured by make machine'; then
    fail "$file was not written by make machine and is not overwritten; choose another NAME="
fi
{
    head -n 1 "$work/said.ini"
    printf '; %s, %s\n' "$(nvidia-smi --query-gpu=driver_version,clocks.max.sm,power.limit --format=csv,noheader | head -n 1)" "$(date -u +%Y-%m-%d)"
    tail -n +2 "$work/said.ini"
} >"$file"
echo "wrote $file; for example: make run LAB=02 GPU=$name"
