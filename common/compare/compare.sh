#!/bin/sh
# compare.sh BUILD NVCC - every solution of conv_forward beside cuDNN and cuBLAS on this machine's GPU (docs/compare.md).
#
# Needs cuDNN 9 with its headers: a package (libcudnn9-dev), Python's nvidia-cudnn, or CUDNN=prefix.  LAYERS=file takes other
# layers, SOLUTIONS='10 13' some solutions only, EXTRA='name:source.cu ...' further sides (NCHW, fp32); BOUNDARY=1 also times
# with everything around (compare.h).
set -eu
build=${1:?usage: compare.sh BUILD NVCC}
nvcc=${2:?usage: compare.sh BUILD NVCC}
layers=${LAYERS:-common/compare/layers.tsv}
out=$build/compare
mkdir -p "$out"

fail() {
    printf 'compare: %s\n' "$1" >&2
    exit 1
}

nvidia-smi >/dev/null 2>&1 || fail "this needs an NVIDIA GPU and its driver; what an H200 did is in docs/compare.md"
python='import nvidia.cudnn as m; print(list(m.__path__)[0])'
for prefix in "${CUDNN:-}" /usr /usr/local/cuda "$(python3 -c "$python" 2>/dev/null || true)"; do
    [ -n "$prefix" ] && [ -f "$prefix/include/cudnn.h" ] && break
    prefix=
done
[ -n "$prefix" ] || fail "no cudnn.h: install libcudnn9-dev, or say CUDNN=prefix (the directory above include/cudnn.h)"
library=$(find "$prefix/lib" "$prefix/lib64" "$prefix/lib/$(uname -m)-linux-gnu" -maxdepth 1 -name 'libcudnn.so*' 2>/dev/null | head -n 1)
[ -n "$library" ] || fail "there is $prefix/include/cudnn.h but no libcudnn.so beside it"

# The program, and each solution as a shared object with the shared runtime.
flags="-O3 -std=c++17 -cudart shared -arch=native -lineinfo -I. -Icommon/include"
# shellcheck disable=SC2086
"$nvcc" $flags -c common/compare/kernels.cu -o "$out/kernels.o"
for name in compare side_graph side_lab side_cudnn side_cublas; do
    "${CC:-cc}" -O2 -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -Icommon/include -isystem "$(dirname "$nvcc")/../include" -isystem "$prefix/include" \
        -c "common/compare/$name.c" -o "$out/$name.o"
done
"$nvcc" -cudart shared -Xlinker --export-dynamic "$out"/*.o "$build/lib/operations.a" "$build/lib/training.a" "$build/lib/diagnosis.a" "$build/lib/conv.a" \
    "$build/lib/operation.a" "$build/lib/timing.a" "$build/lib/base.a" -Xlinker "$library" -Xlinker "-rpath=$(dirname "$library")" \
    -lcublas -lpthread -lm -ldl -o "$out/compare"

# add_side NAME SOURCE LAYOUT PRECISION
sides=
add_side() {
    # shellcheck disable=SC2086
    "$nvcc" $flags -shared -Xcompiler -fPIC "$2" -o "$out/$1.so" &
    sides="$sides $1:$out/$1.so:$3:$4"
}

# Labs 08 (the simulator's hardware) and 01 (the host's) are not of this race.
for lab in solutions/*/; do
    name=$(basename "$lab")
    ini=labs/$name/lab.ini
    grep -q '^operation *= *conv_forward *$' "$ini" || continue
    grep -q '^needs *=.*engine *= *sim' "$ini" && continue
    case " ${SOLUTIONS:-${name%%-*}} " in *" ${name%%-*} "*) ;; *) continue ;; esac
    layout=$(sed -n 's/^with *= *layout=\([a-z]*\).*/\1/p' "$ini")
    add_side "$name" "$lab/conv.cu" "${layout:-nchw}" "$(sed -n 's/^precision *= *//p' "$ini")"
done
for side in ${EXTRA:-}; do add_side "${side%%:*}" "${side#*:}" nchw fp32; done
wait

{
    printf '; %s, nvcc %s, %s, make compare\n' "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)" \
        "$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')" "$(date -u +%Y-%m-%d)"
    # shellcheck disable=SC2086
    "$out/compare" "$layers" $sides
} >"$out/compare.tsv"
sh common/compare/draw.sh "$out/compare.tsv" "$out"
echo "  $out/compare.tsv, layers.md, summary.md and compare.svg"
