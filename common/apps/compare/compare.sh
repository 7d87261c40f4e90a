#!/bin/sh
# compare.sh BUILD NVCC - compares every solution of conv_forward with cuDNN and cuBLAS on this
# machine's GPU (docs/student/compare.md).
#
# Needs cuDNN 9 with its headers: a package (libcudnn9-dev), Python's nvidia-cudnn, or CUDNN=prefix.
# LAYERS=file takes other layers, SOLUTIONS='10 13' some solutions only, TUNED=1 the result of `make
# tune`, if any.  EXTRA='name:source.cu ...' adds sides (NCHW, fp32), HOPPER the same for lab 12
# (NHWC, TF32, sm_90a).  TENSOR=1 leaves out fp32 of cuDNN and cuBLAS, ALONE=1 both libraries.
# BOUNDARY=1 also times with setup and cleanup (compare.h).
set -eu
build=${1:?usage: compare.sh BUILD NVCC}
nvcc=${2:?usage: compare.sh BUILD NVCC}
layers=${LAYERS:-common/apps/compare/layers.tsv}
out=$build/compare${TUNED:+/tuned}
. common/apps/compare/sides.sh
echo "  BUILD   the solutions for this GPU (a minute)" >&2
program compare

# Labs 08 (the simulator's hardware) and 01 (the host) are not compared.
for lab in solutions/*/; do
    name=$(basename "$lab")
    ini=labs/$name/lab.ini
    [ "$(sed -n '1,/^\[points\]/s/^operation *= *//p' "$ini")" = conv_forward ] || continue # the lab's operation, not a case's
    grep -q '^needs *=.*engine *= *sim' "$ini" && continue
    case " ${SOLUTIONS:-${name%%-*}} " in *" ${name%%-*} "*) ;; *) continue ;; esac
    layout=$(sed -n 's/^with *= *layout=\([a-z]*\).*/\1/p' "$ini")
    ! grep -q '^needs *=.*cc = 9.0' "$ini" || target=$hopper
    source=${lab}conv.cu
    [ -z "${TUNED:-}" ] || [ ! -f "$build/tune/$name/conv.cu" ] || source=$build/tune/$name/conv.cu
    add_side "$name" "$source" "${layout:-nchw}" "$(sed -n 's/^precision *= *//p' "$ini")"
    if grep -q '^#define STORED' "$source"; then # it supports halves, like cuDNN's FP16
        defines='-include cuda_fp16.h -DFP16=1 -DSTORED=__half'
        add_side "$name-fp16" "$source" "${layout:-nchw}" fp16:halves
        defines=
    fi
    target=$native
done
for side in ${EXTRA:-}; do add_side "${side%%:*}" "${side#*:}" nchw fp32; done
target=$hopper
for side in ${HOPPER:-}; do add_side "${side%%:*}" "${side#*:}" nhwc tf32; done
wait

{
    printf '; %s, nvcc %s, %s, make compare\n' \
        "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)" \
        "$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')" "$(date -u +%Y-%m-%d)"
    # shellcheck disable=SC2086
    "$out/compare" "$layers" $sides
} >"$out/compare.tsv"
sh common/apps/compare/draw.sh "$out/compare.tsv" "$out"
figure=
[ ! -f "$out/compare.svg" ] || figure=", compare.svg"
echo "  $out/compare.tsv, layers.md, summary.md$figure"
